"""What may come in (pure): limits on a message, and the command to stop."""

import unicodedata
from collections.abc import Set
from dataclasses import dataclass
from datetime import datetime, timedelta

from finchbot.errors import InputInvalid, TooLarge
from finchbot.events import sound_text
from finchbot.ids import MessageId, RunId
from finchbot.messages import InboundMessage, Message, Part, TextPart

UNSEEN = {"Cc", "Cf", "Cs", "Zs", "Zl", "Zp"}


@dataclass(frozen=True, slots=True)
class Limits:
    """How much dispatch takes on."""

    text_bytes: int = 1_000_000
    """UTF-8 bytes of one message."""
    waiting: int = 20
    """Messages of one thread that wait for the runs before them."""
    open_runs: int = 1000
    """Runs of all threads, under way or waiting."""
    repeat_after: timedelta = timedelta(hours=24)
    """So long a client id names the same message."""
    stop_grace_s: float = 1.5
    """How long a stopped run may take to end before it is left behind."""


def checked_text(message: InboundMessage, limits: Limits) -> str:
    """Return the text as it is kept: as it came, but for what UTF-8 cannot hold.

    Raises:
        InputInvalid: Nothing of it can be seen, and nothing is attached (``message.empty``).
        TooLarge: Over the limit (``message.too_large``).
    """
    text = sound_text(message.text)
    if len(text.encode()) > limits.text_bytes:
        raise TooLarge("message.too_large", limit=limits.text_bytes)
    if not message.attachments and all(unicodedata.category(char) in UNSEEN for char in text):
        raise InputInvalid("message.empty")
    return text


def user_message(
    message: InboundMessage, text: str, message_id: MessageId, run_id: RunId, now: datetime
) -> Message:
    """Return what came in as it stands in the transcript."""
    spoken: tuple[Part, ...] = (TextPart(text=text),) if text else ()
    return Message(
        id=message_id,
        role="user",
        parts=(*spoken, *message.attachments),
        run_id=run_id,
        created_at=now,
    )


def is_stop(text: str, stop_words: Set[str]) -> bool:
    """Whether the text is a command to stop, in half or full width and either case."""
    return unicodedata.normalize("NFKC", text).strip().casefold() in stop_words
