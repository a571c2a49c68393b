import json
import math
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from finchbot import events as ev
from finchbot.events import RunEvent, canonical, event_adapter
from finchbot.ids import CallId, MessageId, RunId, ThreadId
from tests.support.event_strategies import NOON, any_event, message
from tests.support.golden import Golden

FRAME: dict[str, Any] = {"thread_id": ThreadId("thr_1"), "seq": 7, "at": NOON}
IN_RUN: dict[str, Any] = {**FRAME, "run_id": RunId("run_1")}
MESSAGE: dict[str, Any] = {"message_id": MessageId("msg_2")}
CALL: dict[str, Any] = {"call_id": CallId("call_1")}
FALLBACK: dict[str, Any] = {"from": "a/b", "to": "builtin/builtin", "code": "provider.failed"}
EXAMPLES: list[RunEvent] = [
    ev.MessageReceived(**IN_RUN, message=message(RunId("run_1"), "你好")),
    ev.RunQueued(**IN_RUN, position=1),
    ev.RunStarted(**IN_RUN, model="builtin/builtin"),
    ev.MemoryRecalled(**IN_RUN, hits=({"record": {"id": "mem_1", "text": "likes tea"}},)),
    ev.HistoryRepaired(**IN_RUN, changes=("result_added",)),
    ev.ContextCompacted(**IN_RUN, before_tokens=9000, after_tokens=3000),
    ev.ModelFallback(**IN_RUN, **FALLBACK),
    ev.ReasoningDelta(**IN_RUN, **MESSAGE, text="Let me see."),
    ev.TextDelta(**IN_RUN, **MESSAGE, text="Hello"),
    ev.TextRetracted(**IN_RUN, **MESSAGE),
    ev.MessageCompleted(**IN_RUN, **MESSAGE, text="Hello", reasoning="Let me see."),
    ev.ToolCallStarted(**IN_RUN, **CALL, name="read_file", arguments={"path": "notes.md"}),
    ev.ToolCallOutput(**IN_RUN, **CALL, text="1 line"),
    ev.ToolCallFinished(**IN_RUN, **CALL, output="1\ttea", is_error=False, elapsed_s=0.25),
    ev.ApprovalRequested(
        **IN_RUN,
        **CALL,
        name="exec",
        arguments={"command": "ls"},
        reason="not_allowed",
        expires_at=NOON,
    ),
    ev.ApprovalResolved(**IN_RUN, **CALL, decision="once"),
    ev.RunFinished(**IN_RUN, usage=ev.Usage(input_tokens=10, output_tokens=5, ttft_ms=120)),
    ev.RunCancelled(**IN_RUN),
    ev.RunInterrupted(**IN_RUN, reason="crash"),
    ev.RunFailed(
        **IN_RUN,
        error=ev.ErrorInfo(code="provider.failed", detail="The model answered with an error."),
    ),
    ev.ThreadTitled(**FRAME, title="Tea", source="user"),
    ev.ThreadUpdated(**FRAME, fields={"pinned": True}),
    ev.ThreadDeleted(**FRAME),
]


def test_every_event_type_has_an_example() -> None:
    types = get_args(get_args(RunEvent)[0])
    assert {type(event) for event in EXAMPLES} == set(types)


@pytest.mark.parametrize("event", EXAMPLES, ids=lambda event: event.type)
def test_the_wire_form_of_each_event_is_the_agreed_one(event: RunEvent, golden: Golden) -> None:
    wire = json.dumps(json.loads(event.model_dump_json()), ensure_ascii=False, indent=2)
    golden(f"events/{event.type}.json", f"{wire}\n")


@given(any_event())
def test_json_and_back_is_identity(event: RunEvent) -> None:
    assert event_adapter.validate_json(event.model_dump_json()) == event
    assert canonical(event) == event


@pytest.mark.parametrize("event", EXAMPLES, ids=lambda event: event.type)
def test_an_unknown_field_is_refused(event: RunEvent) -> None:
    wire = {**json.loads(event.model_dump_json()), "surprise": 1}
    with pytest.raises(ValidationError):
        event_adapter.validate_json(json.dumps(wire))


def test_times_are_utc_with_milliseconds_whatever_the_zone() -> None:
    shanghai = timezone(timedelta(hours=8))
    event = ev.ThreadDeleted(
        thread_id=ThreadId("t"), seq=1, at=datetime(2026, 1, 2, 8, 0, 0, 123999, shanghai)
    )
    assert json.loads(event.model_dump_json())["at"] == "2026-01-02T00:00:00.123Z"
    assert canonical(event).at == datetime(2026, 1, 2, 0, 0, 0, 123000, UTC)


def test_lone_surrogates_become_replacement_characters_everywhere() -> None:
    half = "a\ud83d"
    started = ev.ToolCallStarted(**IN_RUN, **CALL, name=half, arguments={half: [half, {"k": half}]})
    mended = canonical(started)
    assert mended == ev.ToolCallStarted(
        **IN_RUN, **CALL, name="a\ufffd", arguments={"a\ufffd": ["a\ufffd", {"k": "a\ufffd"}]}
    )
    assert event_adapter.validate_json(mended.model_dump_json()) == mended
    delta = canonical(ev.TextDelta(**IN_RUN, **MESSAGE, text=half))
    assert isinstance(delta, ev.TextDelta)
    assert delta.text == "a\ufffd"


@given(st.text(alphabet=st.sampled_from("a\ud83d\ude00é"), max_size=8), st.integers(0, 8))
def test_mending_pieces_and_mending_the_whole_agree(text: str, cut: int) -> None:
    assert ev.sound_text(text[:cut]) + ev.sound_text(text[cut:]) == ev.sound_text(text)


def test_numbers_json_cannot_hold_become_null() -> None:
    started = ev.ToolCallStarted(
        **IN_RUN, **CALL, name="x", arguments={"a": math.nan, "b": [math.inf]}
    )
    mended = canonical(started)
    assert isinstance(mended, ev.ToolCallStarted)
    assert mended.arguments == {"a": None, "b": [None]}
