"""Dispatcher: takes messages in, gives each a run, and keeps the runs of a thread in line."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Set
from contextlib import aclosing, asynccontextmanager
from types import TracebackType
from typing import Any, Self, TypeVar

from finchbot.agent.turn import Agent
from finchbot.bus import MessageBus
from finchbot.dispatch.admission import Admission
from finchbot.dispatch.closing import recover
from finchbot.dispatch.intake import Limits, checked_text, is_stop
from finchbot.dispatch.lanes import Job, Lanes, StopReason
from finchbot.dispatch.supervisor import Describe, Supervisor
from finchbot.errors import NothingToDecide, NotReady
from finchbot.events import Decision, RunEvent
from finchbot.ids import CallId, Clock, NewId, RunId, ThreadId, UserId
from finchbot.log import frames_of
from finchbot.messages import Accepted, InboundMessage
from finchbot.threads.records import KnownMessage
from finchbot.threads.store import ThreadStore
from finchbot.threads.titles import ThreadTitles

T = TypeVar("T")

DEFAULT_LIMITS = Limits()
STOP_WORDS = frozenset({"/stop"})

log = logging.getLogger(__name__)


class Dispatcher:
    """Implements `finchbot.bot.Conversation`. Open it as an async context manager.

    Opening closes the runs that a program which died left open; leaving drains.

    A message's place in the queue is told once, when it arrives, and not again as it moves up.

    Args:
        store: The record.
        bus: Where events go; open, and closed only after the dispatcher.
        titles: Gives a thread its first title.
        agent: Answers turns.
        describe: Puts errors into words.
        clock: For messages and threads.
        new_id: For messages, runs, threads and references.
        limits: How much is taken on.
        stop_words: Texts, casefolded, that stop the run under way instead of being answered.
    """

    def __init__(
        self,
        store: ThreadStore,
        bus: MessageBus,
        titles: ThreadTitles,
        agent: Agent,
        *,
        describe: Describe,
        clock: Clock,
        new_id: NewId,
        limits: Limits = DEFAULT_LIMITS,
        stop_words: Set[str] = STOP_WORDS,
    ) -> None:
        self._store = store
        self._bus = bus
        self._supervisor = Supervisor(agent, bus, store, describe, new_id, limits.stop_grace_s)
        self._admission = Admission(store, bus, titles, clock, new_id, limits)
        self._new_id = new_id
        self._limits = limits
        self._stop_words = stop_words
        self._lanes = Lanes()
        self._accepting = False
        self._arriving: dict[object, asyncio.Task[Accepted]] = {}
        """Messages being taken in, by user, client id and thread where they have an id."""
        self._tasks: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> Self:
        await recover(self._store, self._bus)
        self._accepting = True
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.drain()

    @property
    def busy_threads(self) -> int:
        """How many threads have a run queued or under way."""
        return len(self._lanes)

    async def drain(self) -> None:
        """Take nothing more in, end every run as interrupted, then every subscription.

        Takes no longer than the stop grace and a moment. Calling it again does nothing.
        """
        self._accepting = False
        if self._arriving:
            await asyncio.wait(self._arriving.values())
        jobs = self._lanes.jobs()
        for job in jobs:
            self._stop(job, "shutdown")
        await asyncio.gather(*(job.ended.wait() for job in jobs))
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._bus.end_subscriptions()

    async def send(self, message: InboundMessage) -> Accepted:
        """Take a message in and start, or queue, the run that answers it.

        A stop word ends the thread's run at once; what is returned is then that run.

        Raises:
            InputInvalid: Empty text.
            TooLarge: Text over the limit.
            ThreadNotFound: No such thread of this user.
            Busy: The thread's queue is full.
            NotReady: The program is draining.
            NothingToDecide: There was nothing to stop.
        """
        if not self._accepting:
            raise NotReady("server.draining")
        text = checked_text(message, self._limits)
        key: object = object()
        if message.client_id is not None:
            key = (message.user_id, message.client_id, message.thread_id)
            if (arriving := self._arriving.get(key)) is not None:
                accepted = await asyncio.shield(arriving)
                return accepted.model_copy(update={"repeated": True})
        stop = is_stop(text, self._stop_words)
        taking = self._stop_by_word(message) if stop else self._take_in(message, text)
        task = self._own(taking)
        self._arriving[key] = task
        task.add_done_callback(lambda _: self._arriving.pop(key))
        # A caller that goes away must not leave a message half taken in.
        return await asyncio.shield(task)

    async def cancel(self, user_id: UserId, run_id: RunId) -> None:
        """Stop a run, also a queued one; returns when its last event is out.

        Raises:
            RunNotFound: No such run of this user.
        """
        run = await self._store.run(user_id, run_id)
        job = self._lanes.job(run.thread_id, run_id)
        if job is not None:
            self._stop(job, "user")
            await job.ended.wait()

    async def approve(
        self, user_id: UserId, run_id: RunId, call_id: CallId, decision: Decision
    ) -> None:
        """Decide an open question.

        Raises:
            RunNotFound: No such run of this user.
            NothingToDecide: The run does not wait for this call.
        """
        await self._store.run(user_id, run_id)
        raise NothingToDecide(run_id=run_id, call_id=call_id)

    async def events(
        self, user_id: UserId, thread_id: ThreadId, *, after_seq: int | None = None
    ) -> AsyncGenerator[RunEvent]:
        """Yield the thread's events after `after_seq`, then live ones; see `FinchBot.events`.

        Raises:
            ThreadNotFound: At the first step, when the thread is not this user's.
        """
        await self._store.get(user_id, thread_id)
        async with aclosing(self._bus.subscribe(thread_id, after_seq)) as events:
            async for event in events:
                yield event

    @asynccontextmanager
    async def quiet(self, thread_id: ThreadId) -> AsyncIterator[None]:
        """Stop all runs of a thread; while this is entered none begins and nothing is taken in."""
        with self._lanes.visit(thread_id) as lane:
            async with lane.door:
                jobs = lane.live
                for job in jobs:
                    self._stop(job, "user")
                await asyncio.gather(*(job.ended.wait() for job in jobs))
                yield

    async def _take_in(self, message: InboundMessage, text: str) -> Accepted:
        thread_id = message.thread_id or ThreadId(self._new_id("thr"))
        with self._lanes.visit(thread_id) as lane:
            async with lane.door:
                known = await self._admission.known(message)
                if known is not None:
                    return _accepted(known, repeated=True)
                job = await self._admission.admit(message, text, thread_id, self._lanes, lane)
                if lane.worker is None:
                    lane.worker = self._own(self._work(thread_id))
        return _accepted(_known(job), repeated=False)

    async def _stop_by_word(self, message: InboundMessage) -> Accepted:
        """End the run under way, past the queue; return it as if its message had come again."""
        known = await self._admission.known(message)
        if known is not None:
            return _accepted(known, repeated=True)
        thread_id = message.thread_id
        if thread_id is not None:
            await self._store.get(message.user_id, thread_id)
        lane = None if thread_id is None else self._lanes.find(thread_id)
        live = [] if lane is None else lane.live
        if not live:
            raise NothingToDecide("run.nothing_to_stop")
        job = live[0]
        await self._admission.note_client_id(message, job.turn)
        self._stop(job, "user")
        await job.ended.wait()
        return _accepted(_known(job), repeated=False)

    async def _work(self, thread_id: ThreadId) -> None:
        """Perform a lane's jobs, one after the other, until none is left."""
        with self._lanes.visit(thread_id) as lane:
            while lane.jobs:
                job = lane.jobs[0]
                await job.admitted.wait()
                if job.closing or job.ended.is_set():
                    await job.ended.wait()
                else:
                    await self._perform(job)
                lane.jobs.popleft()
            lane.worker = None

    async def _perform(self, job: Job) -> None:
        try:
            await self._supervisor.perform(job)
        # The lane must go on whatever one run did: this is the supervisor's last net.
        except Exception as error:  # noqa: BLE001
            log.error("run %s was lost: %s", job.turn.run_id, frames_of(error))

    def _stop(self, job: Job, reason: StopReason) -> None:
        waiting = job.task is None
        self._supervisor.stop(job, reason)
        if waiting:
            self._own(self._end_waiting(job))

    async def _end_waiting(self, job: Job) -> None:
        """Close a stopped job that stands in line; the worker closes the one at its head."""
        await job.admitted.wait()
        lane = self._lanes.find(job.turn.thread_id)
        if lane is None or job.closing or job.ended.is_set() or lane.jobs[0] is job:
            return
        await self._supervisor.close(job)

    def _own(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _known(job: Job) -> KnownMessage:
    turn = job.turn
    return KnownMessage(turn.thread_id, turn.run_id, turn.message.id, job.seq, job.ahead > 0)


def _accepted(known: KnownMessage, *, repeated: bool) -> Accepted:
    return Accepted(
        thread_id=known.thread_id,
        run_id=known.run_id,
        message_id=known.message_id,
        seq=known.seq,
        queued=known.queued,
        repeated=repeated,
    )
