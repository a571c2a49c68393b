"""ThreadStore: the record of threads, runs and messages, in `threads.db`.

It is the bus's journal as well: an event and what it does to the transcript are one
transaction, so the two never disagree, whenever the program dies.
"""

import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Self

from finchbot.bus import Position
from finchbot.errors import ThreadNotFound
from finchbot.events import RunEvent
from finchbot.ids import Clock, RunId, ThreadId, UserId
from finchbot.messages import Message
from finchbot.run_view import RunView
from finchbot.threads import journal, listing, runs
from finchbot.threads.database import Database, open_database
from finchbot.threads.moments import to_ms
from finchbot.threads.records import KnownMessage, Page, Run, Thread
from finchbot.threads.schema import MIGRATIONS
from finchbot.threads.transcript import set_title


class ThreadStore:
    """All threads of all users. Open it with `ThreadStore.open`.

    Methods without a `user_id` are for the core, which has asked whose thread it is.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    @asynccontextmanager
    async def open(cls, path: Path, *, clock: Clock) -> AsyncIterator[Self]:
        """Open the file, making or migrating it.

        A damaged file is moved aside and a new one begun; `set_aside` then says where it is.

        Raises:
            StoreTooNew: A newer program wrote it; it stays as it is.
            ThreadError: It cannot be opened.
        """
        async with open_database(path, MIGRATIONS, clock) as database:
            yield cls(database)

    @property
    def set_aside(self) -> Path | None:
        """Where the damaged file went that this one replaces; None when all was well."""
        return self._database.set_aside

    async def position(self, thread_id: ThreadId) -> Position:
        """See `Journal.position`."""
        return await self._database.read(journal.position, thread_id)

    async def append(self, events: Sequence[RunEvent]) -> None:
        """See `Journal.append`."""
        await self._database.write(journal.append, events)

    async def read(self, thread_id: ThreadId, after_seq: int, limit: int) -> Sequence[RunEvent]:
        """See `Journal.read`."""
        return await self._database.read(journal.read, thread_id, after_seq, limit)

    async def create(self, thread: Thread) -> None:
        """Add a new thread; its counts are those of an empty one."""
        await self._database.write(_create, thread)

    async def get(self, user_id: UserId, thread_id: ThreadId) -> Thread:
        """Return a user's thread.

        Raises:
            ThreadNotFound: No such thread of this user.
        """
        return await self._database.read(_get, user_id, thread_id)

    async def user_ids(self) -> list[UserId]:
        """Return everybody who has a thread."""
        return await self._database.read(_user_ids)

    async def delete(self, thread_id: ThreadId) -> None:
        """Remove a thread with all its text; `scrub` then removes the last bytes of it.

        Raises:
            ThreadNotFound: There is no such thread.
            ThreadError: The store cannot be written; nothing is removed.
        """
        await self._database.write(_delete, thread_id)

    async def scrub(self) -> None:
        """Leave no byte of what was deleted in the files.

        Raises:
            ThreadError: Another program keeps old pages in the log.
        """
        await self._database.checkpoint()

    async def messages(
        self, thread_id: ThreadId, *, limit: int = 50, cursor: str | None = None
    ) -> Page[Message]:
        """Return a page of the transcript, oldest first.

        Raises:
            InputInvalid: The limit or the cursor makes no sense.
        """
        return await self._database.read(
            listing.list_messages, thread_id, limit=limit, cursor=cursor
        )

    async def recent_messages(
        self, thread_id: ThreadId, limit: int, *, before: RunId | None = None
    ) -> list[Message]:
        """Return the newest messages that a model may see, oldest of them first.

        What still waits in the queue, or was stopped there, is left out. The first of them may
        be the middle of a run.

        Args:
            thread_id: Which thread.
            limit: At most so many.
            before: Only those of runs older than this one.
        """
        return await self._database.read(listing.recent_messages, thread_id, limit, before)

    async def run(self, user_id: UserId, run_id: RunId) -> Run:
        """Return a user's run.

        Raises:
            RunNotFound: No such run of this user.
        """
        return await self._database.read(runs.get, user_id, run_id)

    async def run_view(self, thread_id: ThreadId, run_id: RunId) -> RunView:
        """Return what was stored of a run, its deltas too, as a view."""
        return await self._database.read(runs.view, thread_id, run_id, deltas=True)

    async def recent_runs(
        self, thread_id: ThreadId, *, limit: int = 25, before: RunId | None = None
    ) -> list[RunView]:
        """Return the newest runs, older than `before`, as views, oldest of them first.

        Raises:
            InputInvalid: The limit makes no sense.
        """
        return await self._database.read(runs.recent, thread_id, limit, before)

    async def open_runs(self) -> list[tuple[ThreadId, RunId]]:
        """Return every run that has not ended, in order of arrival."""
        return await self._database.read(runs.open_ones)

    async def known_message(
        self, user_id: UserId, client_id: str, thread_id: ThreadId | None, *, since: datetime
    ) -> KnownMessage | None:
        """Return the message this user sent under a client id of their own, if it was taken in.

        An id counts within its thread; None for the thread finds the message in any.
        """
        return await self._database.read(
            runs.known_message, user_id, client_id, thread_id, to_ms(since)
        )

    async def note_client_id(
        self,
        user_id: UserId,
        client_id: str,
        thread_id: ThreadId,
        run_id: RunId,
        *,
        now: datetime,
        since: datetime,
    ) -> None:
        """Note that a message is about to be taken in; older notes than `since` go.

        It counts once the run is there, so a program that dies in between has not lost it.
        """
        await self._database.write(
            runs.note_client_id, user_id, client_id, thread_id, run_id, to_ms(now), to_ms(since)
        )

    async def list(
        self,
        user_id: UserId,
        *,
        q: str = "",
        archived: bool = False,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Thread]:
        """Return a page of a user's threads: pinned first, then the last active.

        Raises:
            InputInvalid: The limit or the cursor makes no sense.
        """
        return await self._database.read(
            listing.list_threads, user_id, q=q, archived=archived, limit=limit, cursor=cursor
        )


def _create(connection: sqlite3.Connection, thread: Thread) -> None:
    created = connection.execute(
        """INSERT INTO threads (id, user_id, title, title_source, channel, created_ms, active_ms)
        VALUES (?, ?, '', 'none', ?, ?, ?)""",
        (
            thread.id,
            thread.user_id,
            thread.channel,
            to_ms(thread.created_at),
            to_ms(thread.last_active_at),
        ),
    )
    if thread.title and created.lastrowid is not None:
        set_title(connection, created.lastrowid, thread.title, thread.title_source)


def _get(connection: sqlite3.Connection, user_id: UserId, thread_id: ThreadId) -> Thread:
    row = connection.execute(
        "SELECT * FROM thread_rows WHERE id = ? AND user_id = ?", (thread_id, user_id)
    ).fetchone()
    if row is None:
        raise ThreadNotFound(thread_id=thread_id)
    return listing.thread_of(row)


def _user_ids(connection: sqlite3.Connection) -> list[UserId]:
    rows = connection.execute("SELECT DISTINCT user_id FROM threads ORDER BY user_id")
    return [UserId(user_id) for (user_id,) in rows]


def _delete(connection: sqlite3.Connection, thread_id: ThreadId) -> None:
    thread = journal.thread_number(connection, thread_id)
    connection.execute(
        "DELETE FROM message_words WHERE rowid IN (SELECT n FROM messages WHERE thread = ?)",
        (thread,),
    )
    connection.execute("DELETE FROM title_words WHERE rowid = ?", (thread,))
    connection.execute("DELETE FROM threads WHERE n = ?", (thread,))
    # FTS5 only marks words as deleted; rewriting the index is what removes them.
    connection.execute("INSERT INTO message_words (message_words) VALUES ('optimize')")
    connection.execute("INSERT INTO title_words (title_words) VALUES ('optimize')")
