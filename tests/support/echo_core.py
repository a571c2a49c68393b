"""An in-memory core: it repeats what it hears, word by word, as fast as a test lets it."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from finchbot.bot import FinchBot
from finchbot.dispatch.closing import closing_events
from finchbot.errors import (
    InputInvalid,
    NothingToDecide,
    NotReady,
    RunNotFound,
    ThreadNotFound,
)
from finchbot.events import (
    ErrorInfo,
    MessageCompleted,
    MessageReceived,
    RunCancelled,
    RunEvent,
    RunFailed,
    RunFinished,
    RunInterrupted,
    RunQueued,
    RunStarted,
    Terminal,
    TextDelta,
    ThreadDeleted,
    Usage,
)
from finchbot.home import open_home
from finchbot.ids import CallId, MessageId, RunId, ThreadId, UserId, new_id, utc_now
from finchbot.messages import Accepted, InboundMessage, Message, TextPart
from finchbot.run_view import RunStatus, RunView, fold_all
from finchbot.settings import SettingsStore
from finchbot.threads.records import Page, Run, Thread
from finchbot.tools import files
from finchbot.tools.deps import ToolDeps
from finchbot.tools.registry import ToolRegistry


class EchoCore:
    """Conversation and threads in one.

    A text that begins with ``hold`` stops after its first word until `go` is set; ``fail``
    fails; ``break`` makes the subscription itself break.
    """

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.subscribers = 0
        self._threads: dict[ThreadId, Thread] = {}
        self._logs: dict[ThreadId, list[RunEvent]] = defaultdict(list)
        self._runs: dict[RunId, Run] = {}
        self._tasks: dict[RunId, asyncio.Task[None]] = {}
        self._lanes: dict[ThreadId, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._taken: dict[tuple[UserId, str], Accepted] = {}
        self._news = asyncio.Condition()
        self._left = asyncio.Event()
        self._draining = False

    async def until_nobody_listens(self) -> None:
        """Return when the last subscription has ended."""
        while self.subscribers:
            self._left.clear()
            await self._left.wait()

    async def __aenter__(self) -> "EchoCore":
        return self

    async def __aexit__(self, *_: object) -> None:
        self._draining = True
        for run_id in list(self._tasks):
            await self._end(run_id, "interrupted")

    # Conversation

    async def send(self, message: InboundMessage) -> Accepted:
        if self._draining:
            raise NotReady
        if not message.text.strip():
            raise InputInvalid("input.empty")
        key = (message.user_id, message.client_id or "")
        if message.client_id and key in self._taken:
            return self._taken[key].model_copy(update={"repeated": True})
        if message.thread_id is None:
            thread = await self.create(message.user_id, channel=message.channel)
        else:
            thread = await self.get(message.user_id, message.thread_id)
        accepted = await self._start(thread, message)
        if message.client_id:
            self._taken[key] = accepted
        return accepted

    async def cancel(self, user_id: UserId, run_id: RunId) -> None:
        await self.run(user_id, run_id)
        await self._end(run_id, "cancelled")

    async def approve(self, user_id: UserId, run_id: RunId, call_id: CallId, decision: str) -> None:
        await self.run(user_id, run_id)
        raise NothingToDecide

    async def events(
        self, user_id: UserId, thread_id: ThreadId, *, after_seq: int | None = None
    ) -> AsyncIterator[RunEvent]:
        await self.get(user_id, thread_id)
        log = self._logs[thread_id]
        position = len(log) if after_seq is None else after_seq
        self.subscribers += 1
        try:
            while True:
                while position < len(log):
                    position += 1
                    event = log[position - 1]
                    if isinstance(event, TextDelta) and event.text == "break":
                        raise RuntimeError("the subscription broke")
                    yield event
                async with self._news:
                    while position >= len(log):
                        await self._news.wait()
        finally:
            self.subscribers -= 1
            self._left.set()

    # Threads

    async def create(self, user_id: UserId, *, title: str = "", channel: str = "chat") -> Thread:
        thread = Thread(
            id=ThreadId(new_id("thr")),
            user_id=user_id,
            title=title,
            title_source="user" if title else "none",
            channel=channel,
            created_at=utc_now(),
            last_active_at=utc_now(),
            message_count=0,
            turn_count=0,
        )
        self._threads[thread.id] = thread
        return thread

    async def get(self, user_id: UserId, thread_id: ThreadId) -> Thread:
        thread = self._threads.get(thread_id)
        if thread is None or thread.user_id != user_id:
            raise ThreadNotFound(thread_id=thread_id)
        return thread

    async def list(
        self,
        user_id: UserId,
        *,
        q: str = "",
        archived: bool = False,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Thread]:
        mine = [t for t in self._threads.values() if t.user_id == user_id and q in t.title]
        start = int(cursor or 0)
        following = str(start + limit) if len(mine) > start + limit else None
        return Page[Thread](items=tuple(mine[start : start + limit]), next=following)

    async def update(
        self,
        user_id: UserId,
        thread_id: ThreadId,
        *,
        title: str | None = None,
        pinned: bool | None = None,
        archived: bool | None = None,
    ) -> Thread:
        given = {"title": title, "pinned": pinned, "archived": archived}
        changes = {name: value for name, value in given.items() if value is not None}
        thread = (await self.get(user_id, thread_id)).model_copy(update=changes)
        self._threads[thread_id] = thread
        return thread

    async def delete(self, user_id: UserId, thread_id: ThreadId) -> None:
        await self.get(user_id, thread_id)
        await self._publish(ThreadDeleted(thread_id=thread_id))
        del self._threads[thread_id]

    async def messages(
        self, user_id: UserId, thread_id: ThreadId, *, limit: int = 50, cursor: str | None = None
    ) -> Page[Message]:
        await self.get(user_id, thread_id)
        received = [e for e in self._logs[thread_id] if isinstance(e, MessageReceived)]
        return Page[Message](items=tuple(event.message for event in received[:limit]))

    async def run(self, user_id: UserId, run_id: RunId) -> Run:
        run = self._runs.get(run_id)
        if run is None or self._threads[run.thread_id].user_id != user_id:
            raise RunNotFound(run_id=run_id)
        return run.model_copy(update={"status": self._view(run).status})

    async def recent_runs(
        self,
        user_id: UserId,
        thread_id: ThreadId,
        *,
        limit: int = 25,
        before: RunId | None = None,
    ) -> Sequence[RunView]:
        await self.get(user_id, thread_id)
        return [self._view(run) for run in self._runs.values() if run.thread_id == thread_id]

    # Inside

    def _view(self, run: Run) -> RunView:
        events = [e for e in self._logs[run.thread_id] if getattr(e, "run_id", None) == run.id]
        return fold_all(run.id, events)

    async def _start(self, thread: Thread, inbound: InboundMessage) -> Accepted:
        run_id, message_id = RunId(new_id("run")), MessageId(new_id("msg"))
        message = Message(
            id=message_id,
            role="user",
            parts=(TextPart(text=inbound.text),),
            run_id=run_id,
            created_at=utc_now(),
        )
        status: RunStatus = "queued"
        self._runs[run_id] = Run(
            id=run_id,
            thread_id=thread.id,
            message_id=message_id,
            status=status,
            created_at=utc_now(),
        )
        queued = self._lanes[thread.id].locked()
        received = MessageReceived(thread_id=thread.id, run_id=run_id, message=message)
        seq = await self._publish(received)
        if queued:
            await self._publish(RunQueued(thread_id=thread.id, run_id=run_id, position=1))
        self._tasks[run_id] = asyncio.create_task(self._answer(thread.id, run_id, inbound.text))
        return Accepted(
            thread_id=thread.id, run_id=run_id, message_id=message_id, seq=seq, queued=queued
        )

    async def _answer(self, thread_id: ThreadId, run_id: RunId, text: str) -> None:
        names: dict[str, Any] = {"thread_id": thread_id, "run_id": run_id}
        async with self._lanes[thread_id]:
            await self._publish(RunStarted(**names, model="echo/echo"))
            if text.startswith("fail"):
                error = ErrorInfo(code="provider.failed", detail="It failed.")
                await self._publish(RunFailed(**names, error=error))
                return
            answer = MessageId(new_id("msg"))
            for place, word in enumerate(text.split()):
                if place == 1 and text.startswith("hold"):
                    await self.go.wait()
                said = word if place == 0 else f" {word}"
                await self._publish(TextDelta(**names, message_id=answer, text=said))
            whole = " ".join(text.split())
            await self._publish(MessageCompleted(**names, message_id=answer, text=whole))
            await self._publish(RunFinished(**names, usage=Usage(output_tokens=1)))

    async def _end(self, run_id: RunId, how: str) -> None:
        task = self._tasks.pop(run_id)
        task.cancel()
        await asyncio.wait([task])
        run = self._runs[run_id]
        names: dict[str, Any] = {"thread_id": run.thread_id, "run_id": run_id}
        last: Terminal = RunCancelled(**names)
        if how == "interrupted":
            last = RunInterrupted(**names, reason="shutdown")
        for event in closing_events(self._view(run), last, why=how):
            await self._publish(event)

    async def _publish(self, event: RunEvent) -> int:
        log = self._logs[event.thread_id]
        stamped = event.model_copy(update={"seq": len(log) + 1, "at": utc_now()})
        log.append(stamped)
        async with self._news:
            self._news.notify_all()
        return stamped.seq


class NoTitles:
    """Titles of nothing: the file tools do not ask for one."""

    async def get(self, user_id: UserId, thread_id: ThreadId) -> str:
        return ""

    async def set_by_tool(self, user_id: UserId, thread_id: ThreadId, title: str) -> None:
        raise ThreadNotFound(thread_id=thread_id)


def echo_bot(core: EchoCore, root: Path, environ: dict[str, str]) -> FinchBot:
    """Return a bot around the core, with real settings in a home at `root`."""
    home = open_home(root, environ)
    deps = ToolDeps(titles=NoTitles(), sentences=lambda key, /, **params: key)
    return FinchBot(
        conversation=core,
        threads=core,
        tools=ToolRegistry([files.tools], deps, lambda error: error.code),
        settings=SettingsStore(home, environ=environ),
        home=home,
    )
