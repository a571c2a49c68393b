"""The scripted model server itself: what it plays, records and refuses."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.support.model_server import ModelServer
from tests.support.replies import Drop, Gate, Hang, Wait, answer, call, say, think

ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


@pytest.fixture
async def http(model_server: ModelServer) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=model_server.url, trust_env=False) as client:
        yield client


async def stream(http: httpx.AsyncClient, **more: Any) -> list[dict[str, Any]]:
    found = []
    body = {**ASK, "stream": True, **more}
    async with http.stream("POST", "/chat/completions", json=body) as response:
        async for line in response.aiter_lines():
            if line.startswith("data: {"):
                found.append(json.loads(line.removeprefix("data: ")))
    return found


def content(chunks: list[dict[str, Any]], key: str = "content") -> str:
    return "".join(c["delta"].get(key) or "" for chunk in chunks for c in chunk["choices"])


async def test_a_script_is_played_in_order_and_then_the_user_is_echoed(
    model_server: ModelServer, http: httpx.AsyncClient
) -> None:
    model_server.script("one two", answer(think("well"), "three"))
    first, second, third = [await stream(http) for _ in range(3)]
    assert (content(first), content(second)) == ("one two", "three")
    assert content(second, "reasoning_content") == "well"
    assert content(third) == "You said: hi"
    assert [request.last_user_text for request in model_server.requests] == ["hi"] * 3


async def test_usage_comes_only_when_asked_for(http: httpx.AsyncClient) -> None:
    assert all("usage" not in chunk for chunk in await stream(http))
    asked = await stream(http, stream_options={"include_usage": True})
    assert asked[-1]["usage"]["prompt_tokens"] == 11


async def test_the_arguments_of_a_call_come_in_pieces_that_join(
    model_server: ModelServer, http: httpx.AsyncClient
) -> None:
    model_server.script(answer(call("read_file", {"path": "a.txt"}, cuts=4)))
    deltas = [c["delta"] for chunk in await stream(http) for c in chunk["choices"]]
    parts = [d["tool_calls"][0]["function"]["arguments"] for d in deltas if "tool_calls" in d]
    assert len(parts) == 5
    assert json.loads("".join(parts)) == {"path": "a.txt"}


async def test_a_broken_history_is_refused_and_kept_for_the_end_of_the_test() -> None:
    with ModelServer() as server:
        async with httpx.AsyncClient(trust_env=False) as http:
            bad = {**ASK, "messages": [{"role": "user", "content": ""}]}
            response = await http.post(f"{server.url}/chat/completions", json=bad)
        assert response.status_code == 400
        with pytest.raises(AssertionError, match="empty text"):
            server.raise_violations()


async def test_a_gate_holds_the_answer_until_the_test_opens_it(
    model_server: ModelServer, http: httpx.AsyncClient
) -> None:
    gate = Gate()
    model_server.script(answer(say("before"), Wait(gate), say("after")))
    running = asyncio.create_task(stream(http))
    await gate.reached()
    assert not running.done()
    gate.open()
    assert content(await running) == "beforeafter"


async def test_the_server_notices_that_the_client_left(
    model_server: ModelServer, http: httpx.AsyncClient
) -> None:
    model_server.script(answer(say("before"), Hang()))
    async with http.stream("POST", "/chat/completions", json={**ASK, "stream": True}) as response:
        await anext(response.aiter_lines())
    request = model_server.requests[0]
    assert await asyncio.to_thread(request.ended.wait, 2)
    assert request.client_left


async def test_a_dropped_answer_is_a_broken_connection(
    model_server: ModelServer, http: httpx.AsyncClient
) -> None:
    model_server.script(answer(say("before"), Drop()))
    with pytest.raises(httpx.TransportError):
        await stream(http)


async def test_an_answer_without_stream_comes_whole(
    model_server: ModelServer, http: httpx.AsyncClient
) -> None:
    model_server.script(answer("hello", call("f", "{}")))
    whole = (await http.post("/chat/completions", json=ASK)).json()
    [choice] = whole["choices"]
    assert choice["message"]["content"] == "hello"
    assert choice["finish_reason"] == "tool_calls"


async def test_one_connection_serves_many_requests(
    model_server: ModelServer, http: httpx.AsyncClient
) -> None:
    for _ in range(3):
        await stream(http)
    connections = {request.peer for request in model_server.requests}
    assert len(connections) == 1


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_it_runs_as_a_process_that_prints_its_url() -> None:
    command = [sys.executable, "-m", "tests.support.model_server", "--tokens", "5"]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    url = (await process.stdout.readline()).decode().strip()
    async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
        assert content(await stream(http)) == "word0 word1 word2 word3 word4"
    process.terminate()
    await process.wait()
