"""LateAgent: stands for the agent while its libraries load, so that no page waits for them."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from typing import Protocol

from finchbot.agent.turn import Turn
from finchbot.events import RunEvent
from finchbot.ids import ThreadId


class WorkingAgent(Protocol):
    """An agent that is there."""

    def run(self, turn: Turn) -> AsyncGenerator[RunEvent]:
        """See `Agent.run`."""

    async def forget(self, thread_id: ThreadId) -> None:
        """Drop a thread's working state for good; no run of it may be under way."""


class LateAgent:
    """An agent that is opened when it is wanted; who comes earlier waits for it.

    Args:
        open_agent: Opens the agent; heavy work in it runs in threads.
    """

    def __init__(self, open_agent: Callable[[], AbstractAsyncContextManager[WorkingAgent]]) -> None:
        self._open_agent = open_agent
        self._agent: WorkingAgent | None = None
        self._wanted = asyncio.Event()
        self._opened = asyncio.Event()

    @property
    def ready(self) -> bool:
        """Whether the agent is there."""
        return self._agent is not None

    def want(self) -> None:
        """Begin to open the agent, while `alive`."""
        self._wanted.set()

    async def there(self) -> None:
        """Return when the agent is open."""
        await self._get()

    @asynccontextmanager
    async def alive(self) -> AsyncIterator[None]:
        """Open the agent once it is wanted, and keep it open until the block ends.

        Raises:
            FinchError: It could not be opened; the block is cancelled then.
        """
        try:
            async with asyncio.TaskGroup() as group:
                life = group.create_task(self._live(), name="agent")
                yield
                life.cancel()
        except BaseExceptionGroup as group_of_one:
            # The block's own error comes here as well, and leaves as it was.
            raise group_of_one.exceptions[0] from None

    async def run(self, turn: Turn) -> AsyncGenerator[RunEvent]:
        """See `Agent.run`."""
        agent = await self._get()
        async with aclosing(agent.run(turn)) as events:
            async for event in events:
                yield event

    async def forget(self, thread_id: ThreadId) -> None:
        """Drop a thread's working state for good; no run of it may be under way."""
        agent = await self._get()
        await agent.forget(thread_id)

    async def _get(self) -> WorkingAgent:
        while self._agent is None:
            self.want()
            await self._opened.wait()
        return self._agent

    async def _live(self) -> None:
        await self._wanted.wait()
        async with self._open_agent() as agent:
            self._agent = agent
            self._opened.set()
            await asyncio.Event().wait()
