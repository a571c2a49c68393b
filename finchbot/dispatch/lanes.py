"""Lanes: the runs of one thread in line, the first of them under way."""

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from finchbot.agent.turn import Turn
from finchbot.ids import RunId, ThreadId
from finchbot.run_view import Folding

StopReason = Literal["user", "shutdown"]


@dataclass(eq=False, slots=True)
class Job:
    """A run from its arrival to its last event."""

    turn: Turn
    seen: Folding
    """What was published of the run."""
    ahead: int = 0
    """How many runs of the thread went first when it arrived."""
    seq: int = 0
    """Of its `message.received`."""
    admitted: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the message is in the record: only then may the run begin, or be closed."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when its last event is out."""
    stopped: StopReason | None = None
    task: asyncio.Task[None] | None = None
    """Iterates the agent."""
    over: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the task is done, or is not waited for any longer."""
    closing: bool = False
    """Whether its last events are being published; the agent has no say any more."""
    unstored: bool = False
    """Whether the store failed under it, so that `seen` knows more than the record."""


@dataclass(eq=False, slots=True)
class Lane:
    """The runs of one thread."""

    jobs: deque[Job] = field(default_factory=deque)
    """In order of arrival; those that ended while they waited are passed over."""
    door: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a message is taken in, so that arrival, number and place agree."""
    visitors: int = 0
    worker: asyncio.Task[None] | None = None

    @property
    def live(self) -> list[Job]:
        """The runs that have not ended, the first of them under way."""
        return [job for job in self.jobs if not job.ended.is_set()]


class Lanes:
    """The lanes of all threads; one exists while it is used."""

    def __init__(self) -> None:
        self._lanes: dict[ThreadId, Lane] = {}

    def __len__(self) -> int:
        return len(self._lanes)

    def find(self, thread_id: ThreadId) -> Lane | None:
        """Return a thread's lane if it is in use."""
        return self._lanes.get(thread_id)

    def jobs(self) -> list[Job]:
        """Return every run that has not ended."""
        return [job for lane in self._lanes.values() for job in lane.live]

    def job(self, thread_id: ThreadId, run_id: RunId) -> Job | None:
        """Return a run of a thread, unless it has ended."""
        lane = self._lanes.get(thread_id)
        live = [] if lane is None else lane.live
        return next((job for job in live if job.turn.run_id == run_id), None)

    @contextmanager
    def visit(self, thread_id: ThreadId) -> Iterator[Lane]:
        """Use a thread's lane; it goes when nobody uses it and nothing runs."""
        lane = self._lanes.setdefault(thread_id, Lane())
        lane.visitors += 1
        try:
            yield lane
        finally:
            lane.visitors -= 1
            if not lane.visitors and lane.worker is None:
                self._lanes.pop(thread_id)
