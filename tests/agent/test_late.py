"""Who wants the agent before it is there waits for it, and a failed start is not kept quiet."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import pytest

from finchbot.agent.late import LateAgent
from finchbot.agent.turn import Turn
from finchbot.errors import StoreTooNew
from finchbot.events import RunEvent, RunStarted
from finchbot.ids import OWNER, MessageId, RunId, ThreadId, utc_now
from finchbot.messages import Message, TextPart

THREAD = ThreadId("thr_1")


class QuickAgent:
    """Says that it started."""

    def __init__(self) -> None:
        self.forgotten: list[ThreadId] = []

    async def run(self, turn: Turn) -> AsyncGenerator[RunEvent]:
        yield RunStarted(thread_id=turn.thread_id, run_id=turn.run_id, model="quick")

    async def forget(self, thread_id: ThreadId) -> None:
        self.forgotten.append(thread_id)


class Opening:
    """Opens the agent when the gate is open; `broken` fails instead."""

    def __init__(self, *, broken: bool = False) -> None:
        self.gate = asyncio.Event()
        self.agent = QuickAgent()
        self.log: list[str] = []
        self._broken = broken

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[QuickAgent]:
        self.log.append("opening")
        await self.gate.wait()
        if self._broken:
            raise StoreTooNew(file="checkpoints.db")
        yield self.agent
        self.log.append("closed")


def turn() -> Turn:
    message = Message(
        id=MessageId("msg_1"),
        role="user",
        parts=(TextPart(text="hi"),),
        run_id=RunId("run_1"),
        created_at=utc_now(),
    )
    return Turn(RunId("run_1"), THREAD, OWNER, message)


async def said_by(agent: LateAgent) -> list[str]:
    return [event.type async for event in agent.run(turn())]


async def test_a_turn_that_comes_early_is_answered_once_the_agent_is_there() -> None:
    opening = Opening()
    agent = LateAgent(opening)
    async with agent.alive():
        early = asyncio.create_task(said_by(agent))
        forgetting = asyncio.create_task(agent.forget(THREAD))
        await asyncio.wait([early, forgetting], timeout=0.02)
        assert not early.done()
        assert not agent.ready
        opening.gate.set()
        assert await early == ["run.started"]
        await forgetting
        assert agent.ready
        assert await said_by(agent) == ["run.started"]
    assert opening.agent.forgotten == [THREAD]
    assert opening.log == ["opening"]


async def test_nothing_is_opened_before_it_is_wanted() -> None:
    opening = Opening()
    opening.gate.set()
    agent = LateAgent(opening)
    async with agent.alive():
        assert opening.log == []
        await agent.there()
        assert opening.log == ["opening"]


async def test_an_agent_that_cannot_be_opened_ends_the_block_with_its_error() -> None:
    opening = Opening(broken=True)
    opening.gate.set()
    agent = LateAgent(opening)
    with pytest.raises(StoreTooNew):
        async with agent.alive():
            await said_by(agent)


async def test_the_blocks_own_error_leaves_as_it_was() -> None:
    with pytest.raises(KeyError, match="mine"):
        async with LateAgent(Opening()).alive():
            raise KeyError("mine")
