"""One message and its answer, over the bot, on the loop that the bot lives on."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from finchbot.bot import FinchBot
from finchbot.errors import NothingToDecide
from finchbot.events import ApprovalRequested, ApprovalResolved, Decision, InRun, RunEvent
from finchbot.ids import OWNER, CallId, RunId, ThreadId
from finchbot.messages import Accepted, InboundMessage
from finchbot.run_view import RunView, fold
from finchbot.threads.records import Thread

RECENT = 200
"""How many threads are looked through for the last active one."""


@dataclass(frozen=True, slots=True)
class Question:
    """A tool call that waits for a person."""

    run_id: RunId
    call_id: CallId


class Talk:
    """The conversation of one terminal: which thread it is in, and the run under way.

    Args:
        bot: The opened core.
        language: For sentences the program itself says.
        interactive: Whether somebody is there to be asked; nobody means no.
    """

    def __init__(self, bot: FinchBot, language: str, *, interactive: bool) -> None:
        self.thread_id: ThreadId | None = None
        self.run_id: RunId | None = None
        self.question: Question | None = None
        self._bot = bot
        self._language = language
        self._interactive = interactive

    async def enter(self, thread_id: ThreadId) -> Thread:
        """Go on in a thread.

        Raises:
            ThreadNotFound: There is none of that id.
        """
        thread = await self._bot.threads.get(OWNER, thread_id)
        self.thread_id = thread.id
        return thread

    async def enter_last(self) -> Thread | None:
        """Go on in the thread that was active last; None when there is none yet."""
        threads = await self.threads(RECENT)
        last = max(threads, key=lambda thread: thread.last_active_at, default=None)
        self.thread_id = None if last is None else last.id
        return last

    async def threads(self, limit: int) -> tuple[Thread, ...]:
        """Return threads, pinned first, then the last active."""
        page = await self._bot.threads.list(OWNER, limit=limit)
        return page.items

    async def say(self, text: str, show: Callable[[RunEvent], None]) -> RunView:
        """Send a message, show its run's events as they come, and return how it ended.

        Raises:
            FinchError: The message was not taken.
        """
        accepted = await self._bot.send(
            InboundMessage(
                user_id=OWNER,
                text=text,
                thread_id=self.thread_id,
                channel="terminal",
                language=self._language,
            )
        )
        self.thread_id, self.run_id = accepted.thread_id, accepted.run_id
        try:
            return await self._follow(accepted, show)
        finally:
            self.run_id = self.question = None

    async def stop(self) -> bool:
        """Stop the run under way, if there is one."""
        if self.run_id is None:
            return False
        await self._bot.cancel(OWNER, self.run_id)
        return True

    async def decide(self, question: Question, decision: Decision) -> None:
        """Answer an open question; one that has been answered meanwhile stays answered."""
        try:
            await self._bot.approve(OWNER, question.run_id, question.call_id, decision)
        except NothingToDecide:
            return

    async def _follow(self, accepted: Accepted, show: Callable[[RunEvent], None]) -> RunView:
        view = RunView(accepted.run_id)
        events = self._bot.events(OWNER, accepted.thread_id, after_seq=accepted.seq - 1)
        async with _closing(events):
            async for event in events:
                if isinstance(event, InRun) and event.run_id == view.run_id:
                    view = fold(view, event)
                    show(event)
                    await self._ask(event)
                if view.ended:
                    break
        return view

    async def _ask(self, event: RunEvent) -> None:
        match event:
            case ApprovalRequested():
                question = Question(event.run_id, event.call_id)
                if self._interactive:
                    self.question = question
                else:
                    await self.decide(question, "deny")
            case ApprovalResolved():
                self.question = None
            case _:
                pass


@asynccontextmanager
async def _closing(events: AsyncIterator[RunEvent]) -> AsyncIterator[None]:
    """Let go of the events when the block ends, not when the garbage is collected."""
    try:
        yield
    finally:
        if isinstance(events, AsyncGenerator):
            await events.aclose()
