"""Secrets as people may see them: enough to tell two keys apart, never enough to use one."""

import re
from collections.abc import Mapping

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


def masked_map(values: Mapping[str, str]) -> dict[str, str]:
    """Return the map with the values of secret-looking names masked, the names as they are."""
    return {name: mask(text) if looks_secret(name) else text for name, text in values.items()}
