"""Mends slips of hurried typing: swapped, doubled, dropped and, in long words, wrong letters."""

from collections.abc import Iterator

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_FOREMOST = frozenset(
    {"list", "file", "files", "read", "write", "show", "open", "create", "save", "rename", "chat"}
    | {"help", "title", "folder", "directory"}
)
"""Wins when several words are one slip away."""

_SHORTEST = 4
_LONG = 6
"""From this length on one wrong letter is taken for a slip: ``lead`` must not become ``read``."""


def corrections(words: frozenset[str], known: frozenset[str]) -> dict[str, str]:
    """Return misspelled word → known word, for words one slip away from just one.

    Args:
        words: Lower-case Latin words of a message.
        known: Words that are right; those of `_SHORTEST` letters or more are corrected to.
    """
    found: dict[str, str] = {}
    for word in words - known:
        if _SHORTEST - 1 <= len(word) <= 16:
            near = {slip for slip in _slips(word) if slip in known and len(slip) >= _SHORTEST}
            near = near if len(near) == 1 else near & _FOREMOST
            if len(near) == 1:
                found[word] = near.pop()
    return found


def _slips(word: str) -> Iterator[str]:
    for at in range(len(word)):
        yield word[:at] + word[at + 1 :]
        yield word[:at] + word[at + 1 : at + 2] + word[at] + word[at + 2 :]
    for at in range(len(word) + 1):
        for letter in _LETTERS:
            yield word[:at] + letter + word[at:]
    if len(word) >= _LONG:
        for at in range(len(word)):
            for letter in _LETTERS:
                yield word[:at] + letter + word[at + 1 :]
