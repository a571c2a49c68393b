"""One long thread: what 500 turns leave on disk, and whether the last is as quick as the 50th."""

import asyncio
from pathlib import Path
from statistics import median

from finchbot.home import Home
from tests.bench.processes import finchbot, model
from tests.bench.report import Figure, Reach
from tests.bench.talk import Heard, talker

TURNS = 510
EARLY, LATE = 50, 500
AROUND = 10
TOOL_EVERY = 5
ANSWER_WORDS = 50
QUESTION = "Question {number}: " + "what do you make of it? " * 8
MB = 1_000_000


def one_long_thread(folder: Path) -> list[Figure]:
    """Talk for 500 turns, with two tool calls every fifth, and look at the files."""
    home = folder / "home"
    with model(tokens=ANSWER_WORDS, tool_every=TOOL_EVERY) as url, finchbot(home, url) as server:
        heard, largest = asyncio.run(_talk(server.url, Home(home)))
    threads_mb = _size_mb(Home(home).threads_db)
    calls = sum(turn.tool_calls for turn in heard)
    assert abs(calls - 2 * TURNS / TOOL_EVERY) < 0.2 * TURNS, f"{calls} tool calls"
    early, late = (_around(heard, number) * 1000 for number in (EARLY, LATE))
    return [
        Figure(
            f"checkpoints.db over {LATE} turns, WAL too", largest, None, "MB", Reach("ours", 10)
        ),
        Figure(f"turn {LATE}, against turn {EARLY}", late, early, "ms", Reach("ratio", 2)),
        Figure(f"threads.db after {LATE} turns", threads_mb, None, "MB"),
    ]


async def _talk(url: str, home: Home) -> tuple[list[Heard], float]:
    """Return what was heard, and how large the checkpoints' files ever were (MB)."""
    heard, largest = [], 0.0
    async with talker(url) as one:
        for number in range(1, TURNS + 1):
            heard.append(await one.ask(QUESTION.format(number=number)))
            assert heard[-1].words == ANSWER_WORDS, "an answer is not whole"
            largest = max(largest, _size_mb(home.checkpoints_db))
    return heard, largest


def _around(heard: list[Heard], number: int) -> float:
    """Return the median of the turns around one, so that tool calls weigh the same in each."""
    return median(turn.whole_s for turn in heard[number - 1 - AROUND : number + AROUND])


def _size_mb(file: Path) -> float:
    """Return the size of a database and its write-ahead log."""
    parts = (file, file.with_name(f"{file.name}-wal"))
    return sum(part.stat().st_size for part in parts if part.exists()) / MB
