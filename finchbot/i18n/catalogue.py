"""The catalogue: every text by key and language, with a sentence for whatever is missing."""

import logging
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

from babel.core import Locale
from babel.dates import format_date, format_time, format_timedelta
from babel.numbers import format_decimal

from finchbot.errors import FinchError, LocaleError
from finchbot.i18n.negotiation import DEFAULT, negotiate, parents
from finchbot.i18n.template import CATEGORIES, Forms, Scalar, Template, parse

_log = logging.getLogger(__name__)
_MISSING = "generic.missing"
_UNKNOWN_ERROR = "error.unknown"
_HIDDEN = "…"


@dataclass(frozen=True, slots=True)
class Language:
    """The texts of one locale file."""

    tag: str
    locale: Locale
    texts: Mapping[str, Template | Forms] = field(repr=False)

    def number(self, value: int | float) -> str:
        """Return a number as it is written here."""
        return format_decimal(value, locale=self.locale)

    def choose(self, key: str, count: Scalar) -> Template | None:
        """Return the text, of several forms the one that goes with `count`."""
        entry = self.texts.get(key)
        if entry is None or isinstance(entry, Template):
            return entry
        counted = count if isinstance(count, int | float) else None
        category = "other" if counted is None else self.locale.plural_form(abs(counted))
        return entry.get(category, entry["other"])


class Catalogue:
    """Says everything in the reader's language; `load` reads it from the locale files.

    Args:
        languages: `DEFAULT` among them, with the sentences for what is missing.

    Raises:
        LocaleError: ``locale.missing`` (``key``) when those are not there.
    """

    def __init__(self, languages: Sequence[Language]) -> None:
        by_tag = {language.tag: language for language in languages}
        for key in (_MISSING, _UNKNOWN_ERROR):
            if DEFAULT not in by_tag or key not in by_tag[DEFAULT].texts:
                raise LocaleError("locale.missing", key=key)
        self._by_tag = by_tag
        families = {parent for tag in by_tag for parent in parents(tag)[1:]}
        # The default first: it also is the choice among several of one language.
        self._tags = tuple(sorted(by_tag.keys() - families, key=lambda tag: (tag != DEFAULT, tag)))
        self._chains = {tag: _chain(tag, by_tag) for tag in self._tags}
        self._told: set[tuple[str, str]] = set()

    @classmethod
    def load(cls, folder: Path) -> "Catalogue":
        """Read every ``<tag>.toml``; a broken one is left out and logged, the default's raises.

        Raises:
            LocaleError: ``locale.broken`` (``file``, ``reason``) for the default language.
        """
        languages = []
        for path in sorted(folder.glob("*.toml")):
            try:
                languages.append(read_language(path))
            except LocaleError as error:
                if path.stem == DEFAULT:
                    raise
                _log.error("%s", error)
        return cls(languages)

    @property
    def languages(self) -> tuple[str, ...]:
        """The tags people can choose, the default first; partial files are not among them."""
        return self._tags

    def negotiate(self, *wanted: str | None) -> str:
        """Return the language for these wishes, the strongest first; see `negotiation`."""
        return negotiate(self._tags, wanted)

    def text(self, key: str, language: str | None = None, /, **params: Scalar) -> str:
        """Return a text with its values filled in; always a sentence, never a key.

        Args:
            key: Such as ``chat.send``.
            language: A tag of ours or any other wish `negotiate` takes.
            params: The values; ``count`` chooses among the forms of a text that has several.
        """
        unfit: tuple[Template, Language] | None = None
        for source in self._chain(language):
            template = source.choose(key, params.get("count"))
            if template is not None and template.names <= params.keys():
                return template.render(params, source.number)
            self._tell(key, source.tag)
            if template is not None and unfit is None:
                unfit = (template, source)
        if unfit is None:
            return self.text(_MISSING, language)
        template, source = unfit
        return template.render(dict.fromkeys(template.names, _HIDDEN) | params, source.number)

    def describe(self, error: FinchError, language: str | None = None) -> str:
        """Return what happened and what to do next, for a person."""
        key = f"error.{error.code}"
        known = any(key in source.texts for source in self._chain(language))
        params = {"code": error.code, **error.params}
        return self.text(key if known else _UNKNOWN_ERROR, language, **params)

    def section(self, prefix: str, language: str | None = None) -> dict[str, str]:
        """Return all texts below a prefix, unfilled, by the rest of their keys."""
        start = f"{prefix}."
        found: dict[str, str] = {}
        for source in reversed(self._chain(language)):
            for key, entry in source.texts.items():
                if key.startswith(start):
                    template = entry if isinstance(entry, Template) else entry["other"]
                    found[key.removeprefix(start)] = template.source
        return found

    def format_number(self, value: int | float, language: str | None = None) -> str:
        """Return a number as people write it: ``1,234.5``."""
        return self._chain(language)[0].number(value)

    def format_date(
        self, when: datetime, language: str | None = None, zone: tzinfo | None = None
    ) -> str:
        """Return the day; `zone` is the machine's when left out."""
        return format_date(when.astimezone(zone), "medium", locale=self._locale(language))

    def format_datetime(
        self, when: datetime, language: str | None = None, zone: tzinfo | None = None
    ) -> str:
        """Return day, hour and minute; `zone` is the machine's when left out."""
        local = when.astimezone(zone)
        time = format_time(
            local.timetz(), "short", tzinfo=local.tzinfo, locale=self._locale(language)
        )
        return f"{self.format_date(when, language, zone)} {time}"

    def format_ago(self, past: timedelta, language: str | None = None) -> str:
        """Return how long ago something was: ``3 hours ago``."""
        return format_timedelta(-past, add_direction=True, locale=self._locale(language))

    def _locale(self, language: str | None) -> Locale:
        return self._chain(language)[0].locale

    def _chain(self, language: str | None) -> tuple[Language, ...]:
        known = self._chains.get(language or "")
        return known if known is not None else self._chains[self.negotiate(language)]

    def _tell(self, key: str, tag: str) -> None:
        """Log a gap once; only the family's partial files may have gaps."""
        if tag in self._chains and (key, tag) not in self._told:
            self._told.add((key, tag))
            _log.warning("locale %s has no fitting text for %s", tag, key)


def read_language(path: Path) -> Language:
    """Read one locale file.

    Raises:
        LocaleError: ``locale.broken`` (``file``, ``reason``).
    """
    try:
        locale = Locale.parse(path.stem, sep="-")
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        return Language(path.stem, locale, dict(_flat(data, "")))
    except (OSError, ValueError, LookupError) as error:
        raise LocaleError("locale.broken", file=str(path), reason=str(error)) from error


def _chain(tag: str, by_tag: Mapping[str, Language]) -> tuple[Language, ...]:
    tags = dict.fromkeys((*parents(tag), DEFAULT))
    return tuple(by_tag[name] for name in tags if name in by_tag)


def _flat(table: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Template | Forms]]:
    for name, value in table.items():
        key = prefix + name
        if isinstance(value, str):
            yield key, parse(value)
        elif isinstance(value, dict) and "other" in value and value.keys() <= CATEGORIES:
            yield key, {category: parse(text) for category, text in value.items()}
        elif isinstance(value, dict):
            yield from _flat(value, key + ".")
        else:
            raise ValueError(f"{key} is no text")
