"""One SQLite file: opened, migrated, set aside when damaged, and worked on off the loop.

A whole transaction is one plain function that runs on the file's own writing thread, so it is
one hop from the loop, never interleaves with another, and is done whole or not at all when its
caller is cancelled. Reads have a thread and a connection of their own and do not wait for writes.
"""

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from finchbot.errors import InputInvalid, StoreTooNew, ThreadError
from finchbot.ids import Clock

P = ParamSpec("P")
T = TypeVar("T")
Migrations = Sequence[Sequence[str]]

BUSY_TIMEOUT_S = 30.0
CHECKPOINT_TIMEOUT_S = 2.0
"""So long a reader of another program may keep the log; all writes wait meanwhile."""
DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Database:
    """An open file; make one with `open_database`."""

    path: Path
    set_aside: Path | None
    """Where a damaged file was moved when this one was opened in its place."""
    _writer: sqlite3.Connection
    _reader: sqlite3.Connection
    _writing: ThreadPoolExecutor
    _reading: ThreadPoolExecutor

    async def write(
        self,
        work: Callable[Concatenate[sqlite3.Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run `work` in a transaction; what it raises undoes the transaction.

        Raises:
            ThreadError: SQLite cannot do it (``store.failed``, with its reason).
        """

        def transaction() -> T:
            with _mapped(), _transaction(self._writer):
                return work(self._writer, *args, **kwargs)

        return await asyncio.get_running_loop().run_in_executor(self._writing, transaction)

    async def read(
        self,
        work: Callable[Concatenate[sqlite3.Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run `work`, which only reads; it sees all that was written before.

        Raises:
            ThreadError: SQLite cannot do it (``store.failed``, with its reason).
        """

        def reading() -> T:
            with _mapped(), _transaction(self._reader, "DEFERRED"):
                return work(self._reader, *args, **kwargs)

        return await asyncio.get_running_loop().run_in_executor(self._reading, reading)

    async def checkpoint(self) -> None:
        """Bring the write-ahead log into the file and empty it, so that what was deleted is gone.

        Raises:
            ThreadError: Another program kept the log open for `CHECKPOINT_TIMEOUT_S`.
        """

        def truncate() -> None:
            with _mapped(), _patience(self._writer, CHECKPOINT_TIMEOUT_S):
                busy, _, _ = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                if busy:
                    raise ThreadError("store.failed", reason="busy")

        await asyncio.get_running_loop().run_in_executor(self._writing, truncate)


@asynccontextmanager
async def open_database(
    path: Path, migrations: Migrations, clock: Clock
) -> AsyncIterator[Database]:
    """Open the file, making or migrating it; a damaged one is moved aside and begun anew.

    Raises:
        StoreTooNew: A newer program wrote it; it stays as it is.
        ThreadError: It cannot be opened (``store.failed``, with the reason).
    """
    loop = asyncio.get_running_loop()
    writing = ThreadPoolExecutor(1, thread_name_prefix=f"{path.name}-writer")
    reading = ThreadPoolExecutor(1, thread_name_prefix=f"{path.name}-reader")
    try:
        set_aside, writer = await loop.run_in_executor(writing, _open, path, migrations, clock)
        reader = await loop.run_in_executor(reading, _connect, path)
        try:
            yield Database(path, set_aside, writer, reader, writing, reading)
        finally:
            await loop.run_in_executor(reading, reader.close)
            await loop.run_in_executor(writing, writer.close)
    finally:
        reading.shutdown(wait=False)
        writing.shutdown(wait=False)


@contextmanager
def _mapped() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise ThreadError("store.failed", reason=str(error)) from error
    except OSError as error:
        raise ThreadError("store.failed", reason=error.strerror) from error
    except (UnicodeEncodeError, OverflowError) as error:
        # Python could not even hand the value over: a lone surrogate, a number over 64 bits.
        raise InputInvalid from error


@contextmanager
def _transaction(connection: sqlite3.Connection, kind: str = "IMMEDIATE") -> Iterator[None]:
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


@contextmanager
def _patience(connection: sqlite3.Connection, timeout_s: float) -> Iterator[None]:
    connection.execute(f"PRAGMA busy_timeout = {round(timeout_s * 1000)}")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA busy_timeout = {round(BUSY_TIMEOUT_S * 1000)}")


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
    )
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")
    return connection


def _open(
    path: Path, migrations: Migrations, clock: Clock
) -> tuple[Path | None, sqlite3.Connection]:
    with _mapped():
        set_aside = set_aside_if_damaged(path, clock)
        path.touch(mode=0o600)
        connection = _connect(path)
        try:
            _migrate(connection, path, migrations)
        except BaseException:
            connection.close()
            raise
        return set_aside, connection


def _migrate(connection: sqlite3.Connection, path: Path, migrations: Migrations) -> None:
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if found > len(migrations):
        raise StoreTooNew(file=path.name, found=found, known=len(migrations))
    connection.execute("PRAGMA journal_mode = WAL")
    for version, statements in enumerate(migrations[found:], start=found + 1):
        with _transaction(connection):
            for statement in statements:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {version}")


def set_aside_if_damaged(path: Path, clock: Clock, *, whole: bool = False) -> Path | None:
    """Move a damaged database out of the way (blocking).

    Args:
        path: It may be missing.
        clock: Its time is in the new name.
        whole: Look through all of it, not only at what is cut off or was not closed.

    Returns:
        Where it is now; None when nothing was wrong.

    Raises:
        ThreadError: It cannot be read, or another program keeps it locked.
    """
    with _mapped():
        return _set_aside(path, clock) if path.exists() and _is_damaged(path, whole) else None


def _is_damaged(path: Path, whole: bool) -> bool:
    wal = path.with_name(f"{path.name}-wal")
    unclosed = wal.exists() and wal.stat().st_size > 0
    if path.stat().st_size == 0 and not unclosed:
        return True
    try:
        with closing(sqlite3.connect(path, timeout=BUSY_TIMEOUT_S)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if not whole and not unclosed and not _is_cut(path):
                return False
            (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            return bool(verdict != "ok")
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode & 0xFF in DAMAGED:
            return True
        raise


def _is_cut(path: Path) -> bool:
    """Whether the file is shorter than its header says (sqlite.org/fileformat.html, 1.3)."""
    with path.open("rb") as file:
        header = file.read(100)
    page_size = int.from_bytes(header[16:18]) or 1
    pages = int.from_bytes(header[28:32])
    return path.stat().st_size < pages * (65_536 if page_size == 1 else page_size)


def _set_aside(path: Path, clock: Clock) -> Path:
    stem = f"{path.name}.corrupt-{clock():%Y%m%dT%H%M%SZ}"
    names = [stem, *(f"{stem}-{n}" for n in range(2, 1000))]
    name = next(name for name in names if not path.with_name(name).exists())
    for suffix in ("-wal", "-shm", ""):
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.rename(path.with_name(name + suffix))
    log.error("%s is damaged; it was moved to %s and a new one begun", path.name, name)
    return path.with_name(name)
