"""Gathering: a body is read by a task of its own and taken as whatever has come by then.

HTTP hands over one small block per token even when several arrived together. Everything behind
costs the same for one token as for ten, so under load it pays to take them as one.
"""

import asyncio
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Self

HELD_BYTES = 1_000_000
"""So much may wait to be taken; then reading waits, too."""


class Gathered:
    """An async iterator over a body, and the context its reading lives in.

    Args:
        body: Blocks as they are read; what it raises is raised to the taker, after what came.
    """

    def __init__(self, body: AsyncIterator[bytes]) -> None:
        self._body = body
        self._held = bytearray()
        self._came = asyncio.Event()
        self._room = asyncio.Event()
        self._reading: asyncio.Task[None]

    async def __aenter__(self) -> Self:
        self._reading = asyncio.create_task(self._read(), name="read-answer")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop reading; returns when the body has been let go."""
        self._reading.cancel()
        await asyncio.wait([self._reading])
        if not self._reading.cancelled():
            # Whoever leaves early does not want to know why the body broke off.
            self._reading.exception()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        """Return what has come since the last time; wait when that is nothing."""
        while not self._held:
            if self._reading.done():
                self._reading.result()
                raise StopAsyncIteration
            self._came.clear()
            await self._came.wait()
        taken = bytes(self._held)
        self._held.clear()
        self._room.set()
        return taken

    async def _read(self) -> None:
        try:
            async for block in self._body:
                self._held += block
                self._came.set()
                while len(self._held) > HELD_BYTES:
                    self._room.clear()
                    await self._room.wait()
        finally:
            self._came.set()
