"""Identifiers: opaque strings with a type of their own, sortable by the time of their making."""

import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NewType

ThreadId = NewType("ThreadId", str)
RunId = NewType("RunId", str)
MessageId = NewType("MessageId", str)
CallId = NewType("CallId", str)
UserId = NewType("UserId", str)
UploadId = NewType("UploadId", str)

OWNER = UserId("owner")
"""The one person whose machine this is."""

Clock = Callable[[], datetime]
"""Returns the present moment, aware, in UTC. Injected wherever time matters."""

NewId = Callable[[str], str]
"""Takes a prefix such as ``"thr"`` and returns a fresh id. Injected wherever ids are made."""


def utc_now() -> datetime:
    """Return the present moment in UTC, cut to milliseconds as the wire shows it."""
    now = datetime.now(UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


def new_id(prefix: str) -> str:
    """Return ``<prefix>_<11 hex digits of time in ms><12 random hex digits>``."""
    return f"{prefix}_{time.time_ns() // 1_000_000:011x}{secrets.token_hex(6)}"
