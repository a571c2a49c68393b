"""What the suite promises every test."""

import asyncio
import os
import time
from pathlib import Path

import pytest
from blockbuster import BlockingError

from tests.support.clock import CountedIds, FakeClock
from tests.support.golden import Golden


def test_the_clock_stands_still_until_it_is_moved(clock: FakeClock) -> None:
    before = clock()
    assert clock() == before
    assert (clock.advance(1.5) - before).total_seconds() == 1.5
    assert clock() > before


def test_ids_count_per_prefix(ids: CountedIds) -> None:
    assert [ids("thr"), ids("run"), ids("thr")] == ["thr_0001", "run_0001", "thr_0002"]


def test_a_golden_file_is_written_on_request_and_compared_afterwards(tmp_path: Path) -> None:
    look = Golden(update=False, folder=tmp_path)
    with pytest.raises(AssertionError, match="--update-golden"):
        look("event.json", "a\r\n")
    Golden(update=True, folder=tmp_path)("event.json", "a\r\n")
    look("event.json", "a\r\n")
    with pytest.raises(AssertionError, match="has changed"):
        look("event.json", "a\n")


async def test_blocking_code_of_ours_fails_inside_the_loop() -> None:
    ours = compile("def nap():\n    time.sleep(0)\n", _inside_finchbot("nap.py"), "exec")
    names: dict[str, object] = {"time": time}
    # S102: code needs a file name under finchbot/ to count as ours, and no such file is wanted.
    exec(ours, names)  # noqa: S102
    nap = names["nap"]
    assert callable(nap)
    with pytest.raises(BlockingError):
        nap()
    await asyncio.to_thread(nap)


def _inside_finchbot(name: str) -> str:
    root = Path(__file__).resolve().parents[1]
    return os.fspath(root / "finchbot" / name)
