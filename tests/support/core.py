"""The spine, opened on a real file with a scripted agent: what many tests begin with."""

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from finchbot.bus import Journal, MessageBus
from finchbot.dispatch import Dispatcher, Limits
from finchbot.errors import FinchError
from finchbot.events import ErrorInfo, RunEvent
from finchbot.ids import OWNER, Clock, NewId, ThreadId, UserId, new_id, utc_now
from finchbot.messages import Accepted, InboundMessage
from finchbot.threads.service import ThreadService
from finchbot.threads.store import ThreadStore
from finchbot.threads.titles import ThreadTitles
from tests.support.scripted_agent import ScriptedAgent

LIMITS = Limits(stop_grace_s=1.0)
FAR = 3600.0
"""A flush timer that never fires within a test."""


@dataclass
class Forgetful:
    """Stands for the agent's desk: notes what it is told to forget."""

    asked: list[ThreadId] = field(default_factory=list)
    error: FinchError | None = None

    async def __call__(self, thread_id: ThreadId) -> None:
        self.asked.append(thread_id)
        if self.error is not None:
            raise self.error


@dataclass
class Core:
    """All parts of the spine."""

    store: ThreadStore
    bus: MessageBus
    titles: ThreadTitles
    dispatcher: Dispatcher
    threads: ThreadService
    agent: ScriptedAgent
    desk: Forgetful

    async def send(
        self,
        text: str,
        thread_id: ThreadId | None = None,
        *,
        user: UserId = OWNER,
        client_id: str | None = None,
    ) -> Accepted:
        return await self.dispatcher.send(
            InboundMessage(user_id=user, text=text, thread_id=thread_id, client_id=client_id)
        )

    async def until(
        self,
        thread_id: ThreadId,
        found: Callable[[RunEvent], bool],
        *,
        user: UserId = OWNER,
        after_seq: int = 0,
    ) -> list[RunEvent]:
        """Return the thread's events up to the first that `found` holds for."""
        seen: list[RunEvent] = []
        async with aclosing(self.dispatcher.events(user, thread_id, after_seq=after_seq)) as events:
            async for event in events:
                seen.append(event)
                if found(event):
                    return seen
        raise AssertionError(f"the events ended before: {[event.type for event in seen]}")

    async def until_ended(self, accepted: Accepted, *, user: UserId = OWNER) -> list[RunEvent]:
        """Return the thread's events up to the end of a run."""
        ends = {"run.finished", "run.cancelled", "run.interrupted", "run.failed"}
        return await self.until(
            accepted.thread_id,
            lambda e: e.type in ends and getattr(e, "run_id", None) == accepted.run_id,
            user=user,
        )


def describe(error: FinchError, language: str | None) -> ErrorInfo:
    """Say an error as compose would, in the words of a test."""
    return ErrorInfo(code=error.code, detail=f"{language}: {error.code}", params=dict(error.params))


@asynccontextmanager
async def open_core(
    folder: Path,
    *,
    agent: ScriptedAgent | None = None,
    clock: Clock = utc_now,
    ids: NewId = new_id,
    limits: Limits = LIMITS,
    flush_after_s: float = FAR,
    journal: Callable[[ThreadStore], Journal] = lambda store: store,
) -> AsyncIterator[Core]:
    """Open everything on ``folder/threads.db``; `journal` may stand between bus and store."""
    agent = agent or ScriptedAgent()
    desk = Forgetful()
    async with (
        ThreadStore.open(folder / "threads.db", clock=clock) as store,
        MessageBus(journal(store), clock, flush_after_s=flush_after_s) as bus,
    ):
        titles = ThreadTitles(store, bus)
        async with Dispatcher(
            store,
            bus,
            titles,
            agent,
            describe=describe,
            clock=clock,
            new_id=ids,
            limits=limits,
        ) as dispatcher:
            threads = ThreadService(
                store,
                bus,
                titles,
                quiet=dispatcher.quiet,
                forget=desk,
                clock=clock,
                new_id=ids,
            )
            yield Core(store, bus, titles, dispatcher, threads, agent, desk)
