"""Which of our languages a person gets who asks for others; nothing here ever raises."""

import re
from collections.abc import Iterator, Mapping, Sequence

from babel.core import get_global

DEFAULT = "en-US"
"""For everybody whose languages are not here."""

_NO_LANGUAGE = frozenset({"", "*", "auto", "c", "posix"})
_SPOKEN_AS = {"yue": "zh"}
"""Readers of written Cantonese read Chinese; the script keeps them apart from Mandarin's."""


def negotiate(have: Sequence[str], wanted: Sequence[str | None]) -> str:
    """Return the first of our languages that suits, else `DEFAULT`.

    Args:
        have: Tags of the languages there are, such as ``zh-CN``.
        wanted: The strongest wish first; each a language tag (``zh-Hant``), a POSIX locale
            (``zh_TW.UTF-8``), a list of these between colons, or an Accept-Language header.
            None and what names no language are passed over.
    """
    for wish in wanted:
        for tag in _tags(wish or ""):
            found = _match(have, tag)
            if found is not None:
                return found
    return DEFAULT


def system_languages(environ: Mapping[str, str]) -> list[str]:
    """Return the wishes of a POSIX environment, the strongest first."""
    locale = next(
        (environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), ""
    )
    if not list(_tags(locale)):
        # C and POSIX ask for untranslated text; LANGUAGE does not count then.
        return []
    return [wish for wish in (environ.get("LANGUAGE", ""), locale) if wish]


def parents(tag: str) -> list[str]:
    """Return the tag and what stands behind it: ``zh-CN``, ``zh``."""
    subtags = tag.split("-")
    return ["-".join(subtags[:length]) for length in range(len(subtags), 0, -1)]


def _tags(wish: str) -> Iterator[str]:
    """Take one wish apart into tags of the form ``zh-TW``, best first."""
    if "," in wish or ";" in wish:
        parts = [_weighted(part) for part in wish.split(",")]
        names = [name for name, weight in sorted(parts, key=lambda part: -part[1]) if weight > 0]
    else:
        names = wish.split(":")
    for name in names:
        tag = re.split(r"[.@]", name.strip())[0].replace("_", "-")
        if tag.lower() not in _NO_LANGUAGE:
            yield tag


def _weighted(part: str) -> tuple[str, float]:
    name, _, parameters = part.partition(";")
    match = re.search(r"q\s*=\s*([01](?:\.\d{0,3})?)\s*$", parameters)
    return name, float(match[1]) if match else 1.0


def _match(have: Sequence[str], tag: str) -> str | None:
    """Prefer the tag itself, then its language in its script, then its language."""
    exact = next((ours for ours in have if ours.lower() == tag.lower()), None)
    if exact is not None:
        return exact
    language, script = _spoken(tag)
    same = [ours for ours in have if _spoken(ours)[0] == language]
    return next((ours for ours in same if _spoken(ours)[1] == script), same[0] if same else None)


def _spoken(tag: str) -> tuple[str, str]:
    """Return language and script, the script as Unicode's likely subtags have it."""
    first, *rest = tag.split("-")
    language = first.lower()
    language = get_global("language_aliases").get(language, language)
    script = next((part.title() for part in rest if re.fullmatch(r"[A-Za-z]{4}", part)), "")
    territory = next((part.upper() for part in rest if re.fullmatch(r"[A-Za-z]{2}", part)), "")
    likely = get_global("likely_subtags")
    full = likely.get(f"{language}_{territory}") or likely.get(language) or ""
    guessed = next((part for part in full.split("_")[1:] if len(part) == 4), "")
    return _SPOKEN_AS.get(language, language), script or guessed
