"""Folders known by path, for systems that open no name relative to a descriptor (Windows).

Weaker than `descriptors.py`: a path is judged, opened, and then judged again by what came of it.
A file is read or written only while its descriptor, its real path and the place that was judged
agree, several times in a row, so that a swap must be undone and redone in step with every look.
Where nothing can be held open, in listing, making folders and the last renaming, a program that
swaps a folder for a link in that very moment can show names from outside, leave an empty file or
folder there, or turn one write aside. What it swaps before or leaves swapped is refused.
"""

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path, PurePath

from finchbot.tools.files.folder import is_link

ROUNDS = 8
"""How often an opened file is compared with its place."""

# Without the one, Windows would rewrite line breaks; without the other, a pipe would be waited for.
# No system has both.
_AS_IT_IS: int = getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)


class CheckedFolder:
    """A folder by its path, and who it was when it was entered; see `Folder`."""

    def __init__(self, place: Path, root: Path) -> None:
        self._place = place
        self._root = root
        self._status = os.lstat(place)
        self._stay()

    @classmethod
    def at(cls, place: PurePath) -> "CheckedFolder":
        """Open a root."""
        return cls(Path(place), Path(place))

    def names(self) -> list[str]:
        self._stay()
        names = os.listdir(self._place)
        self._stay()
        return names

    def look(self, name: str) -> os.stat_result:
        return os.lstat(self._place / name)

    def link(self, name: str) -> str:
        try:
            return os.readlink(self._place / name)
        except ValueError as error:
            # A kind of link that Python cannot read leads nowhere.
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from error

    def enter(self, name: str) -> "CheckedFolder":
        return CheckedFolder(self._place / name, self._root)

    def make(self, name: str) -> None:
        self._stay()
        os.mkdir(self._place / name)

    def open(self, name: str) -> int:
        descriptor = os.open(self._place / name, os.O_RDONLY | _AS_IT_IS)
        try:
            self._agree(descriptor, name)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def create(self, name: str, mode: int | None) -> int:
        self._stay()
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _AS_IT_IS
        descriptor = os.open(self._place / name, flags, 0o666)
        try:
            self._agree(descriptor, name)
            if mode is not None:
                (self._place / name).chmod(mode)
        except BaseException:
            os.close(descriptor)
            with suppress(OSError):
                self.remove(name)
            raise
        return descriptor

    def replace(self, name: str, target: str) -> None:
        self._stay()
        os.replace(self._place / name, self._place / target)

    def remove(self, name: str) -> None:
        os.unlink(self._place / name)

    def sync(self) -> None:
        """Do nothing: what cannot be opened cannot be synced."""

    def close(self) -> None:
        """Do nothing: nothing is held."""

    def _stay(self) -> None:
        """Check that the path still leads to this folder, by no link, below the root."""
        now = os.lstat(self._place)
        real_folder = stat.S_ISDIR(now.st_mode) and not is_link(now)
        if not (real_folder and _same(now, self._status) and self._inside(self._place)):
            raise _changed()

    def _agree(self, descriptor: int, name: str) -> None:
        """Check that what is open is what the path leads to, below the root."""
        opened = os.fstat(descriptor)
        for _ in range(ROUNDS):
            self._stay()
            there = os.lstat(self._place / name)
            if is_link(there) or not (_same(opened, there) and self._inside(self._place / name)):
                raise _changed()

    def _inside(self, place: Path) -> bool:
        # Compares as the system's paths do: without case on Windows.
        return Path(os.path.realpath(place)).is_relative_to(self._root)


def _same(one: os.stat_result, other: os.stat_result) -> bool:
    """Tell whether both are one thing; what has no number to be known by is not."""
    return one.st_ino != 0 and os.path.samestat(one, other)


def _changed() -> NotADirectoryError:
    return NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
