"""The streams that are open (sockets and event streams), and their end in good order."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

_GRACE_S = 0.25


class Streams:
    """Counts open streams and tells them when to end.

    The one who closes the program calls `close` when the last events are out and before the
    stores go: each stream gets a moment to pass on what is there already.

    Args:
        grace_s: That moment.
    """

    def __init__(self, grace_s: float = _GRACE_S) -> None:
        self._grace_s = grace_s
        self._closing = asyncio.Event()
        self._empty = asyncio.Event()
        self._empty.set()
        self._open = 0

    def __len__(self) -> int:
        """Return how many streams are open."""
        return self._open

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """Count one stream as open while the block runs."""
        self._open += 1
        self._empty.clear()
        try:
            yield
        finally:
            self._open -= 1
            if not self._open:
                self._empty.set()

    async def time_to_end(self) -> None:
        """Return when a stream must end; what was published before has had time to go out."""
        await self._closing.wait()
        await asyncio.sleep(self._grace_s)

    async def close(self, timeout_s: float = 1.0) -> None:
        """End all streams; returns when they are gone, after `timeout_s` at the latest."""
        self._closing.set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._empty.wait()


async def close_iterator(events: AsyncIterator[Any]) -> None:
    """End a generator now, instead of when the collector gets to it."""
    close = getattr(events, "aclose", None)
    if close is not None:
        await close()
