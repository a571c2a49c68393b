"""The record's messages as the history a model sees, and whether the desk still fits (pure)."""

from collections.abc import Sequence
from itertools import dropwhile, takewhile

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage

from finchbot.agent.calls import NO_OUTPUT
from finchbot.agent.content import REASONING
from finchbot.ids import RunId
from finchbot.messages import (
    AttachmentPart,
    Message,
    ReasoningPart,
    ToolCallPart,
    ToolResultPart,
)

Step = tuple[str, int]
"""What a user or the assistant said, by its id, with the number of tool results after it."""


def before_run(messages: Sequence[Message], run_id: RunId) -> list[Message]:
    """Return what was said before a run, one whole run after the other.

    A message sent while a run was busy stands in the record before that run's answer; here it
    comes after it. Runs that come later are left out. Of the oldest run, `messages` may hold
    the end alone.
    """
    runs: dict[RunId, list[Message]] = {}
    for message in messages:
        runs.setdefault(message.run_id, []).append(message)
    earlier = list(takewhile(lambda run: run != run_id, runs))
    return [message for run in earlier for message in runs[run]]


def from_first_question(messages: Sequence[Message]) -> list[Message]:
    """Return the messages without the end of a run whose beginning is not among them."""
    return list(dropwhile(lambda message: message.role != "user", messages))


def fits(desk: Sequence[BaseMessage], tail: Sequence[Message], *, whole: bool) -> bool:
    """Tell whether the desk's history ends as the record does.

    Args:
        desk: The working state.
        tail: The newest messages of the record, from `before_run`.
        whole: Whether `tail` is all there is.
    """
    kept, recorded = _steps(desk), _steps_of_record(tail)
    if not kept or not recorded or (whole and len(kept) > len(recorded)):
        return whole and kept == recorded
    compared = min(len(kept), len(recorded))
    return kept[len(kept) - compared :] == recorded[len(recorded) - compared :]


def to_history(messages: Sequence[Message]) -> list[BaseMessage]:
    """Return the record's messages as LangChain's, with the same ids; wordless ones are left out.

    A partial text is kept as what it is: something the user has seen. Results stand behind
    their calls, whenever they came.
    """
    results = {
        (message.run_id, part.call_id): part
        for message in messages
        for part in message.parts
        if isinstance(part, ToolResultPart)
    }
    history: list[BaseMessage] = []
    for message in messages:
        if message.role == "user":
            history.append(question(message))
        elif _says_something(message):
            history.append(_answer(message))
            found = (results.get((message.run_id, call.call_id)) for call in _calls(message))
            history += [_result(part) for part in found if part is not None]
    return history


def question(message: Message) -> HumanMessage:
    """Return a user's message, its attachments named below the text."""
    attached = (part for part in message.parts if isinstance(part, AttachmentPart))
    lines = (f"[attached: {part.name}, {part.media_type}, {part.size} bytes]" for part in attached)
    return HumanMessage("\n".join((message.text, *lines)), id=message.id)


def _steps(desk: Sequence[BaseMessage]) -> list[Step]:
    steps: list[Step] = []
    for message in desk:
        if not isinstance(message, ToolMessage):
            steps.append((message.id or "", 0))
        elif steps:
            steps[-1] = (steps[-1][0], steps[-1][1] + 1)
    return steps


def _steps_of_record(messages: Sequence[Message]) -> list[Step]:
    """Return the steps the record calls for: every call has a result, be it a mended one."""
    return [
        (message.id, len(_calls(message)))
        for message in messages
        if message.role == "user" or _says_something(message)
    ]


def _calls(message: Message) -> list[ToolCallPart]:
    return [part for part in message.parts if isinstance(part, ToolCallPart)]


def _says_something(message: Message) -> bool:
    return message.role == "assistant" and bool(message.text.strip() or _calls(message))


def _answer(message: Message) -> AIMessage:
    thought = "".join(part.text for part in message.parts if isinstance(part, ReasoningPart))
    return AIMessage(
        content=message.text,
        id=message.id,
        tool_calls=[
            ToolCall(name=part.name, args=dict(part.arguments), id=part.call_id, type="tool_call")
            for part in _calls(message)
        ],
        additional_kwargs={REASONING: thought} if thought else {},
    )


def _result(part: ToolResultPart) -> ToolMessage:
    return ToolMessage(
        part.output if part.output.strip() else NO_OUTPUT,
        tool_call_id=part.call_id,
        status="error" if part.is_error else "success",
    )
