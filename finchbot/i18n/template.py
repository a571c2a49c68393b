"""One text with places for values, or its forms by number."""

import re
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Scalar = str | int | float | bool | None
Forms = Mapping[str, "Template"]
"""By plural category (``one``, ``other``, …); ``other`` is always there."""

CATEGORIES = frozenset({"zero", "one", "two", "few", "many", "other"})


@dataclass(frozen=True, slots=True)
class Template:
    """A text such as ``Delete {count:n} memories``; ``:n`` writes a number the local way."""

    source: str
    pieces: tuple[tuple[str, str | None, bool], ...]
    """Literal text, then the name of the value after it, and whether it is a local number."""

    @property
    def names(self) -> frozenset[str]:
        """The names of the values it needs."""
        return frozenset(name for _, name, _ in self.pieces if name is not None)

    def render(self, values: Mapping[str, Scalar], number: Callable[[int | float], str]) -> str:
        """Return the text with its values.

        Raises:
            KeyError: A value is missing.
        """
        return "".join(
            literal if name is None else literal + _written(values[name], number if local else None)
            for literal, name, local in self.pieces
        )


def parse(source: str) -> Template:
    """Return the template of a text.

    Raises:
        ValueError: A brace has no partner, or something other than a name stands in one.
    """
    pieces: list[tuple[str, str | None, bool]] = []
    for literal, name, spec, conversion in string.Formatter().parse(source):
        simple = name is None or re.fullmatch(r"[a-z][a-z0-9_]*", name)
        if not simple or conversion or spec not in (None, "", "n"):
            raise ValueError(f"{{{name}}} is no simple name")
        pieces.append((literal, name, spec == "n"))
    return Template(source, tuple(pieces))


def _written(value: Scalar, number: Callable[[int | float], str] | None) -> str:
    if value is None:
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        if number is not None:
            return number(value)
        return f"{value:g}" if isinstance(value, float) else str(value)
    return str(value)
