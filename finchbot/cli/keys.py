"""What is typed while an answer comes: lines are taken as they are finished, without waiting."""

import concurrent.futures
import os
import select
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import TextIO, TypeVar

T = TypeVar("T")


@contextmanager
def bell(future: Future[T]) -> Iterator[int]:
    """Give a descriptor that can be read once the future is done, however it ended."""
    read_end, write_end = os.pipe()

    def ring(_: Future[T]) -> None:
        with suppress(BrokenPipeError):
            os.write(write_end, b"!")
        os.close(write_end)

    future.add_done_callback(ring)
    try:
        yield read_end
    finally:
        os.close(read_end)


def typed_until(rung: int, future: Future[T], keys: TextIO) -> Iterator[str]:
    """Yield the lines typed until the bell has rung; Ctrl-C passes through.

    For a terminal alone: the lines are read past Python's own buffer, which is empty there.
    """
    if sys.platform == "win32":
        # There select knows sockets alone; what is typed waits for the prompt.
        concurrent.futures.wait([future])
        return
    watched = [rung, keys.fileno()]
    while rung not in (ready := select.select(watched, [], [])[0]):
        line = os.read(ready[0], 1 << 16)
        if not line:
            # End of input; what runs is heard out.
            watched = [rung]
        yield from line.decode(errors="replace").splitlines()
