"""Phrases: a small notation for ways of asking, turned into rules.

Its elements::

    word            that word; ``word!x`` not when x follows
    (a|b c)         one of these; ``(a)?`` at most once, ``(a)*`` up to five times, ``(a)+`` from
                    once to five times
    <slot>          what the user fills in, see `_SLOTS`
    <:>             a colon or a line break that must be there, or a fenced block that follows
    <,>             punctuation that may be there

Between two of them there may be spaces and commas; a line break in a phrase is a space. Every
repetition is bounded, and a skeleton is short, so no message makes matching slow.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from finchbot.providers.builtin.intents import Kind
from finchbot.providers.builtin.skeleton import Skeleton

_CHAR = r"[^\s,;!?\"'<>|:\ue000-\ue003]"
EXTENSION = r"\.(?=[0-9]{0,3}[a-z])[a-z0-9]{1,10}(?![a-z0-9]|\.[a-z0-9])"
_FILE_NAME = rf"(?:{_CHAR}{{1,200}}?{EXTENSION}|(?<!\S){EXTENSION})"
_BARE_NAMES = r"(?:readme|licen[sc]e|makefile|dockerfile|changelog)(?![a-z0-9])"

_SLOTS: Mapping[str, tuple[str, str]] = {
    # spelled: (the slot it fills, what it may be)
    "path": (
        "path",
        rf"\ue001|{_FILE_NAME}|{_CHAR}{{0,200}}/{_CHAR}{{0,200}}|{_BARE_NAMES}",
    ),
    "subject": ("path", rf"\ue001|{_FILE_NAME}"),
    "file": ("path", rf"\ue001|[^\n,:;!?\ue000-\ue003]{{1,200}}?{EXTENSION}"),
    "name": ("path", r"\ue001|[^\n,:;!?\ue000-\ue003]{1,120}?"),
    "folder": ("path", rf"\ue001|{_CHAR}{{1,120}}?"),
    "place": ("path", rf"\ue001|[\x21-\x2b\x2d-\x39\x3c-\x7e]{{1,120}}|{_CHAR}{{1,120}}/"),
    "content": ("content", r".+"),
    "words": ("content", r".+?"),
    "itself": ("content", r".+"),
    "quoted": ("content", r"[\ue000\ue001]"),
    "title": ("title", r"[^\n]+"),
    "text": ("text", r".+"),
    "query": ("query", r".+"),
    "pattern": ("pattern", r".+"),
    "url": ("url", r"\ue002"),
    "command": ("command", r".+"),
    "backticked": ("command", r"[\ue000\ue001]"),
    "description": ("description", r".+"),
}
_OPEN_ENDED = frozenset({"content", "title", "text", "query", "pattern", "command", "description"})
_ELEMENT = re.compile(r"\((?P<group>[^()]*)\)(?P<times>[?*+]?)|<(?P<slot>[\w:,]+)>|(?P<word>\S+)")
_FILE_LIKE = re.compile(rf"{_CHAR}{{1,200}}(?:{EXTENSION}|/)\s*")
_CLOSE_CHARS = 400
"""A request that ends in a fixed word is no longer than this; longer ones are not tried."""

_NOT_A_NAME = re.compile(
    r"(?:that|which|about|with|from|how|where|to|for|and|or|if|is|are|was|i|you|it|in|on|so|because|"
    r"please|online)(?![a-z0-9])|[,.都有是在里]|.*(?:哪些|啥|怎么|如何|什么|吗|了|的)$"
)
_TO_BE_MADE_UP_IN_CHINESE = re.compile(
    r"一(?:首|篇|段|个|份|封|则|种|些|部)|几(?:首|篇|段|个|句)|[两三四五十]\s*(?:首|篇|段|个|条|句)|.*关于"
)
_TO_BE_MADE_UP = re.compile(
    r"(?:an?|some|the|your|all|any|two|three|four|five|ten|every|each|more|something)\s|"
    + _TO_BE_MADE_UP_IN_CHINESE.pattern
)
"""Words that describe a text instead of being it; only a language model could write that."""
_ASKING = re.compile(
    r"请|帮|麻烦|能|可以|可否|我|你|您|想|要|看|读(?!书|后)|打开|显示|查|念(?!书)|把|将|给|唔该|劳|在|往|告诉|展示|输出"
)
"""What stands before a file's name, not in it, when the sentence begins so."""


def _names_something(words: str) -> bool:
    return not _NOT_A_NAME.match(words) and len(words.split()) <= 6


def _starts_a_sentence(words: str) -> bool:
    return not _ASKING.match(words)


def _is_text_itself(words: str) -> bool:
    return not _TO_BE_MADE_UP.match(words) and not _FILE_LIKE.fullmatch(words)


_CHECKS: Mapping[str, Callable[[str], bool]] = {
    "name": _names_something,
    "folder": _names_something,
    "words": _is_text_itself,
    "itself": lambda words: not _TO_BE_MADE_UP_IN_CHINESE.match(words),
    "subject": _starts_a_sentence,
    "title": lambda words: not re.match(r"(?:什么|啥|乜|咩|怎么)", words),
}
"""Slots that could take in anything, and whether the words make sense there."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One way of asking for something."""

    kind: Kind
    pattern: re.Pattern[str]
    fills: Mapping[str, str]
    """Group of the pattern → slot."""
    open_ended: bool
    """Whether the last thing said is free text, which takes in everything to the end."""
    fixed: Mapping[str, str]
    """Slots that this way of asking fills by itself."""

    def match(self, skeleton: Skeleton, start: int, end: int) -> dict[str, str] | None:
        """Return the slots when all of `skeleton.text[start:end]` asks in this way."""
        if not self.open_ended and end - start > _CLOSE_CHARS:
            return None
        found = self.pattern.fullmatch(skeleton.text, start, end)
        if not found:
            return None
        if not all(
            check(found[group] or "") for group, check in _CHECKS.items() if group in self.fills
        ):
            return None
        slots = dict(self.fixed)
        for group, slot in self.fills.items():
            if found[group] is not None:
                read = skeleton.block if slot == "content" else skeleton.value
                slots[slot] = read(*found.span(group))
        return slots


class Phrasebook:
    """Compiles phrases of one language.

    Args:
        words: Name → alternatives, written ``{name}`` inside groups.
        spaced: Whether words are kept apart by spaces (English) or not (Chinese).
    """

    def __init__(self, words: Mapping[str, str], *, spaced: bool) -> None:
        self._words = {name: _flat(alternatives) for name, alternatives in words.items()}
        self._spaced = spaced

    def rule(self, kind: Kind, phrase: str, fixed: Mapping[str, str]) -> Rule:
        """Return the rule of a phrase; `fixed` slots are added to what is said.

        Raises:
            KeyError: The phrase uses a word that is not there.
        """
        elements = list(_ELEMENT.finditer(_flat(phrase).format_map(self._words)))
        fills: dict[str, str] = {}
        parts: list[str] = []
        for element in elements:
            slot = element["slot"]
            if slot in _SLOTS:
                fills[slot], shape = _SLOTS[slot]
                parts.append(rf"(?P<{slot}>{shape})[\s,]*")
            elif slot == ":":
                parts.append(r"(?:[:\n][\s:]*|(?=\ue000))")
            elif slot == ",":
                parts.append(r"[\s,.;:=>-]*")
            else:
                parts.append(self._group(element["group"] or element["word"], element["times"]))
        open_ended = elements[-1]["slot"] in _OPEN_ENDED
        ending = "" if open_ended else r"[\s.,!?~]*"
        pattern = re.compile("".join(parts) + ending, re.DOTALL)
        return Rule(kind, pattern, fills, open_ended, dict(fixed))

    def opening(self, alternatives: str) -> re.Pattern[str]:
        """Return a pattern of one of these words, with what may follow it."""
        return re.compile(self._group(_flat(alternatives), ""))

    def anywhere(self, alternatives: str) -> re.Pattern[str]:
        """Return a pattern of one of these words anywhere in a text."""
        one_of = self._one_of(_flat(alternatives))
        return re.compile(rf"(?<![a-z0-9']){one_of}(?![a-z0-9])" if self._spaced else one_of)

    def closing(self, alternatives: str) -> re.Pattern[str]:
        """Return a pattern of any of these words, again and again, set off from what is before."""
        before = r"[\s,.!?~]" + ("+" if self._spaced else "*")
        return re.compile(f"(?:{before}{self._one_of(_flat(alternatives))})+[\\s,.!?~]*")

    def _group(self, alternatives: str, times: str | None) -> str:
        gap = r"(?![a-z0-9])[\s,]*" if self._spaced else r"(?:[\s,]|一下)*"
        repeat = {"": "", "?": "?", "*": "{0,5}", "+": "{1,5}"}[times or ""]
        return f"(?:{self._one_of(alternatives)}{gap}){repeat}"

    def _one_of(self, alternatives: str) -> str:
        """Return a pattern of the alternatives, the longest tried first."""
        words = sorted(set(alternatives.split("|")), key=_spoken_length, reverse=True)
        return f"(?:{'|'.join(map(self._word, words))})"

    def _word(self, word: str) -> str:
        between = r"\s+" if self._spaced else r"\s*"
        spoken, *unless = word.split("!")
        pattern = between.join(re.escape(part) for part in spoken.split())
        if not self._spaced and spoken[-1].isascii() and spoken[-1].isalnum():
            pattern += "(?![a-z0-9])"
        return pattern + "".join(f"(?!{re.escape(after)})" for after in unless)


def _flat(text: str) -> str:
    """Take out the line breaks: after a bar they are nothing, elsewhere a space."""
    return re.sub(r"\|\s*\n\s*", "|", text.strip()).replace("\n", " ")


def _spoken_length(word: str) -> int:
    return len(word.partition("!")[0])
