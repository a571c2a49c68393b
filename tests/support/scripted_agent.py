"""An agent whose turns are scripts: a test holds it at a gate, and looks, without sleeping."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field

from finchbot.agent.turn import Turn
from finchbot.events import (
    MessageCompleted,
    RunEvent,
    RunFinished,
    RunStarted,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    Usage,
)
from finchbot.ids import CallId, MessageId


@dataclass(eq=False)
class Gate:
    """A place where the agent waits until the test opens it; a step of a script."""

    reached: asyncio.Event = field(default_factory=asyncio.Event)
    opened: asyncio.Event = field(default_factory=asyncio.Event)
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the agent left it, also by being cancelled."""

    async def pass_through(self) -> None:
        self.reached.set()
        try:
            await self.opened.wait()
        finally:
            self.closed.set()


class StubbornGate(Gate):
    """A gate at which the agent does not let itself be cancelled."""

    async def pass_through(self) -> None:
        self.reached.set()
        while not self.opened.is_set():
            try:
                await self.opened.wait()
            except asyncio.CancelledError:
                continue
        self.closed.set()


MakeEvent = Callable[[Turn], RunEvent]
Step = MakeEvent | Gate | BaseException
"""What the agent does next: say something, wait, or break."""
Script = Sequence[Step]


class ScriptedAgent:
    """Implements `Agent`: takes the script of the message, the next one, or answers by itself."""

    def __init__(self, *scripts: Script) -> None:
        self._scripts = list(scripts)
        self._by_text: dict[str, Script] = {}
        self.turns: list[Turn] = []
        """The turns it was given, in order."""
        self.running = 0
        self.most_running = 0
        """How many turns were under way at once, at most."""

    def add(self, *scripts: Script) -> None:
        self._scripts += scripts

    def on(self, text: str, script: Script) -> None:
        """Take this script for the message that says `text`, whichever were stopped before it."""
        self._by_text[text] = script

    async def run(self, turn: Turn) -> AsyncGenerator[RunEvent]:
        self.turns.append(turn)
        script = self._by_text.get(turn.message.text) or self._next()
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            for step in script:
                if isinstance(step, Gate):
                    await step.pass_through()
                elif isinstance(step, BaseException):
                    raise step
                else:
                    yield step(turn)
        finally:
            self.running -= 1

    def _next(self) -> Script:
        return self._scripts.pop(0) if self._scripts else answering("ok")


def started(model: str = "scripted/one") -> MakeEvent:
    return lambda turn: RunStarted(thread_id=turn.thread_id, run_id=turn.run_id, model=model)


def finished(usage: Usage | None = None) -> MakeEvent:
    return lambda turn: RunFinished(
        thread_id=turn.thread_id, run_id=turn.run_id, usage=usage or Usage()
    )


def delta(text: str, message: str = "a") -> MakeEvent:
    return lambda turn: TextDelta(
        thread_id=turn.thread_id, run_id=turn.run_id, message_id=_id(turn, message), text=text
    )


def completed(text: str, message: str = "a") -> MakeEvent:
    return lambda turn: MessageCompleted(
        thread_id=turn.thread_id, run_id=turn.run_id, message_id=_id(turn, message), text=text
    )


def call(call_id: str, name: str = "read_file") -> MakeEvent:
    return lambda turn: ToolCallStarted(
        thread_id=turn.thread_id,
        run_id=turn.run_id,
        call_id=CallId(call_id),
        name=name,
        arguments={"path": "notes.md"},
    )


def answer(call_id: str, output: str = "done") -> MakeEvent:
    return lambda turn: ToolCallFinished(
        thread_id=turn.thread_id,
        run_id=turn.run_id,
        call_id=CallId(call_id),
        output=output,
        is_error=False,
        elapsed_s=0.1,
    )


def answering(*texts: str) -> Script:
    """Return a whole turn that streams these pieces and ends."""
    return [started(), *map(delta, texts), completed("".join(texts)), finished()]


def _id(turn: Turn, message: str) -> MessageId:
    return MessageId(f"{turn.run_id}-{message}")
