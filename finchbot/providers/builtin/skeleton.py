"""The bare bones of a message: one spelling, quotations lifted out, tied to the source.

The rules read `Skeleton.text`; what they cut out is taken from the source, letter by letter.
Work is bounded: beyond `HEAD_CHARS` characters and quotations the rest is one `TAIL`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from finchbot.providers.builtin.script import simplify

FENCE, QUOTE, URL, TAIL = "\ue000", "\ue001", "\ue002", "\ue003"
"""Stand for a fenced block, a quotation, a web address, and the rest of a long message."""

HEAD_CHARS = 2000
"""Longer than any way of asking; a file's content goes on beyond it."""

_PAIRS = {"“": "”", "「": "」", "『": "』", "《": "》", "‘": "’", '"': '"', "«": "»"}
_FENCE = re.compile(r"(`{3,}|~{3,})")
_INFO = re.compile(r"[^\n`]{0,100}\n")
_URL = re.compile(r"(?:https?://|www\.)[^\s<>\"'“”「」，。；）)]{1,2000}", re.IGNORECASE)
_DOMAIN = re.compile(
    r"(?:[a-z0-9-]{1,63}\.){1,5}(?:com|org|net|edu|gov|io|cn|hk|tw)(?:/[^\s，。“”「」]{0,2000})?(?![\w.])",
    re.IGNORECASE,
)
_URL_END = ".,;:!?、…"
_INVISIBLE = frozenset("\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u202a\u202b\u202c\u202d\u202e")
_PUNCTUATION = {"。": ".", "、": ",", "…": ".", "—": "-", "–": "-", "’": "'", "·": "."}


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of the source that stands as one character of the skeleton."""

    start: int
    end: int
    inner_start: int
    inner_end: int
    """What is inside the quotation marks or the fence."""


@dataclass(frozen=True, slots=True)
class Skeleton:
    """A message as the rules see it."""

    source: str
    text: str
    spans: tuple[Span, ...]
    """One per character of `text`."""

    def words(self, start: int, end: int) -> str:
        """Return what the user wrote at `text[start:end]`, marks and all."""
        if start >= end:
            return ""
        return self.source[self.spans[start].start : self.spans[end - 1].end]

    def value(self, start: int, end: int) -> str:
        """Return the same, or only what is inside when it is one quotation or one block."""
        bare = self.text[start:end].strip(" \n.,!?~")
        if bare in (FENCE, QUOTE):
            span = self.spans[self.text.index(bare, start)]
            return self.source[span.inner_start : span.inner_end]
        return self.words(start, end).strip()

    def block(self, start: int, end: int) -> str:
        """Return a text of several lines: like `value`, but its first line keeps its indent."""
        value = self.value(start, end)
        if start >= end or self.text[start:end].strip() in (FENCE, QUOTE):
            return value
        first = self.spans[start].start
        line = self.source[self.source.rfind("\n", 0, first) + 1 : first]
        return f"{line}{value}" if line.isspace() else value

    def with_words(self, replacements: dict[str, str]) -> "Skeleton":
        """Return a skeleton in which whole Latin words are respelled; the source stays."""
        text: list[str] = []
        spans: list[Span] = []
        end = 0
        for found in re.finditer(r"[a-z]+", self.text):
            better = replacements.get(found[0])
            if better is None:
                continue
            text.append(self.text[end : found.start()])
            spans.extend(self.spans[end : found.start()])
            first, last = self.spans[found.start()], self.spans[found.end() - 1]
            whole = Span(first.start, last.end, first.start, last.end)
            text.append(better)
            spans.extend([whole] * len(better))
            end = found.end()
        text.append(self.text[end:])
        spans.extend(self.spans[end:])
        return Skeleton(self.source, "".join(text), tuple(spans))


@dataclass(slots=True)
class _Scan:
    source: str
    unpaired: set[str] = field(default_factory=set)
    """Marks that are known to have no partner any more, so that each is looked for once."""


def skeleton_of(source: str) -> Skeleton:
    """Return the skeleton of a message of any length, in time linear in its length."""
    text: list[str] = []
    spans: list[Span] = []
    for mark, span in _pieces(source):
        if mark == " " and (not text or text[-1] in " \n"):
            continue
        if mark == "\n" and text and text[-1] == " ":
            text[-1], spans[-1] = mark, span
            continue
        text.append(mark)
        spans.append(span)
    return Skeleton(source, "".join(text), tuple(spans))


def _pieces(source: str) -> Iterator[tuple[str, Span]]:
    scan = _Scan(source)
    at = seen = 0
    while at < len(source):
        if seen >= HEAD_CHARS:
            yield TAIL, Span(at, len(source), at, len(source))
            return
        lifted = _lift(scan, at)
        if lifted:
            yield lifted
            at = lifted[1].end
        else:
            character = _fold(source[at])
            if character:
                yield character, Span(at, at + 1, at, at + 1)
            at += 1
        seen += 1


def _lift(scan: _Scan, at: int) -> tuple[str, Span] | None:
    character = scan.source[at]
    if character in "`~":
        return _fenced(scan, at) or _backticked(scan, at)
    if character in _PAIRS:
        return _quoted(scan, at, _PAIRS[character])
    if character == "'":
        return _apostrophes(scan, at)
    if character.isascii() and character.isalnum():
        return _address(scan.source, at)
    return None


def _fenced(scan: _Scan, at: int) -> tuple[str, Span] | None:
    opening = _FENCE.match(scan.source, at)
    if not opening:
        return None
    marks = opening[0]
    info = _INFO.match(scan.source, opening.end())
    inner = info.end() if info else opening.end()
    closing = scan.source.find("\n" + marks, max(inner - 1, 0)) if info else -1
    if closing >= 0:
        end = closing + 1 + len(marks)
        return FENCE, Span(at, end, inner, closing + 1)
    closing = scan.source.find(marks, inner)
    if closing >= 0:
        return FENCE, Span(at, closing + len(marks), inner, closing)
    return FENCE, Span(at, len(scan.source), inner, len(scan.source))


def _backticked(scan: _Scan, at: int) -> tuple[str, Span] | None:
    if scan.source[at] != "`":
        return None
    return _within_line(scan, at, "`")


def _quoted(scan: _Scan, at: int, partner: str) -> tuple[str, Span] | None:
    if partner in scan.unpaired:
        return None
    closing = scan.source.find(partner, at + 1)
    if closing < 0:
        scan.unpaired.add(partner)
        return None
    if closing == at + 1:
        return None
    return QUOTE, Span(at, closing + 1, at + 1, closing)


def _within_line(scan: _Scan, at: int, mark: str) -> tuple[str, Span] | None:
    line_end = scan.source.find("\n", at)
    line_end = len(scan.source) if line_end < 0 else line_end
    closing = scan.source.find(mark, at + 1, min(line_end, at + HEAD_CHARS))
    return (QUOTE, Span(at, closing + 1, at + 1, closing)) if closing > at + 1 else None


def _apostrophes(scan: _Scan, at: int) -> tuple[str, Span] | None:
    """Lift ``'so and so'``, but take no apostrophe inside a word for a mark."""
    source = scan.source
    if at and source[at - 1].isascii() and source[at - 1].isalnum():
        return None
    limit = min(len(source), at + HEAD_CHARS)
    closing = at
    for _ in range(20):
        closing = source.find("'", closing + 1, limit)
        if closing < 0 or "\n" in source[at:closing]:
            return None
        after = source[closing + 1 : closing + 2]
        if closing > at + 1 and not (after.isascii() and after.isalnum()):
            return QUOTE, Span(at, closing + 1, at + 1, closing)
    return None


def _address(source: str, at: int) -> tuple[str, Span] | None:
    if at and (
        (source[at - 1].isalnum() and source[at - 1].isascii()) or source[at - 1] in "./\\@_-"
    ):
        return None
    found = _URL.match(source, at) or _DOMAIN.match(source, at)
    if not found:
        return None
    end = found.end()
    while source[end - 1] in _URL_END:
        end -= 1
    return URL, Span(at, end, at, end)


def _fold(character: str) -> str:
    """Return one character in the rules' spelling, or nothing when it cannot be seen."""
    if character in _INVISIBLE:
        return ""
    if character == "\n":
        return "\n"
    if character.isspace():
        return " "
    if "\uff01" <= character <= "\uff5e":
        character = chr(ord(character) - 0xFEE0)
    if "\ue000" <= character <= "\uf8ff" or not character.isprintable():
        return "\ufffd"
    lower = character.lower()
    character = lower if len(lower) == 1 else character
    return simplify(_PUNCTUATION.get(character, character))
