"""The border of the file tools, decided: is a place inside the folders a tool may touch?

Pure: nothing here looks at the disk. `opening.py` walks there and asks at every step.
"""

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Literal

from finchbot.errors import ToolDenied, ToolInputInvalid

NAME_BYTES = 255
PATH_BYTES = 4096

Standing = Literal["inside", "above", "outside"]
"""``above``: a folder on the way to a root, which may be passed through and not looked into."""


def standing(place: PurePosixPath, roots: Iterable[PurePosixPath]) -> Standing:
    """Say where an absolute, link-free place lies; whole names are compared, never prefixes."""
    above: Standing = "outside"
    for root in roots:
        if place.is_relative_to(root):
            return "inside"
        if root.is_relative_to(place):
            above = "above"
    return above


def steps(spelling: str, workspace: PurePosixPath) -> list[str]:
    """Return the names from ``/`` to the place that is spelled, ``..`` among them.

    A relative path starts at the workspace. ``~`` is no home folder here: alone as the first
    name it is refused, since whoever wrote it meant a place outside.

    Raises:
        ToolInputInvalid: The path cannot name a file: NUL, no text, too long.
        ToolDenied: It starts with ``~``.
    """
    names = [name for name in spelling.split("/") if name not in ("", ".")]
    _check_spelling(spelling, names)
    if spelling.startswith("/"):
        return names
    if names and names[0] == "~":
        raise ToolDenied("tool.outside", path=spelling)
    return [*workspace.parts[1:], *names]


def shown(place: PurePosixPath, workspace: PurePosixPath) -> str:
    """Return the place as a person would write it: relative inside the workspace."""
    inside = place.is_relative_to(workspace)
    return printable(str(place.relative_to(workspace) if inside else place))


def printable(name: str) -> str:
    """Return a name on one line: what cannot be shown is written as an escape."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode()
        for char in name
    )


def _check_spelling(spelling: str, names: Sequence[str]) -> None:
    try:
        size_bytes = len(spelling.encode())
    except UnicodeEncodeError:
        raise ToolInputInvalid("tool.path_invalid", path=printable(spelling)) from None
    if "\0" in spelling:
        raise ToolInputInvalid("tool.path_invalid", path=printable(spelling))
    if size_bytes > PATH_BYTES or any(len(name.encode()) > NAME_BYTES for name in names):
        raise ToolInputInvalid("tool.name_too_long", path=f"{printable(spelling[:60])}…")
