"""The desk: LangGraph's working state per thread, small, and rebuilt from the record at will.

Only the newest checkpoints of a thread are kept, so ``checkpoints.db`` grows with the number of
threads and not with their turns. What stands here can be thrown away at any time.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiosqlite
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from finchbot.errors import StoreTooNew, ThreadError
from finchbot.ids import Clock, ThreadId, utc_now
from finchbot.threads.database import BUSY_TIMEOUT_S, set_aside_if_damaged

SCHEMA_VERSION = 1
FREE_PAGES = 256
"""So many empty pages (1 MB) stay in the file for the next checkpoints."""
PREPARE = (
    "PRAGMA auto_vacuum = INCREMENTAL",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",
    "PRAGMA journal_size_limit = 4194304",
    "PRAGMA secure_delete = ON",
)
DROP_OLD = """
DELETE FROM checkpoints WHERE thread_id = :thread AND rowid IN (
    SELECT rowid FROM (
        SELECT rowid, row_number() OVER (
            PARTITION BY checkpoint_ns ORDER BY checkpoint_id DESC
        ) AS age FROM checkpoints WHERE thread_id = :thread
    ) WHERE age > :keep
)
"""
DROP_WRITES = """
DELETE FROM writes WHERE thread_id = :thread AND NOT EXISTS (
    SELECT 1 FROM checkpoints AS kept
    WHERE kept.thread_id = writes.thread_id
      AND kept.checkpoint_ns = writes.checkpoint_ns
      AND kept.checkpoint_id = writes.checkpoint_id
)
"""


class Desk:
    """The working state of all threads. Made by `open_desk`.

    Args:
        saver: For the graph; bound to the running loop.
        keep: Checkpoints kept per thread, at least 1.
    """

    def __init__(self, saver: "HandOverSaver", *, keep: int = 1) -> None:
        self.saver = saver
        self._keep = keep

    async def read(self, thread_id: ThreadId) -> list[BaseMessage] | None:
        """Return the thread's messages; None when there are none or a run broke off in between."""
        found = await self.saver.read_ahead(_config(thread_id))
        if found is None or found.pending_writes:
            return None
        messages = found.checkpoint["channel_values"].get("messages")
        return messages if isinstance(messages, list) else None

    async def prune(self, thread_id: ThreadId) -> None:
        """Drop all but the newest checkpoints of a thread, and give space back."""
        async with self.saver.lock:
            values = {"thread": thread_id, "keep": self._keep}
            await self.saver.conn.execute(DROP_OLD, values)
            await self.saver.conn.execute(DROP_WRITES, values)
            await self.saver.conn.commit()
            if await _number(self.saver.conn, "PRAGMA freelist_count") > FREE_PAGES:
                await _give_back(self.saver.conn)

    async def clear(self, thread_id: ThreadId) -> None:
        """Drop a thread's state; its next run starts from the record."""
        self.saver.drop_ahead(thread_id)
        await self.saver.adelete_thread(thread_id)

    async def forget(self, thread_id: ThreadId) -> None:
        """Drop a thread's state and leave none of its words in the file."""
        await self.clear(thread_id)
        async with self.saver.lock:
            await _give_back(self.saver.conn)
            await self.saver.conn.execute_fetchall("PRAGMA wal_checkpoint(TRUNCATE)")


class HandOverSaver(AsyncSqliteSaver):
    """A saver that hands the graph what was just read for it, instead of reading it again."""

    def __init__(self, conn: aiosqlite.Connection) -> None:
        super().__init__(conn)
        self._ahead: dict[str, CheckpointTuple] = {}

    async def read_ahead(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Read the newest checkpoint; the next `aget_tuple` of the thread returns the same."""
        found = await super().aget_tuple(config)
        if found is not None:
            self._ahead[config["configurable"]["thread_id"]] = found
        return found

    def drop_ahead(self, thread_id: str) -> None:
        """Forget what was read ahead."""
        self._ahead.pop(thread_id, None)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return a checkpoint, from memory when it was read ahead and not yet taken."""
        ahead = self._ahead.pop(config["configurable"]["thread_id"], None)
        return ahead if ahead is not None else await super().aget_tuple(config)


@asynccontextmanager
async def open_desk(path: Path, *, keep: int = 1, clock: Clock = utc_now) -> AsyncIterator[Desk]:
    """Open the desk's database; a damaged file is set aside and a fresh one begun.

    Args:
        path: ``checkpoints.db``; made when missing.
        keep: Checkpoints kept per thread.
        clock: Names a file set aside.

    Raises:
        StoreTooNew: A newer program wrote the file.
        ThreadError: It cannot be opened (``store.failed``, with the reason).
    """
    await asyncio.to_thread(set_aside_if_damaged, path, clock, whole=True)
    conn = await _connect(path)
    try:
        saver = HandOverSaver(conn)
        # Some of its calls, deleting a thread among them, do not make the tables they need.
        await saver.setup()
        yield Desk(saver, keep=keep)
    finally:
        await conn.close()


async def _connect(path: Path) -> aiosqlite.Connection:
    await asyncio.to_thread(path.touch, mode=0o600)
    conn = await aiosqlite.connect(path, timeout=BUSY_TIMEOUT_S)
    try:
        version = await _number(conn, "PRAGMA user_version")
        if version > SCHEMA_VERSION:
            raise StoreTooNew(file=path.name, found=version, known=SCHEMA_VERSION)
        for pragma in (*PREPARE, f"PRAGMA user_version = {SCHEMA_VERSION}"):
            await conn.execute_fetchall(pragma)
    except sqlite3.Error as error:
        await conn.close()
        raise ThreadError("store.failed", reason=str(error)) from error
    except StoreTooNew:
        await conn.close()
        raise
    return conn


async def _number(conn: aiosqlite.Connection, pragma: str) -> int:
    [[value]] = await conn.execute_fetchall(pragma)
    return int(value)


async def _give_back(conn: aiosqlite.Connection) -> None:
    """Cut the empty pages off the file."""
    await conn.execute_fetchall("PRAGMA incremental_vacuum")
    await conn.commit()


def _config(thread_id: ThreadId) -> RunnableConfig:
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}
