import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from langchain_core.messages import AIMessageChunk
from pydantic import JsonValue

from finchbot.events import HistoryRepaired, RunEvent, ToolCallFinished, event_adapter
from finchbot.tools.base import ToolContext, ToolOutcome
from tests.support.agent_stage import ROOT, Stage, ToolBody, agent_stage
from tests.support.scripted_chat_model import Chunk, Request, ScriptedChatModel, calling, saying

Arguments = Mapping[str, JsonValue]


class HangingTool:
    """A tool that never answers, and says when it began and that it was ended."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.ended = False

    async def __call__(self, arguments: Arguments, context: ToolContext) -> ToolOutcome:
        self.began.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended = True
        raise AssertionError("never")


async def quick(arguments: Arguments, context: ToolContext) -> ToolOutcome:
    return ToolOutcome("quick is done")


def at_once() -> asyncio.Event:
    now = asyncio.Event()
    now.set()
    return now


def contents(stage: Stage) -> list[tuple[str, object]]:
    return [(m["role"], m["content"]) for m in stage.model.requests[-1].wire[1:]]


def repaired(events: list[RunEvent]) -> bool:
    return any(isinstance(event, HistoryRepaired) for event in events)


async def test_a_run_stopped_inside_a_tool_leaves_a_thread_that_works(tmp_path: Path) -> None:
    hanging = HangingTool()
    call = calling(("c1", "hang", "{}"), text="wait")
    async with agent_stage(tmp_path, call, saying("ok"), tools={"hang": hanging}) as stage:
        events = await stage.stop(stage.turn("go"), hanging.began)
        assert hanging.ended, "the tool outlived its run"
        assert [event.type for event in events[-2:]] == ["tool_call.finished", "run.cancelled"]
        again = await stage.ask("hi")
        assert not repaired(again), "a stopped run is nothing broken"
        assert contents(stage) == [
            ("user", "go"),
            ("assistant", "wait"),
            ("tool", "cancelled by the user"),
            ("user", "hi"),
        ]
        assert not repaired(await stage.ask("and on"))


async def test_a_result_that_was_there_before_the_stop_is_kept(tmp_path: Path) -> None:
    hanging = HangingTool()
    both = calling(("c1", "hang", "{}"), ("c2", "quick", "{}"))
    tools: dict[str, ToolBody] = {"hang": hanging, "quick": quick}
    async with agent_stage(tmp_path, both, saying("ok"), tools=tools) as stage:
        await stage.stop(
            stage.turn("go"),
            hanging.began,
            until=lambda events: isinstance(events[-1], ToolCallFinished),
        )
        assert not repaired(await stage.ask("hi"))
        assert contents(stage)[2:4] == [
            ("tool", "cancelled by the user"),
            ("tool", "quick is done"),
        ]


async def test_a_run_stopped_while_the_model_speaks_keeps_what_was_said(tmp_path: Path) -> None:
    never = asyncio.Event()
    speaking = [AIMessageChunk(content="half a"), AIMessageChunk(content=" sentence"), never]
    async with agent_stage(tmp_path, speaking, saying("ok")) as stage:
        await stage.stop(stage.turn("go"), at_once(), until=lambda events: len(events) == 3)
        assert stage.model.closed_early == 1, "the model's stream stays open"
        assert not repaired(await stage.ask("hi"))
        assert contents(stage) == [("user", "go"), ("assistant", "half a sentence"), ("user", "hi")]


async def test_a_run_stopped_before_the_first_word_leaves_its_question(tmp_path: Path) -> None:
    asked = asyncio.Event()

    def script(request: Request) -> list[Chunk]:
        first = not asked.is_set()
        asked.set()
        return [asyncio.Event()] if first else saying("ok")

    async with agent_stage(tmp_path, model=ScriptedChatModel(script=script)) as stage:
        await stage.stop(stage.turn("go"), asked)
        assert stage.model.closed_early == 1
        assert not repaired(await stage.ask("hi"))
        assert contents(stage) == [("user", "go\n\nhi")]


async def test_closing_the_events_ends_the_run(tmp_path: Path) -> None:
    hanging = HangingTool()
    call = calling(("c1", "hang", "{}"))
    async with agent_stage(tmp_path, call, saying("ok"), tools={"hang": hanging}) as stage:
        turn = stage.turn("go")
        running = stage.agent.run(turn)
        events = [await anext(running) for _ in range(3)]
        await running.aclose()
        stage.close(turn, events)
        assert not repaired(await stage.ask("hi"))


async def test_a_hundred_stops_anywhere_never_spoil_the_thread(tmp_path: Path) -> None:
    def script(request: Request) -> list[Chunk]:
        number = len(request.wire)
        if request.wire[-1]["role"] == "user":
            return calling((f"c{number}", "quick", f'{{"n": {number}}}'), text="let me see")
        return saying("this is what I found")

    model = ScriptedChatModel(script=script)
    async with agent_stage(tmp_path, model=model, tools={"quick": quick}) as stage:
        for steps in range(100):
            turn = stage.turn(f"question {steps}")
            events: list[RunEvent] = []
            task = asyncio.create_task(stage.play(turn, events))
            for _ in range(steps):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            if not events or events[-1].type != "run.finished":
                stage.close(turn, events)
        assert not repaired(await stage.ask("still there?"))


CHILD = """
import asyncio, sys
from pathlib import Path
from finchbot.tools.base import ToolOutcome
from tests.support.agent_stage import agent_stage
from tests.support.scripted_chat_model import calling, saying

async def hang(arguments, context):
    print("inside", flush=True)
    await asyncio.Event().wait()

async def main():
    replies = saying("first answer"), calling(("c1", "hang", "{}"), text="wait")
    async with agent_stage(Path(sys.argv[1]), *replies, tools={"hang": hang}) as stage:
        for text in ("first", "second"):
            async for event in stage.agent.run(stage.turn(text)):
                stage.record.write(event)
                print(event.model_dump_json(), flush=True)

asyncio.run(main())
"""


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_a_program_killed_inside_a_tool_comes_back_to_a_thread_that_works(tmp_path: Path) -> None:
    # our own interpreter, with the text above
    child = subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", CHILD, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert child.stdout is not None
    lines: list[str] = []
    for line in child.stdout:
        if line.strip() == "inside":
            break
        lines.append(line)
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    events = [event_adapter.validate_python(json.loads(line)) for line in lines]
    asyncio.run(_come_back(tmp_path, events))


async def _come_back(folder: Path, events: list[RunEvent]) -> None:
    async with agent_stage(folder, saying("ok"), tools={"quick": quick}) as stage:
        for text in ("first", "second"):
            turn = stage.turn(text)
            mine = [event for event in events if getattr(event, "run_id", None) == turn.run_id]
            for event in mine:
                stage.record.write(event)
            if text == "second":
                stage.close(turn, mine)
        assert not repaired(await stage.ask("hi"))
        assert contents(stage) == [
            ("user", "first"),
            ("assistant", "first answer"),
            ("user", "second"),
            ("assistant", "wait"),
            ("tool", "cancelled by the user"),
            ("user", "hi"),
        ]
