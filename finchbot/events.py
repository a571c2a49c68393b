"""RunEvent: everything a surface is told, one discriminated union; the spine of the program.

Laws, held by property tests: per run only `MessageReceived` and `RunQueued` come before
`RunStarted`; exactly one terminal event comes last; the deltas of a message after its last
retraction, when there are any, concatenate to its `MessageCompleted`, text and reasoning alike;
every `ToolCallStarted` has one
`ToolCallFinished` before the run ends; dropping deltas never changes the final view.
"""

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue, TypeAdapter
from pydantic_core import PydanticSerializationError

from finchbot.ids import CallId, MessageId, RunId, ThreadId
from finchbot.messages import Message, Timestamp, Wire

UNSTAMPED = datetime.fromtimestamp(0, UTC)
LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class ErrorInfo(Wire):
    """What went wrong, with a sentence in the reader's language."""

    code: str
    detail: str
    params: dict[str, JsonValue] = Field(default_factory=dict)


class Usage(Wire):
    """What a run cost; counts of tokens, times in ms."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    ttft_ms: int | None = None
    """From run.started to the first shown token; None when nothing was streamed."""
    duration_ms: int = 0


class ThreadEvent(Wire):
    """Base of every event. `MessageBus.publish` stamps `seq` (from 1) and `at`."""

    thread_id: ThreadId
    seq: int = 0
    at: Timestamp = UNSTAMPED


class InRun(ThreadEvent):
    """Base of the events of a run."""

    run_id: RunId


class MessageReceived(InRun):
    """A user's message was taken in; other tabs show it."""

    type: Literal["message.received"] = "message.received"
    message: Message


class RunQueued(InRun):
    """Another run goes first."""

    type: Literal["run.queued"] = "run.queued"
    position: int = Field(ge=1)


class RunStarted(InRun):
    """The run is under way with this `provider/model`."""

    type: Literal["run.started"] = "run.started"
    model: str


class MemoryRecalled(InRun):
    """Memories were found for this turn."""

    type: Literal["memory.recalled"] = "memory.recalled"
    hits: tuple[dict[str, JsonValue], ...]


class HistoryRepaired(InRun):
    """A broken history was mended before the model saw it."""

    type: Literal["history.repaired"] = "history.repaired"
    changes: tuple[str, ...]
    """Codes such as ``result_added``, ``result_dropped``, ``empty_dropped``."""


class ContextCompacted(InRun):
    """Older turns left the model's view to make room."""

    type: Literal["context.compacted"] = "context.compacted"
    before_tokens: int
    after_tokens: int


class ModelFallback(InRun):
    """Another model answers."""

    type: Literal["model.fallback"] = "model.fallback"
    from_: str = Field(alias="from")
    to: str
    code: str


class ReasoningDelta(InRun):
    """The model thinks."""

    type: Literal["reasoning.delta"] = "reasoning.delta"
    message_id: MessageId
    text: str


class TextDelta(InRun):
    """The model speaks."""

    type: Literal["text.delta"] = "text.delta"
    message_id: MessageId
    text: str


class TextRetracted(InRun):
    """What streamed so far of this message was reasoning; views drop all of it.

    The reasoning is told again, whole, by `ReasoningDelta`s that follow.
    """

    type: Literal["text.retracted"] = "text.retracted"
    message_id: MessageId


class MessageCompleted(InRun):
    """An assistant message is whole, or `partial` when the run ended early."""

    type: Literal["message.completed"] = "message.completed"
    message_id: MessageId
    text: str
    reasoning: str = ""
    partial: bool = False


class ToolCallStarted(InRun):
    """A tool is called; comes after the `MessageCompleted` of the message that asked."""

    type: Literal["tool_call.started"] = "tool_call.started"
    call_id: CallId
    name: str
    arguments: dict[str, JsonValue]


class ToolCallOutput(InRun):
    """A tool says something while it runs."""

    type: Literal["tool_call.output"] = "tool_call.output"
    call_id: CallId
    text: str


class ToolCallFinished(InRun):
    """A tool answered, failed, or was ended."""

    type: Literal["tool_call.finished"] = "tool_call.finished"
    call_id: CallId
    output: str
    is_error: bool
    elapsed_s: float
    diff: str | None = None
    """A unified diff of the file it changed."""


class ApprovalRequested(InRun):
    """A person must decide."""

    type: Literal["approval.requested"] = "approval.requested"
    call_id: CallId
    name: str
    arguments: dict[str, JsonValue]
    reason: str
    expires_at: Timestamp


Decision = Literal["once", "thread", "always", "deny", "expired"]


class ApprovalResolved(InRun):
    """A person decided, or time ran out."""

    type: Literal["approval.resolved"] = "approval.resolved"
    call_id: CallId
    decision: Decision


class RunFinished(InRun):
    """The answer is complete."""

    type: Literal["run.finished"] = "run.finished"
    usage: Usage


class RunCancelled(InRun):
    """Somebody pressed stop."""

    type: Literal["run.cancelled"] = "run.cancelled"


class RunInterrupted(InRun):
    """The program ended under the run."""

    type: Literal["run.interrupted"] = "run.interrupted"
    reason: Literal["crash", "shutdown"]


class RunFailed(InRun):
    """Something went wrong; `error` says what and what to do."""

    type: Literal["run.failed"] = "run.failed"
    error: ErrorInfo


class ThreadTitled(ThreadEvent):
    """The thread has a new title."""

    type: Literal["thread.titled"] = "thread.titled"
    title: str
    source: str


class ThreadUpdated(ThreadEvent):
    """Other fields of the thread changed."""

    type: Literal["thread.updated"] = "thread.updated"
    fields: dict[str, JsonValue]


class ThreadDeleted(ThreadEvent):
    """The thread is gone."""

    type: Literal["thread.deleted"] = "thread.deleted"


Delta = ReasoningDelta | TextDelta
Terminal = RunFinished | RunCancelled | RunInterrupted | RunFailed
RunEvent = Annotated[
    MessageReceived
    | RunQueued
    | RunStarted
    | MemoryRecalled
    | HistoryRepaired
    | ContextCompacted
    | ModelFallback
    | ReasoningDelta
    | TextDelta
    | TextRetracted
    | MessageCompleted
    | ToolCallStarted
    | ToolCallOutput
    | ToolCallFinished
    | ApprovalRequested
    | ApprovalResolved
    | RunFinished
    | RunCancelled
    | RunInterrupted
    | RunFailed
    | ThreadTitled
    | ThreadUpdated
    | ThreadDeleted,
    Field(discriminator="type"),
]

event_adapter: TypeAdapter[RunEvent] = TypeAdapter(RunEvent)
"""Reads any event from JSON; write one with `event.model_dump_json()`."""


def sound_text(text: str) -> str:
    """Return `text` with every lone surrogate, which UTF-8 cannot hold, as U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return LONE_SURROGATE.sub("\ufffd", text)
    return text


def canonical(event: RunEvent) -> RunEvent:
    """Return the event as every reader of its JSON will see it.

    What JSON cannot hold is mended as JSON shows it: lone surrogates become U+FFFD, NaN and
    the infinities null, times are cut to milliseconds.
    """
    if isinstance(event, TextDelta | ReasoningDelta):
        text = sound_text(event.text)
        return event if text is event.text else event.model_copy(update={"text": text})
    try:
        wire = event.model_dump_json()
    except PydanticSerializationError:
        wire = event_adapter.validate_python(_sound(event.model_dump())).model_dump_json()
    return event_adapter.validate_json(wire)


def _sound(value: Any) -> Any:
    if isinstance(value, str):
        return sound_text(value)
    if isinstance(value, dict):
        return {_sound(key): _sound(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_sound(item) for item in value]
    return value
