import asyncio
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from finchbot import events as ev
from finchbot.bus import MessageBus
from finchbot.errors import ThreadNotFound
from finchbot.events import RunEvent
from finchbot.ids import OWNER, RunId, ThreadId, utc_now
from finchbot.threads.records import empty_thread
from finchbot.threads.store import ThreadStore
from tests.support.clock import START, FakeClock
from tests.support.event_laws import check_laws
from tests.support.event_strategies import THREAD, any_event, whole_run

stored_events = any_event().filter(lambda event: not isinstance(event, ev.ThreadDeleted))
few = settings(max_examples=25)


async def published(path: Path, events: list[RunEvent]) -> list[RunEvent]:
    """Publish events on a new file and return them as stamped."""
    async with ThreadStore.open(path, clock=utc_now) as store:
        await store.create(empty_thread(THREAD, OWNER, channel="chat", now=START))
        async with MessageBus(store, utc_now) as bus:
            return [await bus.publish(event) for event in events]


async def replayed(path: Path, after_seq: int, limit: int) -> list[RunEvent]:
    """Read a file to its end, so many rows at a time."""
    async with ThreadStore.open(path, clock=utc_now) as store:
        events: list[RunEvent] = []
        while page := await store.read(THREAD, after_seq, limit):
            events += page
            after_seq = page[-1].seq
        return events


@pytest.mark.slow
@pytest.mark.timeout(60)
@few
@given(st.lists(stored_events, max_size=25), st.data())
def test_a_replay_is_what_was_published_from_any_place(
    events: list[RunEvent], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "threads.db"
        log = asyncio.run(published(path, events))
        after = data.draw(st.integers(0, len(log) + 2))
        limit = data.draw(st.integers(1, 5))
        assert asyncio.run(replayed(path, after, limit)) == log[after:]


@pytest.mark.slow
@pytest.mark.timeout(60)
@few
@given(whole_run(RunId("run_1")), whole_run(RunId("run_2")))
def test_a_replay_of_lawful_runs_is_lawful(one: list[RunEvent], two: list[RunEvent]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "threads.db"
        asyncio.run(published(path, [*one, *two]))
        check_laws(asyncio.run(replayed(path, 0, 100)))


async def test_numbers_go_on_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "threads.db"
    titled = ev.ThreadTitled(thread_id=THREAD, title="one", source="user")
    await published(path, [titled, titled])
    async with (
        ThreadStore.open(path, clock=FakeClock()) as store,
        MessageBus(store, FakeClock()) as bus,
    ):
        assert (await bus.publish(titled)).seq == 3


async def test_an_event_of_a_thread_that_is_gone_is_refused(tmp_path: Path) -> None:
    async with ThreadStore.open(tmp_path / "threads.db", clock=FakeClock()) as store:
        event = ev.ThreadTitled(thread_id=ThreadId("gone"), seq=1, title="x", source="user")
        with pytest.raises(ThreadNotFound):
            await store.append([event])
        with pytest.raises(ThreadNotFound):
            await store.position(ThreadId("gone"))
