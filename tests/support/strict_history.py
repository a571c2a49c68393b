"""The strict history checker: what no provider accepts, the test server does not accept either."""

import json
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")

WireMessage = Mapping[str, Any]


def check_history(messages: Sequence[WireMessage]) -> None:
    """Hold the messages of one request against the rules of the strictest provider.

    Args:
        messages: As they stand in the request's body, OpenAI protocol.

    Raises:
        AssertionError: With the position and the reason. Unpaired tool calls, results that do
            not follow directly, duplicate ids, arguments that are no JSON object, empty text,
            wrong order of roles.
    """
    _require(isinstance(messages, list) and bool(messages), "there are no messages")
    for at, message in enumerate(messages):
        _check_message(at, message)
    _check_pairing(messages)
    _check_order(messages)


def _check_message(at: int, message: WireMessage) -> None:
    role = message.get("role")
    _require(role in ROLES, f"message {at}: unknown role {role!r}")
    calls = message.get("tool_calls")
    _require(calls is None or role == "assistant", f"message {at}: {role} carries tool calls")
    _require(calls is None or bool(calls), f"message {at}: tool_calls is an empty list")
    if not (calls and message.get("content") is None):
        _check_content(at, message.get("content"), may_be_empty=bool(calls))
    for call in calls or ():
        _check_call(at, call)
    if role == "tool":
        call_id = message.get("tool_call_id")
        _require(isinstance(call_id, str) and bool(call_id), f"message {at}: result without an id")


def _check_content(at: int, content: object, *, may_be_empty: bool) -> None:
    if isinstance(content, str):
        _require(may_be_empty or bool(content.strip()), f"message {at}: empty text")
        return
    _require(isinstance(content, list), f"message {at}: content is neither text nor a list")
    assert isinstance(content, list)
    _require(bool(content), f"message {at}: content is an empty list")
    for block in content:
        _require(
            isinstance(block, dict) and block.get("type") in {"text", "image_url", "file"},
            f"message {at}: unknown content block",
        )
        _require(
            block["type"] != "text" or bool(str(block.get("text", "")).strip()),
            f"message {at}: empty text block",
        )


def _check_call(at: int, call: Mapping[str, Any]) -> None:
    call_id = call.get("id")
    _require(isinstance(call_id, str) and bool(call_id), f"message {at}: tool call without an id")
    _require(call.get("type") == "function", f"message {at}: tool call {call_id} has no type")
    function = call.get("function") or {}
    name = function.get("name")
    _require(
        isinstance(name, str) and TOOL_NAME.fullmatch(name) is not None,
        f"message {at}: tool call {call_id} has the name {name!r}",
    )
    try:
        arguments = json.loads(function["arguments"])
    except (KeyError, TypeError, ValueError):
        arguments = None
    _require(
        isinstance(arguments, dict),
        f"message {at}: the arguments of {call_id} are no JSON object",
    )


def _check_order(messages: Sequence[WireMessage]) -> None:
    spoken = [(at, m["role"]) for at, m in enumerate(messages)]
    while spoken and spoken[0][1] in {"system", "developer"}:
        spoken.pop(0)
    _require(bool(spoken), "there is nothing but system messages")
    _require(spoken[0][1] == "user", f"message {spoken[0][0]}: the talk starts with {spoken[0][1]}")
    _require(spoken[-1][1] in {"user", "tool"}, "the talk ends with the assistant")
    for (_, before), (at, role) in pairwise(spoken):
        _require(role not in {"system", "developer"}, f"message {at}: {role} in the middle")
        _require(role == "tool" or role != before, f"message {at}: two {role} messages in a row")


def _check_pairing(messages: Sequence[WireMessage]) -> None:
    seen: set[str] = set()
    waiting: list[str] = []
    for at, message in enumerate(messages):
        if message["role"] == "tool":
            call_id = message["tool_call_id"]
            _require(call_id in waiting, f"message {at}: result {call_id} answers no open call")
            waiting.remove(call_id)
            continue
        _require(not waiting, f"message {at}: tool calls {waiting} have no result before it")
        for call in message.get("tool_calls") or ():
            _require(call["id"] not in seen, f"message {at}: duplicate call id {call['id']}")
            seen.add(call["id"])
            waiting.append(call["id"])
    _require(not waiting, f"tool calls {waiting} have no result")


def _require(holds: bool, reason: str) -> None:
    if not holds:
        raise AssertionError(f"invalid history: {reason}")
