"""What the file tools need of a disk: open folders, in which everything is reached by name."""

import os
import stat
from collections.abc import Callable
from pathlib import PurePath
from typing import Protocol

_NAME_SURROGATE = 0x20000000
"""The bit of a Windows reparse tag that says: this name stands for another, as a junction does."""


class Folder(Protocol):
    """An open folder. A name is one name, without a separator; ``"."`` is the folder itself.

    No method follows a link; each raises `OSError` as the system does, `NotADirectoryError` or
    ``ELOOP`` where a link or anything else has taken the place of what was there.
    """

    def names(self) -> list[str]:
        """Return what is in the folder, in no order."""

    def look(self, name: str) -> os.stat_result:
        """Return the status of a thing, of a link itself."""

    def link(self, name: str) -> str:
        """Return where a link leads, as it is spelled there."""

    def enter(self, name: str) -> "Folder":
        """Open a folder inside; it must be closed."""

    def make(self, name: str) -> None:
        """Make a folder inside."""

    def open(self, name: str) -> int:
        """Open a file for reading, never waiting for a peer; return its descriptor."""

    def create(self, name: str, mode: int | None) -> int:
        """Make a file that is not there yet and open it for writing; return its descriptor.

        Args:
            name: Its name.
            mode: Its permission bits; those of any new file when None.
        """

    def replace(self, name: str, target: str) -> None:
        """Give a file another name of this folder, in the place of what has it."""

    def remove(self, name: str) -> None:
        """Remove a file."""

    def sync(self) -> None:
        """Make the names last through a power cut, where the system can."""

    def close(self) -> None:
        """Give the folder back."""


OpenRoot = Callable[[PurePath], Folder]
"""Opens a folder by its absolute, resolved path: one that a tool may touch."""


def is_link(status: os.stat_result) -> bool:
    """Return whether a name stands for another place: a symbolic link, or a Windows junction."""
    tag: int = getattr(status, "st_reparse_tag", 0)
    return stat.S_ISLNK(status.st_mode) or bool(tag & _NAME_SURROGATE)
