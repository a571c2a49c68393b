"""Who is here, and who has gone, by a clock that stands still until it is moved."""

import asyncio

import pytest

from finchbot.errors import ThreadError
from finchbot.ids import UserId
from finchbot.server.visits import Visits

ANN, BO = UserId("visitor_ann"), UserId("visitor_bo")


class Leaving:
    """Notes who was said farewell to; `gate` holds the farewell back."""

    def __init__(self) -> None:
        self.now = 0.0
        self.gone: list[UserId] = []
        self.fails = False
        self.gate = asyncio.Event()
        self.gate.set()
        self.begun = asyncio.Event()

    async def farewell(self, user_id: UserId) -> None:
        self.begun.set()
        await self.gate.wait()
        if self.fails:
            raise ThreadError("store.failed", reason="disk full")
        self.gone.append(user_id)

    def visits(self, *, most: int = 100) -> Visits:
        return Visits(self.farewell, lambda: self.now, away_s=30, most=most)


@pytest.fixture
def leaving() -> Leaving:
    return Leaving()


async def test_a_visitor_has_gone_when_away_for_the_whole_time(leaving: Leaving) -> None:
    visits = leaving.visits()
    with visits.here(ANN):
        pass
    leaving.now = 29
    await visits.see_off()
    assert leaving.gone == []
    leaving.now = 30
    await visits.see_off()
    assert leaving.gone == [ANN]
    assert len(visits) == 0


async def test_an_open_stream_keeps_a_visitor_here_however_long(leaving: Leaving) -> None:
    visits = leaving.visits()
    with visits.here(ANN):
        with visits.here(ANN):
            pass
        leaving.now = 10_000
        await visits.see_off()
        assert leaving.gone == []
    leaving.now += 29
    await visits.see_off()
    assert leaving.gone == []
    leaving.now += 1
    await visits.see_off()
    assert leaving.gone == [ANN]


async def test_every_visit_begins_the_time_anew(leaving: Leaving) -> None:
    visits = leaving.visits()
    for leaving.now in (0, 20, 40):
        with visits.here(ANN):
            pass
    leaving.now = 69
    await visits.see_off()
    assert leaving.gone == []


async def test_who_comes_back_while_another_is_seen_off_stays(leaving: Leaving) -> None:
    visits = leaving.visits()
    for visitor in (ANN, BO):
        with visits.here(visitor):
            pass
    leaving.now = 60
    leaving.gate.clear()
    seeing_off = asyncio.create_task(visits.see_off())
    await leaving.begun.wait()
    with visits.here(BO):
        leaving.gate.set()
        await seeing_off
    assert leaving.gone == [ANN]
    assert len(visits) == 1


async def test_what_could_not_be_removed_is_removed_later(leaving: Leaving) -> None:
    visits = leaving.visits()
    with visits.here(ANN):
        pass
    leaving.now, leaving.fails = 30, True
    await visits.see_off()
    assert leaving.gone == []
    leaving.now, leaving.fails = 60, False
    await visits.see_off()
    assert leaving.gone == [ANN]


async def test_of_too_many_visitors_those_away_longest_go_first(leaving: Leaving) -> None:
    visits = leaving.visits(most=2)
    strangers = [UserId(f"visitor_{number}") for number in range(5)]
    with visits.here(ANN):
        for leaving.now, stranger in enumerate(strangers):
            with visits.here(stranger):
                pass
        with visits.here(strangers[0]):
            pass
        await visits.see_off()
    assert leaving.gone == strangers[1:]
    assert len(visits) == 2


async def test_the_watch_sees_off_by_itself_and_ends_with_its_block(leaving: Leaving) -> None:
    visits = Visits(leaving.farewell, lambda: leaving.now, away_s=0.05)
    async with visits.watched():
        with visits.here(ANN):
            pass
        leaving.now = 1
        await leaving.begun.wait()
    assert leaving.gone == [ANN]
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "visits"]
