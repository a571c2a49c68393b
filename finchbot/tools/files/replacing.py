"""Exact replacement in a text, and what to say when it cannot be done; pure."""

import difflib
from dataclasses import dataclass

NEAREST = 3
COMPARED_LINES = 5000
SHOWN_CHARS = 160


@dataclass(frozen=True, slots=True)
class Replacement:
    """What is looked for and what takes its place, with the file's own line breaks."""

    old: str
    new: str
    places: tuple[int, ...]
    """Where `old` begins in the text; they may overlap, and never split a line break."""

    def applied(self, text: str) -> tuple[str, int]:
        """Return the text with every place replaced, and how many were; overlaps go first come."""
        pieces, after = [], 0
        for place in self.places:
            if place >= after:
                pieces += [text[after:place], self.new]
                after = place + len(self.old)
        return "".join([*pieces, text[after:]]), len(pieces) // 2


def find(text: str, old: str, new: str) -> Replacement:
    r"""Look for `old` as it is, then with its line breaks written the file's way.

    A model sends ``\n``; a file with ``\r\n`` keeps them, in the new text as well.
    """
    windows = text.count("\r\n") * 2 > text.count("\n")
    line_break = "\r\n" if windows else "\n"
    for spelled in dict.fromkeys((old, _broken(old, line_break), _broken(old, _other(line_break)))):
        places = tuple(_places(text, spelled))
        if places:
            return Replacement(spelled, _broken(new, _style(spelled, line_break)), places)
    return Replacement(old, new, ())


def line_numbers(text: str, places: tuple[int, ...]) -> list[int]:
    """Return the line, from 1, that each place is in."""
    return [text.count("\n", 0, place) + 1 for place in places]


def nearest_lines(text: str, old: str) -> list[str]:
    """Return the lines most like the first line of `old`, as ``"12: …"``."""
    wanted = next((line.strip() for line in old.splitlines() if line.strip()), "")[:SHOWN_CHARS]
    lines = [line.strip()[:SHOWN_CHARS] for line in text.splitlines()[:COMPARED_LINES]]
    close = difflib.get_close_matches(wanted, dict.fromkeys(lines), n=NEAREST, cutoff=0.5)
    return [f"{lines.index(line) + 1}: {line}" for line in close]


def _places(text: str, wanted: str) -> list[int]:
    places: list[int] = []
    place = text.find(wanted)
    while place >= 0:
        if not _splits_break(text, place, place + len(wanted)):
            places.append(place)
        place = text.find(wanted, place + 1)
    return places


def _splits_break(text: str, start: int, end: int) -> bool:
    return any(text[max(0, edge - 1) : edge + 1] == "\r\n" for edge in (start, end) if edge)


def _broken(text: str, line_break: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", line_break)


def _other(line_break: str) -> str:
    return "\n" if line_break == "\r\n" else "\r\n"


def _style(spelled: str, line_break: str) -> str:
    """Return the line break of what was found; the file's own when it has none."""
    if "\r\n" in spelled:
        return "\r\n"
    return "\n" if "\n" in spelled else line_break
