"""The same path against a real inference engine: transport, streaming, usage, stopping."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import cast

import pytest
from langchain_core.messages import AIMessageChunk, HumanMessage, SystemMessage

from finchbot.errors import AuthFailed
from tests.providers.conftest import Ask
from tests.support.real_model import API_KEY, MODEL

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]

ASK = [
    SystemMessage("You answer in one short sentence."),
    HumanMessage("What is the capital of France?"),
]


async def test_a_real_model_streams_an_answer_and_says_what_it_cost(
    chat: Ask, real_model_url: str
) -> None:
    model = chat(
        model=MODEL,
        api_base=real_model_url,
        api_key=API_KEY,
        defaults={"max_tokens": 24, "temperature": 0},
    )
    chunks = [chunk async for chunk in model.astream(ASK)]
    whole = sum(chunks[1:], start=chunks[0])
    assert "Paris" in str(whole.content)
    assert len([chunk for chunk in chunks if chunk.content]) > 1
    assert whole.usage_metadata is not None
    assert whole.usage_metadata["input_tokens"] > 10
    assert 0 < whole.usage_metadata["output_tokens"] <= 24


async def test_a_real_model_answers_the_next_question_after_a_stop(
    chat: Ask, real_model_url: str
) -> None:
    long = chat(model=MODEL, api_base=real_model_url, api_key=API_KEY)
    stream = cast(AsyncGenerator[AIMessageChunk], long.astream([HumanMessage("Tell a story.")]))
    async with aclosing(stream):
        await anext(stream)
    short = chat(model=MODEL, api_base=real_model_url, api_key=API_KEY, defaults={"max_tokens": 4})
    assert (await short.ainvoke(ASK)).content


async def test_a_real_server_refuses_a_wrong_key(chat: Ask, real_model_url: str) -> None:
    with pytest.raises(AuthFailed):
        await chat(model=MODEL, api_base=real_model_url, api_key="wrong").ainvoke(ASK)
