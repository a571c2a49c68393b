"""A journal in memory that a test can hold up or break; it keeps what it was given."""

import asyncio
from collections.abc import Sequence

from finchbot.bus import RESERVED, Position
from finchbot.errors import ThreadNotFound
from finchbot.events import RunEvent
from finchbot.ids import ThreadId


class MemoryJournal:
    """Implements `Journal` for the threads it is told of."""

    def __init__(self, *threads: ThreadId) -> None:
        self.logs: dict[ThreadId, list[RunEvent]] = {thread: [] for thread in threads}
        self.appends: list[list[RunEvent]] = []
        """What each append stored."""
        self.open = asyncio.Event()
        """Clear it to hold the next append up."""
        self.open.set()
        self.held = asyncio.Event()
        """Set when an append waits."""
        self.answering = asyncio.Event()
        """Clear it to hold the answer to the next `position` up."""
        self.answering.set()
        self.asked = asyncio.Event()
        """Set when a position was looked up."""
        self._grown = asyncio.Event()
        self.broken: set[ThreadId] = set()
        self.crash: Exception | None = None

    async def position(self, thread_id: ThreadId) -> Position:
        if thread_id not in self.logs:
            raise ThreadNotFound(thread_id=thread_id)
        last = len(self.logs[thread_id])
        self.asked.set()
        await self.answering.wait()
        return Position(last, last + RESERVED if last else 0)

    async def append(self, events: Sequence[RunEvent]) -> None:
        if not self.open.is_set():
            self.held.set()
            await self.open.wait()
        if self.crash is not None:
            raise self.crash
        for event in events:
            if event.thread_id in self.broken or event.thread_id not in self.logs:
                raise ThreadNotFound(thread_id=event.thread_id)
        self.appends.append(list(events))
        for event in events:
            self.logs[event.thread_id].append(event)
        self._grown.set()
        self._grown = asyncio.Event()

    async def until(self, thread_id: ThreadId, count: int) -> None:
        """Return when so many events of a thread are stored."""
        while len(self.logs[thread_id]) < count:
            await self._grown.wait()

    async def read(self, thread_id: ThreadId, after_seq: int, limit: int) -> Sequence[RunEvent]:
        return self.logs.get(thread_id, [])[after_seq : after_seq + limit]
