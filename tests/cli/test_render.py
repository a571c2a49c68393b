from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finchbot.cli.plain import plain
from finchbot.cli.render import Shown, render
from finchbot.cli.terminal import Piece
from finchbot.cli.voice import Voice
from finchbot.events import (
    ApprovalRequested,
    ErrorInfo,
    HistoryRepaired,
    MessageCompleted,
    ModelFallback,
    ReasoningDelta,
    RunCancelled,
    RunEvent,
    RunFailed,
    RunFinished,
    RunInterrupted,
    RunQueued,
    RunStarted,
    TextDelta,
    TextRetracted,
    ToolCallFinished,
    ToolCallStarted,
    Usage,
)
from finchbot.ids import CallId, MessageId, RunId, ThreadId, utc_now
from finchbot.run_view import RunView, fold_all
from tests.support.event_laws import check_run

RUN = RunId("run_1")
IN: dict[str, Any] = {"thread_id": ThreadId("thr_1"), "run_id": RUN}
VOICE = Voice.of({}, "en-US")
WORDS = st.text(st.sampled_from("ab \n名\x1b\r"), min_size=1, max_size=6)


def shown(events: Iterable[RunEvent], *, streaming: bool) -> list[Piece]:
    state, pieces = Shown(RunView(RUN), streaming), list[Piece]()
    for event in events:
        state, more = render(state, event, VOICE)
        pieces += more
    return pieces


def text_of(pieces: Iterable[Piece], kind: str) -> str:
    return "".join(piece.text for piece in pieces if piece.kind == kind)


def message(number: int, thought: Sequence[str], words: Sequence[str]) -> list[RunEvent]:
    mid = MessageId(f"msg_{number}")
    reasoning: list[RunEvent] = [
        ReasoningDelta(**IN, message_id=mid, text=text) for text in thought
    ]
    said: list[RunEvent] = [TextDelta(**IN, message_id=mid, text=text) for text in words]
    whole = MessageCompleted(**IN, message_id=mid, text="".join(words), reasoning="".join(thought))
    return [*reasoning, *said, whole]


def tool(number: int, is_error: bool) -> list[RunEvent]:
    call = CallId(f"call_{number}")
    return [
        ToolCallStarted(**IN, call_id=call, name="read_file", arguments={"path": "a\x1b.md"}),
        ToolCallFinished(
            **IN, call_id=call, output="the\noutput", is_error=is_error, elapsed_s=0.25
        ),
    ]


@st.composite
def runs(draw: st.DrawFn) -> list[RunEvent]:
    events: list[RunEvent] = [RunStarted(**IN, model="builtin/builtin")]
    for number in range(draw(st.integers(0, 3))):
        events += message(
            number,
            draw(st.lists(WORDS, max_size=2)),
            draw(st.lists(WORDS, max_size=4)),
        )
        if draw(st.booleans()):
            events += tool(number, draw(st.booleans()))
    events.append(RunFinished(**IN, usage=Usage()))
    check_run(RUN, events)
    return events


@given(events=runs(), data=st.data())
def test_the_answer_on_the_screen_is_the_answer_whatever_deltas_were_lost(
    events: list[RunEvent], data: st.DataObject
) -> None:
    kept = [
        event
        for event in events
        if not isinstance(event, TextDelta | ReasoningDelta) or data.draw(st.booleans())
    ]
    said = [event.text for event in events if isinstance(event, MessageCompleted) and event.text]
    whole = "".join(f"{plain(text)}\n" for text in said)
    assert text_of(shown(kept, streaming=False), "answer") == whole
    assert text_of(shown(events, streaming=True), "answer") == whole
    streamed = text_of(shown(kept, streaming=True), "answer")
    assert all(plain(text) in streamed for text in said)


@given(events=runs(), streaming=st.booleans())
def test_notes_begin_on_a_line_of_their_own(events: list[RunEvent], streaming: bool) -> None:
    screen = ""
    for piece in shown(events, streaming=streaming):
        if piece.kind != "answer":
            assert screen == "" or screen.endswith("\n")
        screen += piece.text
    assert screen == "" or screen.endswith("\n")
    assert "\x1b" not in screen
    assert fold_all(RUN, events).ended


def test_a_tool_step_is_told_with_what_it_touches_and_how_it_went() -> None:
    assert text_of(shown(tool(1, is_error=False), streaming=True), "note") == (
        "· Read a file a␛.md\n  ✓ Read a file, 0.2 s\n"
    )
    assert text_of(shown(tool(1, is_error=True), streaming=True), "note") == (
        "· Read a file a␛.md\n  ✗ the output\n"
    )


def test_text_that_turns_out_to_be_a_thought_is_said_to_be_one() -> None:
    mid = MessageId("m")
    events: list[RunEvent] = [
        TextDelta(**IN, message_id=mid, text="plan"),
        TextRetracted(**IN, message_id=mid),
        TextDelta(**IN, message_id=mid, text="Hello"),
        MessageCompleted(**IN, message_id=mid, text="Hello", reasoning="plan"),
    ]
    pieces = shown(events, streaming=True)
    assert text_of(pieces, "answer") == "plan\nHello\n"
    assert text_of(pieces, "note") == "(what stands above was a thought)\n"
    assert text_of(shown(events, streaming=False), "answer") == "Hello\n"


def test_thinking_is_one_line() -> None:
    events: list[RunEvent] = [
        ReasoningDelta(**IN, message_id=MessageId("m"), text=text) for text in "abc"
    ]
    assert shown(events, streaming=True) == [Piece("note", "Thinking…\n")]
    assert shown(events, streaming=False) == []


@pytest.mark.parametrize(
    ("event", "piece"),
    [
        (RunQueued(**IN, position=1), Piece("note", "Waits for the answer before it.\n")),
        (RunCancelled(**IN), Piece("note", "Stopped.\n")),
        (RunFailed(**IN, error=ErrorInfo(code="x", detail="No\x1b.")), Piece("error", "No␛.\n")),
    ],
)
def test_how_a_run_goes_is_told(event: RunEvent, piece: Piece) -> None:
    assert shown([event], streaming=False) == [piece]


@pytest.mark.parametrize(
    "event",
    [
        RunInterrupted(**IN, reason="shutdown"),
        HistoryRepaired(**IN, changes=("result_added",)),
        ModelFallback(**IN | {"from": "a/b"}, to="c/d", code="x"),
        ApprovalRequested(
            **IN, call_id=CallId("c"), name="exec", arguments={}, reason="r", expires_at=utc_now()
        ),
    ],
)
def test_every_notice_is_one_line(event: RunEvent) -> None:
    [piece] = shown([event], streaming=True)
    assert piece.kind == "note"
    assert piece.text.count("\n") == 1
