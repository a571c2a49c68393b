"""The chat model over a real socket: what leaves, what comes back, what is survived."""

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.tools import tool

from finchbot.messages import INVALID_ARGUMENTS
from tests.providers.conftest import Ask
from tests.support.model_server import Manners, ModelServer
from tests.support.replies import (
    Chunk,
    Gate,
    Hang,
    Wait,
    answer,
    call,
    empty,
    split,
    think,
)

HI = [HumanMessage("hi")]
DEFINITION = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Reads.",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
    },
}


@pytest.fixture
def manners(model_server: ModelServer) -> Manners:
    return model_server.manners


async def test_text_comes_piece_by_piece_before_the_answer_is_over(
    chat: Ask, model_server: ModelServer
) -> None:
    gate = Gate()
    model_server.script(answer(split("one"), Wait(gate), split(" two")))
    stream = chat().astream(HI)
    first = await anext(stream)
    gate.open()
    rest = [chunk async for chunk in stream]
    assert first.content == "one"
    assert "".join(str(chunk.content) for chunk in rest) == " two"
    assert rest[-1].chunk_position == "last"


async def test_the_whole_answer_carries_usage_and_why_it_ended(
    chat: Ask, model_server: ModelServer
) -> None:
    model_server.script(answer("hello there", finish="length"))
    reply = await chat().ainvoke(HI)
    assert reply.content == "hello there"
    assert reply.response_metadata == {"finish_reason": "length", "model_name": "scripted"}
    assert reply.usage_metadata is not None
    assert reply.usage_metadata["input_tokens"] == 11
    assert reply.usage_metadata["output_tokens"] == 7
    assert reply.usage_metadata["input_token_details"]["cache_read"] == 3


async def test_what_is_configured_is_in_the_request_that_leaves(
    chat: Ask, model_server: ModelServer
) -> None:
    model = chat(
        model="org/m-1",
        api_key="sk-1",
        extra_headers={"X-Api-Key": "k", "HTTP-Referer": "https://me.example"},
        defaults={"max_tokens": 77, "temperature": 0.25},
    )
    await model.bind_tools([DEFINITION]).ainvoke(HI, stop=["END"])
    [request] = model_server.requests
    assert request.body == {
        "model": "org/m-1",
        "messages": [{"role": "user", "content": "hi"}],
        "max_tokens": 77,
        "temperature": 0.25,
        "stream": True,
        "stream_options": {"include_usage": True},
        "stop": ["END"],
        "tools": [DEFINITION],
    }
    assert request.headers["authorization"] == "Bearer sk-1"
    assert request.headers["x-api-key"] == "k"
    assert request.headers["http-referer"] == "https://me.example"
    assert request.headers["user-agent"].startswith("FinchBot/")


async def test_tools_of_langchain_leave_as_function_definitions(
    chat: Ask, model_server: ModelServer
) -> None:
    @tool
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    await chat().bind_tools([add], tool_choice="any").ainvoke(HI)
    body = model_server.requests[0].body
    assert body["tools"][0]["function"]["name"] == "add"
    assert body["tools"][0]["function"]["parameters"]["required"] == ["a", "b"]
    assert body["tool_choice"] == "required"


async def test_parallel_calls_and_their_results_make_a_round_trip(
    chat: Ask, model_server: ModelServer
) -> None:
    model_server.script(
        answer(
            "I look.",
            call("read_file", {"path": "a"}, call_id="c1", index=0),
            call("read_file", {"path": "字"}, call_id="c2", index=1),
        ),
        "done",
    )
    asked = await chat().ainvoke(HI)
    assert isinstance(asked, AIMessage)
    assert [(c["id"], c["args"]) for c in asked.tool_calls] == [
        ("c1", {"path": "a"}),
        ("c2", {"path": "字"}),
    ]
    results = [ToolMessage(f"text of {c['id']}", tool_call_id=c["id"]) for c in asked.tool_calls]
    assert (await chat().ainvoke([*HI, asked, *results])).content == "done"


@pytest.mark.parametrize(
    "given",
    [
        call("read_file", '{"path": "/x', call_id="c1"),
        call("read_file", "[1]", call_id="c1"),
        call("", "{}", call_id="c1"),
        call("read_file", "", call_id=None, index=None),
        call("bad name!", {"a": 1}, call_id=None),
    ],
)
async def test_a_bad_call_never_spoils_the_turn_after_it(
    chat: Ask, model_server: ModelServer, given: Any
) -> None:
    model_server.script(answer(given), "fine")
    asked = await chat().ainvoke(HI)
    assert isinstance(asked, AIMessage)
    [made] = asked.tool_calls
    assert made["id"]
    assert made["name"]
    assert not asked.invalid_tool_calls
    result = ToolMessage("that was no good", tool_call_id=made["id"])
    assert (await chat().ainvoke([*HI, asked, result])).content == "fine"


async def test_cut_arguments_are_never_completed_by_guessing(
    chat: Ask, model_server: ModelServer
) -> None:
    model_server.script(answer(call("exec", '{"command": "rm -rf /x')))
    asked = await chat().ainvoke(HI)
    assert isinstance(asked, AIMessage)
    assert asked.tool_calls[0]["args"] == {INVALID_ARGUMENTS: '{"command": "rm -rf /x'}


async def test_an_id_that_the_thread_has_seen_is_replaced(
    chat: Ask, model_server: ModelServer
) -> None:
    model_server.script(answer(call("f", {}, call_id="call_0")), "done")
    before = AIMessage("", tool_calls=[{"id": "call_0", "name": "f", "args": {}}])
    history = [*HI, before, ToolMessage("ok", tool_call_id="call_0")]
    asked = await chat().ainvoke(history)
    assert isinstance(asked, AIMessage)
    [made] = asked.tool_calls
    assert made["id"] == "call_0001"
    await chat().ainvoke([*history, asked, ToolMessage("ok", tool_call_id="call_0001")])


async def test_odd_chunks_are_survived(chat: Ask, model_server: ModelServer) -> None:
    block = {"type": "text", "text": "a"}
    model_server.script(
        answer(
            Chunk({"choices": []}),
            Chunk({"choices": [{"index": 0, "delta": {"role": "assistant"}}]}),
            Chunk({"choices": [{"index": 0, "delta": {"content": None}}]}),
            Chunk({"choices": [{"index": 0, "delta": None}]}),
            Chunk({"choices": [{"index": 0, "delta": {"content": [block]}}]}),
            "b",
        )
    )
    assert (await chat().ainvoke(HI)).content == "ab"


async def test_an_empty_answer_is_an_empty_message(chat: Ask, model_server: ModelServer) -> None:
    model_server.script(empty())
    reply = await chat().ainvoke(HI)
    assert reply.content == ""
    assert isinstance(reply, AIMessage)
    assert reply.tool_calls == []


async def test_reasoning_is_kept_apart_and_goes_back_where_it_is_demanded(
    chat: Ask, model_server: ModelServer, manners: Manners
) -> None:
    manners.needs_reasoning = True
    model_server.script(answer(think("let me see"), call("f", {}, call_id="c1")), "done")
    model = chat(provider="deepseek", model="deepseek-v4-flash", api_key="k")
    chunks = [chunk async for chunk in model.astream(HI)]
    thought = [chunk.additional_kwargs.get("reasoning_content") for chunk in chunks]
    assert "".join(filter(None, thought)) == "let me see"
    whole = sum(chunks[1:], start=chunks[0])
    assert isinstance(whole, AIMessageChunk)
    assert whole.content == ""
    await model.ainvoke([*HI, whole, ToolMessage("ok", tool_call_id="c1")])
    assert model_server.requests[1].messages[1]["reasoning_content"] == "let me see"


async def test_a_server_of_ones_own_is_known_by_its_models_family(
    chat: Ask, model_server: ModelServer, manners: Manners
) -> None:
    manners.needs_reasoning = True
    asked = AIMessage("", tool_calls=[{"id": "c1", "name": "f", "args": {}}])
    history = [*HI, asked, ToolMessage("ok", tool_call_id="c1")]
    assert (await chat(model="deepseek-ai/DeepSeek-V4").ainvoke(history)).content


async def test_thinking_can_be_switched_off(chat: Ask, model_server: ModelServer) -> None:
    await chat(provider="deepseek", model="m", api_key="k", thinking="off").ainvoke(HI)
    assert model_server.requests[0].body["thinking"] == {"type": "disabled"}


async def test_a_server_without_stream_options_is_asked_again_without_and_remembered(
    chat: Ask, model_server: ModelServer, manners: Manners
) -> None:
    manners.rejects_stream_options = True
    model_server.script("one", "two")
    assert (await chat().ainvoke(HI)).content == "one"
    assert (await chat().ainvoke(HI)).content == "two"
    sent = ["stream_options" in request.body for request in model_server.requests]
    assert sent == [True, False, False]


async def test_one_connection_serves_turn_after_turn(chat: Ask, model_server: ModelServer) -> None:
    for _ in range(4):
        await chat().ainvoke(HI)
    assert len({request.peer for request in model_server.requests}) == 1


@pytest.mark.parametrize("how", ["cancel", "leave"])
async def test_who_stops_listening_closes_the_connection(
    chat: Ask, model_server: ModelServer, how: str
) -> None:
    gate = Gate()
    model_server.script(answer("one", Wait(gate)), "next")
    seen = asyncio.Event()

    async def listen() -> None:
        async for _ in chat().astream(HI):
            seen.set()
            if how == "leave":
                return

    task = asyncio.create_task(listen())
    await seen.wait()
    if how == "cancel":
        await gate.reached()
        task.cancel()
    await asyncio.wait([task])
    request = model_server.requests[0]
    assert await asyncio.to_thread(request.ended.wait, 2)
    assert request.client_left
    assert (await chat().ainvoke(HI)).content == "next"


async def test_other_talks_go_on_beside_one_that_hangs(
    chat: Ask, model_server: ModelServer
) -> None:
    model_server.on("hang", answer(Hang()))
    hanging = asyncio.create_task(chat().ainvoke([HumanMessage("hang")]))
    answers = await asyncio.gather(*(chat().ainvoke([HumanMessage(f"n{n}")]) for n in range(20)))
    assert [reply.content for reply in answers] == [f"You said: n{n}" for n in range(20)]
    hanging.cancel()
    await asyncio.wait([hanging])


async def test_tokens_that_came_together_are_one_piece(
    chat: Ask, model_server: ModelServer
) -> None:
    gate = Gate()
    model_server.script(answer(split("one"), Wait(gate), split(" two", " three", " four")))
    stream = chat().astream(HI)
    assert (await anext(stream)).content == "one"
    gate.open()
    await asyncio.to_thread(model_server.requests[0].ended.wait, 5)
    rest = [chunk.content async for chunk in stream if chunk.content]
    assert rest == [" two three four"]


async def test_many_answers_at_once_are_whole_and_come_in_fewer_pieces(
    chat: Ask, model_server: ModelServer
) -> None:
    text = " ".join(f"w{number}" for number in range(40))
    model_server.respond(lambda _: answer(text, token_delay_s=0.005))
    model = chat()

    async def pieces() -> list[str]:
        return [str(chunk.content) async for chunk in model.astream(HI) if chunk.content]

    answers = await asyncio.gather(*(pieces() for _ in range(30)))
    assert {"".join(said) for said in answers} == {text}
    assert sum(len(said) for said in answers) < 30 * 40 * 0.7


async def test_the_synchronous_side_does_not_exist(chat: Ask) -> None:
    with pytest.raises(NotImplementedError):
        await asyncio.to_thread(chat().invoke, HI)


async def test_no_secret_is_in_what_a_model_shows_of_itself(chat: Ask) -> None:
    model = chat(api_key="sk-very-secret", extra_headers={"X-Api-Key": "sk-also-secret"})
    shown = f"{model!r} {model} {model.asdict()} {model.model_dump()} {vars(model)}"
    assert "secret" not in shown
