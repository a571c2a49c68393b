"""Folders held by descriptors, where the system opens names relative to one and stops at links.

What was judged is what is open: a folder that is swapped for a link after the check leads
nowhere, since nobody goes by its name again.
"""

import os
import sys
from pathlib import PurePath

if sys.platform == "win32":
    raise ImportError("Windows opens no name relative to a folder's descriptor")

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class DescriptorFolder:
    """A folder that stays the same one, whatever becomes of its name; see `Folder`."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def at(cls, place: PurePath) -> "DescriptorFolder":
        """Open a root."""
        return cls(os.open(place, _FOLDER))

    def names(self) -> list[str]:
        return os.listdir(self._descriptor)

    def look(self, name: str) -> os.stat_result:
        return os.stat(name, dir_fd=self._descriptor, follow_symlinks=False)

    def link(self, name: str) -> str:
        return os.readlink(name, dir_fd=self._descriptor)

    def enter(self, name: str) -> "DescriptorFolder":
        return DescriptorFolder(os.open(name, _FOLDER, dir_fd=self._descriptor))

    def make(self, name: str) -> None:
        os.mkdir(name, dir_fd=self._descriptor)

    def open(self, name: str) -> int:
        return os.open(name, _FILE, dir_fd=self._descriptor)

    def create(self, name: str, mode: int | None) -> int:
        descriptor = os.open(name, _NEW, 0o666, dir_fd=self._descriptor)
        try:
            if mode is not None:
                os.fchmod(descriptor, mode)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def replace(self, name: str, target: str) -> None:
        os.replace(name, target, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)

    def remove(self, name: str) -> None:
        os.unlink(name, dir_fd=self._descriptor)

    def sync(self) -> None:
        os.fsync(self._descriptor)

    def close(self) -> None:
        os.close(self._descriptor)
