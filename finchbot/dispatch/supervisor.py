"""Supervises one run: drives the agent, passes its events on, and ends the run come what may."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable

from finchbot.agent.turn import Agent
from finchbot.bus import MessageBus
from finchbot.dispatch.closing import PROGRAM_ENDED, close_from_record, closing_events
from finchbot.dispatch.lanes import Job, StopReason
from finchbot.errors import FinchError
from finchbot.events import (
    ErrorInfo,
    InRun,
    RunCancelled,
    RunEvent,
    RunFailed,
    RunFinished,
    RunInterrupted,
    RunStarted,
    Terminal,
)
from finchbot.ids import NewId
from finchbot.log import frames_of
from finchbot.run_view import ENDED, SpokenItem, ToolItem
from finchbot.threads.store import ThreadStore

Describe = Callable[[FinchError, str | None], ErrorInfo]
"""Puts an error into words of a language (BCP 47; None: the configured one)."""

CANCELLED = "cancelled by the user"
FAILED = "the run failed before the tool answered"

log = logging.getLogger(__name__)


class Supervisor:
    """Performs jobs, one call each.

    Args:
        agent: Answers turns.
        bus: Where events go.
        store: Asked what is true when the bus could not store an event.
        describe: Puts errors into words.
        new_id: For the reference of an unexpected error.
        stop_grace_s: How long a stopped agent may take.
    """

    def __init__(
        self,
        agent: Agent,
        bus: MessageBus,
        store: ThreadStore,
        describe: Describe,
        new_id: NewId,
        stop_grace_s: float,
    ) -> None:
        self._agent = agent
        self._bus = bus
        self._store = store
        self._describe = describe
        self._new_id = new_id
        self._stop_grace_s = stop_grace_s
        self._left_behind: set[asyncio.Task[None]] = set()

    async def perform(self, job: Job) -> None:
        """Run the agent, unless the job was stopped before; return when its last event is out.

        An agent that does not end within the grace after a stop is left behind; what it still
        says is dropped.
        """
        if job.stopped is None:
            job.task = asyncio.create_task(self._iterate(job), name=f"run-{job.turn.run_id}")
            job.task.add_done_callback(lambda _: job.over.set())
            await job.over.wait()
            if not job.task.done():
                log.error("run %s did not end when it was stopped; left behind", job.turn.run_id)
                self._left_behind.add(job.task)
                job.task.add_done_callback(self._drop)
        await self.close(job)

    def stop(self, job: Job, reason: StopReason) -> None:
        """Ask the job to end; the first reason given stays."""
        if job.stopped is None:
            job.stopped = reason
            if job.task is not None:
                job.task.cancel()
                asyncio.get_running_loop().call_later(self._stop_grace_s, job.over.set)

    async def close(self, job: Job) -> None:
        """Publish what the laws still ask for, and set `job.ended`."""
        job.closing = True
        try:
            await self._end(job)
        finally:
            job.ended.set()

    async def _end(self, job: Job) -> None:
        if job.seen.status in ENDED and not job.unstored:
            error = _error_of(job.task)
            if job.stopped is None and error is not None:
                log.error("run %s broke off after its end: %s", job.turn.run_id, frames_of(error))
            return
        last, why = self._last(job)
        if job.unstored:
            await self._close_from_record(last, why)
            return
        try:
            for event in closing_events(job.seen.view, last, why=why):
                await self._bus.publish(event)
        except FinchError as error:
            log.warning("the end of run %s was not stored (%s); once more", last.run_id, error.code)
            await self._close_from_record(last, why)

    async def _close_from_record(self, last: Terminal, why: str) -> None:
        try:
            await close_from_record(self._store, self._bus, last.thread_id, last, why=why)
        except FinchError as error:
            # The next start finds the run open and closes it.
            log.error("run %s could not be closed: %s", last.run_id, error.code)

    async def _iterate(self, job: Job) -> None:
        stream = self._agent.run(job.turn)
        try:
            async for event in stream:
                await self._pass_on(job, event)
        finally:
            if isinstance(stream, AsyncGenerator):
                await stream.aclose()

    async def _pass_on(self, job: Job, event: RunEvent) -> None:
        if job.closing:
            return
        _check_order(job, event)
        job.seen.add(event)
        try:
            await self._bus.publish(event)
        except FinchError:
            job.unstored = True
            raise

    def _last(self, job: Job) -> tuple[Terminal, str]:
        """Return the job's terminal event, and what its open calls answer."""
        thread_id, run_id = job.turn.thread_id, job.turn.run_id
        if job.stopped == "user":
            return RunCancelled(thread_id=thread_id, run_id=run_id), CANCELLED
        if job.stopped == "shutdown":
            interrupted = RunInterrupted(thread_id=thread_id, run_id=run_id, reason="shutdown")
            return interrupted, PROGRAM_ENDED
        error = self._error(job)
        info = self._describe(error, job.turn.language)
        return RunFailed(thread_id=thread_id, run_id=run_id, error=info), FAILED

    def _error(self, job: Job) -> FinchError:
        """Return what a person is told of the way the task ended."""
        run_id, error = job.turn.run_id, _error_of(job.task)
        if isinstance(error, FinchError):
            log.info("run %s failed: %s", run_id, error.code)
            return error
        reference = self._new_id("err")
        what = "no RunFinished" if error is None else frames_of(error)
        log.error("run %s broke off (%s): %s", run_id, reference, what)
        return FinchError("internal", reference=reference)

    def _drop(self, task: asyncio.Task[None]) -> None:
        self._left_behind.discard(task)
        error = _error_of(task)
        if error is not None:
            log.error("a run that was left behind broke off: %s", frames_of(error))


def _error_of(task: asyncio.Task[None] | None) -> BaseException | None:
    if task is None or not task.done() or task.cancelled():
        return None
    return task.exception()


def _check_order(job: Job, event: RunEvent) -> None:
    """Hold the agent to its contract, as far as one event shows it.

    Raises:
        RuntimeError: It does not keep it.
    """
    turn, status = job.turn, job.seen.status
    if not isinstance(event, InRun) or event.run_id != turn.run_id:
        raise RuntimeError(f"the agent said {event.type} of another run")
    if event.thread_id != turn.thread_id:
        raise RuntimeError(f"the agent said {event.type} of another thread")
    if status in ENDED:
        raise RuntimeError(f"the agent said {event.type} after the end")
    if isinstance(event, RunStarted) != (status == "queued"):
        raise RuntimeError(f"the agent said {event.type} while the run was {status}")
    if isinstance(event, RunCancelled | RunInterrupted | RunFailed):
        raise RuntimeError(f"the agent said {event.type}, which is not its to say")
    if isinstance(event, RunFinished) and any(_is_open(item) for item in job.seen.view.items):
        raise RuntimeError("the agent finished with something left open")


def _is_open(item: object) -> bool:
    match item:
        case SpokenItem(done=False) | ToolItem(state="running" | "waiting"):
            return True
        case _:
            return False
