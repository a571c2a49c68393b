"""Mends a history so that the strictest provider takes it (pure).

What holds afterwards: it starts with the user; every tool call is followed at once by its one
result, in the order of the calls; no result stands alone; ids are unique; arguments are
objects; nothing is empty. A history of which that is true comes back as it was.
"""

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from finchbot.agent.answer import call_ids, is_blank
from finchbot.agent.calls import NO_OUTPUT, CallIds, asked_for, valid_call
from finchbot.agent.content import said
from finchbot.providers.questions import with_newest

NO_RESULT = "(no result: the run ended before the tool answered)"
WORDLESS = frozenset({"text", "thinking", "redacted_thinking", "reasoning", "reasoning_content"})
"""Blocks that are nothing to answer to, when their text is blank."""

MessageT = TypeVar("MessageT", bound=BaseMessage)
Results = Mapping[int, Sequence[int | None]]
"""Per position of an assistant's message, the position of the result of each of its calls."""


@dataclass(frozen=True, slots=True)
class Repaired:
    """A valid history, and codes of what was done to get it, each once, in order."""

    messages: list[BaseMessage]
    changes: tuple[str, ...]


def repair(messages: Sequence[BaseMessage]) -> Repaired:
    """Return the history mended.

    The codes: ``unknown_dropped``, ``leading_dropped``, ``empty_dropped``, ``empty_filled``,
    ``call_mended``, ``result_added``, ``result_moved``, ``result_dropped``, ``id_renamed``.
    """
    mending = _Mending(messages)
    mended = mending.run()
    return Repaired(mended, tuple(dict.fromkeys(mending.changes)))


def alternating(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return a view in which user and assistant take turns, as some providers ask.

    Two messages in a row of one side become one: a question that was never answered stands
    before the next one, and the newest alone goes with them for who wants to know.
    """
    view: list[BaseMessage] = []
    for message in messages:
        before = view[-1] if view else None
        both = (HumanMessage, AIMessage)
        if isinstance(message, both) and type(before) is type(message):
            view[-1] = _joined(view[-1], message)
        else:
            view.append(message)
    return view


class _Mending:
    def __init__(self, messages: Sequence[BaseMessage]) -> None:
        self.changes: list[str] = []
        self._messages = messages
        self._begin = _first_question(messages)
        self._results = _paired(messages, self._begin)
        numbers = count(1)
        self._fresh = CallIds(call_ids(messages), lambda prefix: f"{prefix}_{next(numbers)}")
        self._call_ids: set[str] = set()
        self._message_ids: set[str] = set()

    def run(self) -> list[BaseMessage]:
        if any(isinstance(m, AIMessage) for m in self._messages[: self._begin]):
            self.changes.append("leading_dropped")
        mended: list[BaseMessage] = []
        for at, message in enumerate(self._messages):
            match message:
                case AIMessage() if at >= self._begin:
                    mended += self._step(at, message)
                case HumanMessage() if not is_empty(message):
                    mended.append(self._whole(message))
                case HumanMessage():
                    self.changes.append("empty_dropped")
                case AIMessage() | ToolMessage():
                    continue
                case _:
                    self.changes.append("unknown_dropped")
        self._count_dropped_results()
        return mended

    def _step(self, at: int, message: AIMessage) -> list[BaseMessage]:
        """Return an assistant's message and the results it needs."""
        asked = asked_for(message)
        if not asked and is_empty(message):
            self.changes.append("empty_dropped")
            return []
        calls = [valid_call(call, self._call_id(call.get("id"))) for call in asked]
        if calls != asked:
            self.changes.append("call_mended")
            message = message.model_copy(update={"tool_calls": calls, "invalid_tool_calls": []})
        found = self._results.get(at, ())
        if _is_out_of_place(self._messages, at, found):
            self.changes.append("result_moved")
        answers = [
            self._result(None if where is None else self._messages[where], call["id"] or "")
            for where, call in zip(found, calls, strict=True)
        ]
        return [self._whole(message), *answers]

    def _call_id(self, wanted: object) -> str:
        if isinstance(wanted, str) and wanted and wanted not in self._call_ids:
            self._call_ids.add(wanted)
            return wanted
        self.changes.append("id_renamed")
        return self._fresh.give(None)

    def _result(self, found: BaseMessage | None, call_id: str) -> BaseMessage:
        if not isinstance(found, ToolMessage):
            self.changes.append("result_added")
            return ToolMessage(NO_RESULT, tool_call_id=call_id, status="error")
        if is_empty(found):
            self.changes.append("empty_filled")
            found = found.model_copy(update={"content": NO_OUTPUT})
        if found.tool_call_id != call_id:
            found = found.model_copy(update={"tool_call_id": call_id})
        return self._whole(found)

    def _whole(self, message: MessageT) -> MessageT:
        """Return the message with an id of its own and without blank blocks."""
        if message.id is not None and message.id in self._message_ids:
            self.changes.append("id_renamed")
            message = message.model_copy(update={"id": None})
        if message.id is not None:
            self._message_ids.add(message.id)
        if isinstance(message.content, str) or not any(map(is_blank, message.content)):
            return message
        self.changes.append("empty_dropped")
        blocks = [block for block in message.content if not is_blank(block)]
        return message.model_copy(update={"content": blocks or ""})

    def _count_dropped_results(self) -> None:
        given = sum(isinstance(message, ToolMessage) for message in self._messages)
        used = sum(where is not None for found in self._results.values() for where in found)
        if given > used:
            self.changes.append("result_dropped")


def is_empty(message: BaseMessage) -> bool:
    """Tell whether a message has no words, and nothing else to answer to."""
    if said(message).text.strip():
        return False
    blocks = [] if isinstance(message.content, str) else message.content
    return all(isinstance(block, str) or block.get("type") in WORDLESS for block in blocks)


def _first_question(messages: Sequence[BaseMessage]) -> int:
    for at, message in enumerate(messages):
        if isinstance(message, HumanMessage) and not is_empty(message):
            return at
    return len(messages)


def _paired(messages: Sequence[BaseMessage], begin: int) -> Results:
    """Find the result of each call: the first after it with its id that is not taken."""
    results: dict[int, list[int | None]] = {}
    waiting: dict[str, deque[tuple[int, int]]] = {}
    for at, message in enumerate(messages[begin:], begin):
        if isinstance(message, AIMessage):
            asked = asked_for(message)
            results[at] = [None] * len(asked)
            mine: dict[str, deque[tuple[int, int]]] = defaultdict(deque)
            for place, call in enumerate(asked):
                mine[_key(call)].append((at, place))
            waiting |= mine
        elif isinstance(message, ToolMessage) and waiting.get(message.tool_call_id):
            owner, place = waiting[message.tool_call_id].popleft()
            results[owner][place] = at
    return results


def _key(call: Mapping[str, Any]) -> str:
    call_id = call.get("id")
    return call_id if isinstance(call_id, str) else ""


def _is_out_of_place(messages: Sequence[BaseMessage], at: int, found: Sequence[int | None]) -> bool:
    places = [where for where in found if where is not None]
    if places != sorted(places):
        return True
    last = places[-1] if places else at
    return not all(isinstance(message, ToolMessage) for message in messages[at + 1 : last])


def _joined(first: BaseMessage, second: BaseMessage) -> BaseMessage:
    joined = second.model_copy(update={"content": _together(first, second)})
    return with_newest(joined, said(second).text) if isinstance(joined, HumanMessage) else joined


def _together(first: BaseMessage, second: BaseMessage) -> str | list[str | dict[Any, Any]]:
    one, two = first.content, second.content
    if isinstance(one, str) and isinstance(two, str):
        return "\n\n".join(filter(None, (one, two)))
    return [*_blocks(one), *_blocks(two)]


def _blocks(content: str | list[str | dict[Any, Any]]) -> list[str | dict[Any, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content.strip() else []
    return content
