"""What a title says (pure): the first one comes from the first message, cut to fit a list."""

import re
import unicodedata

from finchbot.errors import InputInvalid, TooLarge
from finchbot.events import sound_text

FIRST_COLUMNS = 40
LONGEST = 200
"""Characters of a title given by hand or by a tool."""
UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
JOINERS = {"\u200c", "\u200d"}
"""Unseen themselves, but they shape emoji and several scripts."""


def first_title(text: str) -> str:
    """Return the first line that says something, cut to `FIRST_COLUMNS` columns of a terminal.

    Chinese characters are two columns wide. A cut falls between words, or anywhere in Chinese,
    and shows as ``…``.
    """
    line = next((line for line in map(clean_title, text.splitlines()) if line), "")
    if columns(line) <= FIRST_COLUMNS:
        return line
    kept = line[: _fits(line, FIRST_COLUMNS - 1)]
    rest = line[len(kept) :]
    if not rest[0].isspace() and not _wide(rest[0]) and not _wide(kept[-1]):
        last_space = max(
            (i for i, char in enumerate(kept) if char == " " or _wide(char)), default=0
        )
        # A word longer than half the line, such as an address, is cut where the line ends.
        if columns(kept[: last_space + 1]) >= FIRST_COLUMNS // 2:
            kept = kept[: last_space + 1]
    return f"{kept.rstrip()}…"


def given_title(title: str) -> str:
    """Return a title that a person or a tool gives, as it is kept.

    Raises:
        InputInvalid: Nothing of it can be seen (``title.empty``).
        TooLarge: Over `LONGEST` characters (``title.too_large``).
    """
    clean = clean_title(title)
    if not clean:
        raise InputInvalid("title.empty")
    if len(clean) > LONGEST:
        raise TooLarge("title.too_large", limit=LONGEST)
    return clean


def clean_title(text: str) -> str:
    """Return the text on one line, without what cannot be seen."""
    seen = (
        " " if char in "\n\r\t" else char
        for char in sound_text(text)
        if char in "\n\r\t" or char in JOINERS or unicodedata.category(char) not in UNSEEN
    )
    return re.sub(r"\s+", " ", "".join(seen)).strip(" " + "".join(JOINERS))


def columns(text: str) -> int:
    """Return how many columns of a terminal the text takes."""
    return sum(map(_columns, text))


def _columns(char: str) -> int:
    if unicodedata.combining(char) or char in JOINERS:
        return 0
    return 2 if _wide(char) else 1


def _wide(char: str) -> bool:
    return unicodedata.east_asian_width(char) in "WF"


def _fits(text: str, room: int) -> int:
    """Return how many characters of the text fit into so many columns."""
    used = 0
    for at, char in enumerate(text):
        used += _columns(char)
        if used > room:
            return at
    return len(text)
