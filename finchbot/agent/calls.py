"""Tool calls as every provider accepts them: a name, an id of its own, an object (pure)."""

import re
from collections.abc import Mapping
from typing import Any

from langchain_core.messages import AIMessage, ToolCall

from finchbot.agent.characters import sound, sound_value
from finchbot.ids import NewId
from finchbot.messages import INVALID_ARGUMENTS, is_plain

NO_NAME = "unnamed_tool"
NO_OUTPUT = "(no output)"
"""Stands for an empty result: some providers refuse one."""
NAME_LENGTH = 64
FOREIGN = re.compile(r"[^a-zA-Z0-9_-]")
BEYOND = "(nested too deeply, or with a number too large)"
"""Stands for arguments that cannot even be shown."""


def asked_for(message: AIMessage) -> list[Mapping[str, Any]]:
    """Return the calls of a message, those with unreadable arguments last."""
    return [*message.tool_calls, *message.invalid_tool_calls]


def valid_call(call: Mapping[str, Any], call_id: str) -> ToolCall:
    """Return the call with `call_id`, a usable name and an object of arguments."""
    return ToolCall(
        name=valid_name(call.get("name")),
        args=valid_arguments(call.get("args")),
        id=call_id,
        type="tool_call",
    )


def valid_name(name: object) -> str:
    """Return the name with foreign characters replaced; a stand-in when there is none."""
    text = name if isinstance(name, str) else ""
    return FOREIGN.sub("_", text.strip())[:NAME_LENGTH] or NO_NAME


def valid_arguments(arguments: object) -> dict[str, Any]:
    """Return the arguments when they are a plain object, else an object that holds them raw."""
    if not is_plain(arguments):
        return {INVALID_ARGUMENTS: BEYOND}
    if isinstance(arguments, dict):
        return {str(key): sound_value(value) for key, value in arguments.items()}
    raw = arguments if isinstance(arguments, str) else repr(arguments)
    return {INVALID_ARGUMENTS: sound(raw)}


class CallIds:
    """Gives every call an id of its own; an id that is free is kept."""

    def __init__(self, taken: set[str], new_id: NewId) -> None:
        self._taken = taken
        self._new_id = new_id

    def give(self, wanted: object) -> str:
        """Return `wanted`, or a fresh id when it is empty or taken."""
        call_id = wanted if isinstance(wanted, str) and wanted else self._new_id("call")
        while call_id in self._taken:
            call_id = self._new_id("call")
        self._taken.add(call_id)
        return call_id
