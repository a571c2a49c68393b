"""Whatever the race, a lazy value is made once."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from finchbot.lazy import Lazy, load

RACERS = 16


def test_racing_threads_make_the_value_once_and_share_it() -> None:
    start = threading.Barrier(RACERS)
    inside = threading.Event()
    made: list[object] = []

    def make() -> object:
        # Hold the door open until somebody else had the chance to come in as well.
        inside.wait(0.05)
        value = object()
        made.append(value)
        return value

    lazy = Lazy(make)

    def race(_: int) -> object:
        start.wait()
        return lazy.get()

    with ThreadPoolExecutor(RACERS) as pool:
        values = list(pool.map(race, range(RACERS)))
    assert len(made) == 1
    assert all(value is made[0] for value in values)


def test_a_failed_making_reaches_the_caller_and_the_next_one_tries_again() -> None:
    attempts: list[int] = []

    def make() -> str:
        attempts.append(1)
        if len(attempts) == 1:
            raise OSError("not yet")
        return "there"

    lazy = Lazy(make)
    with pytest.raises(OSError, match="not yet"):
        lazy.get()
    assert not lazy.ready
    assert lazy.get() == lazy.get() == "there"
    assert lazy.ready
    assert len(attempts) == 2


def test_none_is_a_value_like_any_other() -> None:
    made: list[None] = []
    lazy: Lazy[None] = Lazy(lambda: made.append(None))
    lazy.get()
    lazy.get()
    assert len(made) == 1


def test_nothing_is_made_before_it_is_asked_for() -> None:
    made: list[int] = []
    assert not Lazy(lambda: made.append(1)).ready
    assert made == []


def test_load_returns_the_module_of_that_name() -> None:
    assert load("finchbot.lazy").Lazy is Lazy
