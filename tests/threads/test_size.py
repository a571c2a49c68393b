"""A thread of ten thousand messages: nothing the surfaces ask for reads it from end to end."""

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from finchbot import events as ev
from finchbot.events import RunEvent
from finchbot.ids import OWNER, MessageId, RunId, ThreadId
from finchbot.threads import journal, listing, runs
from finchbot.threads.database import Database, open_database
from finchbot.threads.records import empty_thread
from finchbot.threads.schema import MIGRATIONS
from finchbot.threads.store import ThreadStore
from tests.support.clock import START, FakeClock
from tests.support.event_strategies import message

LONG, SHORT = ThreadId("thr_long"), ThreadId("thr_short")
LITTLE = 50
"""Hundreds of instructions of SQLite's machine: some for each row of a page, no more."""


def turn(thread_id: ThreadId, n: int) -> list[RunEvent]:
    run_id = RunId(f"run_{thread_id}_{n}")
    frame: dict[str, Any] = {"thread_id": thread_id, "run_id": run_id}
    events: list[RunEvent] = [
        ev.MessageReceived(**frame, message=message(run_id, f"question {n} 部署")),
        ev.RunStarted(**frame, model="scripted/one"),
        ev.MessageCompleted(**frame, message_id=MessageId("a"), text=f"answer {n} 方案"),
        ev.RunFinished(**frame, usage=ev.Usage()),
    ]
    return [
        event.model_copy(update={"seq": 4 * n + at, "at": START})
        for at, event in enumerate(events, start=1)
    ]


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with open_database(tmp_path / "threads.db", MIGRATIONS, FakeClock()) as database:
        store = ThreadStore(database)
        for thread_id, turns in ((LONG, 5000), (SHORT, 20)):
            await store.create(empty_thread(thread_id, OWNER, channel="chat", now=START))
            await store.append([event for n in range(turns) for event in turn(thread_id, n)])
        yield database


def steps(connection: sqlite3.Connection, work: Any, *args: Any, **kwargs: Any) -> int:
    """Return how many instructions of SQLite's machine some work takes, in hundreds."""
    taken = 0

    def tick() -> int:
        nonlocal taken
        taken += 1
        return 0

    connection.set_progress_handler(tick, 100)
    try:
        work(connection, *args, **kwargs)
    finally:
        connection.set_progress_handler(None, 0)
    return taken


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_a_long_thread_costs_no_more_than_a_short_one(database: Database) -> None:
    async def cost(work: Any, *args: Any, **kwargs: Any) -> int:
        return await database.read(steps, work, *args, **kwargs)

    page = await database.read(listing.list_messages, LONG, limit=200, cursor=None)
    assert len(page.items) == 200
    for cursor in (None, page.next):
        paged: dict[str, Any] = {"limit": 20, "cursor": cursor}
        short = await cost(listing.list_messages, SHORT, **paged)
        assert short <= LITTLE
        assert await cost(listing.list_messages, LONG, **paged) <= 2 * short + 2
    cases: list[tuple[Any, tuple[Any, ...]]] = [
        (listing.recent_messages, (20, None)),
        (listing.recent_messages, (20, RunId("run_thr_short_15"))),
        (runs.recent, (20, None)),
        (journal.read, (40, 20)),
        (journal.position, ()),
    ]
    for work, args in cases:
        short = await cost(work, SHORT, *args)
        assert short <= LITTLE
        assert await cost(work, LONG, *args) <= 2 * short + 2


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_threads_are_listed_without_counting_their_messages(database: Database) -> None:
    def listed(connection: sqlite3.Connection) -> int:
        return steps(
            connection, listing.list_threads, OWNER, q="", archived=False, limit=50, cursor=None
        )

    assert await database.read(listed) < 10
    long_thread = await ThreadStore(database).get(OWNER, LONG)
    assert (long_thread.message_count, long_thread.turn_count) == (10_000, 5000)


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize("q", ["部署", "question 4999", "answer"])
async def test_a_long_thread_is_searched_by_its_index(database: Database, q: str) -> None:
    def searched(connection: sqlite3.Connection) -> int:
        found = listing.list_threads(
            connection, OWNER, q=q, archived=False, limit=50, cursor=None
        ).items
        assert found
        return steps(
            connection, listing.list_threads, OWNER, q=q, archived=False, limit=50, cursor=None
        )

    assert await database.read(searched) < 3000
