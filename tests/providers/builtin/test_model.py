"""The model as LangChain sees it, alone and in the real graph with the real tools."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from finchbot.agent.repair import alternating
from finchbot.errors import ProviderError
from finchbot.events import MessageCompleted, RunFinished, ToolCallFinished, ToolCallStarted
from finchbot.i18n import Catalogue
from finchbot.ids import ThreadId, UserId
from finchbot.providers.builtin import BuiltinChatModel
from finchbot.providers.builtin.model import pieces
from finchbot.tools.deps import ToolDeps
from finchbot.tools.factory import ToolFactory
from finchbot.tools.registry import ToolRegistry
from tests.support.agent_stage import Stage, ToolBody, agent_stage
from tests.support.clock import CountedIds, FakeClock

NAMES = ("list_dir", "read_file", "write_file", "session_title")
TOOLS = [
    {"type": "function", "function": {"name": name, "description": name, "parameters": {}}}
    for name in NAMES
]


class MemoryTitles:
    """`Titles` in memory."""

    def __init__(self) -> None:
        self.titles: dict[ThreadId, str] = {}

    async def get(self, user_id: UserId, thread_id: ThreadId) -> str:
        return self.titles.get(thread_id, "")

    async def set_by_tool(self, user_id: UserId, thread_id: ThreadId, title: str) -> None:
        self.titles[thread_id] = title


async def ask(
    model: BuiltinChatModel, messages: Sequence[BaseMessage], tools: Sequence[Any] = TOOLS
) -> AIMessage:
    answer = await model.bind_tools(tools).ainvoke(list(messages))
    assert isinstance(answer, AIMessage)
    return answer


async def stream(model: BuiltinChatModel, text: str) -> list[AIMessageChunk]:
    return [
        chunk
        async for chunk in model.bind_tools(TOOLS).astream([HumanMessage(text)])
        if isinstance(chunk, AIMessageChunk)
    ]


async def test_a_request_becomes_a_tool_call(model: BuiltinChatModel) -> None:
    answer = await ask(model, [SystemMessage("be nice"), HumanMessage("write file a.txt: hi")])
    [call] = answer.tool_calls
    assert (call["name"], call["args"]) == ("write_file", {"path": "a.txt", "content": "hi"})
    assert call["id"] == "call_0001"
    assert answer.content == ""


async def test_every_call_has_an_id_of_its_own(model: BuiltinChatModel) -> None:
    answers = [await ask(model, [HumanMessage("list files")]) for _ in range(3)]
    assert len({answer.tool_calls[0]["id"] for answer in answers}) == 3


async def test_after_the_result_it_answers_and_calls_nothing(model: BuiltinChatModel) -> None:
    messages: list[BaseMessage] = [HumanMessage("列出文件")]
    call = await ask(model, messages)
    messages += [call, ToolMessage(".:\na.txt  3", tool_call_id=call.tool_calls[0]["id"])]
    answer = await ask(model, messages)
    assert answer.tool_calls == []
    assert answer.text.endswith("```text\na.txt  3\n```")


async def test_calls_of_earlier_turns_count_for_nothing(model: BuiltinChatModel) -> None:
    old = AIMessage("", tool_calls=[{"name": "list_dir", "args": {}, "id": "call_old"}])
    history = [HumanMessage("list files"), old, ToolMessage("x", tool_call_id="call_old")]
    answer = await ask(model, [*history, AIMessage("done"), HumanMessage("read a.txt")])
    assert [call["name"] for call in answer.tool_calls] == ["read_file"]


async def test_a_call_that_was_never_answered_is_not_made_again(model: BuiltinChatModel) -> None:
    lost = AIMessage("", tool_calls=[{"name": "list_dir", "args": {}, "id": "call_lost"}])
    answer = await ask(model, [HumanMessage("list files"), lost])
    assert answer.tool_calls == []
    assert answer.text.startswith("I could not list")


async def test_a_failed_tool_is_told_kindly(model: BuiltinChatModel) -> None:
    call = AIMessage("", tool_calls=[{"name": "read_file", "args": {}, "id": "call_1"}])
    failed = ToolMessage("There is nothing at a.txt.", tool_call_id="call_1", status="error")
    answer = await ask(model, [HumanMessage("read a.txt"), call, failed])
    assert answer.text.startswith("I could not read `a.txt`. There is nothing at a.txt.")


async def test_without_its_tool_a_task_is_regretted(model: BuiltinChatModel) -> None:
    answer = await ask(model, [HumanMessage("remember that I like tea")])
    assert answer.text == "Remembering things is not available yet in this installation."
    forbidden = model.bind_tools(TOOLS, tool_choice="none")
    said = await forbidden.ainvoke([HumanMessage("list files")])
    assert said.tool_calls == []


async def test_a_message_of_several_blocks_is_read_as_text(model: BuiltinChatModel) -> None:
    blocks: list[str | dict[str, Any]] = [
        {"type": "image_url", "image_url": {"url": "data:,"}},
        {"type": "text", "text": "read a.txt"},
    ]
    answer = await ask(model, [HumanMessage(blocks)])
    assert answer.tool_calls[0]["args"] == {"path": "a.txt"}


async def test_wordless_messages_are_answered_in_the_language_of_the_talk(
    model: BuiltinChatModel, catalogue: Catalogue
) -> None:
    talk = [HumanMessage("請讀檔案"), AIMessage("…"), HumanMessage("👍")]
    assert "語言模型" in (await ask(model, talk)).text
    assert "language model" in (await ask(model, talk[-1:])).text
    chinese = model.model_copy(update={"language": "zh-CN"})
    assert "语言模型" in (await ask(chinese, talk[-1:])).text


async def test_an_answer_streams_word_by_word_and_adds_up(model: BuiltinChatModel) -> None:
    for text, longest in (("who are you", 20), ("你是谁？", 9)):
        chunks = await stream(model, text)
        spoken = [chunk.text for chunk in chunks if chunk.text]
        assert len(spoken) > 10
        assert max(map(len, spoken)) <= longest
        assert "".join(spoken) == (await ask(model, [HumanMessage(text)])).text
        assert chunks[-1].usage_metadata == {
            "input_tokens": 0,
            "output_tokens": 0,
            "total_tokens": 0,
        }


async def test_a_streamed_call_is_whole_when_the_chunks_are_joined(
    model: BuiltinChatModel,
) -> None:
    first, *rest = await stream(model, "read a.txt")
    whole = first
    for chunk in rest:
        whole += chunk
    assert [(call["name"], call["args"]) for call in whole.tool_calls] == [
        ("read_file", {"path": "a.txt"})
    ]


def test_it_answers_without_a_loop_too(model: BuiltinChatModel) -> None:
    assert model.invoke("hello").text.startswith("Hello")
    assert "".join(chunk.text for chunk in model.stream("hello")).startswith("Hello")


@given(st.text())
def test_pieces_of_a_text_are_the_text(text: str) -> None:
    assert "".join(pieces(text)) == text


def test_a_long_text_comes_in_a_bounded_number_of_pieces() -> None:
    assert len(list(pieces("字 word " * 20_000))) <= 400


@given(
    texts=st.lists(st.text(), min_size=1, max_size=4), called=st.lists(st.booleans(), max_size=4)
)
def test_no_talk_makes_it_fail(catalogue: Catalogue, texts: list[str], called: list[bool]) -> None:
    model = BuiltinChatModel(say=catalogue.text, clock=FakeClock(), new_id=CountedIds())
    messages: list[BaseMessage] = []
    for at, text in enumerate(texts):
        messages.append(HumanMessage(text))
        if at < len(called) and called[at]:
            call = {"name": "list_dir", "args": {}, "id": f"call_{at}"}
            messages += [
                AIMessage("", tool_calls=[call]),
                ToolMessage(text, tool_call_id=f"call_{at}"),
            ]
    answer = model.bind_tools(TOOLS).invoke(messages)
    assert answer.tool_calls or answer.text.strip()


def real_tools(catalogue: Catalogue, titles: MemoryTitles) -> dict[str, ToolBody]:
    def say(key: str, /, **params: Any) -> str:
        return catalogue.text(key, "en-US", **params)

    registry: ToolRegistry = ToolFactory().registry(
        ToolDeps(titles=titles, sentences=say), lambda error: catalogue.describe(error, "en-US")
    )
    return {name: body(registry, name) for name in (*NAMES, "edit_file")}


def body(registry: ToolRegistry, name: str) -> ToolBody:
    return lambda arguments, context: registry.invoke(name, arguments, context)


async def talk(stage: Stage, text: str) -> tuple[list[str], str]:
    """Ask, and return the names of the tools that ran and what was said at last."""
    events = await stage.ask(text)
    assert isinstance(events[-1], RunFinished)
    tools = [event.name for event in events if isinstance(event, ToolCallStarted)]
    said = [event.text for event in events if isinstance(event, MessageCompleted)]
    return tools, said[-1]


async def test_it_drives_the_graph_with_real_tools(
    model: BuiltinChatModel, catalogue: Catalogue, tmp_path: Path
) -> None:
    titles = MemoryTitles()
    tools = real_tools(catalogue, titles)
    async with agent_stage(tmp_path, model=model, tools=tools) as stage:
        assert "Without a language model" in (await talk(stage, "help"))[1]
        assert "empty" in (await talk(stage, "list files"))[1]
        used, said = await talk(stage, "write file notes/today.md: # Hi\nthere")
        assert (used, said) == (["write_file"], "I wrote `notes/today.md`.")
        assert (tmp_path / "workspace/notes/today.md").read_text() == "# Hi\nthere"
        used, said = await talk(stage, "读文件 notes/today.md")
        assert said == "`notes/today.md` 的内容：\n\n```markdown\n# Hi\nthere\n```"
        used, said = await talk(stage, "list files and then read nothing.txt")
        assert used == ["list_dir", "read_file"]
        assert "notes/" in said
        assert "There is nothing at nothing.txt." in said
        await talk(stage, "把对话改名为旅行")
        assert list(titles.titles.values()) == ["旅行"]
        used, said = await talk(stage, "read file ../../etc/passwd")
        assert said.startswith("I could not read `../../etc/passwd`.")


async def test_a_question_whose_run_failed_is_not_taken_up_with_the_next_one(
    model: BuiltinChatModel, catalogue: Catalogue, tmp_path: Path
) -> None:
    tools = real_tools(catalogue, MemoryTitles())
    async with agent_stage(tmp_path, model=model, tools=tools) as stage:
        for text in ("write file a: 你好", "记住我喜欢苹果"):
            stage.models.error = ProviderError(provider="test")
            with pytest.raises(ProviderError):
                await stage.play(stage.turn(text))
        stage.models.error = None
        used, said = await talk(stage, "list files")
        assert used == ["list_dir"]
        assert said.startswith("Your workspace is empty.")
        assert not (tmp_path / "workspace/a").exists()


async def test_a_newest_question_without_a_language_is_answered_in_that_of_the_one_before(
    model: BuiltinChatModel,
) -> None:
    [both] = alternating([HumanMessage("列出文件"), HumanMessage("123")])
    alone = await ask(model, [HumanMessage("123")])
    assert (await ask(model, [both])).text != alone.text


async def test_a_refused_path_ends_the_step_and_not_the_talk(
    model: BuiltinChatModel, catalogue: Catalogue, tmp_path: Path
) -> None:
    tools = real_tools(catalogue, MemoryTitles())
    async with agent_stage(tmp_path, model=model, tools=tools) as stage:
        events = await stage.ask("write file /etc/finch.txt: x")
        [finished] = [event for event in events if isinstance(event, ToolCallFinished)]
        assert finished.is_error
        assert (await talk(stage, "hello"))[1].startswith("Hello")


@pytest.mark.parametrize(
    "text", ["\x00", "a" * 1_000_000, "write file a\x00b: x"], ids=["nul", "1 MB", "name"]
)
async def test_strange_messages_are_answered(
    model: BuiltinChatModel, catalogue: Catalogue, tmp_path: Path, text: str
) -> None:
    async with agent_stage(
        tmp_path, model=model, tools=real_tools(catalogue, MemoryTitles())
    ) as stage:
        assert (await talk(stage, text))[1]
