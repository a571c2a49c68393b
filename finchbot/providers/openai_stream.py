"""Reading a streamed answer of the OpenAI protocol: pure, and lenient towards servers."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from finchbot.messages import WIDEST
from finchbot.providers.openai_calls import CallBuilder, ToolCall, mapping, objects, word

Json = Mapping[str, Any]


MAX_WHOLE_BYTES = 4_000_000
"""How long one event may be, or an answer that is not streamed, against what was asked for."""


class BadStream(ValueError):
    """The server sent something that is no event of this protocol."""


class StreamRefused(Exception):
    """The server reported an error inside its stream; `error` is what it said."""

    def __init__(self, error: object) -> None:
        self.error = error
        super().__init__("the stream carries an error")


@dataclass(frozen=True, slots=True)
class Piece:
    """What one or more events said, at its ends perhaps half a character."""

    text: str = ""
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """What an answer cost, in tokens."""

    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0


class EventLines:
    """Cuts a byte stream into the data of its server-sent events.

    Every field but ``data:`` is skipped, comments that keep the line alive included.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._other = b""
        self._seen = False
        self.done = False
        """Whether ``[DONE]`` came."""

    def feed(self, block: bytes) -> list[Json]:
        """Return the events that `block` completes.

        Raises:
            BadStream: Data that is no JSON object, or a line without an end.
            StreamRefused: The data of an error.
        """
        *lines, self._rest = (self._rest + block).split(b"\n")
        if len(self._rest) > MAX_WHOLE_BYTES:
            raise BadStream("a line is too long")
        return [event for line in lines for event in self._read(line)]

    def finish(self) -> list[Json]:
        """Return what is left when the bytes end: an unfinished line, or an unstreamed answer."""
        rest, self._rest = self._rest, b""
        events = list(self._read(rest))
        if self._seen or not self._other.startswith(b"{"):
            return events
        return [_object(self._other)]

    def _read(self, line: bytes) -> Iterable[Json]:
        if self.done:
            return
        if not line.startswith(b"data:"):
            if not self._seen and len(self._other) < MAX_WHOLE_BYTES:
                self._other += line
            return
        data = line[5:].strip()
        if data == b"[DONE]":
            self.done = True
        elif data:
            self._seen = True
            yield _object(data)


@dataclass(slots=True)
class Answer:
    """An answer as it grows."""

    finish_reason: str | None = None
    model: str | None = None
    counts: TokenCounts | None = None
    calls: CallBuilder = field(default_factory=CallBuilder)

    def feed(self, events: Iterable[Json]) -> Piece:
        """Take events in and return what they say together."""
        text: list[str] = []
        reasoning: list[str] = []
        for event in events:
            self._note(event)
            for choice in objects(event.get("choices")):
                said = mapping(choice.get("delta") or choice.get("message"))
                _collect(said, text, reasoning)
                self.calls.feed(objects(said.get("tool_calls")))
                self.finish_reason = word(choice.get("finish_reason")) or self.finish_reason
        return Piece("".join(text), "".join(reasoning))

    def tool_calls(self, taken: Iterable[str], new_id: Callable[[], str]) -> list[ToolCall]:
        """Return the whole calls; see `CallBuilder.build`."""
        return self.calls.build(taken, new_id)

    def _note(self, event: Json) -> None:
        self.model = word(event.get("model")) or self.model
        usage = mapping(event.get("usage") or mapping(event.get("x_groq")).get("usage"))
        if usage:
            self.counts = read_usage(usage)


def read_usage(usage: Json) -> TokenCounts:
    """Return token counts, cached ones included, from any of the spellings in use."""
    prompt = mapping(usage.get("prompt_tokens_details"))
    completion = mapping(usage.get("completion_tokens_details"))
    cached = (
        prompt.get("cached_tokens")
        or usage.get("prompt_cache_hit_tokens")
        or usage.get("cached_tokens")
    )
    return TokenCounts(
        input=_count(usage.get("prompt_tokens")),
        output=_count(usage.get("completion_tokens")),
        cached=_count(cached),
        reasoning=_count(completion.get("reasoning_tokens")),
    )


def _collect(said: Json, text: list[str], reasoning: list[str]) -> None:
    thought = said.get("reasoning_content") or said.get("reasoning")
    if isinstance(thought, str):
        reasoning.append(thought)
    content = said.get("content") or said.get("refusal")
    if isinstance(content, str):
        text.append(content)
    elif isinstance(content, list):
        for block in content:
            _collect_block(block, text, reasoning)


def _collect_block(block: Any, text: list[str], reasoning: list[str]) -> None:
    """Sort one content block; kinds that say nothing in words are left out."""
    match block:
        case str():
            text.append(block)
        case {"type": "thinking" | "reasoning"}:
            thought = block.get("thinking") or block.get("text") or ""
            parts = thought if isinstance(thought, list) else [thought]
            for part in parts:
                _collect_block(part, reasoning, reasoning)
        case {"text": str(said)}:
            text.append(said)
        case _:
            return


def _count(value: object) -> int:
    return value if isinstance(value, int) and 0 < value < WIDEST else 0


def _object(data: bytes) -> Json:
    try:
        event = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadStream("an event is no JSON") from error
    if not isinstance(event, dict):
        raise BadStream("an event is no JSON object")
    if event.get("error"):
        raise StreamRefused(event["error"])
    return event
