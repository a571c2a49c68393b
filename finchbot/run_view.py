"""The pure fold RunEvent → RunView: what every surface shows of a run.

A view built from all events of a run equals the one built without its deltas, so a surface may
drop deltas, join late, or read the stored events of yesterday and show the same.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal, assert_never

from pydantic import JsonValue

from finchbot.events import (
    ApprovalRequested,
    ApprovalResolved,
    ContextCompacted,
    Decision,
    ErrorInfo,
    HistoryRepaired,
    InRun,
    MemoryRecalled,
    MessageCompleted,
    MessageReceived,
    ModelFallback,
    ReasoningDelta,
    RunCancelled,
    RunEvent,
    RunFailed,
    RunFinished,
    RunInterrupted,
    RunQueued,
    RunStarted,
    TextDelta,
    TextRetracted,
    ThreadDeleted,
    ThreadTitled,
    ThreadUpdated,
    ToolCallFinished,
    ToolCallOutput,
    ToolCallStarted,
    Usage,
)
from finchbot.ids import CallId, MessageId, RunId
from finchbot.messages import Message

RunStatus = Literal[
    "queued", "running", "waiting", "finished", "failed", "cancelled", "interrupted"
]
ENDED: frozenset[RunStatus] = frozenset({"finished", "failed", "cancelled", "interrupted"})

Notice = MemoryRecalled | HistoryRepaired | ContextCompacted | ModelFallback


@dataclass(frozen=True, slots=True)
class SpokenItem:
    """What the model said, with what it thought before."""

    message_id: MessageId
    text: str = ""
    reasoning: str = ""
    done: bool = False
    partial: bool = False


@dataclass(frozen=True, slots=True)
class ToolItem:
    """One tool step."""

    call_id: CallId
    name: str
    arguments: dict[str, JsonValue]
    state: Literal["running", "waiting", "done", "failed"] = "running"
    output: str = ""
    elapsed_s: float | None = None
    diff: str | None = None
    request: ApprovalRequested | None = None
    """The open question, while `state` is waiting."""
    decision: Decision | None = None


@dataclass(frozen=True, slots=True)
class NoticeItem:
    """One quiet line: memories recalled, history repaired, context compacted, model changed."""

    event: Notice


Item = SpokenItem | ToolItem | NoticeItem


@dataclass(frozen=True, slots=True)
class RunView:
    """A run as a surface shows it."""

    run_id: RunId
    status: RunStatus = "queued"
    user_message: Message | None = None
    position: int | None = None
    """Place in the queue while `status` is queued."""
    model: str | None = None
    items: tuple[Item, ...] = ()
    usage: Usage | None = None
    error: ErrorInfo | None = None
    interrupted_by: Literal["crash", "shutdown"] | None = None
    last_seq: int = field(default=0, compare=False)
    """The `seq` of the newest event folded in; subscribe after it."""

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self.status in ENDED

    @property
    def answer(self) -> str:
        """All that was said, without reasoning and tool steps."""
        said = (item.text for item in self.items if isinstance(item, SpokenItem))
        return "\n\n".join(text for text in said if text)


def fold(view: RunView, event: RunEvent) -> RunView:
    """Return `view` with `event` added; events of other runs, or of none, change nothing."""
    if isinstance(event, InRun) and event.run_id != view.run_id:
        return view
    seen = replace(view, last_seq=max(view.last_seq, event.seq))
    match event:
        case MessageReceived(message=message):
            return replace(seen, user_message=message)
        case RunQueued(position=position):
            return replace(seen, position=position)
        case RunStarted(model=model):
            return replace(seen, status="running", model=model, position=None)
        case MemoryRecalled() | HistoryRepaired() | ContextCompacted() | ModelFallback():
            return replace(seen, items=(*view.items, NoticeItem(event)))
        case ReasoningDelta(message_id=message_id, text=text):
            item = _spoken(view, message_id)
            return _put(seen, replace(item, reasoning=item.reasoning + text))
        case TextDelta(message_id=message_id, text=text):
            item = _spoken(view, message_id)
            return _put(seen, replace(item, text=item.text + text))
        case TextRetracted(message_id=message_id):
            return _put(seen, SpokenItem(message_id))
        case MessageCompleted():
            return _complete(seen, event)
        case ToolCallStarted(call_id=call_id, name=name, arguments=arguments):
            return replace(seen, items=(*view.items, ToolItem(call_id, name, arguments)))
        case ToolCallOutput() | ToolCallFinished() | ApprovalRequested() | ApprovalResolved():
            return _tool_step(seen, event)
        case RunFinished(usage=usage):
            return replace(seen, status="finished", usage=usage)
        case RunCancelled():
            return replace(seen, status="cancelled", position=None)
        case RunInterrupted(reason=reason):
            return replace(seen, status="interrupted", interrupted_by=reason, position=None)
        case RunFailed(error=error):
            return replace(seen, status="failed", error=error, position=None)
        case ThreadTitled() | ThreadUpdated() | ThreadDeleted():
            return view
        case _:
            assert_never(event)


def fold_all(run_id: RunId, events: Iterable[RunEvent]) -> RunView:
    """Return the view of one run from its events, in order; others may stand between them."""
    folding = Folding(run_id)
    for event in events:
        folding.add(event)
    return folding.view


class Folding:
    """A view that grows: takes a delta in constant time, however long its message is."""

    def __init__(self, run_id: RunId) -> None:
        self._view = RunView(run_id)
        self._delta: TextDelta | ReasoningDelta | None = None
        """The newest of the deltas whose texts are held back."""
        self._texts: list[str] = []

    @property
    def view(self) -> RunView:
        """The view of all events so far."""
        if self._delta is not None:
            whole = self._delta.model_copy(update={"text": "".join(self._texts)})
            self._view = fold(self._view, whole)
            self._delta = None
            self._texts = []
        return self._view

    @property
    def status(self) -> RunStatus:
        """Of the view; no delta changes it."""
        return self._view.status

    def add(self, event: RunEvent) -> None:
        """Fold one more event in."""
        if not isinstance(event, TextDelta | ReasoningDelta):
            self._view = fold(self.view, event)
            return
        if event.run_id != self._view.run_id:
            return
        held = self._delta
        if held is not None and (held.type, held.message_id) != (event.type, event.message_id):
            self._view = self.view
        self._delta = event
        self._texts.append(event.text)


def _spoken(view: RunView, message_id: MessageId) -> SpokenItem:
    for item in reversed(view.items):
        if isinstance(item, SpokenItem) and item.message_id == message_id:
            return item
    return SpokenItem(message_id)


def _put(view: RunView, spoken: SpokenItem) -> RunView:
    """Put a growing message in its place, or at the end when it is new."""
    items = view.items
    if items and isinstance(items[-1], SpokenItem) and items[-1].message_id == spoken.message_id:
        return replace(view, items=(*items[:-1], spoken))
    if all(not _is_message(item, spoken.message_id) for item in items):
        return replace(view, items=(*items, spoken))
    put = tuple(spoken if _is_message(item, spoken.message_id) else item for item in items)
    return replace(view, items=put)


def _complete(view: RunView, event: MessageCompleted) -> RunView:
    """Set the whole message, last in line: its place never depends on deltas."""
    others = tuple(item for item in view.items if not _is_message(item, event.message_id))
    whole = SpokenItem(event.message_id, event.text, event.reasoning, True, event.partial)
    return replace(view, items=(*others, whole))


def _is_message(item: Item, message_id: MessageId) -> bool:
    return isinstance(item, SpokenItem) and item.message_id == message_id


def _tool_step(
    view: RunView,
    event: ToolCallOutput | ToolCallFinished | ApprovalRequested | ApprovalResolved,
) -> RunView:
    items = tuple(
        _step(item, event) if isinstance(item, ToolItem) and item.call_id == event.call_id else item
        for item in view.items
    )
    waiting = any(isinstance(item, ToolItem) and item.state == "waiting" for item in items)
    status: RunStatus = view.status if view.ended else "waiting" if waiting else "running"
    return replace(view, items=items, status=status)


def _step(
    item: ToolItem,
    event: ToolCallOutput | ToolCallFinished | ApprovalRequested | ApprovalResolved,
) -> ToolItem:
    match event:
        case ToolCallOutput(text=text):
            return replace(item, output=item.output + text)
        case ToolCallFinished():
            return replace(
                item,
                state="failed" if event.is_error else "done",
                output=event.output,
                elapsed_s=event.elapsed_s,
                diff=event.diff,
                request=None,
            )
        case ApprovalRequested():
            return replace(item, state="waiting", request=event)
        case ApprovalResolved(decision=decision):
            return replace(item, state="running", request=None, decision=decision)
        case _:
            assert_never(event)
