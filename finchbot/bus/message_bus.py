"""MessageBus: stamps every event, has it stored, and hands it to whoever listens.

A thread's events form one log. A subscriber is no more than a position in it: what memory does
not hold any more comes from the journal, so a slow or absent reader costs nothing and nobody
misses an event.

When may an event be seen? Once it is stored; the journal takes many at a time. Deltas are the
exception: they are shown at once and stored soon after. A killed program may so lose deltas
that were seen, but neither their numbers (no `seq` beyond a stored reservation is shown) nor
the message they belong to (its first delta is stored before it is shown); see `mend`.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Protocol, Self

from finchbot.bus.feed import Feed, Position
from finchbot.errors import FinchError, NotReady, ThreadError
from finchbot.events import (
    RunEvent,
    TextDelta,
    ThreadDeleted,
)
from finchbot.ids import Clock, MessageId, RunId, ThreadId

FLUSH_EVENTS = 64
"""So many unstored events of a thread are stored without waiting for the timer."""
PAGE = 256
"""Events read from the journal at a time."""


class Journal(Protocol):
    """Where events are kept."""

    async def position(self, thread_id: ThreadId) -> Position:
        """Return where the thread's log stands.

        Raises:
            ThreadNotFound: There is no such thread.
        """

    async def append(self, events: Sequence[RunEvent]) -> None:
        """Store events of any threads, all or none, and reserve `RESERVED` numbers after them.

        Raises:
            ThreadNotFound: A thread is gone.
            ThreadError: The store cannot be written.
        """

    async def read(self, thread_id: ThreadId, after_seq: int, limit: int) -> Sequence[RunEvent]:
        """Return about `limit` stored events after `after_seq`, in order; none at the end."""


class MessageBus:
    """Per-thread event logs with replay. Open it as an async context manager.

    Args:
        journal: Where events are kept.
        clock: Gives each event its `at`.
        flush_after_s: How long a delta may stay unstored.
    """

    def __init__(self, journal: Journal, clock: Clock, *, flush_after_s: float = 0.2) -> None:
        self._journal = journal
        self._clock = clock
        self._flush_after_s = flush_after_s
        self._feeds: dict[ThreadId, Feed] = {}
        self._opening = asyncio.Lock()
        self._deletions = 0
        self._dirty: dict[ThreadId, Feed] = {}
        self._lost: dict[ThreadId, Sequence[RunEvent]] = {}
        """Deltas that were shown and then could not be stored, of threads whose store failed."""
        self._work = asyncio.Event()
        self._urgent = asyncio.Event()
        self._closing = False
        self._ended = False
        self._writer: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._writer = asyncio.create_task(self._write(), name="bus-writer")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Store what is still unstored and end every subscription."""
        self.end_subscriptions()
        self._closing = True
        self._work.set()
        self._urgent.set()
        if self._writer is not None:
            await self._writer

    @property
    def open_threads(self) -> int:
        """How many threads are in memory: those with a run under way or a subscriber."""
        return len(self._feeds)

    async def publish(self, event: RunEvent) -> RunEvent:
        """Stamp, store and fan out one event; return it as stamped.

        Returns when subscribers may see it. While a run of the thread is under way the event
        is taken before the first suspension: cancelling the caller then does not undo it.

        Raises:
            ThreadNotFound: The thread is gone.
            ThreadError: The store cannot be written; the event was not shown.
            NotReady: The bus is closed.
        """
        feed = await self._feed(event.thread_id)
        stamped = feed.stamp(event, self._clock)
        self._dirty[feed.thread_id] = feed
        self._work.set()
        if feed.visible < stamped.seq or feed.unstored >= FLUSH_EVENTS:
            self._urgent.set()
        while feed.visible < stamped.seq:
            await feed.change()
        return stamped

    async def mend(self, thread_id: ThreadId, run_id: RunId, message_id: MessageId) -> None:
        """Fill numbers that a dead program may have shown with empty deltas of a message.

        For a message left open by a program that is gone, before its partial
        `MessageCompleted`; the log stays without a gap and no number gets a second meaning.
        """
        feed = await self._feed(thread_id)
        filler = TextDelta(thread_id=thread_id, run_id=run_id, message_id=message_id, text="")
        for _ in range(feed.reserved_at_opening - feed.seq):
            await self.publish(filler)

    async def subscribe(
        self, thread_id: ThreadId, after_seq: int | None = None
    ) -> AsyncGenerator[RunEvent]:
        """Yield the thread's events after `after_seq`, then live ones, without a gap.

        Args:
            thread_id: Which thread.
            after_seq: 0 replays all; None begins with what comes after the first step.

        Yields:
            Events in order of `seq`; ends after `ThreadDeleted`, and when the bus closes.

        Raises:
            ThreadNotFound: There is no such thread.
            ThreadError: The store failed; what was shown until then stands.
        """
        feed = await self._feed(thread_id)
        feed.listeners += 1
        try:
            seen = feed.visible if after_seq is None else max(0, after_seq)
            while True:
                if seen + 1 < feed.first:
                    stored = await self._journal.read(thread_id, seen, PAGE)
                    for event in stored:
                        yield event
                    # Nothing is stored any more once the thread is deleted.
                    seen = stored[-1].seq if stored else feed.first - 1
                elif seen < feed.visible:
                    seen += 1
                    yield feed.at(seen)
                elif feed.closed or self._ended:
                    if feed.failure is not None:
                        raise feed.failure
                    return
                else:
                    await feed.change()
        finally:
            feed.listeners -= 1
            self._forget_if_idle(feed)

    def delete_thread(self, thread_id: ThreadId) -> None:
        """Tell subscribers that the thread is gone, then end their subscriptions.

        Call it when the store has forgotten the thread: nothing of this is stored.
        """
        self._deletions += 1
        feed = self._feeds.pop(thread_id, None)
        self._dirty.pop(thread_id, None)
        self._lost.pop(thread_id, None)
        if feed is not None:
            feed.stamp(ThreadDeleted(thread_id=thread_id), self._clock)
            feed.close()

    def end_subscriptions(self) -> None:
        """End every subscription once it has seen what there is; events may still be published."""
        self._ended = True
        for feed in self._feeds.values():
            feed.wake()

    async def _feed(self, thread_id: ThreadId) -> Feed:
        while (feed := self._feeds.get(thread_id)) is None:
            if self._closing:
                raise NotReady
            async with self._opening:
                if thread_id not in self._feeds:
                    deletions = self._deletions
                    position = await self._journal.position(thread_id)
                    if deletions != self._deletions:
                        # It may be this thread that went in between: nobody would ever hear.
                        continue
                    lost = self._lost.pop(thread_id, ())
                    self._feeds[thread_id] = Feed(thread_id, position, lost)
        return feed

    def _forget_if_idle(self, feed: Feed) -> None:
        if feed.idle and self._feeds.get(feed.thread_id) is feed:
            del self._feeds[feed.thread_id]

    async def _write(self) -> None:
        try:
            while not self._closing or self._dirty:
                await self._work.wait()
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._flush_after_s):
                        await self._urgent.wait()
                self._work.clear()
                self._urgent.clear()
                dirty, self._dirty = self._dirty, {}
                if dirty:
                    await self._store([(feed, feed.seq) for feed in dirty.values()])
        finally:
            self._closing = True
            # Whoever waits for the writer must hear of its end, whatever ended it.
            for feed in list(self._feeds.values()):
                self._fail(feed, ThreadError("store.failed", reason="the writer ended"))

    async def _store(self, parts: Sequence[tuple[Feed, int]]) -> None:
        """Store each feed up to a number; one that fails does not take the others with it."""
        try:
            await self._journal.append([e for feed, upto in parts for e in feed.unstored_to(upto)])
        except FinchError as error:
            if len(parts) > 1:
                for part in parts:
                    await self._store([part])
            else:
                self._fail(parts[0][0], error)
        else:
            for feed, upto in parts:
                feed.stored_to(upto)
                self._forget_if_idle(feed)

    def _fail(self, feed: Feed, error: FinchError) -> None:
        if feed.stored < feed.seq or not self._closing:
            feed.failure = error
            if lost := feed.lost():
                self._lost[feed.thread_id] = lost
        self._feeds.pop(feed.thread_id, None)
        feed.close()
