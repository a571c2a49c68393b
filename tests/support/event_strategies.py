"""Hypothesis strategies: any event at all, and whole runs that keep the laws."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st
from pydantic import JsonValue

from finchbot import events as ev
from finchbot.dispatch.closing import closing_events
from finchbot.ids import CallId, MessageId, RunId, ThreadId
from finchbot.messages import Message, TextPart
from finchbot.run_view import RunView, SpokenItem, ToolItem, fold_all

THREAD = ThreadId("thr_1")
RUN = RunId("run_1")
two_runs = st.sampled_from([RUN, RunId("run_2")])
NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)

texts = st.text(max_size=12)
json_values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
arguments = st.dictionaries(texts, json_values, max_size=3)
usages = st.builds(
    ev.Usage,
    input_tokens=st.integers(0, 10**6),
    output_tokens=st.integers(0, 10**6),
    cached_tokens=st.integers(0, 10**6),
    ttft_ms=st.none() | st.integers(0, 10**6),
    duration_ms=st.integers(0, 10**7),
)
errors = st.builds(ev.ErrorInfo, code=texts, detail=texts, params=arguments)
seconds = st.floats(0, 1e6, allow_nan=False)
moments = st.integers(0, 10**10).map(lambda ms: NOON + timedelta(milliseconds=ms))


def message(run_id: RunId, text: str = "hi") -> Message:
    return Message(
        id=MessageId(f"{run_id}-user"),
        role="user",
        parts=(TextPart(text=text),),
        run_id=run_id,
        created_at=NOON,
    )


def any_event(
    thread_id: ThreadId = THREAD,
    runs: st.SearchStrategy[RunId] = two_runs,
) -> st.SearchStrategy[ev.RunEvent]:
    """Any event of a thread, lawful or not, unstamped; each type as likely as another."""
    messages = st.sampled_from([MessageId("m1"), MessageId("m2")])
    calls = st.sampled_from([CallId("c1"), CallId("c2")])

    def in_run(kind: Callable[..., Any], **fields: st.SearchStrategy[Any]) -> Any:
        return st.builds(kind, thread_id=st.just(thread_id), run_id=runs, **fields)

    def of_thread(kind: Callable[..., Any], **fields: st.SearchStrategy[Any]) -> Any:
        return st.builds(kind, thread_id=st.just(thread_id), **fields)

    return st.one_of(
        runs.flatmap(
            lambda run: texts.map(
                lambda text: ev.MessageReceived(
                    thread_id=thread_id, run_id=run, message=message(run, text)
                )
            )
        ),
        in_run(ev.RunQueued, position=st.integers(1, 20)),
        in_run(ev.RunStarted, model=texts),
        in_run(ev.MemoryRecalled, hits=st.lists(arguments, max_size=2).map(tuple)),
        in_run(ev.HistoryRepaired, changes=st.lists(texts, max_size=2).map(tuple)),
        in_run(
            ev.ContextCompacted,
            before_tokens=st.integers(0, 10**6),
            after_tokens=st.integers(0, 10**6),
        ),
        in_run(ev.ModelFallback, from_=texts, to=texts, code=texts),
        in_run(ev.ReasoningDelta, message_id=messages, text=texts),
        in_run(ev.TextDelta, message_id=messages, text=texts),
        in_run(ev.TextRetracted, message_id=messages),
        in_run(
            ev.MessageCompleted,
            message_id=messages,
            text=texts,
            reasoning=texts,
            partial=st.booleans(),
        ),
        in_run(ev.ToolCallStarted, call_id=calls, name=texts, arguments=arguments),
        in_run(ev.ToolCallOutput, call_id=calls, text=texts),
        in_run(
            ev.ToolCallFinished,
            call_id=calls,
            output=texts,
            is_error=st.booleans(),
            elapsed_s=seconds,
            diff=st.none() | texts,
        ),
        in_run(
            ev.ApprovalRequested,
            call_id=calls,
            name=texts,
            arguments=arguments,
            reason=texts,
            expires_at=moments,
        ),
        in_run(
            ev.ApprovalResolved,
            call_id=calls,
            decision=st.sampled_from(["once", "thread", "always", "deny", "expired"]),
        ),
        in_run(ev.RunFinished, usage=usages),
        in_run(ev.RunCancelled),
        in_run(ev.RunInterrupted, reason=st.sampled_from(["crash", "shutdown"])),
        in_run(ev.RunFailed, error=errors),
        of_thread(
            ev.ThreadTitled,
            title=texts,
            source=st.sampled_from(["first_message", "model", "tool", "user"]),
        ),
        of_thread(ev.ThreadUpdated, fields=st.dictionaries(texts, st.booleans(), max_size=2)),
        of_thread(ev.ThreadDeleted),
    )


@st.composite
def whole_run(
    draw: st.DrawFn, run_id: RunId = RUN, thread_id: ThreadId = THREAD
) -> list[ev.RunEvent]:
    """A run that keeps the laws, from its message to its end, whatever the end is."""
    frame: dict[str, Any] = {"thread_id": thread_id, "run_id": run_id}
    run: list[ev.RunEvent] = [ev.MessageReceived(**frame, message=message(run_id))]
    if draw(st.booleans()):
        run.append(ev.RunQueued(**frame, position=1))
    run += draw(turn_events(run_id, thread_id))
    ends: list[ev.Terminal] = [
        ev.RunFinished(**frame, usage=ev.Usage()),
        ev.RunCancelled(**frame),
        ev.RunInterrupted(**frame, reason="crash"),
        ev.RunFailed(**frame, error=ev.ErrorInfo(code="internal", detail="x")),
    ]
    end = draw(st.sampled_from(ends))
    if not isinstance(end, ev.RunFinished):
        run = run[: draw(st.integers(1, len(run)))]
    return [*run, *closing_events(fold_all(run_id, run), end, why="stopped")]


@st.composite
def turn_events(
    draw: st.DrawFn, run_id: RunId = RUN, thread_id: ThreadId = THREAD
) -> list[ev.RunEvent]:
    """What an agent says in a turn that goes well, without its `RunFinished`."""
    frame: dict[str, Any] = {"thread_id": thread_id, "run_id": run_id}
    turn: list[ev.RunEvent] = [ev.RunStarted(**frame, model="scripted/one")]
    for step in range(draw(st.integers(0, 3))):
        if draw(st.booleans()):
            turn.append(ev.HistoryRepaired(**frame, changes=("result_added",)))
        turn += draw(_spoken(frame, MessageId(f"{run_id}-m{step}")))
        turn += draw(_tools(frame, f"{run_id}-c{step}"))
    return turn


@st.composite
def _spoken(draw: st.DrawFn, frame: dict[str, Any], message_id: MessageId) -> list[ev.RunEvent]:
    said: list[ev.RunEvent] = []
    for kind in draw(st.lists(st.sampled_from("trx"), max_size=6)):
        if kind == "x":
            said.append(ev.TextRetracted(**frame, message_id=message_id))
        else:
            delta = ev.TextDelta if kind == "t" else ev.ReasoningDelta
            said.append(delta(**frame, message_id=message_id, text=draw(texts)))
    view = fold_all(frame["run_id"], said)
    whole = view.items[0] if view.items else SpokenItem(message_id)
    assert isinstance(whole, SpokenItem)
    completed = ev.MessageCompleted(
        **frame, message_id=message_id, text=whole.text, reasoning=whole.reasoning
    )
    return [*said, completed]


@st.composite
def _tools(draw: st.DrawFn, frame: dict[str, Any], prefix: str) -> list[ev.RunEvent]:
    calls = [CallId(f"{prefix}.{n}") for n in range(draw(st.integers(0, 2)))]
    steps: list[ev.RunEvent] = [
        ev.ToolCallStarted(**frame, call_id=call, name="read_file", arguments=draw(arguments))
        for call in calls
    ]
    for call in draw(st.permutations(calls)):
        if draw(st.booleans()):
            steps.append(ev.ToolCallOutput(**frame, call_id=call, text=draw(texts)))
        if draw(st.booleans()):
            steps.append(
                ev.ApprovalRequested(
                    **frame,
                    call_id=call,
                    name="read_file",
                    arguments={},
                    reason="x",
                    expires_at=NOON,
                )
            )
            steps.append(ev.ApprovalResolved(**frame, call_id=call, decision="once"))
        steps.append(
            ev.ToolCallFinished(
                **frame, call_id=call, output=draw(texts), is_error=False, elapsed_s=0.5
            )
        )
    return steps


def is_whole(view: RunView) -> bool:
    """Whether nothing of a run is left open."""
    return not any(
        (isinstance(item, SpokenItem) and not item.done)
        or (isinstance(item, ToolItem) and item.state in ("running", "waiting"))
        for item in view.items
    )
