"""One thread followed live: its newest runs from the record, then folded event by event."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self

from finchbot.bot import FinchBot
from finchbot.errors import FinchError, ThreadNotFound
from finchbot.events import InRun, RunEvent, ThreadDeleted, ThreadTitled, ThreadUpdated
from finchbot.ids import RunId, ThreadId, UserId
from finchbot.run_view import RunView, fold


class FollowedThread:
    """The runs of a thread, kept current by a task of its own while the block is open.

    Args:
        bot: The core.
        user_id: Whose thread.
        thread_id: Which thread.
        limit: How many runs to begin with; runs that come later are added.
        touch: Called after every change.

    Raises:
        ThreadNotFound: On entering, when the thread is not this user's.
    """

    def __init__(
        self,
        bot: FinchBot,
        user_id: UserId,
        thread_id: ThreadId,
        *,
        limit: int,
        touch: Callable[[], None],
    ) -> None:
        self._bot = bot
        self._user_id = user_id
        self.thread_id = thread_id
        self._limit = limit
        self._touch = touch
        self._runs: dict[RunId, RunView] = {}
        self._task: asyncio.Task[None] | None = None
        self.more = False
        """Whether older runs exist."""
        self.listed = False
        """Whether what the thread list shows of it changed; the reader sets it back."""
        self.failure: FinchError | None = None
        """Why there is nothing to follow any more: deleted, say, perhaps in another tab."""

    @property
    def runs(self) -> Sequence[RunView]:
        """The runs as they stand, oldest first."""
        return tuple(self._runs.values())

    async def __aenter__(self) -> Self:
        found = await self._read(self._limit)
        # An event is taken once, so it does no harm to begin before the newest one known: the
        # runs were read one after the other while events went on.
        open_runs = [view.last_seq for view in found if not view.ended]
        after = min(open_runs) if open_runs else max((view.last_seq for view in found), default=0)
        self._task = asyncio.create_task(self._follow(after))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def reach(self, limit: int) -> None:
        """Show the newest `limit` runs: read older ones, or let go of the oldest."""
        if limit > self._limit and self.more:
            await self._read(limit - len(self._runs))
        elif limit < self._limit:
            newest = list(self._runs)[-limit:]
            self.more |= len(newest) < len(self._runs)
            self._runs = {run_id: self._runs[run_id] for run_id in newest}
        self._limit = limit

    async def _read(self, count: int) -> Sequence[RunView]:
        """Put `count` runs in front of those that are here."""
        oldest = next(iter(self._runs), None)
        found = await self._bot.threads.recent_runs(
            self._user_id, self.thread_id, limit=count + 1, before=oldest
        )
        self.more = len(found) > count
        self._runs = {view.run_id: view for view in found[-count:]} | self._runs
        return found

    async def _follow(self, after_seq: int) -> None:
        try:
            async for event in self._bot.events(self._user_id, self.thread_id, after_seq=after_seq):
                self._take(event)
                self._touch()
        except FinchError as error:
            self.failure = error
            self._touch()

    def _take(self, event: RunEvent) -> None:
        match event:
            case ThreadDeleted():
                self.failure = ThreadNotFound()
            case ThreadTitled() | ThreadUpdated():
                self.listed = True
            case InRun(run_id=run_id):
                before = self._runs.get(run_id, RunView(run_id))
                if event.seq > before.last_seq:
                    after = fold(before, event)
                    self._runs[run_id] = after
                    self.listed |= before.ended != after.ended or before.status == "queued"
