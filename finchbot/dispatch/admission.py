"""Admission: how a message gets into the record and its run into line."""

import logging

from finchbot.agent.turn import Turn
from finchbot.bus import MessageBus
from finchbot.dispatch.intake import Limits, user_message
from finchbot.dispatch.lanes import Job, Lane, Lanes
from finchbot.errors import Busy, FinchError
from finchbot.events import MessageReceived, RunEvent, RunQueued, sound_text
from finchbot.ids import Clock, MessageId, NewId, RunId, ThreadId
from finchbot.messages import InboundMessage
from finchbot.run_view import Folding
from finchbot.threads.records import KnownMessage, Thread, empty_thread
from finchbot.threads.store import ThreadStore
from finchbot.threads.titles import ThreadTitles

RETRY_AFTER_S = 5

log = logging.getLogger(__name__)


class Admission:
    """Takes messages in; `Dispatcher` says what the arguments are."""

    def __init__(
        self,
        store: ThreadStore,
        bus: MessageBus,
        titles: ThreadTitles,
        clock: Clock,
        new_id: NewId,
        limits: Limits,
    ) -> None:
        self._store = store
        self._bus = bus
        self._titles = titles
        self._clock = clock
        self._new_id = new_id
        self._limits = limits

    async def known(self, message: InboundMessage) -> KnownMessage | None:
        """Return what became of this very message when it came before."""
        if message.client_id is None:
            return None
        since = self._clock() - self._limits.repeat_after
        client_id = sound_text(message.client_id)
        return await self._store.known_message(
            message.user_id, client_id, message.thread_id, since=since
        )

    async def note_client_id(self, message: InboundMessage, turn: Turn) -> None:
        """Note which run a message with a client id is given, so that it is not given two."""
        if message.client_id is not None:
            now = self._clock()
            await self._store.note_client_id(
                turn.user_id,
                sound_text(message.client_id),
                turn.thread_id,
                turn.run_id,
                now=now,
                since=now - self._limits.repeat_after,
            )

    async def admit(
        self, message: InboundMessage, text: str, thread_id: ThreadId, lanes: Lanes, lane: Lane
    ) -> Job:
        """Put the message into the record and its run into its thread's lane.

        Call it with the lane's door held, and with the id of a new thread when the message
        names none.

        Raises:
            ThreadNotFound: No such thread of this user.
            Busy: The lane, or the program, has enough to do.
            ThreadError: The store cannot be written; the message was not taken in.
        """
        known = message.thread_id is not None
        thread = await self._store.get(message.user_id, thread_id) if known else None
        full = len(lane.live) > self._limits.waiting
        if full or len(lanes.jobs()) >= self._limits.open_runs:
            raise Busy(retry_after_s=RETRY_AFTER_S)
        if thread is None:
            thread = await self._new_thread(message, thread_id)
        run_id, message_id = RunId(self._new_id("run")), MessageId(self._new_id("msg"))
        asked = user_message(message, text, message_id, run_id, self._clock())
        turn = Turn(run_id, thread.id, message.user_id, asked, message.language)
        await self.note_client_id(message, turn)
        job = Job(turn, Folding(run_id), ahead=len(lane.live))
        lane.jobs.append(job)
        try:
            await self._announce(job, thread)
        except FinchError:
            job.ended.set()
            raise
        finally:
            job.admitted.set()
        return job

    async def _new_thread(self, message: InboundMessage, thread_id: ThreadId) -> Thread:
        now = self._clock()
        thread = empty_thread(thread_id, message.user_id, channel=message.channel, now=now)
        await self._store.create(thread)
        return thread

    async def _announce(self, job: Job, thread: Thread) -> None:
        """Publish that the message was taken in; from then on its run must be carried through."""
        turn = job.turn
        thread_id, run_id = turn.thread_id, turn.run_id
        received = MessageReceived(thread_id=thread_id, run_id=run_id, message=turn.message)
        job.seq = (await self._say(job, received)).seq
        try:
            if job.ahead:
                queued = RunQueued(thread_id=thread_id, run_id=run_id, position=job.ahead)
                await self._say(job, queued)
            if thread.title_source == "none":
                await self._titles.set_first(turn.user_id, turn.thread_id, turn.message.text)
        except FinchError as error:
            log.warning("run %s was not announced in full: %s", turn.run_id, error.code)

    async def _say(self, job: Job, event: RunEvent) -> RunEvent:
        job.seen.add(event)
        return await self._bus.publish(event)
