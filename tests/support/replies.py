"""What a scripted model does: a reply is a list of steps, played in order."""

import asyncio
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self


class Gate:
    """A place in a reply where the model stops until the test lets it go on."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reached = threading.Event()
        self._open = False
        self._standing: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    def open(self) -> None:
        """Let every reply that stands here, or comes here, go on."""
        with self._lock:
            self._open = True
            for loop, event in self._standing:
                loop.call_soon_threadsafe(event.set)

    def wait_reached(self, timeout_s: float = 5.0) -> None:
        """Block until a reply stands here."""
        assert self._reached.wait(timeout_s), "the model never came to the gate"

    async def reached(self, timeout_s: float = 5.0) -> None:
        """Return when a reply stands here."""
        await asyncio.to_thread(self.wait_reached, timeout_s)

    async def stand(self) -> None:
        """Wait until it opens; called by the server."""
        event = asyncio.Event()
        place = (asyncio.get_running_loop(), event)
        with self._lock:
            if self._open:
                event.set()
            self._standing.append(place)
        self._reached.set()
        try:
            await event.wait()
        finally:
            with self._lock:
                self._standing.remove(place)


@dataclass(frozen=True, slots=True)
class Say:
    """Text, as one delta per piece."""

    pieces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Think:
    """`reasoning_content`, as one delta per piece."""

    pieces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call; its arguments come in `cuts` chunks."""

    name: str
    arguments: str
    call_id: str | None
    """None leaves the id out, as some servers do."""
    index: int | None = 0
    """None leaves the index out, as some servers do."""
    cuts: int = 3


@dataclass(frozen=True, slots=True)
class Chunk:
    """A chunk of the stream exactly as given, such as one with no choices."""

    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Garbage:
    """Data of an event that is no JSON."""

    data: str


@dataclass(frozen=True, slots=True)
class Wait:
    """Stops at a gate."""

    gate: Gate


@dataclass(frozen=True, slots=True)
class Pause:
    """Takes time."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Drop:
    """The connection breaks here."""


@dataclass(frozen=True, slots=True)
class Hang:
    """Nothing comes any more, and the connection stays open."""


@dataclass(frozen=True, slots=True)
class Refuse:
    """An HTTP error in place of an answer."""

    status: int
    message: str
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


Step = Say | Think | Call | Chunk | Garbage | Wait | Pause | Drop | Hang | Refuse


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the model.

    `finish` None derives the finish reason from the steps; ``token_delay_s`` is the time
    before each delta.
    """

    steps: tuple[Step, ...]
    finish: str | None = None
    usage: Mapping[str, Any] = field(
        default_factory=lambda: {
            "prompt_tokens": 11,
            "completion_tokens": 7,
            "total_tokens": 18,
            "prompt_tokens_details": {"cached_tokens": 3},
        }
    )
    token_delay_s: float = 0.0

    @classmethod
    def of(cls, *steps: Step, **options: Any) -> Self:
        return cls(tuple(steps), **options)


def say(text: str, *, pieces: int | None = None) -> Say:
    """Return text cut into `pieces` deltas of equal length, or after each word."""
    if pieces is None:
        return Say(tuple(_words(text)))
    return Say(tuple(cut(text, pieces)))


def split(*pieces: str) -> Say:
    """Return text cut exactly so, such as a tag over two chunks."""
    return Say(pieces)


def think(text: str) -> Think:
    """Return reasoning, one delta per word."""
    return Think(tuple(_words(text)))


def call(
    name: str,
    arguments: Mapping[str, Any] | str,
    *,
    call_id: str | None = "call_1",
    index: int | None = 0,
    cuts: int = 3,
) -> Call:
    """Return a tool call; arguments given as text go out as they are, broken or not."""
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return Call(name, raw, call_id, index, cuts)


def answer(*steps: Step | str, **options: Any) -> Reply:
    """Return a reply; a plain string is said word by word."""
    return Reply(tuple(say(step) if isinstance(step, str) else step for step in steps), **options)


def empty() -> Reply:
    """Return a reply with nothing in it."""
    return Reply(())


def unauthorized() -> Reply:
    return Reply.of(Refuse(401, "Incorrect API key provided: sk-secret", "invalid_api_key"))


def rate_limited(retry_after_s: float = 7) -> Reply:
    return Reply.of(
        Refuse(
            429, "Rate limit reached", "rate_limit_exceeded", {"Retry-After": str(retry_after_s)}
        )
    )


def context_too_long() -> Reply:
    return Reply.of(
        Refuse(
            400,
            "This model's maximum context length is 8192 tokens. However, your messages "
            "resulted in 9001 tokens.",
            "context_length_exceeded",
        )
    )


def cut(text: str, pieces: int) -> Sequence[str]:
    """Return `text` in at most `pieces` parts that join to it."""
    size = max(1, -(-len(text) // max(1, pieces)))
    return [text[at : at + size] for at in range(0, len(text), size)] or [""]


def _words(text: str) -> Sequence[str]:
    parts = text.split(" ")
    return [part if at == 0 else " " + part for at, part in enumerate(parts)]
