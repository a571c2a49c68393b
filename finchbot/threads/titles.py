"""The titles of threads: what a person or a tool gave is never overwritten by anything else."""

import asyncio

from finchbot.bus import MessageBus
from finchbot.events import ThreadTitled
from finchbot.ids import ThreadId, UserId
from finchbot.threads.records import TitleSource
from finchbot.threads.store import ThreadStore
from finchbot.threads.title_text import first_title, given_title

GIVEN: frozenset[TitleSource] = frozenset({"user", "tool"})


class ThreadTitles:
    """Reads and sets titles; each change is an event of its thread."""

    def __init__(self, store: ThreadStore, bus: MessageBus) -> None:
        self._store = store
        self._bus = bus
        self._one_at_a_time = asyncio.Lock()

    async def get(self, user_id: UserId, thread_id: ThreadId) -> str:
        """Return the title, empty when there is none yet.

        Raises:
            ThreadNotFound: No such thread of this user.
        """
        return (await self._store.get(user_id, thread_id)).title

    async def set_by_user(self, user_id: UserId, thread_id: ThreadId, title: str) -> None:
        """Give the thread a title that stays.

        Raises:
            ThreadNotFound: No such thread of this user.
            InputInvalid: The title is empty.
            TooLarge: The title is too long.
        """
        await self._set(user_id, thread_id, given_title(title), "user")

    async def set_by_tool(self, user_id: UserId, thread_id: ThreadId, title: str) -> None:
        """Give the thread a title that nothing automatic overwrites; raises as `set_by_user`."""
        await self._set(user_id, thread_id, given_title(title), "tool")

    async def set_first(self, user_id: UserId, thread_id: ThreadId, text: str) -> None:
        """Make a title of a message's text when the thread has none.

        Raises:
            ThreadNotFound: No such thread of this user.
        """
        title = first_title(text)
        if title:
            await self._set(user_id, thread_id, title, "first_message")

    async def _set(
        self, user_id: UserId, thread_id: ThreadId, title: str, source: TitleSource
    ) -> None:
        async with self._one_at_a_time:
            thread = await self._store.get(user_id, thread_id)
            if source == "first_message" and thread.title_source != "none":
                return
            if (thread.title, thread.title_source) != (title, source):
                await self._bus.publish(
                    ThreadTitled(thread_id=thread_id, title=title, source=source)
                )
