"""Tool calls come together however a server cuts them, and are always an object."""

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finchbot.messages import INVALID_ARGUMENTS
from finchbot.providers.openai_calls import CallBuilder, ToolCall, parse_arguments, safe_name
from tests.support.strict_history import TOOL_NAME

Delta = dict[str, Any]
KEYS = st.text(max_size=8)
INT64 = st.integers(-(2**63), 2**63 - 1)
OBJECTS = st.dictionaries(KEYS, st.text(max_size=20) | INT64 | st.none(), max_size=4)


def built(*deltas: Delta, taken: tuple[str, ...] = ()) -> list[ToolCall]:
    builder = CallBuilder()
    for delta in deltas:
        builder.feed([delta])
    numbers = itertools.count(1)
    return builder.build(taken, lambda: f"made_{next(numbers)}")


def delta(arguments: object = None, **fields: Any) -> Delta:
    function = {key: fields.pop(key) for key in ("name",) if key in fields}
    if arguments is not None:
        function["arguments"] = arguments
    return {**fields, "function": function}


@given(OBJECTS, st.integers(min_value=1, max_value=9))
def test_arguments_survive_any_cut(arguments: dict[str, Any], size: int) -> None:
    raw = json.dumps(arguments)
    parts = [raw[at : at + size] for at in range(0, len(raw), size)]
    deltas = [delta(name="f", id="c1", index=0), *(delta(part, index=0) for part in parts)]
    assert built(*deltas) == [ToolCall("c1", "f", arguments)]


@given(OBJECTS, OBJECTS)
def test_parallel_calls_without_index_and_id_are_kept_apart(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    calls = built(delta(json.dumps(first), name="f"), delta(json.dumps(second), name="g"))
    assert [(c.name, c.arguments) for c in calls] == [("f", first), ("g", second)]
    assert [c.call_id for c in calls] == ["made_1", "made_2"]


def test_parallel_calls_that_all_have_index_zero_are_kept_apart() -> None:
    calls = built(
        delta("{}", name="f", id="a", index=0),
        delta('{"x"', name="g", id="b", index=0),
        delta(": 1}", index=0),
    )
    assert [(c.call_id, c.arguments) for c in calls] == [("a", {}), ("b", {"x": 1})]


def test_interleaved_parallel_calls_follow_their_index() -> None:
    calls = built(
        delta(name="f", id="a", index=0),
        delta(name="g", id="b", index=1),
        delta('{"x": ', index=0),
        delta('{"y": ', index=1),
        delta("1}", index=0),
        delta("2}", index=1),
    )
    assert [c.arguments for c in calls] == [{"x": 1}, {"y": 2}]


def test_a_server_that_repeats_name_and_id_makes_one_call() -> None:
    calls = built(*(delta(p, name="f", id="a", index=0) for p in ('{"x"', ": ", "1}")))
    assert calls == [ToolCall("a", "f", {"x": 1})]


def test_a_name_repeated_without_an_id_makes_one_call_while_the_arguments_are_open() -> None:
    calls = built(*(delta(p, name="f", index=0) for p in ('{"x"', ": 1}")))
    assert [(c.name, c.arguments) for c in calls] == [("f", {"x": 1})]


def test_arguments_sent_as_an_object_are_taken() -> None:
    assert built(delta({"x": 1}, name="f", id="a"))[0].arguments == {"x": 1}


def test_ids_used_before_or_twice_are_replaced() -> None:
    calls = built(
        delta("{}", name="f", id="call_0", index=0),
        delta("{}", name="g", id="call_1", index=1),
        delta("{}", name="h", id="call_1", index=2),
        taken=("call_0",),
    )
    assert [c.call_id for c in calls] == ["made_1", "call_1", "made_2"]


@pytest.mark.parametrize(
    "raw",
    [
        '{"command": "cd /x',
        "[1]",
        "1",
        "null",
        "{'a': 1}",
        '{"a": NaN}',
        '{"a": 9223372036854775808}',
        '{"a": ' * 65 + "1" + "}" * 65,
        '{"a": ' + "[" * 900 + "]" * 900 + "}",
    ],
)
def test_what_is_no_object_that_can_be_kept_stays_text(raw: str) -> None:
    assert parse_arguments(raw) == {INVALID_ARGUMENTS: raw}


@given(st.text())
def test_arguments_are_an_object_that_can_be_written_again(raw: str) -> None:
    json.loads(json.dumps(parse_arguments(raw)))
    assert isinstance(parse_arguments(raw), dict)


def test_arguments_as_deep_and_numbers_as_wide_as_can_be_kept_are_taken() -> None:
    raw = '{"a": ' * 63 + '{"a": 9223372036854775807}' + "}" * 63
    assert parse_arguments(raw) == json.loads(raw)


def test_what_cannot_be_kept_of_an_object_or_an_extra_is_left_out() -> None:
    wide = {"a": 10**30}
    odd = {"index": 0, "function": {"name": "f", "arguments": wide}, "extra_content": wide}
    [call] = built(odd)
    assert list(call.arguments) == [INVALID_ARGUMENTS]
    assert call.extra is None


def test_no_arguments_are_an_empty_object_and_a_wrapped_object_is_unwrapped() -> None:
    assert parse_arguments(" ") == {}
    assert parse_arguments('"{\\"a\\": 1}"') == {"a": 1}


@given(st.text())
def test_every_name_is_one_that_providers_take_back(name: str) -> None:
    assert TOOL_NAME.fullmatch(safe_name(name))


def test_good_names_stay_and_an_empty_one_is_no_tools() -> None:
    assert safe_name("read_file") == "read_file"
    assert safe_name("") == "unnamed"


def test_what_the_provider_wants_back_is_kept_as_it_came() -> None:
    extra = {"google": {"thought_signature": "abc"}}
    assert built({**delta("{}", name="f", id="a"), "extra_content": extra})[0].extra == extra
