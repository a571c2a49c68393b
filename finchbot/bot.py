"""FinchBot, the face every surface sees: the chat page, the terminal, the API and the channels."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from finchbot.errors import Scalar
from finchbot.events import Decision, RunEvent
from finchbot.home import Home
from finchbot.ids import CallId, RunId, ThreadId, UserId
from finchbot.messages import Accepted, InboundMessage, Message
from finchbot.run_view import RunView
from finchbot.settings import SettingsStore
from finchbot.threads.records import Page, Run, Thread
from finchbot.tools.registry import ToolRegistry

Health = Literal["starting", "ok", "degraded", "draining"]


@dataclass(frozen=True, slots=True)
class Notice:
    """What everybody should know who uses this installation; said by ``notice.<code>``."""

    code: str
    params: Mapping[str, Scalar] = field(default_factory=dict)


class Threads(Protocol):
    """The threads of one user at a time; another's thread is `ThreadNotFound`."""

    async def create(self, user_id: UserId, *, title: str = "", channel: str = "chat") -> Thread:
        """Make an empty thread; a title given here counts as given by hand."""

    async def get(self, user_id: UserId, thread_id: ThreadId) -> Thread:
        """Return one thread."""

    async def list(
        self,
        user_id: UserId,
        *,
        q: str = "",
        archived: bool = False,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Thread]:
        """Return threads, pinned first, then the last active; `q` searches titles and text."""

    async def update(
        self,
        user_id: UserId,
        thread_id: ThreadId,
        *,
        title: str | None = None,
        pinned: bool | None = None,
        archived: bool | None = None,
    ) -> Thread:
        """Change what is given; a title set here is the user's and stays."""

    async def delete(self, user_id: UserId, thread_id: ThreadId) -> None:
        """Stop its runs and remove every trace of it."""

    async def messages(
        self, user_id: UserId, thread_id: ThreadId, *, limit: int = 50, cursor: str | None = None
    ) -> Page[Message]:
        """Return the transcript, oldest first."""

    async def run(self, user_id: UserId, run_id: RunId) -> Run:
        """Return one run."""

    async def recent_runs(
        self,
        user_id: UserId,
        thread_id: ThreadId,
        *,
        limit: int = 25,
        before: RunId | None = None,
    ) -> Sequence[RunView]:
        """Return the newest runs (older than `before`) as views, oldest of them first."""


class Conversation(Protocol):
    """What dispatch offers."""

    async def send(self, message: InboundMessage) -> Accepted:
        """See `FinchBot.send`."""

    async def cancel(self, user_id: UserId, run_id: RunId) -> None:
        """See `FinchBot.cancel`."""

    async def approve(
        self, user_id: UserId, run_id: RunId, call_id: CallId, decision: Decision
    ) -> None:
        """See `FinchBot.approve`."""

    def events(
        self, user_id: UserId, thread_id: ThreadId, *, after_seq: int | None = None
    ) -> AsyncIterator[RunEvent]:
        """See `FinchBot.events`."""


@dataclass(frozen=True, slots=True)
class FinchBot:
    """The core, opened. Everything a surface does goes through here, as somebody."""

    conversation: Conversation
    threads: Threads
    tools: ToolRegistry
    settings: SettingsStore
    home: Home
    notices: Sequence[Notice] = ()

    async def send(self, message: InboundMessage) -> Accepted:
        """Take a message in and start, or queue, the run that answers it.

        Raises:
            InputInvalid: Empty text.
            TooLarge: Text over the limit.
            ThreadNotFound: No such thread of this user.
            Busy: The thread's queue is full.
            NotReady: The program is draining.
        """
        return await self.conversation.send(message)

    async def cancel(self, user_id: UserId, run_id: RunId) -> None:
        """Stop a run; returns when its last event is out. A run that has ended stays as it is.

        Raises:
            RunNotFound: No such run of this user.
        """
        await self.conversation.cancel(user_id, run_id)

    async def approve(
        self, user_id: UserId, run_id: RunId, call_id: CallId, decision: Decision
    ) -> None:
        """Decide an open question.

        Raises:
            RunNotFound: No such run of this user.
            NothingToDecide: The run does not wait for this call.
        """
        await self.conversation.approve(user_id, run_id, call_id, decision)

    def events(
        self, user_id: UserId, thread_id: ThreadId, *, after_seq: int | None = None
    ) -> AsyncIterator[RunEvent]:
        """Yield the thread's events: those after `after_seq`, then live ones, without a gap.

        Args:
            user_id: Whose thread.
            thread_id: Which thread.
            after_seq: 0 replays all; None starts with what comes next.

        Raises:
            ThreadNotFound: At the first step, when the thread is not this user's.
        """
        return self.conversation.events(user_id, thread_id, after_seq=after_seq)
