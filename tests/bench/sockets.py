"""Many sockets at once, each with an answer of 50 tokens a second: how long until all are done."""

import asyncio
import time
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median

from tests.bench.processes import finchbot, model, running
from tests.bench.report import Figure, Reach
from tests.bench.talk import talker

TOKENS = 200
PER_SECOND = 50.0
IDEAL_S = TOKENS / PER_SECOND
ROUNDS = 3
FEW, MANY = 20, 100


def many_at_once(folder: Path) -> list[Figure]:
    """Measure 20 sockets against the ideal, and 100 against a bare agent."""
    floor_program = "tests.bench.floors.bare_agent"
    with (
        model(tokens=TOKENS, per_second=PER_SECOND) as model_url,
        running(floor_program, model_url) as floor,
        finchbot(folder / "home", model_url) as ours,
    ):
        for url in (ours.url, floor):
            asyncio.run(_elapsed_s(url, 2))
        few = _medians(ours.url, floor, FEW)
        many = _medians(ours.url, floor, MANY)
    return [
        Figure(f"{FEW} sockets, against the ideal", few[0], IDEAL_S, "s", Reach("ratio", 1.2)),
        Figure(f"{FEW} sockets, against create_agent", *few, "s"),
        Figure(f"{MANY} sockets, against create_agent", *many, "s", Reach("ratio", 1.3)),
        Figure(f"{MANY} sockets, against the ideal", many[0], IDEAL_S, "s"),
    ]


def _medians(ours: str, floor: str, number: int) -> tuple[float, float]:
    pairs = [[asyncio.run(_elapsed_s(url, number)) for url in (floor, ours)] for _ in range(ROUNDS)]
    floors, own = zip(*pairs, strict=True)
    return median(own), median(floors)


async def _elapsed_s(url: str, number: int) -> float:
    """Return the time from the first question to the last word of the last answer."""
    async with AsyncExitStack() as stack:
        talkers = [await stack.enter_async_context(talker(url)) for _ in range(number)]
        began = time.perf_counter()
        heard = await asyncio.gather(*(one.ask("Tell me something.") for one in talkers))
        took = time.perf_counter() - began
    assert all(one.words == TOKENS for one in heard), "an answer is not whole"
    return took
