"""A lock between programs: one file, held by at most one process at a time."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

if sys.platform == "win32":
    import msvcrt

    _BYTE = 1 << 20

    def _take(file: BinaryIO, wait: bool) -> None:
        # Windows locks bytes; one far behind the text leaves the holder's pid readable.
        file.seek(_BYTE)
        while True:
            try:
                msvcrt.locking(file.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
                break
            except OSError as error:
                # To wait means to try for ten seconds there.
                if wait and error.errno == errno.EDEADLK:
                    continue
                if error.errno != errno.EACCES:
                    raise
                raise BlockingIOError(error.errno, error.strerror) from error
        file.seek(0)

    def _give_back(file: BinaryIO) -> None:
        file.seek(_BYTE)
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
        BlockingIOError: Somebody holds it and `wait` is false.
        OSError: The file cannot be opened.
    """
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b", buffering=0) as file:
        _take(file, wait)
        try:
            yield file
        finally:
            _give_back(file)
