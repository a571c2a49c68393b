"""The border of the file tools, decided: is a place inside the folders a tool may touch?

Pure: nothing here looks at the disk. `opening.py` walks there and asks at every step. How Windows
spells a path is in `windows.py`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath, PurePosixPath
from typing import Literal

from finchbot.errors import ToolDenied, ToolInputInvalid

NAME_BYTES = 255
PATH_BYTES = 4096

Standing = Literal["inside", "above", "outside"]
"""``above``: a folder on the way to a root, which may be passed through and not looked into."""


@dataclass(frozen=True, slots=True)
class Way:
    """How to get to a place, name by name."""

    anchor: PurePath | None
    """The top of the disk it starts from; None when it starts where one is."""
    names: list[str]
    """``..`` may be among them."""


def standing(
    place: PurePath, roots: Iterable[PurePath], closed: Iterable[PurePath] = ()
) -> Standing:
    """Say where an absolute, link-free place lies; whole names are compared, never prefixes.

    Args:
        place: The place.
        roots: Folders that are open.
        closed: Folders and files that are not, also inside a root; a root inside one of them
            is open all the same.
    """
    above: Standing = "outside"
    depth = 0
    for root in roots:
        if place.is_relative_to(root):
            depth = max(depth, len(root.parts))
        elif root.is_relative_to(place):
            above = "above"
    if not depth:
        return above
    shut = any(place.is_relative_to(spot) and len(spot.parts) >= depth for spot in closed)
    return "outside" if shut else "inside"


def way(spelling: str) -> Way:
    """Return the way that is spelled.

    ``~`` is no home folder here: alone as the first name it is refused, since whoever wrote it
    meant a place outside.

    Raises:
        ToolInputInvalid: The path cannot name a file: NUL, no text, too long.
        ToolDenied: It starts with ``~``.
    """
    check_text(spelling)
    led = link_way(spelling)
    if any(len(name.encode()) > NAME_BYTES for name in led.names):
        raise too_long(spelling)
    if led.anchor is None and led.names[:1] == ["~"]:
        raise ToolDenied("tool.outside", path=spelling)
    return led


def link_way(target: str) -> Way:
    """Return the way a link stands for."""
    names = [name for name in target.split("/") if name not in ("", ".")]
    return Way(PurePosixPath("/") if target.startswith("/") else None, names)


def shown(place: PurePath, workspace: PurePath) -> str:
    """Return the place as a person would write it: relative inside the workspace."""
    inside = place.is_relative_to(workspace)
    return printable((place.relative_to(workspace) if inside else place).as_posix())


def printable(name: str) -> str:
    """Return a name on one line: what cannot be shown is written as an escape."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode()
        for char in name
    )


def check_text(spelling: str) -> None:
    """Refuse what is no text, or too much of it.

    Raises:
        ToolInputInvalid: NUL, half a character, or a path longer than any.
    """
    try:
        size_bytes = len(spelling.encode())
    except UnicodeEncodeError:
        raise unnameable(spelling) from None
    if "\0" in spelling:
        raise unnameable(spelling)
    if size_bytes > PATH_BYTES:
        raise too_long(spelling)


def unnameable(spelling: str) -> ToolInputInvalid:
    """Return the error for what can be the name of no file."""
    return ToolInputInvalid("tool.path_invalid", path=printable(spelling))


def too_long(spelling: str) -> ToolInputInvalid:
    """Return the error for a path, or a name in it, that no disk takes."""
    return ToolInputInvalid("tool.name_too_long", path=f"{printable(spelling[:60])}…")
