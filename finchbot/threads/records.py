"""What is kept about a thread and a run, as the wire shows them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Generic, Literal, TypeVar

from pydantic import JsonValue

from finchbot.events import Usage
from finchbot.ids import MessageId, RunId, ThreadId, UserId
from finchbot.messages import Timestamp, Wire
from finchbot.run_view import RunStatus

ItemT = TypeVar("ItemT")

TitleSource = Literal["none", "first_message", "model", "tool", "user"]
"""Where a title came from; what `user` or `tool` set is never overwritten by the others."""


class Thread(Wire):
    """One thread: a conversation with its place in the list."""

    id: ThreadId
    user_id: UserId
    title: str
    """Empty until the first message gives one."""
    title_source: TitleSource
    channel: str
    created_at: Timestamp
    last_active_at: Timestamp
    message_count: int
    turn_count: int
    pinned: bool = False
    archived: bool = False
    running: bool = False
    """Whether a run of it is queued, running or waiting."""


def empty_thread(
    thread_id: ThreadId,
    user_id: UserId,
    *,
    channel: str,
    now: datetime,
    title: str = "",
    title_source: TitleSource = "none",
) -> Thread:
    """Return a thread that begins now."""
    return Thread(
        id=thread_id,
        user_id=user_id,
        title=title,
        title_source=title_source,
        channel=channel,
        created_at=now,
        last_active_at=now,
        message_count=0,
        turn_count=0,
    )


class Run(Wire):
    """One turn of a thread."""

    id: RunId
    thread_id: ThreadId
    message_id: MessageId
    """The user's message it answers."""
    status: RunStatus
    model: str | None = None
    usage: Usage | None = None
    error: dict[str, JsonValue] | None = None
    created_at: Timestamp
    ended_at: Timestamp | None = None


class Page(Wire, Generic[ItemT]):
    """One page of a list; `next` is the cursor of the one after it."""

    items: tuple[ItemT, ...]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class KnownMessage:
    """A message that was taken in earlier."""

    thread_id: ThreadId
    run_id: RunId
    message_id: MessageId
    seq: int
    """Of its `message.received`."""
    queued: bool
    """Whether another run of the thread goes first."""
