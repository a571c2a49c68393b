"""Splits a model's words from its thoughts while they stream (pure).

Models write thoughts between ``<think>`` tags (also ``<thinking>``, ``<thought>``); a tag may
be split over chunks, may never be closed, and the opening one may stand in the model's own
template, so that only a lone closing tag arrives. Tags shown as code stay what they are.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

NAMES = ("think", "thinking", "thought")
TAG = re.compile(rf"<(/?)(?:{'|'.join(NAMES)})>", re.IGNORECASE)
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
PREFIXES = frozenset(
    tag[:end] for name in NAMES for tag in (f"<{name}>", f"</{name}>") for end in range(1, len(tag))
)
HEAD = 16
"""So many characters of a line tell whether it opens or closes a fence."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some words or some thoughts; ``retract`` says that all words so far were thoughts."""

    kind: Literal["text", "reasoning", "retract"]
    text: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """What a message says, and what was thought before."""

    text: str
    reasoning: str


class ThoughtSplitter:
    """Takes the chunks of one message and gives its pieces, whatever the chunks' borders.

    Space before a thought, and between a thought and the words after it, is nobody's.
    """

    def __init__(self) -> None:
        self._held = ""
        self._thinking = False
        self._thought = False
        self._fresh = True
        self._space = ""
        self._spoken = False
        self._code = _CodeSpans()

    def feed(self, chunk: str) -> list[Piece]:
        """Return the pieces that are certain now; what may yet become a tag is held back."""
        buffer = self._held + chunk
        if "<" not in buffer:
            return self._say(buffer)
        pieces: list[Piece] = []
        at = 0
        for match in TAG.finditer(buffer):
            pieces += self._say(buffer[at : match.start()])
            pieces += self._meet(match)
            at = match.end()
        end = _start_of_partial_tag(buffer, at)
        self._held = buffer[end:]
        return _joined([*pieces, *self._say(buffer[at:end])])

    def finish(self) -> list[Piece]:
        """Return what was held back; the message is over."""
        held, self._held = self._held, ""
        return self._say(held)

    def _meet(self, match: re.Match[str]) -> list[Piece]:
        closing = bool(match[1])
        if self._code.inside or (self._thinking and not closing):
            return self._say(match[0])
        lone = closing and not self._thinking and self._spoken
        self._thinking = not closing
        self._thought = self._fresh = True
        self._spoken = self._spoken and not lone
        self._space = ""
        self._code = _CodeSpans()
        return [Piece("retract")] if lone else []

    def _say(self, text: str) -> list[Piece]:
        if not self._thinking:
            self._code.read(text)
        if self._fresh:
            text = self._space + text
            words = text.lstrip()
            self._space = "" if words else text
            self._fresh = not words
            text = words if self._thought or not words else text
        if not text:
            return []
        self._spoken = self._spoken or not self._thinking
        return [Piece("reasoning" if self._thinking else "text", text)]


def split(text: str) -> Said:
    """Return the words and the thoughts of a whole text."""
    splitter = ThoughtSplitter()
    return gathered([*splitter.feed(text), *splitter.finish()])


def gathered(pieces: Iterable[Piece]) -> Said:
    """Return what all pieces of a message say together."""
    said = Said("", "")
    for piece in pieces:
        match piece.kind:
            case "text":
                said = Said(said.text + piece.text, said.reasoning)
            case "reasoning":
                said = Said(said.text, said.reasoning + piece.text)
            case "retract":
                said = Said("", said.reasoning + said.text)
    return said


class _CodeSpans:
    """Knows whether the next character stands in a code fence or in code within a line."""

    def __init__(self) -> None:
        self._fence = ""
        self._head = ""
        self._runs = 0
        self._tick = False

    @property
    def inside(self) -> bool:
        return bool(self._fence) or self._runs % 2 == 1 or FENCE.match(self._head) is not None

    def read(self, text: str) -> None:
        first, *others = text.split("\n")
        self._read_in_line(first)
        for line in others:
            self._end_line()
            self._read_in_line(line)

    def _read_in_line(self, text: str) -> None:
        if len(self._head) < HEAD:
            self._head = (self._head + text)[:HEAD]
        if "`" in text or self._tick:
            for character in text:
                tick = character == "`"
                self._runs += tick and not self._tick
                self._tick = tick

    def _end_line(self) -> None:
        marker = FENCE.match(self._head)
        if marker and not self._fence:
            self._fence = marker[1]
        elif marker and marker[1].startswith(self._fence):
            self._fence = ""
        self._head, self._runs, self._tick = "", 0, False


def _start_of_partial_tag(text: str, at: int) -> int:
    start = text.rfind("<", at)
    return start if start >= 0 and text[start:].lower() in PREFIXES else len(text)


def _joined(pieces: list[Piece]) -> list[Piece]:
    return [
        Piece(kind, "".join(piece.text for piece in group))
        for kind, group in groupby(pieces, key=lambda piece: piece.kind)
    ]
