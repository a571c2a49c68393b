"""A stage for the agent: the real graph and database around a scripted model and tools."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from pydantic import JsonValue

from finchbot.agent.factory import AgentFactory
from finchbot.agent.prompt_files import PromptFiles
from finchbot.agent.run_context import Definition, Workspace
from finchbot.agent.runner import GraphAgent
from finchbot.agent.turn import Turn
from finchbot.agent.window import Limits
from finchbot.dispatch.closing import closing_events
from finchbot.events import (
    MessageCompleted,
    RunCancelled,
    RunEvent,
    ToolCallFinished,
    ToolCallStarted,
)
from finchbot.ids import OWNER, MessageId, RunId, ThreadId
from finchbot.messages import (
    Message,
    Part,
    ReasoningPart,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from finchbot.run_view import fold_all
from finchbot.tools.base import ToolContext, ToolOutcome
from tests.support.clock import FakeClock
from tests.support.event_laws import check_run
from tests.support.scripted_chat_model import ScriptedChatModel

ROOT = Path(__file__).resolve().parents[2]
THREAD = ThreadId("thr_1")

ToolBody = Callable[[Mapping[str, JsonValue], ToolContext], Awaitable[ToolOutcome]]


@dataclass
class MemoryRecord:
    """A `Record` in memory; it keeps what events say, as the transcript does."""

    threads: dict[ThreadId, list[Message]] = field(default_factory=dict)

    @property
    def messages(self) -> list[Message]:
        """Those of the thread most tests talk in."""
        return self.threads.setdefault(THREAD, [])

    async def recent_messages(self, thread_id: ThreadId, limit: int) -> list[Message]:
        """Return the newest messages."""
        return self.threads.get(thread_id, [])[-limit:]

    def receive(self, thread_id: ThreadId, message: Message) -> None:
        """Take a user's message in."""
        self.threads.setdefault(thread_id, []).append(message)

    def write(self, event: RunEvent) -> None:
        """Take in what an event says."""
        messages = self.threads[event.thread_id]
        match event:
            case MessageCompleted(message_id=mid, text=text, reasoning=reasoning, partial=partial):
                parts: list[Part] = [ReasoningPart(text=reasoning)] if reasoning else []
                parts += [TextPart(text=text)] if text else []
                messages.append(_message(mid, "assistant", parts, event.run_id, partial))
            case ToolCallStarted(call_id=call_id, name=name, arguments=arguments):
                last = messages[-1]
                call = ToolCallPart(call_id=call_id, name=name, arguments=arguments)
                messages[-1] = last.model_copy(update={"parts": (*last.parts, call)})
            case ToolCallFinished(call_id=call_id, output=output, is_error=is_error):
                result = ToolResultPart(call_id=call_id, output=output, is_error=is_error)
                mid = MessageId(f"msg_{call_id}")
                messages.append(_message(mid, "tool", [result], event.run_id))
            case _:
                pass


def _message(
    mid: MessageId, role: Role, parts: list[Part], run_id: RunId, partial: bool = False
) -> Message:
    return Message(
        id=mid,
        role=role,
        parts=tuple(parts),
        run_id=run_id,
        created_at=FakeClock()(),
        partial=partial,
    )


@dataclass
class ScriptedTools:
    """`Tools` with bodies given by the test."""

    bodies: dict[str, ToolBody] = field(default_factory=dict)
    calls: list[tuple[str, dict[str, JsonValue]]] = field(default_factory=list)

    def definitions(self) -> list[Definition]:
        """Return one definition per body."""
        return [
            {"type": "function", "function": {"name": n, "description": n, "parameters": {}}}
            for n in self.bodies
        ]

    async def invoke(
        self, name: str, arguments: Mapping[str, JsonValue], context: ToolContext
    ) -> ToolOutcome:
        """Run the body."""
        self.calls.append((name, dict(arguments)))
        if name not in self.bodies:
            return ToolOutcome(f"no tool named {name}", is_error=True)
        return await self.bodies[name](arguments, context)


@dataclass(frozen=True, slots=True)
class Options:
    """`AgentOptions`."""

    max_tokens: int = 8192
    temperature: float = 0.7
    max_tool_iterations: int = 20


@dataclass
class Models:
    """A `ModelSource` with one model, which a test may change at any time."""

    model: BaseChatModel
    ref: str = "test/scripted"
    error: Exception | None = None

    def resolve(self, wanted: str | None) -> str:
        """Return the reference."""
        assert wanted is None
        return self.ref

    def chat_model(self, ref: str) -> BaseChatModel:
        """Return the model."""
        assert ref == self.ref
        if self.error:
            raise self.error
        return self.model


@dataclass
class Stage:
    """An open agent with all that surrounds it."""

    agent: GraphAgent
    models: Models
    tools: ScriptedTools
    record: MemoryRecord
    home: Path
    options: Options
    checkpoints: Path
    turns: int = 0
    _told: asyncio.Event = field(default_factory=asyncio.Event)

    def turn(self, text: str, thread_id: ThreadId = THREAD) -> Turn:
        """Return the next turn of the thread, its message in the record already."""
        self.turns += 1
        run_id = RunId(f"run_{self.turns:03d}")
        mid = MessageId(f"usr_{self.turns:03d}")
        message = _message(mid, "user", [TextPart(text=text)], run_id)
        self.record.receive(thread_id, message)
        return Turn(run_id, thread_id, OWNER, message, "en-US")

    async def ask(self, text: str) -> list[RunEvent]:
        """Run a turn to its end and return its events; they keep the laws."""
        turn = self.turn(text)
        events = await self.play(turn)
        check_run(turn.run_id, events)
        return events

    async def play(self, turn: Turn, events: list[RunEvent] | None = None) -> list[RunEvent]:
        """Run a turn, writing what it says into the record."""
        events = [] if events is None else events
        async for event in self.agent.run(turn):
            events.append(event)
            self.record.write(event)
            self._told.set()
        return events

    async def stop(
        self,
        turn: Turn,
        when: asyncio.Event,
        until: Callable[[list[RunEvent]], bool] = lambda _: True,
    ) -> list[RunEvent]:
        """Run a turn and stop it as a dispatcher does; return its events.

        Args:
            turn: To be stopped.
            when: Set when it is time.
            until: Then looks at the events after each one, and says yes when it is enough.
        """
        events: list[RunEvent] = []
        task = asyncio.create_task(self.play(turn, events))
        await when.wait()
        while not until(events):
            self._told.clear()
            await self._told.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        self.close(turn, events)
        return events

    def close(self, turn: Turn, events: list[RunEvent]) -> None:
        """Say the closing events of a run that broke off."""
        last = RunCancelled(thread_id=THREAD, run_id=turn.run_id)
        view = fold_all(turn.run_id, events)
        for event in closing_events(view, last, why="cancelled by the user"):
            events.append(event)
            self.record.write(event)

    @property
    def model(self) -> ScriptedChatModel:
        """The scripted model."""
        assert isinstance(self.models.model, ScriptedChatModel)
        return self.models.model

    def set_options(self, **changes: Any) -> None:
        """Change the settings while the agent is open."""
        self.options = replace(self.options, **changes)


@asynccontextmanager
async def agent_stage(
    folder: Path,
    *replies: Any,
    tools: Mapping[str, ToolBody] | None = None,
    limits: Limits | None = None,
    record: MemoryRecord | None = None,
    model: BaseChatModel | None = None,
    monotonic: Callable[[], float] | None = None,
) -> AsyncIterator[Stage]:
    """Open an agent with its home in `folder`.

    Args:
        folder: Empty, or that of an earlier stage to open it again.
        replies: The script of the model.
        tools: Bodies by name.
        limits: How much the model sees.
        record: Of an earlier stage.
        model: Instead of a script.
        monotonic: Measures times.
    """
    (folder / "workspace").mkdir(exist_ok=True)
    scripted = ScriptedTools(dict(tools or {}))
    models = Models(model or ScriptedChatModel(*replies))
    record = record or MemoryRecord()
    holder: list[Stage] = []
    workspace = folder / "workspace"
    extra: dict[str, Any] = {"monotonic": monotonic} if monotonic else {}
    factory = AgentFactory(
        models=models,
        tools=scripted,
        record=record,
        options=lambda: holder[0].options,
        workspaces=lambda _: Workspace(workspace, (workspace,), (workspace,)),
        prompt_files=PromptFiles(ROOT / "bootstrap", folder),
        say=lambda key, language: f"<{key} {language}>",
        limits=limits,
        clock=FakeClock(),
        **extra,
    )
    checkpoints = folder / "checkpoints.db"
    async with factory.open(checkpoints) as agent:
        stage = Stage(agent, models, scripted, record, folder, Options(), checkpoints)
        stage.turns = sum(message.role == "user" for message in record.messages)
        holder.append(stage)
        yield stage
