import asyncio
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest
from langchain_core.messages import AIMessageChunk
from pydantic import JsonValue

from finchbot.agent.tool_step import REPEATS
from finchbot.agent.window import Limits
from finchbot.errors import ContextTooLong, ProviderError, Unavailable
from finchbot.events import (
    ContextCompacted,
    HistoryRepaired,
    MessageCompleted,
    RunEvent,
    RunFinished,
    RunStarted,
    ToolCallFinished,
    ToolCallStarted,
)
from finchbot.ids import ThreadId
from finchbot.messages import INVALID_ARGUMENTS
from finchbot.tools.base import ToolContext, ToolOutcome
from tests.support.agent_stage import agent_stage
from tests.support.scripted_chat_model import (
    Chunk,
    Request,
    ScriptedChatModel,
    calling,
    saying,
    usage,
)

Arguments = Mapping[str, JsonValue]


async def read(arguments: Arguments, context: ToolContext) -> ToolOutcome:
    return ToolOutcome(f"content of {arguments.get('path')}")


def answers(events: list[RunEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, MessageCompleted)]


def size_of(path: Path) -> int:
    return path.stat().st_size


def outputs(events: list[RunEvent]) -> dict[str, tuple[str, bool]]:
    return {
        event.call_id: (event.output, event.is_error)
        for event in events
        if isinstance(event, ToolCallFinished)
    }


async def test_a_question_becomes_one_streamed_answer(tmp_path: Path) -> None:
    async with agent_stage(tmp_path, saying("Hello there")) as stage:
        events = await stage.ask("hi")
    kinds = [event.type for event in events]
    assert kinds == ["run.started", *["text.delta"] * 3, "message.completed", "run.finished"]
    assert isinstance(events[0], RunStarted)
    assert events[0].model == "test/scripted"


async def test_a_tool_is_called_between_two_messages_of_one_run(tmp_path: Path) -> None:
    call = calling(("c1", "read", '{"path": "a.txt"}'), text="looking")
    async with agent_stage(tmp_path, call, saying("done"), tools={"read": read}) as stage:
        events = await stage.ask("what is in it?")
        kinds = [event.type for event in events if not event.type.endswith("delta")]
        assert kinds == [
            "run.started",
            "message.completed",
            "tool_call.started",
            "tool_call.finished",
            "message.completed",
            "run.finished",
        ]
        assert outputs(events) == {"c1": ("content of a.txt", False)}
        assert stage.model.requests[1].wire[-1]["content"] == "content of a.txt"


async def test_tokens_and_times_of_a_run_are_told_at_its_end(tmp_path: Path) -> None:
    seconds = iter(range(100))
    replies = [calling(("c1", "read", "{}")), [AIMessageChunk(content="done"), usage(7, 2, 5)]]
    async with agent_stage(
        tmp_path, *replies, tools={"read": read}, monotonic=lambda: float(next(seconds))
    ) as stage:
        finished = (await stage.ask("go"))[-1]
    assert isinstance(finished, RunFinished)
    told = finished.usage
    assert (told.input_tokens, told.output_tokens, told.cached_tokens) == (27, 7, 5)
    assert told.ttft_ms == 3000, "began, tool began, tool ended, first word"
    assert told.duration_ms == 4000


async def test_parallel_calls_run_at_once_and_are_answered_in_order(tmp_path: Path) -> None:
    fast_is_done = asyncio.Event()

    async def slow(arguments: Arguments, context: ToolContext) -> ToolOutcome:
        await fast_is_done.wait()
        return ToolOutcome("slow is done")

    async def fails(arguments: Arguments, context: ToolContext) -> ToolOutcome:
        fast_is_done.set()
        return ToolOutcome("it broke", is_error=True)

    both = calling(("c1", "slow", "{}"), ("c2", "fails", "{}"))
    tools = {"slow": slow, "fails": fails}
    async with agent_stage(tmp_path, both, saying("done"), tools=tools) as stage:
        events = await stage.ask("both")
        assert outputs(events) == {"c1": ("slow is done", False), "c2": ("it broke", True)}
        seen = stage.model.requests[1].wire[-2:]
        assert [(m["tool_call_id"], m["content"]) for m in seen] == [
            ("c1", "slow is done"),
            ("c2", "it broke"),
        ]


async def test_a_thread_goes_on_after_a_restart(tmp_path: Path) -> None:
    call = calling(("c1", "read", '{"path": "a"}'))
    async with agent_stage(tmp_path, call, saying("one"), tools={"read": read}) as stage:
        await stage.ask("first")
        record = stage.record
    async with agent_stage(tmp_path, saying("two"), record=record) as stage:
        events = await stage.ask("second")
        roles = [message["role"] for message in stage.model.requests[0].wire]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert not any(isinstance(event, HistoryRepaired) for event in events)


async def test_the_settings_reach_the_request_and_count_from_the_next_run(tmp_path: Path) -> None:
    async with agent_stage(tmp_path, saying("ok"), tools={"read": read}) as stage:
        await stage.ask("one")
        stage.set_options(max_tokens=99, temperature=0.1)
        stage.tools.bodies["write"] = read
        (tmp_path / "SOUL.md").write_text("Be a pirate.", encoding="utf-8")
        other = ScriptedChatModel(saying("arr"))
        await stage.ask("two")
        first, second = stage.model.requests
        stage.models.model, stage.models.ref = other, "test/other"
        events = await stage.ask("three")
    assert (first.settings["max_tokens"], first.settings["temperature"]) == (8192, 0.7)
    assert (second.settings["max_tokens"], second.settings["temperature"]) == (99, 0.1)
    assert (first.tools, second.tools) == (["read"], ["read", "write"])
    assert "Be a pirate." in second.wire[0]["content"]
    assert "Be a pirate." not in first.wire[0]["content"]
    assert isinstance(events[0], RunStarted)
    assert (events[0].model, answers(events)) == ("test/other", ["arr"])


async def test_at_the_limit_of_tool_steps_the_model_answers_without_tools(tmp_path: Path) -> None:
    def script(request: Request) -> list[Chunk]:
        number = len(request.wire)
        if not request.tools:
            return saying("what I know so far")
        return calling((f"c{number}", "read", f'{{"path": "{number}"}}'))

    model = ScriptedChatModel(script=script)
    async with agent_stage(tmp_path, model=model, tools={"read": read}) as stage:
        stage.set_options(max_tool_iterations=3)
        events = await stage.ask("go on for ever")
        assert len(stage.tools.calls) == 3
        assert answers(events)[-1] == "what I know so far"
        assert "Answer the user now" in stage.model.requests[-1].wire[0]["content"]
        await stage.ask("and now?")


async def test_a_model_that_calls_tools_even_at_the_limit_still_ends_with_an_answer(
    tmp_path: Path,
) -> None:
    def script(request: Request) -> list[Chunk]:
        return calling((f"c{len(request.wire)}", "read", "{}"))

    model = ScriptedChatModel(script=script)
    async with agent_stage(tmp_path, model=model, tools={"read": read}) as stage:
        stage.set_options(max_tool_iterations=2)
        events = await stage.ask("go")
        assert answers(events)[-1] == "<agent.tool_limit en-US>"
        assert len(outputs(events)) == 2
        stage.models.model = ScriptedChatModel(saying("fine"))
        assert answers(await stage.ask("thanks")) == ["fine"]


async def test_a_model_without_an_answer_gets_a_sentence_in_its_place(tmp_path: Path) -> None:
    async with agent_stage(tmp_path, [AIMessageChunk(content=" ")], saying("ok")) as stage:
        assert answers(await stage.ask("hi")) == ["<agent.no_answer en-US>"]
        assert answers(await stage.ask("again")) == ["ok"]


async def test_the_same_call_without_end_gets_a_note_instead(tmp_path: Path) -> None:
    def script(request: Request) -> list[Chunk]:
        if "<agent.repeated_call" in str(request.wire[-1]["content"]):
            return saying("I stop")
        return calling((f"c{len(request.wire)}", "read", '{"path": "a"}'))

    model = ScriptedChatModel(script=script)
    async with agent_stage(tmp_path, model=model, tools={"read": read}) as stage:
        events = await stage.ask("read it")
        assert len(stage.tools.calls) == REPEATS - 1
        assert list(outputs(events).values())[-1] == ("<agent.repeated_call en-US>", True)
        assert answers(events)[-1] == "I stop"
        await stage.ask("read it once more")
        assert len(stage.tools.calls) == 2 * (REPEATS - 1)


@pytest.mark.parametrize("raw", ["[1]", "7"])
async def test_unreadable_arguments_give_an_error_and_the_next_turn_works(
    tmp_path: Path, raw: str
) -> None:
    bad = calling(("c1", "", raw))
    async with agent_stage(tmp_path, bad, saying("sorry"), tools={"read": read}) as stage:
        events = await stage.ask("go")
        [started] = [event for event in events if isinstance(event, ToolCallStarted)]
        assert (started.name, started.arguments) == ("unnamed_tool", {INVALID_ARGUMENTS: raw})
        assert outputs(events)["c1"][1]
        assert answers(await stage.ask("again")) == ["sorry"]


async def test_call_ids_that_come_again_in_each_step_are_kept_apart(tmp_path: Path) -> None:
    again = [calling(("call_0", "read", f'{{"path": "{n}"}}')) for n in range(3)]
    async with agent_stage(tmp_path, *again, saying("done"), tools={"read": read}) as stage:
        events = await stage.ask("go")
        assert [output for output, _ in outputs(events).values()] == [
            "content of 0",
            "content of 1",
            "content of 2",
        ]
        await stage.ask("again")


async def test_thoughts_with_tool_calls_are_there_in_the_requests_that_follow(
    tmp_path: Path,
) -> None:
    thinks = AIMessageChunk(content="", additional_kwargs={"reasoning_content": "hm"})
    replies = [[thinks, *calling(("c1", "read", "{}"))], saying("done")]
    async with agent_stage(tmp_path, *replies, tools={"read": read}) as stage:
        await stage.ask("go")
        record = stage.record
        asked = stage.model.requests[1].messages[2]
        assert asked.additional_kwargs["reasoning_content"] == "hm"
    (tmp_path / "checkpoints.db").unlink()
    async with agent_stage(tmp_path, saying("ok"), record=record) as stage:
        await stage.ask("and from the record")
        asked = stage.model.requests[0].messages[2]
        assert asked.additional_kwargs["reasoning_content"] == "hm"


async def test_a_talk_that_grows_too_long_is_cut_and_the_user_is_told(tmp_path: Path) -> None:
    limits = Limits(tokens=600)
    async with agent_stage(tmp_path, saying("x" * 396, chunk=99), limits=limits) as stage:
        seen: list[ContextCompacted] = []
        sizes: list[int] = []
        for number in range(20):
            events = await stage.ask(f"question {number}")
            seen += [event for event in events if isinstance(event, ContextCompacted)]
            sizes.append(len(stage.model.requests[-1].messages))
        assert max(sizes) <= 13
        assert 3 <= len(seen) <= 7, "rarely, and then much at once"
        assert all(e.after_tokens <= limits.tokens * 0.6 < e.before_tokens for e in seen)
        grows = [now > before for before, now in pairwise(sizes)]
        assert grows.count(False) == len(seen), "between two cuts the beginning stays the same"


async def test_a_request_the_provider_finds_too_long_is_cut_and_sent_again(tmp_path: Path) -> None:
    def script(request: Request) -> list[Chunk]:
        return [ContextTooLong()] if len(request.messages) > 8 else saying("fits")

    model = ScriptedChatModel(script=script)
    async with agent_stage(tmp_path, model=model) as stage:
        for number in range(6):
            events = await stage.ask(f"question {number}")
            assert answers(events) == ["fits"]
            assert sum(isinstance(event, ContextCompacted) for event in events) == (number == 4)


async def test_a_question_that_alone_is_too_long_fails_with_the_provider_s_error(
    tmp_path: Path,
) -> None:
    async with agent_stage(tmp_path, [ContextTooLong()], saying("ok")) as stage:
        with pytest.raises(ContextTooLong):
            await stage.play(stage.turn("x" * 9999))
        assert answers(await stage.ask("short")) == ["ok"]


async def test_a_run_that_fails_in_mid_stream_raises_and_the_next_one_works(tmp_path: Path) -> None:
    broken = [AIMessageChunk(content="half an ans"), Unavailable(provider="test")]
    async with agent_stage(tmp_path, broken, saying("whole")) as stage:
        turn = stage.turn("hi")
        events: list[RunEvent] = []
        with pytest.raises(ProviderError):
            await stage.play(turn, events)
        assert [event.type for event in events] == ["run.started", "text.delta"]
        stage.close(turn, events)
        again = await stage.ask("again")
        assert answers(again) == ["whole"]
        assert not any(isinstance(event, HistoryRepaired) for event in again)
        said = [message["content"] for message in stage.model.requests[1].wire[1:]]
        assert said == ["hi", "half an ans", "again"]


async def test_a_model_that_cannot_be_had_fails_the_run_and_not_the_thread(tmp_path: Path) -> None:
    async with agent_stage(tmp_path, saying("ok")) as stage:
        stage.models.error = ProviderError("provider.no_key")
        with pytest.raises(ProviderError):
            await stage.play(stage.turn("hi"))
        stage.models.error = None
        assert answers(await stage.ask("again")) == ["ok"]
        assert stage.model.requests[0].wire[-1]["content"] == "hi\n\nagain"


async def test_turns_rolled_back_in_the_record_are_gone_for_the_model(tmp_path: Path) -> None:
    async with agent_stage(tmp_path, saying("ok")) as stage:
        for number in range(3):
            await stage.ask(f"question {number}")
        del stage.record.messages[-4:]
        events = await stage.ask("question 3")
        said = [message["content"] for message in stage.model.requests[-1].wire[1:]]
        assert said == ["question 0", "ok", "question 3"]
        assert not any(isinstance(event, HistoryRepaired) for event in events)


async def test_a_record_with_a_call_that_never_answered_is_mended_and_told(tmp_path: Path) -> None:
    call = calling(("c1", "read", "{}"))
    async with agent_stage(tmp_path, call, saying("ok"), tools={"read": read}) as stage:
        await stage.ask("first")
        stage.record.messages[:] = [m for m in stage.record.messages if m.role != "tool"]
        stage.record.messages.pop()
        events = await stage.ask("second")
        [repaired] = [event for event in events if isinstance(event, HistoryRepaired)]
        assert repaired.changes == ("result_added",)
        again = await stage.ask("third")
        assert not any(isinstance(event, HistoryRepaired) for event in again)


async def test_two_threads_run_at_once(tmp_path: Path) -> None:
    gate = asyncio.Event()

    def script(request: Request) -> list[Chunk]:
        waits: list[Chunk] = [gate] if "wait" in request.wire[-1]["content"] else []
        return [*waits, *saying("done")]

    async with agent_stage(tmp_path, model=ScriptedChatModel(script=script)) as stage:
        waiting = asyncio.create_task(stage.play(stage.turn("wait")))
        assert answers(await stage.play(stage.turn("go", ThreadId("thr_2")))) == ["done"]
        gate.set()
        assert answers(await waiting) == ["done"]


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_sixty_turns_with_tools_leave_a_small_file(tmp_path: Path) -> None:
    def script(request: Request) -> list[Chunk]:
        number = len(stage.record.messages)
        if number % 3 == 0 and request.wire[-1]["role"] == "user":
            paths = [(f"c{number}.{n}", "read", f'{{"path": "{n}"}}') for n in range(2)]
            return calling(*paths)
        return saying("word " * 50, chunk=25)

    model = ScriptedChatModel(script=script)
    async with agent_stage(tmp_path, model=model, tools={"read": read}) as stage:
        for number in range(60):
            await stage.ask(f"question {number} " + "x" * 180)
        assert size_of(stage.checkpoints) < 1_000_000
        assert len(stage.tools.calls) > 20
        with closing(sqlite3.connect(stage.checkpoints)) as connection:
            assert connection.execute("PRAGMA auto_vacuum").fetchone() == (2,)
