"""A lock between programs: one file, held by at most one process at a time."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

if sys.platform == "win32":
    import msvcrt

    def _take(file: BinaryIO, wait: bool) -> None:
        # Windows locks bytes; one far behind the text leaves the holder's pid readable.
        file.seek(1 << 20)
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)

    def _give_back(file: BinaryIO) -> None:
        file.seek(1 << 20)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _take(file: BinaryIO, wait: bool) -> None:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _give_back(file: BinaryIO) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)


@contextmanager
def file_lock(path: Path, *, wait: bool = True) -> Iterator[BinaryIO]:
    """Hold `path` locked against other programs and other threads that ask the same way.

    The file stays where it is afterwards: removing it would let two holders lock two files of
    one name. A process that is killed gives the lock back by dying.

    Args:
        path: Made with mode 0600 when it is not there; its folder must exist.
        wait: Whether to wait for the holder, or to raise at once.

    Yields:
        The open file, for a word about who holds it.

    Raises:
        BlockingIOError: Somebody holds it and `wait` is false (`OSError` on Windows).
        OSError: The file cannot be opened.
    """
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b", buffering=0) as file:
        _take(file, wait)
        try:
            yield file
        finally:
            _give_back(file)
