"""Feed: one thread's log in memory, a window on the journal that reaches to now."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from finchbot.errors import FinchError
from finchbot.events import (
    InRun,
    MessageCompleted,
    ReasoningDelta,
    RunCancelled,
    RunEvent,
    RunFailed,
    RunFinished,
    RunInterrupted,
    TextDelta,
    canonical,
)
from finchbot.ids import Clock, MessageId, RunId, ThreadId

RESERVED = 256
"""How many numbers beyond the last stored event the journal sets aside for deltas."""
KEPT = 1024
"""Stored events of a busy thread that stay in memory for those who come back."""
FEW = 64
"""The same of a thread that only has subscribers."""


@dataclass(frozen=True, slots=True)
class Position:
    """Where a thread's log stands on disk."""

    last_seq: int
    """Of the newest stored event; 0 when there is none."""
    reserved_seq: int
    """The highest number that may have been shown."""


class Feed:
    """See the module; `MessageBus` decides when it is stored, and when it goes."""

    def __init__(
        self, thread_id: ThreadId, position: Position, lost: Sequence[RunEvent] = ()
    ) -> None:
        self.thread_id = thread_id
        self.log: list[RunEvent] = []
        self.first = position.last_seq + 1
        """Number of `log[0]`."""
        self.seq = self.visible = self.stored = position.last_seq
        self.reserved = self.reserved_at_opening = position.reserved_seq
        self.begun: set[MessageId] = set()
        """Open messages whose first delta is stored: the next ones may be shown at once."""
        self.runs: set[RunId] = set()
        self.listeners = 0
        self.closed = False
        self.failure: FinchError | None = None
        self._waiting: set[asyncio.Future[None]] = set()
        # Numbers that were shown are not given again: an empty delta takes the place of each.
        self.log += [event.model_copy(update={"text": ""}) for event in lost]
        self.seq += len(lost)
        self.shown = self.seq
        """The highest number that was shown before this feed was opened."""

    @property
    def unstored(self) -> int:
        return self.seq - self.stored

    @property
    def idle(self) -> bool:
        return not self.listeners and not self.runs and self.stored == self.seq

    def stamp(self, event: RunEvent, clock: Clock) -> RunEvent:
        """Give the event its number and time and put it at the end of the log."""
        now = clock()
        at = now.replace(microsecond=now.microsecond // 1000 * 1000)
        event = canonical(event.model_copy(update={"seq": self.seq + 1, "at": at}))
        self.seq += 1
        self.log.append(event)
        if isinstance(event, InRun):
            self._note(event)
        self._show()
        return event

    def at(self, seq: int) -> RunEvent:
        return self.log[seq - self.first]

    def unstored_to(self, seq: int) -> Sequence[RunEvent]:
        return self.log[self.stored + 1 - self.first : seq + 1 - self.first]

    def stored_to(self, seq: int) -> None:
        """Note that all up to `seq` is stored: it may be seen, and memory may let go of it."""
        for event in self.unstored_to(seq):
            if isinstance(event, TextDelta | ReasoningDelta):
                self.begun.add(event.message_id)
            elif isinstance(event, MessageCompleted):
                self.begun.discard(event.message_id)
        self.stored = seq
        self.reserved = seq + RESERVED
        self.visible = max(self.visible, seq)
        self._show()
        self.wake()
        keep = KEPT if self.runs else FEW
        spare = min(len(self.log) - keep, self.stored + 1 - self.first)
        if spare > 0:
            del self.log[:spare]
            self.first += spare

    def lost(self) -> Sequence[RunEvent]:
        """Return what was shown and is not stored."""
        return self.unstored_to(max(self.visible, self.shown))

    async def change(self) -> None:
        """Return when there is more to see.

        Raises:
            ThreadError: The store failed, or the log is closed: nothing more will come.
        """
        if self.failure is not None:
            raise self.failure
        future = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        try:
            await future
        finally:
            self._waiting.discard(future)

    def close(self) -> None:
        if self.failure is None:
            self.visible = self.seq
        self.closed = True
        self.wake()

    def wake(self) -> None:
        for future in self._waiting:
            if not future.done():
                future.set_result(None)

    def _note(self, event: InRun) -> None:
        if isinstance(event, RunFinished | RunCancelled | RunInterrupted | RunFailed):
            self.runs.discard(event.run_id)
        else:
            self.runs.add(event.run_id)

    def _show(self) -> None:
        """Show deltas that may be seen before they are stored."""
        before = self.visible
        while self.visible < min(self.seq, self.reserved):
            event = self.at(self.visible + 1)
            if not isinstance(event, TextDelta | ReasoningDelta):
                break
            if event.message_id not in self.begun:
                break
            self.visible += 1
        if self.visible > before:
            self.wake()
