"""Paths of requests: which are spelled to trick, and what they mean below the root path."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

_ENCODED_SLASHES = (b"%2f", b"%5c", b"%00")
_UNQUOTE_ROUNDS = 3


def is_tricky(path: str, raw_path: bytes = b"") -> bool:
    """Whether a path could mean a place outside what it names.

    Empty, ``.`` and ``..`` segments, backslashes, control characters and encoded slashes have
    no honest use here; neither have they when encoded once or twice more.

    Args:
        path: Decoded once, as ASGI gives it.
        raw_path: As it was sent, without the query.
    """
    if any(code in raw_path.lower() for code in _ENCODED_SLASHES):
        return True
    for _ in range(_UNQUOTE_ROUNDS):
        if _is_tricky(path):
            return True
        path = unquote(path)
    return _is_tricky(path)


def _is_tricky(path: str) -> bool:
    if not path.startswith("/") or "\\" in path or any(ord(char) < 32 for char in path):
        return True
    segments = path[1:].split("/")
    return any(part in {".", ".."} for part in segments) or "" in segments[:-1]


def route_path(scope: Mapping[str, Any]) -> str:
    """Return the path below the root path, beginning with a slash."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    if root and (path == root or path.startswith(f"{root}/")):
        return path[len(root) :] or "/"
    return path


def below(path: str, folder: str) -> bool:
    """Whether `path` is `folder` (no slash at its end) or lies in it."""
    return path == folder or path.startswith(f"{folder}/")


def local_target(wanted: str | None, home: str) -> str:
    """Return `wanted` when it is a path below `home`, the pages' own root, else `home`.

    What a browser could read as another host (two slashes, a backslash, a scheme) is not.
    """
    if not wanted or len(wanted) > 2000:
        return home
    if not wanted.startswith(home) or wanted[1:2] == "/" or "\\" in wanted:
        return home
    if any(ord(char) < 33 or ord(char) == 127 for char in wanted):
        return home
    return wanted
