"""What a demo keeps of its visitors while they are here, and how all of it goes."""

import asyncio
import hashlib
import logging
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from finchbot.errors import FinchError, ThreadError, ThreadNotFound
from finchbot.ids import ThreadId, UserId
from finchbot.server.identity import is_visitor

if TYPE_CHECKING:
    from finchbot.bot import Threads
    from finchbot.threads.store import ThreadStore

_PAGE = 200

log = logging.getLogger(__name__)


def visitor_folder(visitors: Path, user_id: UserId) -> Path:
    """Return where a visitor's tools work; its name gives no id away."""
    return visitors / hashlib.sha256(user_id.encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class VisitorTraces:
    """Finds and removes what visitors leave: threads, working state, files.

    Args:
        folder: Holds one folder per visitor.
        store: Knows who has threads.
        threads: Deletes them with everything that hangs on them.
    """

    folder: Path
    store: "ThreadStore"
    threads: "Threads"

    async def remove(self, user_id: UserId) -> None:
        """Remove all that is left of one visitor.

        Raises:
            FinchError: Something could not be removed; removing again goes on from there.
        """
        for archived in (False, True):
            while found := await self._threads_of(user_id, archived=archived):
                for thread_id in found:
                    try:
                        await self.threads.delete(user_id, thread_id)
                    except ThreadNotFound:
                        log.debug("a visitor was quicker to delete a thread")
        await asyncio.to_thread(_remove_folder, visitor_folder(self.folder, user_id))

    async def remove_all(self) -> None:
        """Remove all that is left of any visitor, also of an earlier demo that was killed.

        Raises:
            FinchError: Something could not be removed.
        """
        for user_id in await self.store.user_ids():
            if is_visitor(user_id):
                await self.remove(user_id)
        await asyncio.to_thread(_remove_folder, self.folder)

    @asynccontextmanager
    async def kept_for_now(self) -> AsyncIterator[None]:
        """Begin without traces and leave none."""
        await self.remove_all()
        try:
            yield
        finally:
            try:
                await self.remove_all()
            except FinchError as error:
                # The next start finds them.
                log.error("what visitors left could not be removed: %s", error.code)

    async def _threads_of(self, user_id: UserId, *, archived: bool) -> list[ThreadId]:
        page = await self.threads.list(user_id, archived=archived, limit=_PAGE)
        return [thread.id for thread in page.items]


def _remove_folder(folder: Path) -> None:
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except OSError as error:
        raise ThreadError("store.failed", reason=error.strerror or type(error).__name__) from error
