"""Secrets as people may see them: enough to tell two keys apart, never enough to use one."""

import re
from collections.abc import Iterator
from typing import Any

from pydantic import JsonValue

MARK = "…"
"""Stands for what is hidden; no key, token or password holds this letter."""

_SHOWN_FROM = 16
_SECRET_NAME = re.compile(
    r"key|token|secret|passw|authorization|cookie|credential|signature", re.IGNORECASE
)


def mask(secret: str, *, password: bool = False) -> str:
    """Return ``sk-…abcd`` for a long key, and nothing but the mark for a short one.

    Args:
        secret: The whole secret.
        password: It was thought up by a person, so that any letter of it helps to guess it.
    """
    if password or len(secret) < _SHOWN_FROM:
        return MARK
    return f"{secret[:3]}{MARK}{secret[-4:]}"


def is_masked(value: object) -> bool:
    """Tell whether a value sent by a surface is a mask and not a new secret."""
    return isinstance(value, str) and MARK in value


def looks_secret(name: str) -> bool:
    """Tell whether a header or a field of this name holds a secret."""
    return bool(_SECRET_NAME.search(name))


def masked(value: Any, *, secret: bool = False) -> JsonValue:
    """Return a JSON value with all that stands below a secret-looking name masked.

    Args:
        value: Maps and lists may be nested; names stay as they are.
        secret: It stands below such a name itself.
    """
    match value:
        case dict():
            return {
                str(name): masked(below, secret=secret or looks_secret(str(name)))
                for name, below in value.items()
            }
        case list() | tuple():
            return [masked(below, secret=secret) for below in value]
        case bool() | None:
            return value
        case _:
            return mask(str(value)) if secret else value


def secrets_in(value: Any, *, secret: bool = False) -> Iterator[str]:
    """Yield all texts of a JSON value that `masked` hides."""
    match value:
        case dict():
            for name, below in value.items():
                yield from secrets_in(below, secret=secret or looks_secret(str(name)))
        case list() | tuple():
            for below in value:
                yield from secrets_in(below, secret=secret)
        case bool() | None:
            return
        case _:
            if secret and str(value):
                yield str(value)
