"""The agent, the dispatcher, the store and the tools together, all of them real but the model."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from langchain_core.messages import AIMessage, AIMessageChunk

from finchbot.agent.factory import AgentFactory
from finchbot.agent.prompt_files import PromptFiles
from finchbot.agent.run_context import Workspace
from finchbot.bus import MessageBus
from finchbot.dispatch import Dispatcher
from finchbot.errors import FinchError
from finchbot.events import ErrorInfo, HistoryRepaired, InRun, RunEvent
from finchbot.ids import OWNER, ThreadId, new_id, utc_now
from finchbot.messages import Accepted, InboundMessage
from finchbot.run_view import ENDED, fold_all
from finchbot.threads.store import ThreadStore
from finchbot.threads.titles import ThreadTitles
from finchbot.tools.deps import ToolDeps
from finchbot.tools.factory import ToolFactory
from tests.support.agent_stage import ROOT, Models, Options
from tests.support.event_laws import check_laws
from tests.support.scripted_chat_model import Chunk, Request, ScriptedChatModel, calling, saying


@dataclass
class House:
    """What stands together."""

    dispatcher: Dispatcher
    model: ScriptedChatModel
    workspace: Path

    async def send(self, text: str, thread_id: ThreadId | None = None) -> Accepted:
        return await self.dispatcher.send(
            InboundMessage(user_id=OWNER, text=text, thread_id=thread_id)
        )

    async def until_ended(self, accepted: Accepted) -> list[RunEvent]:
        """Return the thread's events up to the end of a run; the run keeps the laws."""
        seen: list[RunEvent] = []
        stream = self.dispatcher.events(OWNER, accepted.thread_id, after_seq=0)
        async with aclosing(stream) as events:
            async for event in events:
                seen.append(event)
                mine = [e for e in seen if isinstance(e, InRun) and e.run_id == accepted.run_id]
                if fold_all(accepted.run_id, mine).status in ENDED:
                    break
        check_laws(seen, ended=False)
        return seen

    async def ask(self, text: str, thread_id: ThreadId | None = None) -> list[RunEvent]:
        return await self.until_ended(await self.send(text, thread_id))

    @property
    def seen(self) -> list[tuple[str, object]]:
        """What the model saw last, without the system prompt."""
        return [(m["role"], m["content"]) for m in self.model.requests[-1].wire[1:]]


@asynccontextmanager
async def open_house(folder: Path, model: ScriptedChatModel) -> AsyncIterator[House]:
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(
            ThreadStore.open(folder / "threads.db", clock=utc_now)
        )
        bus = await stack.enter_async_context(MessageBus(store, utc_now))
        titles = ThreadTitles(store, bus)
        deps = ToolDeps(titles=titles, sentences=lambda key, /, **params: f"{key} {params}")
        factory = AgentFactory(
            models=Models(model),
            tools=ToolFactory().registry(deps, lambda error: error.code),
            record=store,
            options=Options,
            workspaces=lambda _: Workspace(workspace, (workspace,), (workspace,)),
            prompt_files=PromptFiles(ROOT / "bootstrap", folder),
            say=lambda key, language: key,
        )
        agent = await stack.enter_async_context(factory.open(folder / "checkpoints.db"))
        dispatcher = await stack.enter_async_context(
            Dispatcher(store, bus, titles, agent, describe=describe, clock=utc_now, new_id=new_id)
        )
        yield House(dispatcher, model, workspace)


def describe(error: FinchError, language: str | None) -> ErrorInfo:
    return ErrorInfo(code=error.code, detail=str(error))


def repaired(events: list[RunEvent]) -> bool:
    return any(isinstance(event, HistoryRepaired) for event in events)


async def test_a_file_is_written_and_read_and_the_thread_goes_on_after_a_restart(
    tmp_path: Path,
) -> None:
    write = calling(("c1", "write_file", '{"path": "a.txt", "content": "hello"}'))
    read = calling(("c2", "read_file", '{"path": "a.txt"}'))
    async with open_house(tmp_path, ScriptedChatModel(write, read, saying("done"))) as house:
        events = await house.ask("write and read")
        thread_id = events[0].thread_id
        assert "hello" in str(house.seen[-1])
    async with open_house(tmp_path, ScriptedChatModel(saying("yes"))) as house:
        assert not repaired(await house.ask("did you?", thread_id))
        assert [role for role, _ in house.seen] == [
            "user",
            "assistant",
            "tool",
            "assistant",
            "tool",
            "assistant",
            "user",
        ]


async def test_wrong_arguments_and_unknown_tools_are_answered(tmp_path: Path) -> None:
    wrong = calling(
        ("c1", "read_file", '{"bad": 1}'), ("c2", "fly", "{}"), ("c3", "read_file", "[1]")
    )
    async with open_house(tmp_path, ScriptedChatModel(wrong, saying("sorry"))) as house:
        events = await house.ask("go")
        assert house.seen[2:] == [
            ("tool", "tool.input_invalid"),
            ("tool", "tool.unknown"),
            ("tool", "tool.input_not_object"),
        ]
        assert not repaired(await house.ask("again", events[0].thread_id))


async def test_arguments_that_nobody_can_keep_are_answered_and_the_thread_goes_on(
    tmp_path: Path,
) -> None:
    deep = '{"path": ' * 300 + "1" + "}" * 300
    odd = calling(("c1", "read_file", '{"path": ' + "9" * 400 + "}"), ("c2", "read_file", deep))
    async with open_house(tmp_path, ScriptedChatModel(odd, saying("sorry"))) as house:
        events = await house.ask("go")
        assert events[-1].type == "run.finished"
        assert house.seen[2:] == [("tool", "tool.input_not_object")] * 2
        again = await house.ask("again", events[0].thread_id)
        assert again[-1].type == "run.finished"
        assert not repaired(again)


async def test_what_the_record_cannot_hold_stays_on_the_desk_from_turn_to_turn(
    tmp_path: Path,
) -> None:
    signed = AIMessageChunk(content="", additional_kwargs={"signature": "s"})
    both = calling(("c1", "list_dir", "{}"), ("c2", "read_file", '{"path": "no"}'), text="look")
    replies = [signed, *both], [signed, *saying("done")]
    async with open_house(tmp_path, ScriptedChatModel(*replies)) as house:
        events = await house.ask("one")
        for text in ("two", "three"):
            await house.ask(text, events[0].thread_id)
        answers = [m for m in house.model.requests[-1].messages if isinstance(m, AIMessage)]
        assert len(answers) == 3
        assert all(answer.additional_kwargs == {"signature": "s"} for answer in answers)


async def test_messages_sent_during_a_run_are_answered_in_turn(tmp_path: Path) -> None:
    gate = asyncio.Event()

    def script(request: Request) -> list[Chunk]:
        asked = str(request.wire[-1]["content"])
        return [gate, *saying(f"answer to {asked}", chunk=99)]

    async with open_house(tmp_path, ScriptedChatModel(script=script)) as house:
        first = await house.send("one")
        await house.send("two", first.thread_id)
        third = await house.send("three", first.thread_id)
        gate.set()
        assert not repaired(await house.until_ended(third))
        assert house.seen == [
            ("user", "one"),
            ("assistant", "answer to one"),
            ("user", "two"),
            ("assistant", "answer to two"),
            ("user", "three"),
        ]


async def test_a_stop_and_a_shutdown_in_mid_answer_leave_what_was_said(tmp_path: Path) -> None:
    def script(request: Request) -> list[Chunk]:
        if request.wire[-1]["content"] == "hi":
            return saying("ok")
        return [*saying("half a sentence", chunk=99), asyncio.Event()]

    async with open_house(tmp_path, ScriptedChatModel(script=script)) as house:
        first = await house.send("one")
        await _first_delta(house, first)
        await house.dispatcher.cancel(OWNER, first.run_id)
        second = await house.send("two", first.thread_id)
        await _first_delta(house, second)
    async with open_house(tmp_path, ScriptedChatModel(script=script)) as house:
        assert not repaired(await house.ask("hi", first.thread_id))
        assert house.seen == [
            ("user", "one"),
            ("assistant", "half a sentence"),
            ("user", "two"),
            ("assistant", "half a sentence"),
            ("user", "hi"),
        ]


async def _first_delta(house: House, accepted: Accepted) -> None:
    stream = house.dispatcher.events(OWNER, accepted.thread_id, after_seq=accepted.seq)
    async with aclosing(stream) as events:
        async for event in events:
            if event.type == "text.delta":
                return
