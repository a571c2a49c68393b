"""The checker finds what it is there to find, and lets a good history pass."""

import copy
from typing import Any

import pytest

from tests.support.strict_history import check_history

Wire = dict[str, Any]


def call(call_id: str = "c1", name: str = "read_file", arguments: str = '{"path": "a"}') -> Wire:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def result(call_id: str = "c1", content: object = "done") -> Wire:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def said(content: object, *calls: Wire) -> Wire:
    message: Wire = {"role": "assistant", "content": content}
    return {**message, "tool_calls": list(calls)} if calls else message


USER: Wire = {"role": "user", "content": "hello"}
SYSTEM: Wire = {"role": "system", "content": "be kind"}
GOOD: list[Wire] = [
    SYSTEM,
    USER,
    said(None, call("c1"), call("c2")),
    result("c1"),
    result("c2"),
    said("both read"),
    {"role": "user", "content": [{"type": "text", "text": "thanks"}]},
]


def test_a_history_with_calls_and_results_in_their_place_passes() -> None:
    check_history(GOOD)
    check_history(GOOD[:5])


@pytest.mark.parametrize(
    ("reason", "messages"),
    [
        ("no messages", []),
        ("nothing but system", [SYSTEM]),
        ("starts with assistant", [said("hi"), USER]),
        ("ends with the assistant", [USER, said("hi")]),
        ("system in the middle", [USER, said("hi"), SYSTEM, USER]),
        ("two user messages in a row", [USER, USER]),
        ("two assistant messages in a row", [USER, said("a"), said("b"), USER]),
        ("unknown role", [{"role": "bot", "content": "x"}]),
        ("have no result", [USER, said(None, call())]),
        ("have no result", [USER, said(None, call()), USER]),
        ("have no result", [USER, said(None, call("c1"), call("c2")), result("c1"), USER]),
        ("answers no open call", [USER, said("hi"), result("c1")]),
        ("answers no open call", [USER, said(None, call()), result(), result()]),
        ("answers no open call", [USER, said(None, call()), result("other")]),
        ("duplicate call id", [USER, said(None, call(), call()), result(), result()]),
        ("no JSON object", [USER, said(None, call(arguments='{"a": ')), result()]),
        ("no JSON object", [USER, said(None, call(arguments="[1]")), result()]),
        ("no JSON object", [USER, said(None, call(arguments="")), result()]),
        ("has the name", [USER, said(None, call(name="")), result()]),
        ("has the name", [USER, said(None, call(name="a b")), result()]),
        ("without an id", [USER, said(None, call("")), result("")]),
        ("no type", [USER, said(None, {**call(), "type": None}), result()]),
        ("empty text", [{"role": "user", "content": " \n"}]),
        ("empty text", [USER, said(""), USER]),
        ("empty text", [USER, said(None, call()), result(content="")]),
        ("empty text block", [{"role": "user", "content": [{"type": "text", "text": ""}]}]),
        ("neither text nor a list", [{"role": "user", "content": None}]),
        ("neither text nor a list", [USER, said(None), USER]),
        ("empty list", [USER, {**said("x"), "tool_calls": []}, USER]),
        ("user carries tool calls", [{**USER, "tool_calls": [call()]}]),
    ],
)
def test_each_way_to_spoil_a_history_is_named(reason: str, messages: list[Wire]) -> None:
    with pytest.raises(AssertionError, match=reason):
        check_history(messages)


def test_checking_changes_nothing() -> None:
    before = copy.deepcopy(GOOD)
    check_history(GOOD)
    assert before == GOOD
