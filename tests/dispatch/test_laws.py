"""Whatever agents do and whenever people stop them, the events of a thread keep the laws."""

import asyncio
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from finchbot.errors import FinchError
from finchbot.events import RunEvent
from finchbot.ids import OWNER
from tests.support.core import open_core
from tests.support.event_laws import check_laws
from tests.support.event_strategies import turn_events
from tests.support.scripted_agent import Gate, MakeEvent, ScriptedAgent, Step, finished


@dataclass
class Act:
    """One message: what the agent does with it, and whether somebody stops it."""

    events: list[RunEvent]
    cut: int
    end: Literal["finish", "error", "bug", "hang", "silence"]
    stop: Literal["no", "at once", "by word", "later"]

    def script(self, gate: Gate) -> list[Step]:
        ends: dict[str, list[Step]] = {
            "finish": [*map(_retold, self.events), finished()],
            "error": [*map(_retold, self.events[: self.cut]), FinchError("provider.failed")],
            "bug": [*map(_retold, self.events[: self.cut]), KeyError("x")],
            "hang": [*map(_retold, self.events[: self.cut]), gate],
            "silence": [*map(_retold, self.events[: self.cut])],
        }
        return ends[self.end]


acts = st.builds(
    Act,
    events=turn_events(),
    cut=st.integers(0, 12),
    end=st.sampled_from(["finish", "error", "bug", "hang", "silence"]),
    stop=st.sampled_from(["no", "at once", "by word", "later"]),
)


def _retold(event: RunEvent) -> MakeEvent:
    return lambda turn: event.model_copy(
        update={"thread_id": turn.thread_id, "run_id": turn.run_id}
    )


async def play(folder: Path, talk: list[Act]) -> list[RunEvent]:
    """Send one message per act to one thread and return all its events."""
    agent = ScriptedAgent()
    for n, act in enumerate(talk):
        agent.on(f"m{n}", act.script(Gate()))
    async with open_core(folder, agent=agent) as core:
        thread = await core.threads.create(OWNER)
        sent = []
        for n, act in enumerate(talk):
            accepted = await core.send(f"m{n}", thread.id)
            sent.append(accepted)
            if act.stop == "at once":
                await core.dispatcher.cancel(OWNER, accepted.run_id)
            elif act.stop == "by word" and accepted.queued is False:
                await asyncio.gather(core.send("/stop", thread.id), return_exceptions=True)
        for act, accepted in zip(talk, sent, strict=True):
            if act.end == "hang" or act.stop == "later":
                await core.dispatcher.cancel(OWNER, accepted.run_id)
            await core.until_ended(accepted)
        await core.dispatcher.drain()
        assert (core.bus.open_threads, core.dispatcher.busy_threads) == (0, 0)
        assert agent.most_running <= 1
        return list(await core.store.read(thread.id, 0, 100_000))


@pytest.mark.slow
@pytest.mark.timeout(60)
@settings(max_examples=40)
@given(st.lists(acts, min_size=1, max_size=4))
def test_the_laws_hold_whatever_happens(talk: list[Act]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        check_laws(asyncio.run(play(Path(folder), talk)))
