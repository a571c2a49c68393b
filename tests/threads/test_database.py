import asyncio
import sqlite3
import stat
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from finchbot.errors import InputInvalid, StoreTooNew, ThreadError
from finchbot.threads.database import Database, Migrations, open_database
from tests.support.clock import FakeClock

V1: Sequence[str] = ("CREATE TABLE notes (text TEXT)", "INSERT INTO notes VALUES ('one')")
V2: Sequence[str] = ("ALTER TABLE notes ADD COLUMN author TEXT DEFAULT 'nobody'",)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "threads.db"


async def rows(path: Path, migrations: Migrations) -> list[tuple[str, ...]]:
    async with open_database(path, migrations, FakeClock()) as database:
        return await database.read(lambda c: c.execute("SELECT * FROM notes").fetchall())


def fill(connection: sqlite3.Connection, count: int = 2000) -> None:
    connection.executemany(
        "INSERT INTO notes VALUES (?)", [(f"note {n} " * 20,) for n in range(count)]
    )


async def make(path: Path) -> None:
    async with open_database(path, [V1], FakeClock()) as database:
        await database.write(fill)


async def test_a_new_file_is_made_for_its_owner_alone(path: Path) -> None:
    assert await rows(path, [V1]) == [("one",)]
    assert mode(path) == 0o600


async def test_an_older_file_is_migrated_and_keeps_what_it_holds(path: Path) -> None:
    await rows(path, [V1])
    assert await rows(path, [V1, V2]) == [("one", "nobody")]
    assert await rows(path, [V1, V2]) == [("one", "nobody")]


async def test_a_migration_that_breaks_leaves_the_file_as_it_was(path: Path) -> None:
    await rows(path, [V1])
    with pytest.raises(ThreadError):
        await rows(path, [V1, ("DELETE FROM notes", "NONSENSE")])
    assert await rows(path, [V1]) == [("one",)]


async def test_a_newer_file_is_refused_and_stays(path: Path) -> None:
    await rows(path, [V1, V2])
    before = content(path)
    with pytest.raises(StoreTooNew) as caught:
        await rows(path, [V1])
    assert caught.value.params == {"file": "threads.db", "found": 2, "known": 1}
    assert content(path) == before


@pytest.mark.parametrize("damage", ["cut", "half", "empty", "noise", "torn"])
async def test_a_damaged_file_is_set_aside_and_a_new_one_begun(
    path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    await make(path)
    damaged = break_file(path, damage)
    async with open_database(path, [V1], FakeClock()) as database:
        assert database.set_aside == path.with_name("threads.db.corrupt-20261201T080000Z")
        assert content(database.set_aside) == damaged
        count = await database.read(lambda c: c.execute("SELECT count(*) FROM notes").fetchone())
        assert count == (1,)
    assert "damaged" in caplog.text


async def test_a_second_damaged_file_does_not_overwrite_the_first(path: Path) -> None:
    for _ in range(2):
        break_file(path, "noise")
        await rows(path, [V1])
    names = sorted(file.name for file in path.parent.glob("*.corrupt-*"))
    assert names == [
        "threads.db.corrupt-20261201T080000Z",
        "threads.db.corrupt-20261201T080000Z-2",
    ]


async def test_a_file_left_open_by_a_dead_program_is_whole(path: Path) -> None:
    await make(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as left_open:
        left_open.execute("INSERT INTO notes VALUES ('in the log')")
        for part in (path, path.with_name("threads.db-wal")):
            part.with_name(f"copy-{part.name}").write_bytes(part.read_bytes())
    copy = path.with_name("copy-threads.db")
    async with open_database(copy, [V1], FakeClock()) as database:
        assert database.set_aside is None
        last = await database.read(
            lambda c: c.execute("SELECT text FROM notes ORDER BY rowid DESC LIMIT 1").fetchone()
        )
    assert last == ("in the log",)


async def test_a_file_that_cannot_be_opened_says_why(tmp_path: Path) -> None:
    with pytest.raises(ThreadError) as caught:
        await rows(tmp_path / "nowhere" / "threads.db", [V1])
    assert caught.value.code == "store.failed"
    assert caught.value.params["reason"]


async def test_what_fails_in_a_transaction_undoes_all_of_it(path: Path) -> None:
    def half(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO notes VALUES ('two')")
        connection.execute("INSERT INTO nowhere VALUES (1)")

    async with open_database(path, [V1], FakeClock()) as database:
        with pytest.raises(ThreadError):
            await database.write(half)
        assert await count(database) == 1


async def test_a_transaction_whose_caller_is_cancelled_is_done_whole_or_not_at_all(
    path: Path,
) -> None:
    async with open_database(path, [V1], FakeClock()) as database:
        writing = asyncio.create_task(database.write(fill, 10))
        await asyncio.sleep(0)
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
        await database.write(fill, 10)
        assert await count(database) in (11, 21)


async def test_a_value_sqlite_cannot_hold_is_bad_input(path: Path) -> None:
    async with open_database(path, [V1], FakeClock()) as database:
        for value in ("\ud83d", 2**70):
            with pytest.raises(InputInvalid):
                await database.read(lambda c, v: c.execute("SELECT ?", (v,)).fetchone(), value)


def content(path: Path) -> bytes:
    return path.read_bytes()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def break_file(path: Path, damage: str) -> bytes:
    """Damage a file and return what it holds then."""
    whole = path.read_bytes() if path.exists() else b""
    broken = {
        "cut": whole[:-5000],
        "half": whole[: len(whole) // 2],
        "empty": b"",
        "noise": b"not a database at all " * 400,
        "torn": whole[:60],
    }[damage]
    path.write_bytes(broken)
    return broken


async def count(database: Database) -> int:
    found = await database.read(lambda c: c.execute("SELECT count(*) FROM notes").fetchone())
    return int(found[0])
