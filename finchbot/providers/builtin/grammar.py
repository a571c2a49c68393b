"""How people ask, per language: read from ``grammar/<tongue>.toml``, compiled once."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from finchbot.providers.builtin.intents import Kind
from finchbot.providers.builtin.phrases import Phrasebook, Rule


@dataclass(frozen=True, slots=True)
class Grammar:
    """The ways of asking in one language."""

    openers: re.Pattern[str]
    """What may stand before a request: ``could you``, ``麻烦``."""
    closers: re.Pattern[str]
    """What may stand after it: ``please``, ``好吗``."""
    tails: re.Pattern[str]
    """What stands after a name and is not part of it."""
    rules: tuple[Rule, ...]
    """In the order of trying."""
    vocabulary: frozenset[str]
    """The Latin words in it."""
    cues: Mapping[str, re.Pattern[str]]
    """Telling words, see the file."""
    asks_for_help: re.Pattern[str]
    folder: re.Pattern[str]
    """A folder, named ``after`` or ``before`` the word for it."""
    leads: re.Pattern[str]
    """What may run into a file's name and is not part of it."""
    here: frozenset[str]
    """What stands before the word folder and names none."""


def read_grammar(tongue: str) -> Grammar:
    """Return the grammar of ``en`` or ``zh``; a mistake in the file is raised."""
    place = files(__package__) / "grammar" / f"{tongue}.toml"
    data = tomllib.loads(place.read_text(encoding="utf-8"))
    book = Phrasebook(data["words"], spaced=data["spaced"])
    return Grammar(
        openers=book.opening(data["openers"]),
        closers=book.closing(data["closers"]),
        tails=book.closing(data["tails"]),
        rules=tuple(_rules(book, data["ways"])),
        vocabulary=frozenset(re.findall(r"(?<![a-z<\\\\])[a-z]{2,}", str(data))),
        cues={name: book.anywhere(words) for name, words in data["cues"].items()},
        asks_for_help=re.compile("|".join(data["shapes"]["help"])),
        folder=re.compile("|".join(data["shapes"]["folder"])),
        leads=re.compile(data["shapes"]["leads"]),
        here=frozenset(data["shapes"]["here"]),
    )


def _rules(book: Phrasebook, ways: list[Mapping[str, Any]]) -> Iterator[Rule]:
    for way in ways:
        for phrase in way["phrases"]:
            yield book.rule(Kind(way["kind"]), phrase, way.get("fixed", {}))
