"""The first words of an answer: how much later than the model's own they come.

What is compared is the time over the model's own first token, which a bare connection to the
model measures in the same round.
"""

import asyncio
import json
import socket
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from urllib.parse import urlsplit

from tests.bench.browser import BARE_BOX, OUR_BOX, OUR_SIGN, ask_ms, new_page, wait_until_there
from tests.bench.processes import finchbot, model, running
from tests.bench.report import Figure, Reach
from tests.bench.talk import talker
from tests.e2e.harness import running_browser

TOKENS = 6
PER_SECOND = 50.0
TURNS = 40
PAGE_TURNS = 24
WARM_UP = 4
"""Turns before those that count: connections are opened, code is loaded."""
QUESTION = "Tell me something."
FIRST_WORD = "word0"
LAST_WORD = f"word{TOKENS - 1}"


@dataclass(frozen=True, slots=True)
class Round:
    """First tokens of one round, in ms.

    The model is asked before each side, so that neither comes while the other still tidies up.
    """

    model: float
    floor: float
    ours: float


def over_the_socket(folder: Path) -> list[Figure]:
    """Measure ``/ws`` against a bare agent behind a bare WebSocket."""
    with (
        model(tokens=TOKENS, per_second=PER_SECOND) as model_url,
        running("tests.bench.floors.bare_agent", model_url) as floor,
        finchbot(folder / "home", model_url) as ours,
    ):
        rounds = asyncio.run(_socket_rounds(model_url, floor, ours.url))
    own, bare = _over_the_model(rounds)
    name = "first token over the model's own, /ws"
    return [Figure(name, own, bare, "ms", Reach("difference", 10))]


def in_the_page(folder: Path) -> list[Figure]:
    """Measure the chat page against a minimal Gradio chatbot, both in Chromium."""
    with (
        model(tokens=TOKENS, per_second=PER_SECOND) as model_url,
        running("tests.bench.floors.bare_chatbot", model_url) as floor,
        finchbot(folder / "home", model_url) as ours,
        running_browser() as browser,
    ):
        bare, own = new_page(browser), new_page(browser)
        bare.goto(floor)
        wait_until_there(bare, BARE_BOX)
        own.goto(ours.url)
        wait_until_there(own, OUR_BOX, OUR_SIGN)
        asked = {"question": QUESTION, "first": FIRST_WORD, "last": LAST_WORD}
        rounds = []
        for _ in range(WARM_UP + PAGE_TURNS):
            before = _model_first_ms(model_url)
            floor_ms = ask_ms(bare, BARE_BOX, **asked)
            between = _model_first_ms(model_url)
            own_ms = ask_ms(own, OUR_BOX, **asked)
            rounds.append(Round(mean((before, between)), floor_ms, own_ms))
    name = "first token over the model's own, chat page"
    return [Figure(name, *_over_the_model(rounds), "ms", Reach("ratio", 1.3))]


async def _socket_rounds(model_url: str, floor: str, ours: str) -> list[Round]:
    async with AsyncExitStack() as stack:
        bare = await stack.enter_async_context(talker(floor))
        own = await stack.enter_async_context(talker(ours))
        rounds = []
        for _ in range(WARM_UP + TURNS):
            before = await asyncio.to_thread(_model_first_ms, model_url)
            floor_s = (await bare.ask(QUESTION)).first_s
            between = await asyncio.to_thread(_model_first_ms, model_url)
            own_s = (await own.ask(QUESTION)).first_s
            rounds.append(Round(mean((before, between)), floor_s * 1000, own_s * 1000))
        return rounds


def _over_the_model(rounds: list[Round]) -> tuple[float, float]:
    """Return ours and the floor's median, without the model's."""
    counted = rounds[WARM_UP:]
    model_ms = median(one.model for one in counted)
    return (
        median(one.ours for one in counted) - model_ms,
        median(one.floor for one in counted) - model_ms,
    )


def _model_first_ms(model_url: str) -> float:
    """Return the model's own first token over a connection with nothing on top."""
    address = urlsplit(model_url)
    question = [{"role": "user", "content": QUESTION}]
    body = json.dumps({"model": "scripted", "stream": True, "messages": question}).encode()
    head = f"POST {address.path}/chat/completions HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection((address.hostname, address.port or 80)) as connection:
        began = time.perf_counter()
        connection.sendall(head.encode() + body)
        lines = connection.makefile("rb")
        next(line for line in lines if b'"word0"' in line)
        first_ms = (time.perf_counter() - began) * 1000
        next(line for line in lines if b"[DONE]" in line)
    return first_ms
