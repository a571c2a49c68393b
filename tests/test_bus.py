import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest

from finchbot import events as ev
from finchbot.bus import FLUSH_EVENTS, RESERVED, MessageBus
from finchbot.bus.feed import KEPT
from finchbot.errors import FinchError, NotReady, ThreadNotFound
from finchbot.events import RunEvent
from finchbot.ids import MessageId, RunId, ThreadId
from tests.support.clock import FakeClock
from tests.support.event_strategies import message
from tests.support.memory_journal import MemoryJournal

ONE, TWO = ThreadId("thr_1"), ThreadId("thr_2")
NEVER = 3600.0


def frame(thread: ThreadId = ONE) -> dict[str, Any]:
    return {"thread_id": thread, "run_id": RunId(f"run-{thread}")}


def received(thread: ThreadId = ONE) -> RunEvent:
    return ev.MessageReceived(**frame(thread), message=message(RunId(f"run-{thread}")))


def delta(text: str = "x", thread: ThreadId = ONE, mid: str = "m") -> RunEvent:
    return ev.TextDelta(**frame(thread), message_id=MessageId(mid), text=text)


def completed(text: str, thread: ThreadId = ONE, mid: str = "m") -> RunEvent:
    return ev.MessageCompleted(**frame(thread), message_id=MessageId(mid), text=text)


def finished(thread: ThreadId = ONE) -> RunEvent:
    return ev.RunFinished(**frame(thread), usage=ev.Usage())


@asynccontextmanager
async def bus_on(journal: MemoryJournal, flush_after_s: float = NEVER) -> AsyncIterator[MessageBus]:
    async with MessageBus(journal, FakeClock(), flush_after_s=flush_after_s) as bus:
        yield bus


async def take(bus: MessageBus, count: int, after_seq: int = 0) -> list[RunEvent]:
    seen: list[RunEvent] = []
    async with aclosing(bus.subscribe(ONE, after_seq)) as events:
        async for event in events:
            seen.append(event)
            if len(seen) == count:
                break
    return seen


async def test_events_are_numbered_from_one_without_gaps_per_thread() -> None:
    async with bus_on(MemoryJournal(ONE, TWO)) as bus:
        published = [await bus.publish(received()), await bus.publish(received(TWO))]
        published += [await bus.publish(delta()), await bus.publish(completed("x"))]
    assert [(event.thread_id, event.seq) for event in published] == [
        (ONE, 1),
        (TWO, 1),
        (ONE, 2),
        (ONE, 3),
    ]
    assert {event.at for event in published} == {FakeClock()()}


async def test_two_subscribers_see_the_same_events_live() -> None:
    async with bus_on(MemoryJournal(ONE)) as bus, asyncio.TaskGroup() as group:
        await bus.publish(received())
        tasks = [group.create_task(take(bus, 4)) for _ in range(2)]
        published = [await bus.publish(delta(str(n))) for n in range(3)]
        for task in tasks:
            assert (await task)[1:] == published


async def test_an_event_is_not_seen_before_it_is_stored() -> None:
    journal = MemoryJournal(ONE)
    async with bus_on(journal) as bus:
        journal.open.clear()
        publishing = asyncio.create_task(bus.publish(received()))
        watching = asyncio.create_task(take(bus, 1))
        await journal.held.wait()
        assert not publishing.done()
        assert not watching.done()
        journal.open.set()
        assert await watching == [await publishing]


async def test_the_first_delta_of_a_message_is_stored_before_it_is_seen() -> None:
    journal = MemoryJournal(ONE)
    async with bus_on(journal) as bus:
        await bus.publish(received())
        await bus.publish(delta("first"))
        assert [event.seq for event in journal.logs[ONE]] == [1, 2]


async def test_later_deltas_are_seen_before_they_are_stored() -> None:
    journal = MemoryJournal(ONE)
    async with bus_on(journal) as bus:
        await bus.publish(received())
        await bus.publish(delta("first"))
        await bus.publish(delta("second"))
        assert len(await take(bus, 3)) == 3
        assert len(journal.logs[ONE]) == 2


async def test_deltas_are_stored_before_the_event_that_follows_them() -> None:
    journal = MemoryJournal(ONE)
    async with bus_on(journal) as bus:
        await bus.publish(received())
        for text in "abc":
            await bus.publish(delta(text))
        await bus.publish(completed("abc"))
        assert [event.seq for event in journal.logs[ONE]] == [1, 2, 3, 4, 5]
        assert [event.seq for event in journal.appends[-1]] == [3, 4, 5]


async def test_deltas_are_stored_after_a_while_even_when_nothing_follows() -> None:
    journal = MemoryJournal(ONE)
    async with bus_on(journal, flush_after_s=0.01) as bus:
        await bus.publish(received())
        await bus.publish(delta("first"))
        await bus.publish(delta("second"))
        await journal.until(ONE, 3)


async def test_many_deltas_are_stored_without_waiting_for_the_timer() -> None:
    journal = MemoryJournal(ONE)
    async with bus_on(journal) as bus:
        await bus.publish(received())
        for _ in range(1 + FLUSH_EVENTS):
            await bus.publish(delta())
        await journal.until(ONE, 2 + FLUSH_EVENTS)


async def test_no_number_is_seen_beyond_the_reservation() -> None:
    journal = MemoryJournal(ONE)
    async with bus_on(journal) as bus:
        await bus.publish(received())
        await bus.publish(delta("first"))
        journal.open.clear()
        last_seen = 0
        for n in range(RESERVED):
            last_seen = (await bus.publish(delta(str(n)))).seq
        assert last_seen == 2 + RESERVED
        beyond = asyncio.create_task(bus.publish(delta("beyond")))
        await journal.held.wait()
        watched = await take(bus, last_seen)
        assert watched[-1].seq == last_seen
        assert not beyond.done()
        journal.open.set()
        assert (await beyond).seq == last_seen + 1


async def test_numbers_that_may_have_been_seen_are_filled_after_a_crash() -> None:
    journal = MemoryJournal(ONE)
    async with bus_on(journal) as bus:
        await bus.publish(received())
        await bus.publish(delta("first"))
        journal.broken.add(ONE)
        for _ in range(5):
            await bus.publish(delta("seen and lost"))
    journal.broken.clear()
    async with bus_on(journal) as bus:
        await bus.mend(ONE, RunId("run-thr_1"), MessageId("m"))
        after = await bus.publish(completed("first"))
    assert after.seq == 2 + RESERVED + 1
    assert [event.seq for event in journal.logs[ONE]] == list(range(1, after.seq + 1))
    fillers = journal.logs[ONE][2:-1]
    assert {getattr(event, "text", None) for event in fillers} == {""}


async def test_a_late_subscriber_gets_the_past_from_the_journal_and_goes_on_live() -> None:
    journal = MemoryJournal(ONE)
    async with bus_on(journal) as bus:
        published = [await bus.publish(received())]
        published += [await bus.publish(delta(str(n))) for n in range(3 * KEPT)]
        watching = asyncio.create_task(take(bus, len(published) + 1))
        published.append(await bus.publish(finished()))
        assert await watching == published


async def test_a_slow_subscriber_misses_nothing() -> None:
    journal = MemoryJournal(ONE)
    async with bus_on(journal) as bus:
        published = [await bus.publish(received())]
        async with aclosing(bus.subscribe(ONE, 0)) as events:
            seen = [await anext(events)]
            published += [await bus.publish(delta(str(n))) for n in range(2 * KEPT)]
            published.append(await bus.publish(finished()))
            seen += [await anext(events) for _ in published[1:]]
    assert seen == published


async def test_a_subscriber_without_a_place_begins_with_what_comes_next() -> None:
    async with bus_on(MemoryJournal(ONE)) as bus:
        await bus.publish(received())
        async with aclosing(bus.subscribe(ONE)) as events:
            first = asyncio.create_task(anext(events))
            await asyncio.sleep(0)
            published = await bus.publish(delta())
            assert await first == published


async def test_memory_is_free_again_when_nobody_listens_and_nothing_runs() -> None:
    async with bus_on(MemoryJournal(ONE)) as bus:
        await bus.publish(received())
        watching = asyncio.create_task(take(bus, 1))
        await watching
        assert bus.open_threads == 1
        await bus.publish(delta())
        await bus.publish(completed("x"))
        await bus.publish(finished())
        assert bus.open_threads == 0
        await take(bus, 4)
        assert bus.open_threads == 0


async def test_subscribers_that_come_and_go_leave_nothing_behind_on_a_busy_thread() -> None:
    async with bus_on(MemoryJournal(ONE)) as bus:
        await bus.publish(received())
        async with aclosing(bus.subscribe(ONE, 0)) as staying:
            await anext(staying)
            for _ in range(50):
                async with aclosing(bus.subscribe(ONE, 0)) as passing:
                    await anext(passing)
                    waiting = asyncio.ensure_future(anext(passing))
                    await asyncio.sleep(0)
                    waiting.cancel()
                    await asyncio.wait([waiting])
            del waiting, passing
            gc.collect()
            futures = [thing for thing in gc.get_objects() if type(thing) is asyncio.Future]
            assert [future for future in futures if future.cancelled()] == []
            await bus.publish(finished())
            assert (await anext(staying)).type == "run.finished"


async def test_a_caller_that_is_cancelled_does_not_undo_its_event() -> None:
    journal = MemoryJournal(ONE)
    async with bus_on(journal) as bus:
        await bus.publish(received())
        journal.open.clear()
        publishing = asyncio.create_task(bus.publish(completed("whole")))
        await journal.held.wait()
        publishing.cancel()
        journal.open.set()
        following = await bus.publish(finished())
        with pytest.raises(asyncio.CancelledError):
            await publishing
    assert following.seq == 3
    assert [event.type for event in journal.logs[ONE]] == [
        "message.received",
        "message.completed",
        "run.finished",
    ]


async def test_a_thread_that_cannot_be_stored_does_not_take_others_with_it() -> None:
    journal = MemoryJournal(ONE, TWO)
    async with bus_on(journal) as bus:
        await bus.publish(received())
        await bus.publish(received(TWO))
        journal.broken.add(ONE)
        results = await asyncio.gather(
            bus.publish(completed("x")), bus.publish(completed("y", TWO)), return_exceptions=True
        )
        assert isinstance(results[0], ThreadNotFound)
        assert not isinstance(results[1], BaseException)
        assert [event.seq for event in journal.logs[TWO]] == [1, 2]


async def test_subscribers_are_told_when_the_store_fails() -> None:
    journal = MemoryJournal(ONE)
    async with bus_on(journal) as bus:
        await bus.publish(received())
        watching = asyncio.create_task(take(bus, 2))
        await asyncio.sleep(0)
        journal.broken.add(ONE)
        with pytest.raises(ThreadNotFound):
            await bus.publish(completed("x"))
        with pytest.raises(ThreadNotFound):
            await watching
        journal.broken.clear()
        assert (await bus.publish(completed("again"))).seq == 2


async def test_numbers_that_were_seen_are_filled_when_the_store_works_again() -> None:
    journal = MemoryJournal(ONE)
    async with bus_on(journal) as bus:
        await bus.publish(received())
        for text in ("first", "seen", "and lost"):
            last_seen = await bus.publish(delta(text))
        journal.broken.add(ONE)
        for _ in range(2):
            with pytest.raises(ThreadNotFound):
                await bus.publish(completed("x"))
        journal.broken.clear()
        after = await bus.publish(completed("first"))
        assert after.seq == last_seen.seq + 1
    texts = [getattr(event, "text", None) for event in journal.logs[ONE]]
    assert texts == [None, "first", "", "", "first"]


async def test_nobody_waits_for_a_writer_that_is_gone() -> None:
    journal = MemoryJournal(ONE)

    async def use() -> None:
        async with bus_on(journal) as bus:
            await bus.publish(received())
            journal.crash = ZeroDivisionError()
            with pytest.raises(FinchError):
                await bus.publish(completed("x"))
            with pytest.raises(NotReady):
                await bus.publish(completed("y"))

    with pytest.raises(ZeroDivisionError):
        await use()


async def test_an_unknown_thread_is_refused() -> None:
    async with bus_on(MemoryJournal(ONE)) as bus:
        with pytest.raises(ThreadNotFound):
            await bus.publish(received(TWO))
        with pytest.raises(ThreadNotFound):
            await anext(bus.subscribe(TWO))
        assert bus.open_threads == 0


async def test_subscribers_of_a_deleted_thread_are_told_and_let_go() -> None:
    journal = MemoryJournal(ONE)
    async with bus_on(journal) as bus:
        await bus.publish(received())

        async def watch() -> list[str]:
            return [event.type async for event in bus.subscribe(ONE, 0)]

        watching = asyncio.create_task(watch())
        await bus.publish(finished())
        del journal.logs[ONE]
        bus.delete_thread(ONE)
        assert await watching == ["message.received", "run.finished", "thread.deleted"]
        assert bus.open_threads == 0


async def test_a_subscriber_far_behind_is_told_of_the_deletion_too() -> None:
    journal = MemoryJournal(ONE)
    async with bus_on(journal) as bus:
        await bus.publish(received())
        async with aclosing(bus.subscribe(ONE, 0)) as events:
            await anext(events)
            for _ in range(2 * KEPT):
                await bus.publish(delta())
            await bus.publish(finished())
            del journal.logs[ONE]
            bus.delete_thread(ONE)
            rest = [event.type async for event in events]
        assert rest[-1] == "thread.deleted"


async def test_closing_stores_what_is_left_and_ends_subscriptions() -> None:
    journal = MemoryJournal(ONE)
    async with bus_on(journal) as bus:
        await bus.publish(received())

        async def watch() -> list[int]:
            return [event.seq async for event in bus.subscribe(ONE, 0)]

        watching = asyncio.create_task(watch())
        await asyncio.sleep(0)
        await bus.publish(delta("first"))
        await bus.publish(delta("second"))
    assert [event.seq for event in journal.logs[ONE]] == [1, 2, 3]
    assert await watching == [1, 2, 3]
    with pytest.raises(NotReady):
        await bus.publish(delta())


async def test_who_subscribes_while_the_thread_is_deleted_hears_that_it_is_gone() -> None:
    journal = MemoryJournal(ONE)
    async with bus_on(journal) as bus:
        journal.answering.clear()
        listening = asyncio.create_task(take(bus, 1))
        await journal.asked.wait()
        del journal.logs[ONE]
        bus.delete_thread(ONE)
        journal.answering.set()
        with pytest.raises(ThreadNotFound):
            await listening
        assert bus.open_threads == 0
