"""The chat model inside LangGraph: tokens stream through, tools are called, reasoning goes back."""

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessageChunk, HumanMessage
from langchain_core.tools import tool

from tests.providers.conftest import Ask
from tests.support.model_server import ModelServer
from tests.support.replies import Gate, Wait, answer, call, split, think

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]


@tool
def add(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


async def test_a_turn_with_tools_streams_through_a_graph(
    chat: Ask, model_server: ModelServer
) -> None:
    model_server.manners.needs_reasoning = True
    gate = Gate()
    model_server.script(
        answer(
            think("add them"),
            call("add", {"a": 1, "b": 2}, call_id="c1", index=0),
            call("add", {"a": 3, "b": 4}, call_id="c2", index=1),
        ),
        answer(split("three"), Wait(gate), split(" and seven")),
    )
    model = chat(provider="deepseek", model="m", api_key="k", defaults={"max_tokens": 55})
    agent = create_agent(model, [add])
    said = []
    stream = agent.astream({"messages": [HumanMessage("1+2, 3+4?")]}, stream_mode="messages")
    async for message, _ in stream:
        if isinstance(message, AIMessageChunk) and message.content:
            said.append(message.content)
            gate.open()
    assert said == ["three", " and seven"]
    first, second = model_server.requests
    assert [t["function"]["name"] for t in first.body["tools"]] == ["add"]
    assert [m["content"] for m in second.messages if m["role"] == "tool"] == ["3", "7"]
    assert second.messages[1]["reasoning_content"] == "add them"
    assert first.body["max_tokens"] == second.body["max_tokens"] == 55
