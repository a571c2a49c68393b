"""The checker itself: lawful runs pass, each kind of breach is found."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given

from finchbot import events as ev
from finchbot.events import RunEvent
from finchbot.ids import CallId, MessageId, RunId
from tests.support.event_laws import check_laws, check_run
from tests.support.event_strategies import RUN, THREAD, message, whole_run

FRAME: dict[str, Any] = {"thread_id": THREAD, "run_id": RUN}
OTHER: dict[str, Any] = {"thread_id": THREAD, "run_id": RunId("run_2")}
M = MessageId("m")
LAWFUL: list[RunEvent] = [
    ev.MessageReceived(**FRAME, message=message(RUN)),
    ev.RunQueued(**FRAME, position=1),
    ev.RunStarted(**FRAME, model="x/y"),
    ev.TextDelta(**FRAME, message_id=M, text="a"),
    ev.TextDelta(**FRAME, message_id=M, text="b"),
    ev.MessageCompleted(**FRAME, message_id=M, text="ab"),
    ev.ToolCallStarted(**FRAME, call_id=CallId("c"), name="x", arguments={}),
    ev.ToolCallOutput(**FRAME, call_id=CallId("c"), text="x"),
    ev.ToolCallFinished(**FRAME, call_id=CallId("c"), output="y", is_error=False, elapsed_s=0.1),
    ev.RunFinished(**FRAME, usage=ev.Usage()),
]
END = LAWFUL[-1]


def stamped(events: list[RunEvent]) -> list[RunEvent]:
    return [event.model_copy(update={"seq": n}) for n, event in enumerate(events, start=1)]


@given(whole_run())
def test_whole_runs_are_lawful(run: list[RunEvent]) -> None:
    check_laws(stamped(run))


BREACHES: dict[str, Callable[[list[RunEvent]], list[RunEvent]]] = {
    "no end": lambda run: run[:-1],
    "two ends": lambda run: [*run, END],
    "something after the end": lambda run: [*run, run[3]],
    "no start": lambda run: [*run[:2], *run[3:]],
    "two starts": lambda run: [*run[:3], *run[2:]],
    "queued after the start": lambda run: [run[0], run[2], run[1], *run[3:]],
    "a message without an end": lambda run: [*run[:5], *run[6:]],
    "deltas that do not add up": lambda run: [*run[:4], *run[5:]],
    "a delta after its message": lambda run: [*run[:6], run[4], *run[6:]],
    "a message completed twice": lambda run: [*run[:6], *run[5:]],
    "a call without a result": lambda run: [*run[:8], END],
    "two results": lambda run: [*run[:9], run[8], END],
    "a result without a call": lambda run: [*run[:6], *run[8:]],
    "another run in between": lambda run: [
        *run[:3],
        ev.RunStarted(**OTHER, model="x/y"),
        *run[3:],
        ev.RunCancelled(**OTHER),
    ],
}


@pytest.mark.parametrize("breach", BREACHES.values(), ids=BREACHES)
def test_each_breach_is_found(
    breach: Callable[[list[RunEvent]], list[RunEvent]],
) -> None:
    check_laws(stamped(LAWFUL))
    with pytest.raises(AssertionError):
        check_laws(stamped(breach(LAWFUL)))


def test_gaps_and_restarts_of_the_numbers_are_found() -> None:
    events = stamped(LAWFUL)
    for broken in (events[1:], [*events[:4], *events[5:]], [*events[:5], *events[4:]]):
        with pytest.raises(AssertionError):
            check_laws(broken)


def test_a_run_under_way_may_be_open() -> None:
    check_run(RUN, LAWFUL[:5], ended=False)
    check_laws(stamped(LAWFUL[:8]), ended=False)
