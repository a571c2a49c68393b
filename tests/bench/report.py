"""The table of a bench: each figure beside its floor, and whether it reaches what was asked."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, assert_never

CLEAR_MARGIN = 1.15
"""A shared machine wobbles: up to 15 % beyond its reach a figure is called near, not missed."""

COLUMNS = ("figure", "ours", "floor", "ratio", "reach", "met?")

Verdict = Literal["yes", "near", "no", "–"]


@dataclass(frozen=True, slots=True)
class Reach:
    """What is asked of a figure."""

    of: Literal["ours", "ratio", "difference"]
    """What `limit` bounds: the figure itself, ours / floor, or ours - floor."""
    limit: float


@dataclass(frozen=True, slots=True)
class Figure:
    """One row. Medians of the same run, in one unit."""

    name: str
    ours: float
    floor: float | None
    unit: Literal["s", "ms", "MB"]
    reach: Reach | None = None
    """None: for information."""
    quiet_only: bool = False
    """Whether the reach was asked for a quiet machine, so that a busy one cannot miss it."""

    @property
    def ratio(self) -> float | None:
        """Ours over the floor."""
        return self.ours / self.floor if self.floor else None

    @property
    def share(self) -> float | None:
        """How much of its reach the figure takes: at most 1 is met."""
        if self.reach is None:
            return None
        floor = self.floor or 0.0
        match self.reach.of:
            case "ours":
                measured = self.ours
            case "ratio":
                measured = self.ours / floor
            case "difference":
                measured = self.ours - floor
            case _:
                assert_never(self.reach.of)
        return measured / self.reach.limit

    def verdict(self, *, quiet: bool) -> Verdict:
        """Return whether the reach is met; ``no`` is a miss by more than `CLEAR_MARGIN`."""
        share = self.share
        if share is None:
            return "–"
        if share <= 1:
            return "yes"
        if share <= CLEAR_MARGIN or (self.quiet_only and not quiet):
            return "near"
        return "no"


def table(figures: Sequence[Figure], *, quiet: bool) -> str:
    """Return the figures as lines of text, columns aligned."""
    rows = [COLUMNS, *(_cells(figure, quiet=quiet) for figure in figures)]
    widths = [max(_width(row[at]) for row in rows) for at in range(len(COLUMNS))]
    lines = [_line(row, widths) for row in rows]
    return "\n".join([lines[0], "-" * _width(lines[0]), *lines[1:]])


def missed(figures: Iterable[Figure], *, quiet: bool) -> list[str]:
    """Return the names of the figures that clearly miss their reach."""
    return [figure.name for figure in figures if figure.verdict(quiet=quiet) == "no"]


def _cells(figure: Figure, *, quiet: bool) -> tuple[str, ...]:
    return (
        figure.name,
        _amount(figure.ours, figure.unit),
        "–" if figure.floor is None else _amount(figure.floor, figure.unit),
        "–" if figure.ratio is None else f"{figure.ratio:.2f}×",
        _asked(figure),
        figure.verdict(quiet=quiet),
    )


def _asked(figure: Figure) -> str:
    if figure.reach is None:
        return "–"
    limit = figure.reach.limit
    match figure.reach.of:
        case "ours":
            return f"≤ {limit:g} {figure.unit}"
        case "ratio":
            return f"≤ {limit:g}×"
        case "difference":
            return f"≤ +{limit:g} {figure.unit}"
        case _:
            assert_never(figure.reach.of)


def _amount(value: float, unit: str) -> str:
    return f"{value:.1f} ms" if unit == "ms" else f"{value:.2f} {unit}"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    name, *rest = (
        cell + " " * (width - _width(cell)) for cell, width in zip(cells, widths, strict=True)
    )
    return "  ".join([name, *rest]).rstrip()


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
