import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import aclosing, closing
from pathlib import Path

import pytest

from finchbot.errors import (
    FinchError,
    InputInvalid,
    RunNotFound,
    ThreadError,
    ThreadNotFound,
    TooLarge,
)
from finchbot.events import ThreadTitled, ThreadUpdated
from finchbot.ids import OWNER, RunId, ThreadId, UserId
from finchbot.threads.records import Thread
from tests.support.clock import CountedIds, FakeClock
from tests.support.core import Core, open_core
from tests.support.scripted_agent import Gate, answering, delta, started

OTHER = UserId("other")


@pytest.fixture
async def core(tmp_path: Path, clock: FakeClock, ids: CountedIds) -> AsyncIterator[Core]:
    async with open_core(tmp_path, clock=clock, ids=ids) as core:
        yield core


async def talk(core: Core, text: str, *, user: UserId = OWNER) -> ThreadId:
    """Begin a thread with one message, and wait for its answer."""
    accepted = await core.send(text, user=user)
    await core.until_ended(accepted, user=user)
    return accepted.thread_id


async def titles(core: Core, q: str = "", user: UserId = OWNER) -> list[str]:
    return [thread.title for thread in (await core.threads.list(user, q=q)).items]


async def test_a_new_thread_is_empty_and_has_no_title(core: Core, clock: FakeClock) -> None:
    thread = await core.threads.create(OWNER, channel="terminal")
    assert thread == await core.threads.get(OWNER, thread.id)
    assert (thread.title, thread.title_source, thread.channel) == ("", "none", "terminal")
    assert (thread.message_count, thread.turn_count, thread.running) == (0, 0, False)
    assert thread.created_at == thread.last_active_at == clock()


async def test_a_title_given_at_the_start_counts_as_given_by_hand(core: Core) -> None:
    thread = await core.threads.create(OWNER, title=" Trip\nto Bern ")
    assert (thread.title, thread.title_source) == ("Trip to Bern", "user")
    await core.until_ended(await core.send("hello", thread.id))
    assert (await core.threads.get(OWNER, thread.id)).title == "Trip to Bern"


async def test_the_first_message_gives_the_first_title(core: Core) -> None:
    thread_id = await talk(core, "今天讨论一下部署方案\n然后…")
    thread = await core.threads.get(OWNER, thread_id)
    assert (thread.title, thread.title_source) == ("今天讨论一下部署方案", "first_message")
    await core.until_ended(await core.send("second", thread_id))
    assert (await core.threads.get(OWNER, thread_id)).title == "今天讨论一下部署方案"


async def test_a_title_by_hand_or_tool_is_an_event_and_stays(core: Core) -> None:
    thread_id = await talk(core, "hello")
    await core.titles.set_by_tool(OWNER, thread_id, "By tool")
    assert await core.titles.get(OWNER, thread_id) == "By tool"
    await core.threads.update(OWNER, thread_id, title="By hand")
    await core.titles.set_first(OWNER, thread_id, "automatic")
    told = await core.until(thread_id, lambda e: isinstance(e, ThreadTitled) and e.source == "user")
    assert [(e.title, e.source) for e in told if isinstance(e, ThreadTitled)] == [
        ("hello", "first_message"),
        ("By tool", "tool"),
        ("By hand", "user"),
    ]
    assert (await core.threads.get(OWNER, thread_id)).title == "By hand"


@pytest.mark.parametrize(
    ("title", "error"), [("", InputInvalid), ("\u200b", InputInvalid), ("x" * 201, TooLarge)]
)
async def test_a_bad_title_is_refused_and_changes_nothing(
    core: Core, title: str, error: type[FinchError]
) -> None:
    thread = await core.threads.create(OWNER, title="Kept")
    with pytest.raises(error):
        await core.threads.update(OWNER, thread.id, title=title, pinned=True)
    assert await core.threads.get(OWNER, thread.id) == thread


async def test_changes_are_told_once_and_only_when_something_changes(core: Core) -> None:
    thread = await core.threads.create(OWNER)
    await core.threads.update(OWNER, thread.id, pinned=True, archived=False)
    await core.threads.update(OWNER, thread.id, pinned=True)
    changed = await core.threads.update(OWNER, thread.id, archived=True)
    assert (changed.pinned, changed.archived) == (True, True)
    told = await core.until(thread.id, lambda e: e.seq == 2)
    assert [e.fields for e in told if isinstance(e, ThreadUpdated)] == [
        {"pinned": True},
        {"archived": True},
    ]


async def test_a_thread_of_somebody_else_is_unknown_everywhere(core: Core) -> None:
    mine = await talk(core, "mine")
    run_id = (await core.threads.recent_runs(OWNER, mine))[0].run_id
    for thread_id in (mine, ThreadId("nowhere"), ThreadId("\ud83d")):
        expected = ThreadNotFound if thread_id != "\ud83d" else InputInvalid
        for attempt in (
            core.threads.get(OTHER, thread_id),
            core.threads.update(OTHER, thread_id, title="x"),
            core.threads.delete(OTHER, thread_id),
            core.threads.messages(OTHER, thread_id),
            core.threads.recent_runs(OTHER, thread_id),
            core.send("x", thread_id, user=OTHER),
            anext(core.dispatcher.events(OTHER, thread_id)),
        ):
            with pytest.raises(expected):
                await attempt
    for unknown in (run_id, RunId("nowhere")):
        with pytest.raises(RunNotFound):
            await core.threads.run(OTHER, unknown)
        with pytest.raises(RunNotFound):
            await core.dispatcher.cancel(OTHER, unknown)
    assert await titles(core, user=OTHER) == []


async def test_pinned_threads_come_first_then_the_last_active(core: Core, clock: FakeClock) -> None:
    made = []
    for name in ("one", "two", "three"):
        clock.advance(1)
        made.append(await talk(core, name))
    await core.threads.update(OWNER, made[0], pinned=True)
    clock.advance(1)
    await core.until_ended(await core.send("again", made[1]))
    assert await titles(core) == ["one", "two", "three"]
    await core.threads.update(OWNER, made[0], archived=True)
    assert await titles(core) == ["two", "three"]
    archived = await core.threads.list(OWNER, archived=True)
    assert [thread.title for thread in archived.items] == ["one"]


async def test_pages_give_every_thread_once_in_order(core: Core, clock: FakeClock) -> None:
    for n in range(7):
        clock.advance(n % 2)
        thread = await core.threads.create(OWNER, title=f"t{n}")
        if n in (2, 5):
            await core.threads.update(OWNER, thread.id, pinned=True)
    await core.threads.create(OTHER, title="foreign")
    whole = await titles(core)
    seen: list[Thread] = []
    cursor = None
    while True:
        page = await core.threads.list(OWNER, limit=3, cursor=cursor)
        seen += page.items
        cursor = page.next
        if cursor is None:
            break
    assert [thread.title for thread in seen] == whole
    assert len(whole) == 7


@pytest.mark.parametrize(
    "cursor", ["", "x", "!!!!", "WzFd", "WzEsMiwiYSJd", "WzEsMiwxZTQwMF0", "é"]
)
async def test_a_broken_cursor_is_refused(core: Core, cursor: str) -> None:
    thread = await core.threads.create(OWNER)
    with pytest.raises(InputInvalid):
        await core.threads.list(OWNER, cursor=cursor)
    with pytest.raises(InputInvalid):
        await core.threads.messages(OWNER, thread.id, cursor=cursor)


@pytest.mark.parametrize("limit", [0, -1, 201])
async def test_a_limit_out_of_range_is_refused(core: Core, limit: int) -> None:
    thread = await core.threads.create(OWNER)
    for attempt in (
        core.threads.list(OWNER, limit=limit),
        core.threads.messages(OWNER, thread.id, limit=limit),
        core.threads.recent_runs(OWNER, thread.id, limit=limit),
    ):
        with pytest.raises(InputInvalid):
            await attempt


async def test_messages_come_in_pages_oldest_first(core: Core) -> None:
    thread_id = await talk(core, "m0")
    for n in range(1, 4):
        await core.until_ended(await core.send(f"m{n}", thread_id))
    texts = []
    cursor = None
    while True:
        page = await core.threads.messages(OWNER, thread_id, limit=3, cursor=cursor)
        texts += [message.text for message in page.items]
        cursor = page.next
        if cursor is None:
            break
    assert texts == ["m0", "ok", "m1", "ok", "m2", "ok", "m3", "ok"]
    thread = await core.threads.get(OWNER, thread_id)
    assert (thread.message_count, thread.turn_count) == (8, 4)


async def test_recent_runs_come_as_views_a_page_before_another(core: Core) -> None:
    thread_id = await talk(core, "m0")
    for n in range(1, 4):
        await core.until_ended(await core.send(f"m{n}", thread_id))
    newest = await core.threads.recent_runs(OWNER, thread_id, limit=2)
    assert [view.user_message and view.user_message.text for view in newest] == ["m2", "m3"]
    assert {(view.status, view.answer) for view in newest} == {("finished", "ok")}
    older = await core.threads.recent_runs(OWNER, thread_id, before=newest[0].run_id)
    assert [view.user_message and view.user_message.text for view in older] == ["m0", "m1"]


async def test_a_run_under_way_is_a_view_with_what_was_said_so_far(core: Core) -> None:
    gate = Gate()
    core.agent.add([started(), delta("so"), gate])
    accepted = await core.send("x")
    await gate.reached.wait()
    view = (await core.threads.recent_runs(OWNER, accepted.thread_id))[0]
    assert (view.status, view.answer) == ("running", "so")
    assert (await core.threads.get(OWNER, accepted.thread_id)).running
    await core.dispatcher.cancel(OWNER, accepted.run_id)
    assert not (await core.threads.get(OWNER, accepted.thread_id)).running


@pytest.mark.parametrize(
    ("q", "found"),
    [
        ("部署", ["Plan"]),
        ("部署方案", ["Plan"]),
        ("方案 讨论", ["Plan"]),
        ("plan", ["Plan"]),
        ("deploy", ["English"]),
        ("DEPLOYMENT well", ["English"]),
        ("%", ["Signs"]),
        ("100%", ["Signs"]),
        ("_", []),
        ("C++", ["Signs"]),
        ("what's \"x", []),
        ("a AND", []),
        ("-bar", []),
        ("NEAR(", []),
        ("'); DROP TABLE threads; --", []),
        ("foreign", []),
        ("c++ " * 5000, ["Signs"]),
        ("!" * 100_000, []),
        ("  ", ["Signs", "English", "Plan"]),
        ("\0", ["Signs", "English", "Plan"]),
    ],
)
async def test_search_looks_into_titles_and_text(
    core: Core, clock: FakeClock, q: str, found: list[str]
) -> None:
    for title, text in (
        ("Plan", "今天讨论了部署方案"),
        ("English", "The deployment went well"),
        ("Signs", "100% sure about C++"),
    ):
        clock.advance(1)
        await core.threads.update(OWNER, await talk(core, text), title=title)
    await talk(core, "foreign 部署 deploy 100% C++", user=OTHER)
    assert await titles(core, q) == found


async def test_search_finds_what_the_agent_said(core: Core) -> None:
    core.agent.add(answering("The capital is ", "Bern."))
    await talk(core, "capital of Switzerland")
    assert await titles(core, "bern") == ["capital of Switzerland"]


async def test_an_old_title_is_not_found_any_more(core: Core) -> None:
    thread = await core.threads.create(OWNER, title="Elephant")
    await core.threads.update(OWNER, thread.id, title="Giraffe")
    assert await titles(core, "elephant") == []
    assert await titles(core, "giraffe") == ["Giraffe"]


def bytes_of(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.glob("threads.db*"))


async def test_no_byte_of_a_deleted_thread_stays_in_the_files(core: Core, tmp_path: Path) -> None:
    word = "zebracrossing"
    core.agent.add(answering("pangolin ", "answer 穿山甲"))
    kept = await talk(core, "kept giraffe")
    core.agent.add(answering("pangolin ", "answer 穿山甲"))
    gone = await talk(core, f"{word} 斑马线\n" + "filler " * 3000)
    await core.threads.update(OWNER, gone, title="okapititle")
    wanted = [word, "斑马线", "okapititle"]
    assert all(text.encode() in bytes_of(tmp_path) for text in wanted)
    await core.threads.delete(OWNER, gone)
    left = bytes_of(tmp_path)
    assert [text for text in wanted if text.encode() in left] == []
    assert b"giraffe" in left
    assert core.desk.asked == [gone]
    assert [thread.id for thread in (await core.threads.list(OWNER)).items] == [kept]
    with pytest.raises(ThreadNotFound):
        await core.threads.get(OWNER, gone)
    assert await titles(core, word) == []


async def test_deleting_one_thread_leaves_the_others_as_they_were(core: Core) -> None:
    made = [await talk(core, f"thread {n}") for n in range(5)]
    before = [await core.threads.get(OWNER, thread_id) for thread_id in made]
    await core.threads.delete(OWNER, made[2])
    after = [await core.threads.get(OWNER, thread_id) for thread_id in made if thread_id != made[2]]
    assert after == [thread for thread in before if thread.id != made[2]]


async def test_a_thread_is_deleted_while_its_run_is_under_way(core: Core) -> None:
    gate = Gate()
    core.agent.add([started(), delta("so"), gate])
    accepted = await core.send("x")
    await gate.reached.wait()
    queued = await core.send("y", accepted.thread_id)

    async def watch() -> list[str]:
        async with aclosing(
            core.dispatcher.events(OWNER, accepted.thread_id, after_seq=queued.seq)
        ) as events:
            return [event.type async for event in events]

    watching = asyncio.create_task(watch())
    await core.threads.delete(OWNER, accepted.thread_id)
    assert gate.closed.is_set()
    told = await watching
    assert told[-1] == "thread.deleted"
    assert told.count("run.cancelled") == 2
    assert (core.bus.open_threads, core.dispatcher.busy_threads) == (0, 0)
    with pytest.raises(ThreadNotFound):
        await core.send("z", accepted.thread_id)


async def test_a_deletion_that_failed_can_be_tried_again(core: Core) -> None:
    thread_id = await talk(core, "x")
    core.desk.error = FinchError("store.failed")
    with pytest.raises(FinchError):
        await core.threads.delete(OWNER, thread_id)
    assert (await core.threads.get(OWNER, thread_id)).title == "x"
    await core.until_ended(await core.send("still works", thread_id))
    core.desk.error = None
    await core.threads.delete(OWNER, thread_id)
    with pytest.raises(ThreadNotFound):
        await core.threads.get(OWNER, thread_id)


async def test_a_reader_of_the_file_keeps_no_thread_alive(core: Core, tmp_path: Path) -> None:
    thread_id = await talk(core, "x")
    told: list[str] = []
    subscribed = asyncio.Event()

    async def listen() -> None:
        async with aclosing(core.dispatcher.events(OWNER, thread_id, after_seq=0)) as events:
            async for event in events:
                told.append(event.type)
                subscribed.set()

    listening = asyncio.create_task(listen())
    await subscribed.wait()
    file = tmp_path / "threads.db"
    with closing(sqlite3.connect(file, check_same_thread=False)) as reader:
        await asyncio.to_thread(reading, reader)
        with pytest.raises(ThreadError):
            await core.threads.delete(OWNER, thread_id)
        await listening
    assert told[-1] == "thread.deleted"
    with pytest.raises(ThreadNotFound):
        await core.threads.get(OWNER, thread_id)
    assert (await core.send("others go on")).seq == 1


def reading(connection: sqlite3.Connection) -> None:
    """Begin to read, and stay at it."""
    connection.execute("BEGIN")
    connection.execute("SELECT count(*) FROM events").fetchone()


async def test_of_two_deletions_one_finds_nothing(core: Core) -> None:
    thread_id = await talk(core, "x")
    results = await asyncio.gather(
        core.threads.delete(OWNER, thread_id),
        core.threads.delete(OWNER, thread_id),
        return_exceptions=True,
    )
    assert [type(result) for result in results] == [type(None), ThreadNotFound]
