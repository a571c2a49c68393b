from hypothesis import given
from hypothesis import strategies as st

from finchbot import events as ev
from finchbot.events import RunEvent
from finchbot.ids import MessageId
from finchbot.threads.rows import ROW_CHARACTERS, Row, decode, encode
from tests.support.event_strategies import RUN, THREAD, any_event, moments


def stamped(events: list[RunEvent], times: list[int] | None = None) -> list[RunEvent]:
    drawn = times or [0] * len(events)
    return [
        event.model_copy(update={"seq": n, "at": ev.UNSTAMPED.replace(year=2026 + at % 3)})
        for n, (event, at) in enumerate(zip(events, drawn, strict=True), start=1)
    ]


def decoded(rows: list[Row]) -> list[RunEvent]:
    return [event for row in rows for event in decode(THREAD, row)]


def delta(text: str, message: str = "m") -> RunEvent:
    return ev.TextDelta(thread_id=THREAD, run_id=RUN, message_id=MessageId(message), text=text)


@given(st.lists(any_event(), max_size=30), st.data())
def test_rows_give_back_every_event_exactly(events: list[RunEvent], data: st.DataObject) -> None:
    log = [
        event.model_copy(update={"seq": n, "at": data.draw(moments)})
        for n, event in enumerate(events, start=1)
    ]
    rows = encode(log)
    assert decoded(rows) == log
    begins = [row.seq for row in rows]
    ends = [row.last_seq for row in rows]
    assert [1, *(end + 1 for end in ends)] == [*begins, len(log) + 1]


@given(st.lists(any_event(), max_size=30), st.data())
def test_rows_written_in_batches_are_those_written_at_once(
    events: list[RunEvent], data: st.DataObject
) -> None:
    log = stamped(events)
    rows: list[Row] = []
    rest = log
    while rest:
        size = data.draw(st.integers(1, len(rest)))
        batch = encode(rest[:size], last=rows[-1] if rows else None)
        if rows and batch[0].seq == rows[-1].seq:
            rows.pop()
        rows += batch
        rest = rest[size:]
    assert rows == encode(log)


def test_consecutive_deltas_of_a_message_are_one_row() -> None:
    log = stamped([delta("好", "m"), delta("", "m"), delta("!\0", "m"), delta("x", "other")])
    rows = encode(log)
    assert [(row.seq, row.last_seq) for row in rows] == [(1, 3), (4, 4)]
    assert decoded(rows) == log


def test_a_row_stops_growing_at_its_limit() -> None:
    log = stamped([delta("x" * 1000) for _ in range(40)])
    rows = encode(log)
    assert len(rows) == 3
    assert all(len(row.data) < 2 * ROW_CHARACTERS for row in rows)
    assert decoded(rows) == log
