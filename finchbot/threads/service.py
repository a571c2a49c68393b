"""The threads of one user at a time, as the bot offers them to every surface."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager

from pydantic import JsonValue

from finchbot.bus import MessageBus
from finchbot.events import ThreadUpdated
from finchbot.ids import Clock, NewId, RunId, ThreadId, UserId
from finchbot.messages import Message
from finchbot.run_view import RunView
from finchbot.threads.records import Page, Run, Thread, empty_thread
from finchbot.threads.store import ThreadStore
from finchbot.threads.title_text import given_title
from finchbot.threads.titles import ThreadTitles

Quiet = Callable[[ThreadId], AbstractAsyncContextManager[None]]
"""Stops all runs of a thread, and lets none start while it is entered."""
Forget = Callable[[ThreadId], Awaitable[None]]
"""Removes the agent's working state of a thread."""


class ThreadService:
    """Implements `finchbot.bot.Threads`.

    Args:
        store: The record.
        bus: Tells of changes.
        titles: Sets titles.
        quiet: From dispatch; used before a thread is deleted.
        forget: From the agent; used before the record itself goes.
        clock: For new threads.
        new_id: For new threads.
    """

    def __init__(
        self,
        store: ThreadStore,
        bus: MessageBus,
        titles: ThreadTitles,
        *,
        quiet: Quiet,
        forget: Forget,
        clock: Clock,
        new_id: NewId,
    ) -> None:
        self._store = store
        self._bus = bus
        self._titles = titles
        self._quiet = quiet
        self._forget = forget
        self._clock = clock
        self._new_id = new_id

    async def create(self, user_id: UserId, *, title: str = "", channel: str = "chat") -> Thread:
        """Make an empty thread; a title given here counts as given by hand.

        Raises:
            TooLarge: The title is too long.
        """
        given = title.strip()
        thread = empty_thread(
            ThreadId(self._new_id("thr")),
            user_id,
            channel=channel,
            now=self._clock(),
            title=given_title(title) if given else "",
            title_source="user" if given else "none",
        )
        await self._store.create(thread)
        return thread

    async def get(self, user_id: UserId, thread_id: ThreadId) -> Thread:
        """Return one thread.

        Raises:
            ThreadNotFound: No such thread of this user.
        """
        return await self._store.get(user_id, thread_id)

    async def update(
        self,
        user_id: UserId,
        thread_id: ThreadId,
        *,
        title: str | None = None,
        pinned: bool | None = None,
        archived: bool | None = None,
    ) -> Thread:
        """Change what is given; a title set here is the user's and stays.

        Raises:
            ThreadNotFound: No such thread of this user.
            InputInvalid: The title is empty; nothing is changed.
            TooLarge: The title is too long; nothing is changed.
        """
        thread = await self._store.get(user_id, thread_id)
        if title is not None:
            await self._titles.set_by_user(user_id, thread_id, title)
        wanted = {"pinned": pinned, "archived": archived}
        fields: dict[str, JsonValue] = {
            name: value
            for name, value in wanted.items()
            if value is not None and value != getattr(thread, name)
        }
        if fields:
            await self._bus.publish(ThreadUpdated(thread_id=thread_id, fields=fields))
        return await self._store.get(user_id, thread_id)

    async def delete(self, user_id: UserId, thread_id: ThreadId) -> None:
        """Stop its runs and remove every trace of it: the working state first, the record last.

        Whatever fails before the record is gone leaves a thread that can be deleted again.

        Raises:
            ThreadNotFound: No such thread of this user.
            ThreadError: The store cannot be written; or the thread is gone, and another program
                holds on to pages that still have words of it.
        """
        await self._store.get(user_id, thread_id)
        async with self._quiet(thread_id):
            await self._forget(thread_id)
            await self._store.delete(thread_id)
            self._bus.delete_thread(thread_id)
        await self._store.scrub()

    async def messages(
        self, user_id: UserId, thread_id: ThreadId, *, limit: int = 50, cursor: str | None = None
    ) -> Page[Message]:
        """Return the transcript, oldest first.

        Raises:
            ThreadNotFound: No such thread of this user.
            InputInvalid: The limit or the cursor makes no sense.
        """
        await self._store.get(user_id, thread_id)
        return await self._store.messages(thread_id, limit=limit, cursor=cursor)

    async def run(self, user_id: UserId, run_id: RunId) -> Run:
        """Return one run.

        Raises:
            RunNotFound: No such run of this user.
        """
        return await self._store.run(user_id, run_id)

    async def recent_runs(
        self, user_id: UserId, thread_id: ThreadId, *, limit: int = 25, before: RunId | None = None
    ) -> Sequence[RunView]:
        """Return the newest runs (older than `before`) as views, oldest of them first.

        Raises:
            ThreadNotFound: No such thread of this user.
            InputInvalid: The limit makes no sense.
        """
        await self._store.get(user_id, thread_id)
        return await self._store.recent_runs(thread_id, limit=limit, before=before)

    async def list(
        self,
        user_id: UserId,
        *,
        q: str = "",
        archived: bool = False,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Thread]:
        """Return threads, pinned first, then the last active; `q` searches titles and text.

        Raises:
            InputInvalid: The limit or the cursor makes no sense.
        """
        return await self._store.list(user_id, q=q, archived=archived, limit=limit, cursor=cursor)
