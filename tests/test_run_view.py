from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from finchbot import events as ev
from finchbot.dispatch.closing import closing_events
from finchbot.events import RunEvent
from finchbot.ids import CallId, MessageId, RunId
from finchbot.run_view import Folding, RunView, SpokenItem, fold, fold_all
from tests.support.event_laws import DELTA, check_run
from tests.support.event_strategies import RUN, THREAD, any_event, is_whole, turn_events, whole_run

CANCELLED = ev.RunCancelled(thread_id=THREAD, run_id=RUN)


@given(whole_run(), st.data())
def test_dropping_deltas_never_changes_the_final_view(
    run: list[RunEvent], data: st.DataObject
) -> None:
    kept = [event for event in run if not isinstance(event, DELTA) or data.draw(st.booleans())]
    assert fold_all(RUN, kept) == fold_all(RUN, run)


@given(whole_run())
def test_a_run_that_ended_leaves_nothing_open(run: list[RunEvent]) -> None:
    check_run(RUN, run)
    view = fold_all(RUN, run)
    assert view.ended
    assert is_whole(view)


@given(turn_events(), st.data())
def test_closing_makes_any_beginning_lawful(turn: list[RunEvent], data: st.DataObject) -> None:
    begun = turn[: data.draw(st.integers(0, len(turn)))]
    closing = closing_events(fold_all(RUN, begun), CANCELLED, why="stopped")
    check_run(RUN, [*begun, *closing])
    partial = [event for event in closing if isinstance(event, ev.MessageCompleted)]
    assert all(event.partial for event in partial)


@given(whole_run())
def test_a_run_that_ended_needs_no_closing(run: list[RunEvent]) -> None:
    assert closing_events(fold_all(RUN, run), CANCELLED, why="x") == []


@given(st.lists(any_event(), max_size=30))
def test_folding_equals_folding_one_by_one(events: list[RunEvent]) -> None:
    one_by_one = RunView(RUN)
    folding = Folding(RUN)
    for event in events:
        one_by_one = fold(one_by_one, event)
        folding.add(event)
        assert folding.status == one_by_one.status
    assert folding.view == one_by_one


@given(st.lists(any_event(), max_size=30))
def test_events_of_other_runs_change_nothing(events: list[RunEvent]) -> None:
    own = [event for event in events if getattr(event, "run_id", RUN) == RUN]
    assert fold_all(RUN, own) == fold_all(RUN, events)


def test_a_retraction_drops_all_that_streamed_of_its_message() -> None:
    frame: dict[str, Any] = {"thread_id": THREAD, "run_id": RUN, "message_id": MessageId("m")}
    view = fold_all(
        RUN,
        [
            ev.RunStarted(thread_id=THREAD, run_id=RUN, model="m"),
            ev.TextDelta(**frame, text="plan"),
            ev.TextRetracted(**frame),
            ev.ReasoningDelta(**frame, text="plan"),
            ev.TextDelta(**frame, text="Hello"),
        ],
    )
    assert view.items == (SpokenItem(MessageId("m"), "Hello", "plan"),)
    assert view.answer == "Hello"


def test_a_run_waits_while_any_question_is_open() -> None:
    calls = [CallId("c1"), CallId("c2")]
    frame: dict[str, Any] = {"thread_id": THREAD, "run_id": RunId(RUN)}
    events: list[RunEvent] = [ev.RunStarted(**frame, model="m")]
    events += [
        ev.ToolCallStarted(**frame, call_id=call, name="exec", arguments={}) for call in calls
    ]
    events += [
        ev.ApprovalRequested(
            **frame, call_id=call, name="exec", arguments={}, reason="x", expires_at=ev.UNSTAMPED
        )
        for call in calls
    ]
    assert fold_all(RUN, events).status == "waiting"
    events.append(ev.ApprovalResolved(**frame, call_id=calls[0], decision="once"))
    assert fold_all(RUN, events).status == "waiting"
    events.append(ev.ApprovalResolved(**frame, call_id=calls[1], decision="deny"))
    assert fold_all(RUN, events).status == "running"
