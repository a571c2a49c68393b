"""Takes secrets out of text: those that are known, and what has the shape of one."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import quote

HIDDEN = "[secret]"

_SHORTEST = 4
"""Hiding shorter ones would blot out the log and protect nothing."""
_WORD_ONLY_BELOW = 8
"""Shorter secrets are hidden as whole words alone: the password ``test`` is not in ``latest``."""

_UNGUESSABLE = r"(?:(?=[^\s\"',;&]*\d)[^\s\"',;&]{6,}|[^\s\"',;&]{24,})"
_SHAPES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\b(?:sk|pk|rk|xai|tvly|BSA)-[A-Za-z0-9_-]{8,}", HIDDEN),
        (r"\b(?:gsk|hf|gh[pousr]|github_pat)_[A-Za-z0-9_]{8,}", HIDDEN),
        (r"\bxox[abeoprs]-[A-Za-z0-9-]{8,}", HIDDEN),
        (r"\bAIza[A-Za-z0-9_-]{20,}", HIDDEN),
        (r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*", HIDDEN),
        (rf"(?i)\b(bearer|basic)(\s+|\.)(?!\[secret\]){_UNGUESSABLE}", rf"\1\2{HIDDEN}"),
        (r"://[^/\s:@\"']*:[^/\s@\"']+@", f"://{HIDDEN}@"),
        (r"(?i)([?&](?:key|token|code|sign(?:ature)?|secret)=)[^\s&#\"']{4,}", rf"\1{HIDDEN}"),
        (r"\b(finchbot_[a-z]+=)[^\s;,\"']{4,}", rf"\1{HIDDEN}"),
        (
            r"(?i)((?:api[-_]?key|[-_]token|secret|passw(?:or)?d|authorization|cookie)"
            rf"(?:[\"']?\s*[:=]\s*|[\"'],\s*)b?[\"']?)(?!\[secret\]){_UNGUESSABLE}",
            rf"\1{HIDDEN}",
        ),
    )
)


class Redactor:
    """Hides secrets in any text that leaves: log lines, what a command printed.

    Args:
        secrets: Asked at every use, so that secrets learned later are hidden too.
    """

    def __init__(self, secrets: Callable[[], Iterable[str]]) -> None:
        self._secrets = secrets
        self._compiled: tuple[tuple[str, ...], re.Pattern[str] | None] = ((), None)

    def redact(self, text: str) -> str:
        """Return the text with every secret replaced by `HIDDEN`."""
        known = self._pattern(tuple(self._secrets()))
        if known is not None:
            text = known.sub(HIDDEN, text)
        for shape, replacement in _SHAPES:
            text = shape.sub(replacement, text)
        return text

    def _pattern(self, secrets: tuple[str, ...]) -> re.Pattern[str] | None:
        compiled_for, pattern = self._compiled
        if compiled_for != secrets:
            pattern = _compile(secrets)
            self._compiled = (secrets, pattern)
        return pattern


def _compile(secrets: Iterable[str]) -> re.Pattern[str] | None:
    forms = {form for secret in secrets for form in _forms(secret)}
    if not forms:
        return None
    # The longest first: a secret may begin with another one.
    return re.compile("|".join(_bounded(form) for form in sorted(forms, key=len, reverse=True)))


def _forms(secret: str) -> Iterator[str]:
    """Yield the ways a secret is written: bare, quoted in code or JSON, in an address."""
    if len(secret) >= _SHORTEST:
        yield from (secret, repr(secret)[1:-1], json.dumps(secret)[1:-1])
        yield from (quote(secret), quote(secret, safe=""))


def _bounded(form: str) -> str:
    escaped = re.escape(form)
    return escaped if len(form) >= _WORD_ONLY_BELOW else rf"(?<!\w){escaped}(?!\w)"
