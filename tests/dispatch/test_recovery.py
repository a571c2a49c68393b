import asyncio
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from finchbot import events as ev
from finchbot.bus import RESERVED, Journal, MessageBus, Position
from finchbot.errors import ThreadError
from finchbot.events import RunEvent
from finchbot.ids import OWNER, CallId, MessageId, RunId, ThreadId
from finchbot.threads.records import empty_thread
from finchbot.threads.store import ThreadStore
from tests.support.clock import START, FakeClock
from tests.support.core import Core, open_core
from tests.support.event_laws import check_laws, runs_of
from tests.support.event_strategies import THREAD, message
from tests.support.scripted_agent import (
    Gate,
    Script,
    ScriptedAgent,
    answering,
    completed,
    delta,
    started,
)

ROOT = Path(__file__).resolve().parents[2]
ONE, TWO = RunId("run_1"), RunId("run_2")
MESSAGE = MessageId("m")


async def leave(folder: Path, *events: RunEvent) -> None:
    """Leave a file as a program does that publishes these events and is gone."""
    async with ThreadStore.open(folder / "threads.db", clock=FakeClock()) as store:
        await store.create(empty_thread(THREAD, OWNER, channel="chat", now=START))
        async with MessageBus(store, FakeClock()) as bus:
            for event in events:
                await bus.publish(event)


async def everything(core: Core, thread_id: ThreadId = THREAD) -> list[RunEvent]:
    return list(await core.store.read(thread_id, 0, 100_000))


def received(run: RunId) -> RunEvent:
    return ev.MessageReceived(thread_id=THREAD, run_id=run, message=message(run))


def begun(run: RunId) -> list[RunEvent]:
    return [received(run), ev.RunStarted(thread_id=THREAD, run_id=run, model="m")]


async def test_a_run_cut_off_in_its_answer_keeps_the_partial_text(tmp_path: Path) -> None:
    spoken = [
        ev.TextDelta(thread_id=THREAD, run_id=ONE, message_id=MESSAGE, text=text) for text in "abc"
    ]
    await leave(tmp_path, *begun(ONE), *spoken)
    async with open_core(tmp_path) as core:
        told = await everything(core)
        check_laws(told)
        assert told[-2].type == "message.completed"
        assert (told[-2].text, told[-2].partial) == ("abc", True)
        assert told[-1].type == "run.interrupted"
        assert told[-1].reason == "crash"
        assert told[-1].seq == 5 + RESERVED + 2
        after = await core.until_ended(await core.send("go on", THREAD))
        check_laws(after)


async def test_a_run_cut_off_in_a_tool_leaves_a_result(tmp_path: Path) -> None:
    call = ev.ToolCallStarted(
        thread_id=THREAD, run_id=ONE, call_id=CallId("c"), name="x", arguments={}
    )
    await leave(tmp_path, *begun(ONE), call)
    async with open_core(tmp_path) as core:
        told = await everything(core)
        check_laws(told)
        assert [event.seq for event in told] == [1, 2, 3, 4, 5]
        assert told[3].type == "tool_call.finished"
        assert told[3].is_error


async def test_what_was_only_queued_is_closed_too(tmp_path: Path) -> None:
    queued = ev.RunQueued(thread_id=THREAD, run_id=TWO, position=1)
    await leave(tmp_path, *begun(ONE), received(TWO), queued)
    async with open_core(tmp_path) as core:
        told = await everything(core)
        check_laws(told)
        assert [event.type for event in runs_of(told)[TWO]] == [
            "message.received",
            "run.queued",
            "run.interrupted",
        ]
        assert not (await core.threads.get(OWNER, THREAD)).running


async def test_a_second_start_finds_nothing_to_close(tmp_path: Path) -> None:
    await leave(tmp_path, *begun(ONE))
    async with open_core(tmp_path) as core:
        told = await everything(core)
    async with open_core(tmp_path) as core:
        assert await everything(core) == told


class FlakyJournal:
    """The store, but that it refuses to write as often as it is told to."""

    def __init__(self, store: Journal) -> None:
        self._store = store
        self.refusals = 0

    async def position(self, thread_id: ThreadId) -> Position:
        return await self._store.position(thread_id)

    async def append(self, events: Sequence[RunEvent]) -> None:
        if self.refusals:
            self.refusals -= 1
            raise ThreadError("store.failed", reason="disk full")
        await self._store.append(events)

    async def read(self, thread_id: ThreadId, after_seq: int, limit: int) -> Sequence[RunEvent]:
        return await self._store.read(thread_id, after_seq, limit)


@pytest.mark.parametrize("refusals", [1, 2])
async def test_a_store_that_fails_under_a_run_fails_the_run_lawfully(
    tmp_path: Path, refusals: int, caplog: pytest.LogCaptureFixture
) -> None:
    journals: list[FlakyJournal] = []

    def between(store: ThreadStore) -> Journal:
        journals.append(FlakyJournal(store))
        return journals[0]

    gate = Gate()
    script: Script = [started(), delta("so "), delta("far "), gate, completed("so far ")]
    agent = ScriptedAgent(script, answering("fine"))
    async with open_core(tmp_path, agent=agent, journal=between) as core:
        accepted = await core.send("x")
        await gate.reached.wait()
        journals[0].refusals = refusals
        gate.opened.set()
        await gate.closed.wait()
        with suppress(ThreadError):
            await core.until_ended(await core.send("y", accepted.thread_id))
        check_laws(await core.until_ended(await core.send("z")))
        if refusals == 1:
            told = await everything(core, accepted.thread_id)
            assert runs_of(told)[accepted.run_id][-1].type == "run.failed"
    async with open_core(tmp_path) as core:
        check_laws(await everything(core, accepted.thread_id))


CHILD = """
import asyncio, itertools, sys
from pathlib import Path
from tests.support.core import open_core
from tests.support.scripted_agent import ScriptedAgent, delta, started

async def main() -> None:
    said = itertools.chain([started()], (delta(f"{n} ") for n in itertools.count()))
    async with open_core(Path(sys.argv[1]), agent=ScriptedAgent(said), flush_after_s=0.2) as core:
        accepted = await core.send("count")
        async for event in core.dispatcher.events("owner", accepted.thread_id, after_seq=0):
            print(event.seq, accepted.thread_id, flush=True)

asyncio.run(main())
"""


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize("at", [4, 70, 500])
async def test_no_number_that_was_seen_comes_again_after_kill_9(tmp_path: Path, at: int) -> None:
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CHILD, str(tmp_path), cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    assert child.stdout is not None
    seen, thread_id = 0, ""
    while seen < at:
        line = (await child.stdout.readline()).decode().split()
        seen, thread_id = int(line[0]), line[1]
    child.kill()
    for line_bytes in (await child.stdout.read()).splitlines():
        parts = line_bytes.split()
        if len(parts) == 2:
            seen = int(parts[0])
    await child.wait()
    async with open_core(tmp_path) as core:
        told = await everything(core, ThreadId(thread_id))
        check_laws(told)
        assert told[-1].type == "run.interrupted"
        assert told[-1].seq > seen
        texts = "".join(event.text for event in told if isinstance(event, ev.TextDelta))
        assert texts == "".join(f"{n} " for n in range(texts.count(" ")))
        assert texts.count(" ") >= seen - 3 - RESERVED
        check_laws(await core.until_ended(await core.send("go on", ThreadId(thread_id))))
