"""A stream is read whole whatever its cuts, and only its words are text."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finchbot.providers.openai_stream import (
    MAX_WHOLE_BYTES,
    Answer,
    BadStream,
    EventLines,
    Piece,
    StreamRefused,
    TokenCounts,
    read_usage,
)

FIELDS = st.sampled_from(
    (
        "choices",
        "delta",
        "message",
        "content",
        "text",
        "type",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "index",
        "id",
        "model",
        "usage",
        "prompt_tokens",
        "prompt_tokens_details",
        "finish_reason",
        "reasoning",
        "thinking",
    )
)


def event(delta: dict[str, Any], **choice: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, **choice}]}


def read(*events: Mapping[str, Any]) -> tuple[Piece, Answer]:
    answer = Answer()
    return answer.feed(events), answer


@given(st.lists(st.text(max_size=12), max_size=6), st.integers(min_value=1, max_value=40))
def test_events_are_the_same_whatever_the_blocks(texts: list[str], size: int) -> None:
    events = [event({"content": text}) for text in texts]
    raw = "".join(f": alive\r\n\r\ndata: {json.dumps(e)}\n\n" for e in events).encode()
    raw += b"data: [DONE]\n\n"
    lines = EventLines()
    found = [e for at in range(0, len(raw), size) for e in lines.feed(raw[at : at + size])]
    assert found == events
    assert lines.done
    assert lines.finish() == []


def test_a_last_line_without_its_line_break_is_read() -> None:
    lines = EventLines()
    assert lines.feed(b'data: {"a": 1}') == []
    assert lines.finish() == [{"a": 1}]


def test_an_answer_that_was_not_streamed_is_read_whole() -> None:
    whole = {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}
    lines = EventLines()
    assert lines.feed(json.dumps(whole, indent=1).encode()) == []
    piece, answer = read(*lines.finish())
    assert (piece.text, answer.finish_reason) == ("hi", "stop")


def test_data_that_is_no_json_is_a_bad_stream() -> None:
    for data in (b"data: {oops\n", b"data: [1]\n", b"data: " + b"[" * 100_000 + b"\n"):
        with pytest.raises(BadStream):
            EventLines().feed(data)


def test_a_line_without_an_end_is_a_bad_stream_and_is_not_gathered_for_ever() -> None:
    lines = EventLines()
    half = b"x" * (MAX_WHOLE_BYTES // 2)
    assert lines.feed(half) == lines.feed(half) == []
    with pytest.raises(BadStream):
        lines.feed(b"x")


def test_an_error_inside_the_stream_is_raised() -> None:
    with pytest.raises(StreamRefused) as raised:
        EventLines().feed(b'data: {"error": {"code": 429}}\n')
    assert raised.value.error == {"code": 429}


@pytest.mark.parametrize(
    ("delta", "expected"),
    [
        ({"role": "assistant"}, Piece()),
        ({"role": "assistant", "content": None}, Piece()),
        ({"content": "hi"}, Piece("hi")),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, Piece("ab")),
        ({"content": ["a", {"type": "image_url", "image_url": {"url": "x"}}]}, Piece("a")),
        ({"content": [{"type": "thinking", "thinking": "hm"}]}, Piece("", "hm")),
        (
            {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]},
            Piece("", "hm"),
        ),
        ({"content": None, "reasoning_content": "hm"}, Piece("", "hm")),
        ({"reasoning": "hm", "content": ""}, Piece("", "hm")),
        ({"content": None, "refusal": "I cannot"}, Piece("I cannot")),
    ],
)
def test_words_are_found_in_every_shape_of_a_delta(delta: dict[str, Any], expected: Piece) -> None:
    assert read(event(delta))[0] == expected


def test_events_without_choices_or_with_empty_ones_say_nothing() -> None:
    assert read({"choices": []}, {"choices": None}, {"id": "x"}, event({}))[0] == Piece()
    assert read({"choices": [{"index": 0, "delta": None}]})[0] == Piece()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(FIELDS, JSON, max_size=4))
def test_no_shape_of_an_event_breaks_the_reading(odd: dict[str, Any]) -> None:
    piece, answer = read(odd, event(odd))
    assert isinstance(piece.text + piece.reasoning, str)
    json.dumps([call.arguments for call in answer.tool_calls((), lambda: "made")])


def test_events_that_came_together_are_one_piece() -> None:
    thought = event({"reasoning_content": "h"}), event({"reasoning_content": "m"})
    assert read(*thought, event({"content": "a"}), event({"content": "b"}))[0] == Piece("ab", "hm")


def test_the_last_finish_reason_and_model_are_kept() -> None:
    answer = read(event({"content": "a"}), event({}, finish_reason="length"), {"model": "m"})[1]
    assert (answer.finish_reason, answer.model) == ("length", "m")


@pytest.mark.parametrize(
    ("usage", "cached"),
    [
        ({"prompt_tokens_details": {"cached_tokens": 5}}, 5),
        ({"prompt_cache_hit_tokens": 5}, 5),
        ({"cached_tokens": 5}, 5),
        ({"prompt_tokens_details": None}, 0),
    ],
)
def test_cached_tokens_are_found_in_every_spelling(usage: dict[str, Any], cached: int) -> None:
    counts = read_usage({"prompt_tokens": 9, "completion_tokens": 4, **usage})
    assert counts == TokenCounts(9, 4, cached)


def test_a_count_that_no_answer_can_have_is_none() -> None:
    assert read_usage({"prompt_tokens": 10**30, "completion_tokens": -4}) == TokenCounts()


def test_usage_is_found_where_groq_puts_it() -> None:
    answer = read({"choices": [], "x_groq": {"usage": {"prompt_tokens": 3}}})[1]
    assert answer.counts == TokenCounts(input=3)
