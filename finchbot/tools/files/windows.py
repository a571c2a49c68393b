"""How Windows spells a path, and what it would quietly take for something else; pure.

Windows opens a device for ``NUL.txt``, a hidden stream for ``a.txt:b``, and ``a.txt`` for
``a.txt.``; none of these names the file it seems to. They are refused, whether they would lead
outside or not.
"""

import re
from pathlib import PureWindowsPath

from finchbot.errors import ToolDenied
from finchbot.tools.files.border import Way, check_text, printable, too_long, unnameable

NAME_UNITS = 255
"""The longest name, in UTF-16 code units."""

_SEPARATORS = re.compile(r"[\\/]")
_DRIVE = re.compile(r"[A-Za-z]:")
_FORBIDDEN = re.compile(r'[\x00-\x1f<>:"|?*]')
_DEVICE = re.compile(r"(CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(COM|LPT)[0-9¹²³]) *(\..*)?", re.I | re.S)


def windows_way(spelling: str, workspace: PureWindowsPath) -> Way:
    r"""Return the way that is spelled; ``\x`` starts at the top of the workspace's drive.

    Raises:
        ToolInputInvalid: The path can name no file: a device, a stream, a name that Windows would
            shorten, no text, too long.
        ToolDenied: A place relative to a drive's own folder (``C:x``), or to ``~``.
    """
    check_text(spelling)
    way = _split(spelling, workspace)
    if way.anchor is None and way.names[:1] == ["~"]:
        raise ToolDenied("tool.outside", path=printable(spelling))
    return way


def windows_link_way(target: str, place: PureWindowsPath) -> Way:
    r"""Return the way a link stands for; it may be spelled as the system does, with ``\\?\``.

    Args:
        target: As the link has it.
        place: Where the link lies.

    Raises:
        ToolInputInvalid: It leads to no file.
        ToolDenied: It leads to a volume without a letter, or a place relative to a drive's folder.
    """
    if target.startswith(("\\\\?\\", "\\??\\")):
        target = target[4:]
        if target[:4].upper() == "UNC\\":
            target = "\\\\" + target[4:]
        elif not _DRIVE.match(target):
            raise ToolDenied("tool.outside", path=printable(target))
    return _split(target, place)


def is_remote(anchor: PureWindowsPath) -> bool:
    """Tell whether a drive is another machine's; a look alone would tell it who is here."""
    return not _DRIVE.match(anchor.drive)


def _split(spelling: str, here: PureWindowsPath) -> Way:
    anchor, rest = _anchored(spelling, here)
    names = [name for name in _SEPARATORS.split(rest) if name not in ("", ".")]
    for name in names:
        _check_name(name, spelling)
    return Way(anchor, names)


def _anchored(spelling: str, here: PureWindowsPath) -> tuple[PureWindowsPath | None, str]:
    """Return where a path starts, and what is spelled after that."""
    first, second = (char in "\\/" for char in f"{spelling}  "[:2])
    if first and second:
        return _share(spelling)
    if _DRIVE.match(spelling):
        if not _SEPARATORS.match(spelling[2:3]):
            raise ToolDenied("tool.outside", path=printable(spelling))
        return PureWindowsPath(f"{spelling[:2].upper()}\\"), spelling[3:]
    return (PureWindowsPath(here.anchor), spelling[1:]) if first else (None, spelling)


def _share(spelling: str) -> tuple[PureWindowsPath, str]:
    r"""Take ``\\machine\share`` off; ``\\?\`` and ``\\.\`` are devices and no machines."""
    machine, share, *rest = [*_SEPARATORS.split(spelling[2:], maxsplit=2), ""]
    if not machine or not share or machine in (".", "..", "?") or share in (".", ".."):
        raise unnameable(spelling)
    return PureWindowsPath(f"\\\\{machine}\\{share}\\"), rest[0] if rest else ""


def _check_name(name: str, spelling: str) -> None:
    if name == "..":
        return
    if name[-1] in ". " or _FORBIDDEN.search(name) or _DEVICE.fullmatch(name):
        raise unnameable(spelling)
    if len(name.encode("utf-16-le", "surrogatepass")) > 2 * NAME_UNITS:
        raise too_long(spelling)
