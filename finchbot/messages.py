"""Messages and their parts, and what surfaces send and receive (shapes of the wire)."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, PlainSerializer

from finchbot.ids import CallId, MessageId, RunId, ThreadId, UploadId, UserId

INVALID_ARGUMENTS = "__invalid_arguments__"
"""The one key of the arguments of a call whose own were no usable object; its value is their
text. The history stays valid that way, and the tool answers with an error."""

DEEPEST = 64
"""Levels of a JSON value that is kept; readers of JSON give up at a few hundred."""
WIDEST = 2**63
"""Whole numbers beyond it are nothing that a database or another language reads back."""


def rfc3339(moment: datetime) -> str:
    """Return RFC 3339 in UTC with milliseconds and ``Z``, the wire's one form of time."""
    utc = moment.astimezone(UTC)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03d}Z"


Timestamp = Annotated[datetime, PlainSerializer(rfc3339, return_type=str, when_used="json")]


class Wire(BaseModel):
    """Base of all that crosses the wire: frozen, unknown fields refused."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", validate_by_name=True, serialize_by_alias=True
    )


def is_plain(value: Any, levels: int = DEEPEST) -> bool:
    """Tell whether every layer can keep a JSON value: not too deep, no number too wide."""
    match value:
        case dict():
            return levels > 0 and all(is_plain(item, levels - 1) for item in value.values())
        case list():
            return levels > 0 and all(is_plain(item, levels - 1) for item in value)
        case int():
            return -WIDEST <= value < WIDEST
        case _:
            return True


class TextPart(Wire):
    """What is said."""

    type: Literal["text"] = "text"
    text: str


class ReasoningPart(Wire):
    """What the model thought before it spoke."""

    type: Literal["reasoning"] = "reasoning"
    text: str


class ToolCallPart(Wire):
    """The model asks for a tool; `arguments` is always an object."""

    type: Literal["tool_call"] = "tool_call"
    call_id: CallId
    name: str
    arguments: dict[str, JsonValue]


class ToolResultPart(Wire):
    """What the tool answered."""

    type: Literal["tool_result"] = "tool_result"
    call_id: CallId
    output: str
    is_error: bool = False


class AttachmentPart(Wire):
    """A file the user sent along."""

    type: Literal["attachment"] = "attachment"
    upload_id: UploadId
    name: str
    media_type: str
    size: int = Field(ge=0)
    """Bytes."""


Part = Annotated[
    TextPart | ReasoningPart | ToolCallPart | ToolResultPart | AttachmentPart,
    Field(discriminator="type"),
]
Role = Literal["user", "assistant", "tool"]


class Message(Wire):
    """One entry of a thread's transcript."""

    id: MessageId
    role: Role
    parts: tuple[Part, ...]
    run_id: RunId
    created_at: Timestamp
    partial: bool = False
    """Whether the run ended before the message did."""

    @property
    def text(self) -> str:
        """All text parts, joined by a line break."""
        return "\n".join(part.text for part in self.parts if isinstance(part, TextPart))


class ReplyAddress(Wire):
    """Where an answer goes on a platform."""

    channel: str
    account: str
    chat: str
    message: str | None = None


class InboundMessage(Wire):
    """What a surface hands to the bot."""

    user_id: UserId
    text: str
    thread_id: ThreadId | None = None
    """None starts a new thread."""
    attachments: tuple[AttachmentPart, ...] = ()
    channel: str = "chat"
    """The surface it came from: chat, terminal, api, ws, or a channel's name."""
    sender: str | None = None
    reply_to: ReplyAddress | None = None
    received_at: Timestamp | None = None
    client_id: str | None = None
    """The caller's own id of the message; the same again within 24 h is the same message."""
    language: str | None = None
    """BCP 47 tag for sentences the program itself says, such as an error."""


class OutboundMessage(Wire):
    """One part of an answer, ready for a channel to send."""

    target: ReplyAddress
    text: str
    attachments: tuple[AttachmentPart, ...] = ()
    part_number: int = Field(ge=1)
    idempotency_key: str


class Accepted(Wire):
    """The bot took the message; its run is queued or under way."""

    thread_id: ThreadId
    run_id: RunId
    message_id: MessageId
    seq: int
    """Of the message's ``message.received``; subscribe with ``after_seq=seq - 1`` to see all."""
    queued: bool
    """Whether another run of the thread goes first."""
    repeated: bool = False
    """Whether this client_id had been taken before; nothing new was started."""
