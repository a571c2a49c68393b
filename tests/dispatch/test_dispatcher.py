import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from finchbot import events as ev
from finchbot.dispatch import Limits
from finchbot.errors import (
    AuthFailed,
    Busy,
    InputInvalid,
    NothingToDecide,
    NotReady,
    ThreadNotFound,
    TooLarge,
)
from finchbot.events import RunEvent
from finchbot.ids import OWNER, CallId, RunId, ThreadId, UserId
from finchbot.messages import InboundMessage, ToolResultPart
from tests.support.clock import CountedIds, FakeClock
from tests.support.core import Core, open_core
from tests.support.event_laws import check_laws, runs_of
from tests.support.scripted_agent import (
    Gate,
    Script,
    ScriptedAgent,
    StubbornGate,
    answer,
    answering,
    call,
    completed,
    delta,
    finished,
    started,
)


@pytest.fixture
async def core(tmp_path: Path, clock: FakeClock, ids: CountedIds) -> AsyncIterator[Core]:
    async with open_core(tmp_path, clock=clock, ids=ids) as core:
        yield core


async def everything(core: Core, thread_id: ThreadId) -> list[RunEvent]:
    """Return all events of a thread so far."""
    return list(await core.store.read(thread_id, 0, 100_000))


def waiting_at(gate: Gate) -> Script:
    return [started(), gate, completed("x"), finished()]


def kinds(events: list[RunEvent]) -> list[str]:
    return [event.type for event in events]


async def test_a_message_becomes_a_run_and_the_run_an_answer(core: Core) -> None:
    core.agent.add(answering("Hel", "lo"))
    accepted = await core.send("你好")
    told = await core.until_ended(accepted)
    assert kinds(told) == [
        "message.received",
        "thread.titled",
        "run.started",
        "text.delta",
        "text.delta",
        "message.completed",
        "run.finished",
    ]
    check_laws(told)
    assert (accepted.seq, accepted.queued, accepted.repeated) == (1, False, False)
    assert told[0].type == "message.received"
    assert told[0].message == core.agent.turns[0].message
    assert told[0].message.id == accepted.message_id


async def test_what_is_seen_live_is_what_is_replayed(core: Core) -> None:
    core.agent.add(answering(*"abc"))
    accepted = await core.send("x")
    live = await core.until_ended(accepted)
    again = await core.until_ended(accepted)
    assert live == again == await everything(core, accepted.thread_id)


async def test_a_run_goes_on_when_its_listener_leaves_and_comes_back(core: Core) -> None:
    gate = Gate()
    core.agent.add([started(), delta("one "), gate, delta("two"), completed("one two"), finished()])
    accepted = await core.send("x")
    before = await core.until(accepted.thread_id, lambda e: e.type == "text.delta")
    await gate.reached.wait()
    gate.opened.set()
    after = await core.until(
        accepted.thread_id, lambda e: e.type == "run.finished", after_seq=before[-1].seq
    )
    check_laws([*before, *after])


async def test_messages_of_one_thread_are_answered_in_order_one_at_a_time(core: Core) -> None:
    gate = Gate()
    core.agent.add([started(), gate, completed("slow"), finished()], answering("quick"))
    first = await core.send("one")
    await gate.reached.wait()
    second = await core.send("two", first.thread_id)
    third = await core.send("three", first.thread_id)
    assert [accepted.queued for accepted in (first, second, third)] == [False, True, True]
    gate.opened.set()
    told = await core.until_ended(third)
    check_laws(told)
    assert core.agent.most_running == 1
    assert [turn.message.text for turn in core.agent.turns] == ["one", "two", "three"]
    positions = [event.position for event in told if isinstance(event, ev.RunQueued)]
    assert positions == [1, 2]
    own = runs_of(told)[second.run_id]
    assert kinds(own)[:3] == ["message.received", "run.queued", "run.started"]


async def test_two_messages_at_the_same_moment_become_two_runs_in_order(core: Core) -> None:
    thread = await core.threads.create(OWNER)
    accepted = await asyncio.gather(*(core.send(f"m{n}", thread.id) for n in range(6)))
    told = await core.until_ended(accepted[-1])
    check_laws(told)
    assert [turn.message.text for turn in core.agent.turns] == [f"m{n}" for n in range(6)]
    assert [one.seq for one in accepted] == sorted(one.seq for one in accepted)
    assert core.agent.most_running == 1


async def test_a_message_that_takes_longer_to_check_is_not_overtaken(core: Core) -> None:
    thread = await core.threads.create(OWNER)
    first, second = await asyncio.gather(
        core.send("first", thread.id, client_id="c1"), core.send("second", thread.id)
    )
    await core.until_ended(second)
    assert [turn.message.text for turn in core.agent.turns] == ["first", "second"]
    assert first.seq < second.seq


async def test_threads_do_not_wait_for_each_other(core: Core) -> None:
    gates = [Gate() for _ in range(5)]
    core.agent.add(*(waiting_at(gate) for gate in gates))
    accepted = [await core.send(f"m{n}") for n in range(5)]
    await asyncio.gather(*(gate.reached.wait() for gate in gates))
    assert core.agent.most_running == 5
    for gate in reversed(gates):
        gate.opened.set()
    for one in accepted:
        check_laws(await core.until_ended(one))


async def test_stop_ends_the_run_keeps_what_was_said_and_the_next_message_works(
    core: Core,
) -> None:
    gate = Gate()
    core.agent.add([started(), delta("half an "), delta("ans"), gate], answering("hi"))
    accepted = await core.send("x")
    await gate.reached.wait()
    await core.dispatcher.cancel(OWNER, accepted.run_id)
    assert gate.closed.is_set()
    told = await everything(core, accepted.thread_id)
    assert kinds(told)[-2:] == ["message.completed", "run.cancelled"]
    assert told[-2].type == "message.completed"
    assert (told[-2].text, told[-2].partial) == ("half an ans", True)
    after = await core.until_ended(await core.send("hi", accepted.thread_id))
    check_laws(after)
    assert after[-1].type == "run.finished"


async def test_stop_inside_a_tool_leaves_a_result_for_every_call(core: Core) -> None:
    gate = Gate()
    core.agent.add(
        [started(), completed("I look."), call("a"), call("b"), answer("b"), gate, answer("a")]
    )
    accepted = await core.send("x")
    await gate.reached.wait()
    await core.dispatcher.cancel(OWNER, accepted.run_id)
    check_laws(await everything(core, accepted.thread_id))
    messages = await core.store.recent_messages(accepted.thread_id, 10)
    results = {
        part.call_id: (part.output, part.is_error)
        for message in messages
        for part in message.parts
        if isinstance(part, ToolResultPart)
    }
    assert results == {"a": ("cancelled by the user", True), "b": ("done", False)}


async def test_a_queued_run_is_stopped_without_ever_starting(core: Core) -> None:
    gate = Gate()
    core.agent.add([started(), gate, completed("x"), finished()])
    first = await core.send("one")
    await gate.reached.wait()
    second = await core.send("two", first.thread_id)
    third = await core.send("three", first.thread_id)
    await core.dispatcher.cancel(OWNER, second.run_id)
    own = runs_of(await everything(core, first.thread_id))[second.run_id]
    assert kinds(own) == ["message.received", "run.queued", "run.cancelled"]
    gate.opened.set()
    check_laws(await core.until_ended(third))
    assert [turn.message.text for turn in core.agent.turns] == ["one", "three"]


async def test_stopping_what_has_ended_changes_nothing(core: Core) -> None:
    accepted = await core.send("x")
    told = await core.until_ended(accepted)
    await core.dispatcher.cancel(OWNER, accepted.run_id)
    assert await everything(core, accepted.thread_id) == told


async def test_stopping_twice_at_once_ends_once(core: Core) -> None:
    gate = Gate()
    core.agent.add([started(), gate])
    accepted = await core.send("x")
    await gate.reached.wait()
    await asyncio.gather(*(core.dispatcher.cancel(OWNER, accepted.run_id) for _ in range(3)))
    told = await everything(core, accepted.thread_id)
    check_laws(told)
    assert kinds(told).count("run.cancelled") == 1


async def test_an_agent_that_does_not_let_itself_be_stopped_is_left_behind(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    gate = StubbornGate()
    agent = ScriptedAgent([started(), delta("a"), gate, delta("too late"), finished()])
    async with open_core(tmp_path, agent=agent, limits=Limits(stop_grace_s=0.05)) as core:
        accepted = await core.send("x")
        await gate.reached.wait()
        await core.dispatcher.cancel(OWNER, accepted.run_id)
        await core.until_ended(await core.send("next", accepted.thread_id))
        gate.opened.set()
        await gate.closed.wait()
        told = await core.until_ended(await core.send("and another", accepted.thread_id))
        check_laws(told)
        assert kinds(told).count("text.delta") == 3
    assert "left behind" in caplog.text


async def test_stop_as_a_word_acts_past_the_queue(core: Core) -> None:
    gate = Gate()
    core.agent.add([started(), delta("so"), gate])
    first = await core.send("one")
    await gate.reached.wait()
    second = await core.send("two", first.thread_id)
    stopped = await core.send(" /STOP ", first.thread_id)
    assert (stopped.run_id, stopped.seq) == (first.run_id, first.seq)
    told = await core.until_ended(second)
    check_laws(told)
    ends = [event.type for event in told if event.type in ("run.cancelled", "run.finished")]
    assert ends == ["run.cancelled", "run.finished"]
    assert "/STOP" not in str(told)


async def test_stop_as_a_word_with_nothing_to_stop_says_so(core: Core) -> None:
    thread = await core.threads.create(OWNER)
    for thread_id in (thread.id, None):
        with pytest.raises(NothingToDecide) as caught:
            await core.send("/stop", thread_id)
        assert caught.value.code == "run.nothing_to_stop"
    assert len((await core.threads.list(OWNER)).items) == 1
    with pytest.raises(ThreadNotFound):
        await core.send("/stop", thread.id, user=UserId("other"))


async def test_a_stop_word_that_comes_again_stops_nothing_else(core: Core) -> None:
    gates = [Gate(), Gate()]
    core.agent.add(*(waiting_at(gate) for gate in gates))
    first = await core.send("one")
    await gates[0].reached.wait()
    second = await core.send("two", first.thread_id)
    await core.send("/stop", first.thread_id, client_id="stop-1")
    await gates[1].reached.wait()
    again = await core.send("/stop", first.thread_id, client_id="stop-1")
    assert (again.run_id, again.repeated) == (first.run_id, True)
    gates[1].opened.set()
    assert (await core.until_ended(second))[-1].type == "run.finished"


async def test_a_client_id_makes_a_message_one_message(core: Core, clock: FakeClock) -> None:
    first = await core.send("x", client_id="c1")
    again = await core.send("x", client_id="c1")
    assert not again.queued
    assert again == first.model_copy(update={"repeated": True})
    inside = await core.send("y", first.thread_id, client_id="c1")
    assert inside.run_id == first.run_id
    other = await core.send("x", user=UserId("other"), client_id="c1")
    assert other.run_id != first.run_id
    elsewhere = await core.threads.create(OWNER)
    for repeated in (False, True):
        there = await core.send("z", elsewhere.id, client_id="c1")
        assert (there.thread_id, there.repeated) == (elsewhere.id, repeated)
    assert (await core.send("y", first.thread_id, client_id="c1")).run_id == first.run_id
    clock.advance(24 * 3600)
    later = await core.send("x", client_id="c1")
    assert (later.run_id != first.run_id, later.repeated) == (True, False)
    assert len((await core.threads.list(OWNER)).items) == 3


async def test_the_same_client_id_at_the_same_moment_is_one_message(core: Core) -> None:
    accepted = await asyncio.gather(*(core.send("x", client_id="c1") for _ in range(5)))
    assert len({one.run_id for one in accepted}) == 1
    assert [one.repeated for one in accepted] == [False, True, True, True, True]
    assert len((await core.threads.list(OWNER)).items) == 1
    await core.until_ended(accepted[0])
    assert len(core.agent.turns) == 1


async def test_a_client_id_is_known_after_a_restart(tmp_path: Path) -> None:
    async with open_core(tmp_path) as core:
        first = await core.send("x", client_id="c1")
        await core.until_ended(first)
    async with open_core(tmp_path) as core:
        assert (await core.send("x", client_id="c1")).run_id == first.run_id
        assert core.agent.turns == []


async def test_a_client_id_whose_message_never_arrived_is_free(
    core: Core, clock: FakeClock
) -> None:
    thread = await core.threads.create(OWNER)
    now = clock()
    await core.store.note_client_id(OWNER, "c1", thread.id, RunId("run_lost"), now=now, since=now)
    accepted = await core.send("x", thread.id, client_id="c1")
    assert not accepted.repeated


async def test_a_full_queue_refuses_and_says_when_to_come_back(tmp_path: Path) -> None:
    gate = Gate()
    agent = ScriptedAgent([started(), gate, completed("x"), finished()], [started(), Gate()])
    async with open_core(tmp_path, agent=agent, limits=Limits(waiting=2, open_runs=4)) as core:
        first = await core.send("one")
        await gate.reached.wait()
        last = [await core.send(text, first.thread_id) for text in ("two", "three")][-1]
        with pytest.raises(Busy) as caught:
            await core.send("four", first.thread_id)
        assert caught.value.params["retry_after_s"]
        await core.send("another thread")
        with pytest.raises(Busy):
            await core.send("a thread too many")
        gate.opened.set()
        check_laws(await core.until_ended(last))
        assert len((await core.threads.list(OWNER)).items) == 2


@pytest.mark.parametrize(
    ("text", "error"), [("", InputInvalid), (" \n", InputInvalid), ("x" * 1_000_001, TooLarge)]
)
async def test_what_cannot_be_taken_leaves_no_thread(
    core: Core, text: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        await core.send(text)
    assert (await core.threads.list(OWNER)).items == ()


async def test_a_message_of_a_megabyte_with_odd_characters_is_taken(core: Core) -> None:
    text = ("好\0\u2028'\"\\" * 100_000)[:300_000] + "\ud83d"
    accepted = await core.send(text)
    told = await core.until_ended(accepted)
    check_laws(told)
    kept = (await core.threads.messages(OWNER, accepted.thread_id)).items[0].text
    assert kept == text[:-1] + "\ufffd"
    assert core.agent.turns[0].message.text == kept


async def test_a_failure_is_told_in_the_callers_language_and_the_thread_goes_on(
    core: Core,
) -> None:
    core.agent.add([started(), delta("so"), AuthFailed(provider="openai")], answering("fine"))
    accepted = await core.dispatcher.send(InboundMessage(user_id=OWNER, text="x", language="zh-CN"))
    told = await core.until_ended(accepted)
    check_laws(told)
    assert told[-1].type == "run.failed"
    assert told[-1].error == ev.ErrorInfo(
        code="provider.auth_failed",
        detail="zh-CN: provider.auth_failed",
        params={"provider": "openai"},
    )
    after = await core.until_ended(await core.send("again", accepted.thread_id))
    assert after[-1].type == "run.finished"


async def test_a_failure_before_the_start_is_told_too(core: Core) -> None:
    core.agent.add([AuthFailed(provider="openai")])
    told = await core.until_ended(await core.send("x"))
    check_laws(told)
    assert kinds(told) == ["message.received", "thread.titled", "run.failed"]


async def test_an_unexpected_error_is_told_with_a_reference_and_logged_without_the_talk(
    core: Core, caplog: pytest.LogCaptureFixture
) -> None:
    core.agent.add([started(), ValueError("the user's own words")])
    told = await core.until_ended(await core.send("x"))
    check_laws(told)
    assert told[-1].type == "run.failed"
    assert told[-1].error.code == "internal"
    reference = str(told[-1].error.params["reference"])
    record = next(record for record in caplog.records if record.levelno == logging.ERROR)
    assert reference in record.getMessage()
    assert "ValueError" in record.getMessage()
    assert "own words" not in caplog.text


BROKEN: dict[str, Script] = {
    "no end": [started(), completed("x")],
    "nothing at all": [],
    "no start": [completed("x"), finished()],
    "two starts": [started(), started(), finished()],
    "an open message at the end": [started(), delta("x"), finished()],
    "an open call at the end": [started(), call("a"), finished()],
    "an end that is not its own": [
        started(),
        lambda turn: ev.RunCancelled(thread_id=turn.thread_id, run_id=turn.run_id),
    ],
    "another run": [
        started(),
        lambda turn: ev.RunCancelled(thread_id=turn.thread_id, run_id=RunId("r")),
    ],
    "no run": [started(), lambda turn: ev.ThreadDeleted(thread_id=turn.thread_id)],
}


@pytest.mark.parametrize("script", BROKEN.values(), ids=BROKEN)
async def test_an_agent_that_breaks_its_contract_fails_lawfully(core: Core, script: Script) -> None:
    core.agent.add(script, answering("fine"))
    accepted = await core.send("x")
    told = await core.until_ended(accepted)
    check_laws(told)
    assert told[-1].type == "run.failed"
    assert (await core.until_ended(await core.send("y", accepted.thread_id)))[-1].type == (
        "run.finished"
    )


@pytest.mark.parametrize("last", [delta("late"), ValueError("late")], ids=["event", "error"])
async def test_what_comes_after_the_end_changes_nothing(
    core: Core, last: ValueError, caplog: pytest.LogCaptureFixture
) -> None:
    core.agent.add([*answering("x"), last])
    accepted = await core.send("x")
    told = await core.until_ended(await core.send("y", accepted.thread_id))
    check_laws(told)
    assert kinds(told).count("run.finished") == 2
    assert "after its end" in caplog.text


async def test_the_next_run_waits_for_what_an_agent_does_after_its_end(core: Core) -> None:
    gate = Gate()
    core.agent.add([*answering("x"), gate])
    accepted = await core.send("x")
    await core.until_ended(accepted)
    await gate.reached.wait()
    following = await core.send("y", accepted.thread_id)
    assert following.queued
    gate.opened.set()
    check_laws(await core.until_ended(following))
    assert core.agent.most_running == 1


async def test_a_caller_that_goes_away_leaves_a_whole_message(core: Core) -> None:
    sending = asyncio.create_task(core.send("x", client_id="c1"))
    await asyncio.sleep(0)
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sending
    accepted = await core.send("x", client_id="c1")
    assert accepted.repeated
    check_laws(await core.until_ended(accepted))


async def test_draining_ends_every_run_as_interrupted_and_every_subscription(
    tmp_path: Path,
) -> None:
    gates = [Gate(), Gate()]
    agent = ScriptedAgent([started(), delta("so"), gates[0]], [started(), call("a"), gates[1]])
    async with open_core(tmp_path, agent=agent) as core:
        one = await core.send("one")
        await gates[0].reached.wait()
        two = await core.send("two")
        await gates[1].reached.wait()
        queued = await core.send("three", one.thread_id)

        async def watch() -> list[RunEvent]:
            async with aclosing(
                core.dispatcher.events(OWNER, one.thread_id, after_seq=0)
            ) as events:
                return [event async for event in events]

        watching = asyncio.create_task(watch())
        began = time.monotonic()
        await core.dispatcher.drain()
        told = await watching
        assert time.monotonic() - began < 2
        check_laws(told)
        check_laws(await everything(core, two.thread_id))
        ends = [event for event in told if isinstance(event, ev.RunInterrupted)]
        assert [(end.run_id, end.reason) for end in ends] == [
            (queued.run_id, "shutdown"),
            (one.run_id, "shutdown"),
        ]
        with pytest.raises(NotReady):
            await core.send("x")
        assert (core.bus.open_threads, core.dispatcher.busy_threads) == (0, 0)


async def test_draining_does_not_wait_for_an_agent_that_hangs(tmp_path: Path) -> None:
    gate = StubbornGate()
    agent = ScriptedAgent([started(), gate])
    async with open_core(tmp_path, agent=agent, limits=Limits(stop_grace_s=0.1)) as core:
        accepted = await core.send("x")
        await gate.reached.wait()
        await core.dispatcher.drain()
        check_laws(await everything(core, accepted.thread_id))
        gate.opened.set()
        await gate.closed.wait()


async def test_nothing_is_taken_in_before_it_is_open_or_after(tmp_path: Path) -> None:
    async with open_core(tmp_path) as core:
        pass
    with pytest.raises(NotReady):
        await core.send("x")


async def test_there_is_nothing_to_decide_in_a_run_that_does_not_wait(core: Core) -> None:
    accepted = await core.send("x")
    await core.until_ended(accepted)
    with pytest.raises(NothingToDecide):
        await core.dispatcher.approve(OWNER, accepted.run_id, CallId("a"), "once")


async def test_two_hundred_visitors_leave_nothing_behind(core: Core) -> None:
    tasks = len(asyncio.all_tasks())

    async def visit(n: int) -> None:
        accepted = await core.send(f"visitor {n}", user=UserId(f"u{n}"))
        check_laws(await core.until_ended(accepted, user=UserId(f"u{n}")))

    await asyncio.gather(*(visit(n) for n in range(200)))
    await core.dispatcher.drain()
    assert (core.bus.open_threads, core.dispatcher.busy_threads) == (0, 0)
    assert len(asyncio.all_tasks()) == tasks
