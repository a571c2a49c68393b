"""Work on the disk, off the loop; a cancelled call returns only when its thread has ended."""

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Stopped(Exception):
    """The call was cancelled; the thread gives up before its next step."""


class StopSign:
    """Tells a thread that nobody waits for its result any more."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def put_up(self) -> None:
        """Ask the thread to stop."""
        self._event.set()

    def check(self) -> None:
        """Go on, or leave.

        Raises:
            Stopped: The sign is up.
        """
        if self._event.is_set():
            raise Stopped


async def offload(work: Callable[[StopSign], T]) -> T:
    """Run `work` in a thread and return its result.

    Cancelling puts the sign up and waits for the thread, so that nothing is written after the
    call has ended.
    """
    sign = StopSign()
    thread = asyncio.ensure_future(asyncio.to_thread(work, sign))
    try:
        return await asyncio.shield(thread)
    except asyncio.CancelledError:
        sign.put_up()
        await asyncio.gather(thread, return_exceptions=True)
        raise
