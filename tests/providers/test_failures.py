"""Every way a provider can fail becomes an error with a code, and no text of the provider's."""

import asyncio
import re
import socket
import tomllib
from collections.abc import Iterator
from datetime import timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from finchbot.errors import (
    AuthFailed,
    ContextTooLong,
    ProviderError,
    RateLimited,
    Unavailable,
)
from finchbot.providers.connection import Connection
from finchbot.providers.failures import retry_after_s
from finchbot.providers.openai_line import Lines
from tests.providers.conftest import Ask
from tests.support.clock import FakeClock
from tests.support.model_server import Manners, ModelServer
from tests.support.replies import (
    Chunk,
    Drop,
    Garbage,
    Hang,
    Refuse,
    Reply,
    answer,
    context_too_long,
    rate_limited,
    say,
    unauthorized,
)

ROOT = Path(__file__).resolve().parents[2]
HI = [HumanMessage("hi")]


def reported(**error: Any) -> Reply:
    """Return a stream that reports an error in place of a chunk."""
    return answer(Chunk({"error": {"message": "secret words"} | error}))


def refused(status: int, message: str = "secret words", code: str | None = None) -> Reply:
    return Reply.of(Refuse(status, message, code))


@pytest.mark.parametrize(
    ("reply", "kind", "params"),
    [
        (unauthorized(), AuthFailed, {}),
        (refused(403), AuthFailed, {}),
        (rate_limited(7), RateLimited, {"retry_after_s": 7.0}),
        (refused(429), RateLimited, {"retry_after_s": None}),
        (context_too_long(), ContextTooLong, {}),
        (refused(400, "the request exceeds the available context size"), ContextTooLong, {}),
        (refused(500), Unavailable, {"reason": "http_500"}),
        (refused(503), Unavailable, {"reason": "http_503"}),
        (answer(say("half"), Drop()), Unavailable, {"reason": "broken_off"}),
        (answer(Drop()), Unavailable, {"reason": "broken_off"}),
        (
            answer(Chunk({"error": {"message": "x", "code": 502}})),
            Unavailable,
            {"reason": "http_502"},
        ),
        (answer(Chunk({"error": {"message": "x"}})), Unavailable, {"reason": "broken_off"}),
        (answer(Chunk({"error": {"message": "x", "code": 429}})), RateLimited, {}),
        (reported(code="9" * 5000), Unavailable, {"reason": "broken_off"}),
        (reported(message=["x"], code={"a": 1}), Unavailable, {"reason": "broken_off"}),
        (refused(503, code="9" * 5000), Unavailable, {"reason": "http_503"}),
    ],
)
async def test_failures_have_a_kind_and_name_the_provider(
    chat: Ask, model_server: ModelServer, reply: Reply, kind: type, params: dict[str, Any]
) -> None:
    model_server.script(reply)
    with pytest.raises(ProviderError) as raised:
        await chat().ainvoke(HI)
    assert type(raised.value) is kind
    assert {"provider": "mine", **params}.items() <= raised.value.params.items()
    assert len(model_server.requests) == 1, "nothing is tried again in silence"


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (refused(429, code="insufficient_quota"), "provider.quota_exhausted"),
        (refused(402), "provider.quota_exhausted"),
        (refused(404), "provider.model_not_found"),
        (refused(400, "llama3 does not support tools"), "provider.tools_unsupported"),
        (refused(400), "provider.rejected"),
        (refused(500), "provider.server_error"),
        (answer(say("half"), Drop()), "provider.broken_off"),
        (answer(Garbage("<html>")), "provider.bad_answer"),
    ],
)
async def test_what_a_person_can_mend_has_a_code_of_its_own(
    chat: Ask, model_server: ModelServer, reply: Reply, code: str
) -> None:
    model_server.script(reply)
    with pytest.raises(ProviderError) as raised:
        await chat().ainvoke(HI)
    assert raised.value.code == code


@pytest.mark.parametrize(
    "reply", [unauthorized(), refused(400), refused(500), answer(Chunk({"error": "secret"}))]
)
async def test_nothing_that_the_provider_wrote_goes_on(
    chat: Ask, model_server: ModelServer, reply: Reply
) -> None:
    model_server.script(reply)
    with pytest.raises(ProviderError) as raised:
        await chat(api_key="sk-secret").ainvoke(HI)
    error = raised.value
    assert "secret" not in f"{error} {error!r} {dict(error.params)}"
    assert error.__suppress_context__


async def test_what_was_streamed_before_the_break_stands(
    chat: Ask, model_server: ModelServer
) -> None:
    model_server.script(answer(say("half an", pieces=1), Drop()))
    seen = []

    async def listen() -> None:
        async for chunk in chat().astream(HI):
            seen.append(chunk.content)

    with pytest.raises(Unavailable):
        await listen()
    assert seen == ["half an"]


async def test_a_wrong_key_is_refused_and_a_right_one_counts_at_once(
    chat: Ask, model_server: ModelServer
) -> None:
    model_server.manners = Manners(api_key="right")
    with pytest.raises(AuthFailed):
        await chat(api_key="wrong").ainvoke(HI)
    assert (await chat(api_key="right").ainvoke(HI)).content


@pytest.fixture
def closed_port() -> Iterator[int]:
    """Give a port of loopback that is taken and listens to nobody."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_the_talk_is_not_carried_on_to_another_address(
    chat: Ask, model_server: ModelServer, status: int
) -> None:
    elsewhere = {"location": f"{model_server.url}/chat/completions"}
    model_server.script(Reply.of(Refuse(status, "moved", None, elsewhere)))
    with pytest.raises(ProviderError) as raised:
        await chat().ainvoke(HI)
    assert raised.value.code == "provider.rejected"
    assert len(model_server.requests) == 1


async def test_nobody_at_the_address_is_no_connection(chat: Ask, closed_port: int) -> None:
    with pytest.raises(Unavailable) as raised:
        await chat(api_base=f"http://127.0.0.1:{closed_port}").ainvoke(HI)
    assert raised.value.params["reason"] == "no_connection"


@pytest.mark.parametrize("steps", [(Hang(),), (say("half"), Hang())])
async def test_silence_is_ended_by_the_idle_time(
    clock: FakeClock, model_server: ModelServer, steps: tuple[Any, ...]
) -> None:
    model_server.script(answer(*steps))
    lines = Lines(clock)
    line = await asyncio.to_thread(
        lines.to, Connection("mine", model_server.url, idle_timeout_s=0.2)
    )
    body = {"messages": [{"role": "user", "content": "hi"}]}

    async def listen() -> None:
        async for _ in line.stream("m", body):
            pass

    with pytest.raises(Unavailable) as raised:
        await listen()
    assert raised.value.params["reason"] == "timeout"
    await lines.close()


def test_the_wait_is_read_as_seconds_milliseconds_or_a_date(clock: FakeClock) -> None:
    later = format_datetime(clock() + timedelta(seconds=90), usegmt=True)
    past = format_datetime(clock() - timedelta(seconds=90), usegmt=True)
    cases = [
        ({"retry-after": "2.5"}, 2.5),
        ({"retry-after": "-1"}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": later}, 90.0),
        ({"retry-after": past}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ]
    assert [retry_after_s(headers, clock) for headers, _ in cases] == [s for _, s in cases]


@pytest.mark.parametrize("language", ["en-US", "zh-CN"])
def test_every_error_has_a_sentence_in_each_language(language: str) -> None:
    sentences = tomllib.loads((ROOT / "locales" / f"{language}.toml").read_text("utf-8"))
    table = sentences["error"]["provider"]
    for file in (ROOT / "finchbot" / "providers").glob("*.py"):
        for code in re.findall(r'"provider\.([a-z_]+)"', file.read_text("utf-8")):
            assert table[code], code
