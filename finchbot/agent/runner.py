"""Runs a turn: the desk is made to fit the record, the graph works, events come out."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol, cast

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig

from finchbot.agent.desk import Desk
from finchbot.agent.graph import Graph
from finchbot.agent.history import before_run, fits, from_first_question, question, to_history
from finchbot.agent.prompt import SystemPrompt
from finchbot.agent.run_context import AgentOptions, Monotonic, RunContext, Tools, Workspaces
from finchbot.agent.translate import Translator
from finchbot.agent.turn import Turn
from finchbot.events import ReasoningDelta, RunEvent, RunFinished, RunStarted, TextDelta
from finchbot.ids import ThreadId
from finchbot.messages import Message

TAIL = 24
"""So many of the record's newest messages tell whether the desk fits."""


class Record(Protocol):
    """The transcript of all threads."""

    async def recent_messages(self, thread_id: ThreadId, limit: int) -> list[Message]:
        """Return the newest `limit` messages, oldest first."""


class ModelSource(Protocol):
    """Where chat models come from; asked anew for every run."""

    def resolve(self, wanted: str | None) -> str:
        """Return the ``provider/model`` meant; None means the configured default.

        Raises:
            FinchError: There is none.
        """

    def chat_model(self, ref: str) -> BaseChatModel:
        """Return the model.

        Raises:
            FinchError: It cannot be had.
        """


@dataclass(frozen=True, slots=True)
class AgentParts:
    """What the agent works with; all may be called from a worker thread but the record."""

    models: ModelSource
    tools: Tools
    record: Record
    prompt: SystemPrompt
    options: Callable[[], AgentOptions]
    """The settings of the moment."""
    workspaces: Workspaces
    monotonic: Monotonic


class GraphAgent:
    """The `Agent` on LangGraph. Made by `AgentFactory`."""

    def __init__(self, graph: Graph, desk: Desk, parts: AgentParts, max_messages: int) -> None:
        self._graph = graph
        self._desk = desk
        self._parts = parts
        self._max_messages = max_messages

    async def run(self, turn: Turn) -> AsyncGenerator[RunEvent]:
        """See `Agent.run`."""
        thread_id, run_id = turn.thread_id, turn.run_id
        ref = await asyncio.to_thread(self._parts.models.resolve, None)
        began = self._parts.monotonic()
        yield RunStarted(thread_id=thread_id, run_id=run_id, model=ref)
        run = await asyncio.to_thread(self._choose, turn, ref)
        translator = Translator(thread_id, run_id)
        first_shown: float | None = None
        async with aclosing(self._stream(turn, run)) as stream:
            async for mode, item in stream:
                for event in translator.events(mode, item):
                    if first_shown is None and isinstance(event, TextDelta | ReasoningDelta):
                        first_shown = self._parts.monotonic()
                    yield event
        times = {
            "ttft_ms": None if first_shown is None else _ms(first_shown - began),
            "duration_ms": _ms(self._parts.monotonic() - began),
        }
        usage = translator.usage.model_copy(update=times)
        yield RunFinished(thread_id=thread_id, run_id=run_id, usage=usage)
        await self._desk.prune(thread_id)

    async def forget(self, thread_id: ThreadId) -> None:
        """Drop a thread's working state for good; no run of it may be under way."""
        await self._desk.forget(thread_id)

    def _choose(self, turn: Turn, ref: str) -> RunContext:
        """Choose what the run works with, as things stand now (blocking)."""
        parts = self._parts
        tools = parts.tools.definitions()
        workspace = parts.workspaces(turn.user_id)
        return RunContext(
            turn=turn,
            model=parts.models.chat_model(ref),
            system_prompt=parts.prompt.write(tools, workspace.folder, turn.language),
            tools=tools,
            options=parts.options(),
            workspace=workspace,
        )

    async def _stream(self, turn: Turn, run: RunContext) -> AsyncGenerator[tuple[str, object]]:
        config: RunnableConfig = {"configurable": {"thread_id": turn.thread_id}}
        stream = self._graph.astream(
            {"messages": await self._input(turn)},
            config,
            context=run,
            durability="exit",
            stream_mode=["messages", "updates", "custom"],
        )
        async with aclosing(cast(AsyncGenerator[tuple[str, object]], stream)) as items:
            async for mode, item in items:
                yield mode, item

    async def _input(self, turn: Turn) -> list[BaseMessage]:
        """Return what goes into the state: the question, after the record when the desk is off."""
        asked = question(turn.message)
        desk, recent = await asyncio.gather(
            self._desk.read(turn.thread_id),
            self._parts.record.recent_messages(turn.thread_id, TAIL),
        )
        tail = before_run(recent, turn.run_id)
        if fits(desk or [], tail, whole=len(recent) < TAIL):
            return [asked]
        await self._desk.clear(turn.thread_id)
        recorded = await self._parts.record.recent_messages(turn.thread_id, self._max_messages)
        return [*to_history(from_first_question(before_run(recorded, turn.run_id))), asked]


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
