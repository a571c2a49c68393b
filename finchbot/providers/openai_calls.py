"""Putting tool calls together from the pieces they arrive in, however a server cuts them."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from finchbot.messages import INVALID_ARGUMENTS, is_plain

NAMELESS = "unnamed"

_BEYOND = "(nested too deeply, or with a number too large)"

_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A whole tool call."""

    call_id: str
    name: str
    arguments: dict[str, Any]
    extra: Any = None
    """What the provider wants back with it (`extra_content`), as it came."""


@dataclass(slots=True)
class _Slot:
    index: object
    call_id: str = ""
    name: str = ""
    raw: list[str] = field(default_factory=list)
    extra: Any = None


class CallBuilder:
    """Collects the deltas of tool calls.

    Servers differ: some leave out the index or the id, give every parallel call index 0, repeat
    name and id in each delta, or send arguments as an object.
    """

    def __init__(self) -> None:
        self._slots: list[_Slot] = []

    def feed(self, deltas: Iterable[Mapping[str, Any]]) -> None:
        """Take the `tool_calls` of one delta in."""
        for delta in deltas:
            function = mapping(delta.get("function"))
            call_id, name = word(delta.get("id")), word(function.get("name"))
            slot = self._slot(delta.get("index"), call_id, name)
            arguments = function.get("arguments")
            if isinstance(arguments, str):
                slot.raw.append(arguments)
            elif arguments is not None:
                slot.raw.append(json.dumps(arguments) if is_plain(arguments) else _BEYOND)
            extra = delta.get("extra_content")
            slot.extra = extra if extra and is_plain(extra) else slot.extra

    def build(self, taken: Iterable[str], new_id: Callable[[], str]) -> list[ToolCall]:
        """Return the calls in order, each with an id of its own.

        Args:
            taken: Ids of calls earlier in the thread; a server that counts from zero in every
                answer would use them again.
            new_id: Makes an id for a call that has none, or one that is taken.
        """
        used = set(taken)
        calls = []
        for slot in self._slots:
            call_id = slot.call_id if slot.call_id and slot.call_id not in used else new_id()
            used.add(call_id)
            arguments = parse_arguments("".join(slot.raw))
            calls.append(ToolCall(call_id, safe_name(slot.name), arguments, slot.extra))
        return calls

    def _slot(self, index: object, call_id: str, name: str) -> _Slot:
        """Return the call that a delta goes on with, or a new one."""
        slot = self._open(index, call_id, name)
        if slot is None or _starts_anew(slot, call_id, name):
            slot = _Slot(index, call_id, name)
            self._slots.append(slot)
            return slot
        slot.call_id = slot.call_id or call_id
        slot.name = slot.name or name
        return slot

    def _open(self, index: object, call_id: str, name: str) -> _Slot | None:
        if index is not None:
            return next((slot for slot in reversed(self._slots) if slot.index == index), None)
        if call_id:
            return next((slot for slot in self._slots if slot.call_id == call_id), None)
        return None if name or not self._slots else self._slots[-1]


def mapping(value: object) -> Mapping[str, Any]:
    """Return `value` where a JSON object stands, and an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def objects(value: object) -> list[Mapping[str, Any]]:
    """Return the JSON objects of a list, and none of anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def word(value: object) -> str:
    """Return `value` where text stands, and an empty one for anything else."""
    return value if isinstance(value, str) else ""


def _starts_anew(slot: _Slot, call_id: str, name: str) -> bool:
    """Return whether a delta in the place of `slot` begins another call."""
    if call_id and slot.call_id:
        return call_id != slot.call_id
    return bool(name and slot.name) and _is_whole("".join(slot.raw))


def _is_whole(raw: str) -> bool:
    return bool(raw.strip()) and INVALID_ARGUMENTS not in parse_arguments(raw)


def parse_arguments(raw: str) -> dict[str, Any]:
    """Return the arguments as an object, whatever the model wrote.

    Nothing at all is no arguments; an object written as a JSON string is unwrapped; anything
    else, and what is too deep or too wide to keep, stands under `INVALID_ARGUMENTS`.
    """
    if not raw.strip():
        return {}
    parsed = _parse(raw)
    if isinstance(parsed, str):
        parsed = _parse(parsed)
    return parsed if isinstance(parsed, dict) and is_plain(parsed) else {INVALID_ARGUMENTS: raw}


def safe_name(name: str) -> str:
    """Return a tool name every provider takes back; that of no tool if the model made it up."""
    return _NOT_IN_NAMES.sub("_", name.strip())[:64] or NAMELESS


def _parse(raw: str) -> object:
    try:
        return json.loads(raw, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is no JSON")
