"""Writing a history for the OpenAI protocol: pure; what goes out is what every provider takes."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from finchbot.providers.catalog import Echo
from finchbot.providers.openai_calls import safe_name

Wire = dict[str, Any]

NO_OUTPUT = "(no output)"
"""Stands for an empty tool result, which some providers refuse."""

NOT_KEPT = " "
"""Stands for reasoning that a provider demands back and nobody has, such as after a change of
model; a blank is accepted where a missing or empty field is not."""

REASONING = "reasoning_content"
EXTRA = "extra_content"


def to_wire(messages: Sequence[BaseMessage], *, echo: Echo = "nothing") -> list[Wire]:
    """Return the messages as the request's body carries them.

    A valid history stays valid: assistant messages without text and calls are left out,
    neighbours of one role are joined, empty tool results are named so.

    Args:
        messages: A history whose tool calls have their results directly after them.
        echo: What the provider demands back with a tool call.
    """
    wire: list[Wire] = []
    for message in messages:
        written = _written(message, echo)
        if written is None:
            continue
        if wire and _joins(wire[-1], written):
            wire[-1] = _joined(wire[-1], written)
        else:
            wire.append(written)
    return wire


def call_ids(messages: Iterable[BaseMessage]) -> set[str]:
    """Return the ids of all tool calls in a history."""
    calls = (call for m in messages if isinstance(m, AIMessage) for call in m.tool_calls)
    return {call["id"] for call in calls if call["id"]}


def text_of(content: str | list[str | dict[Any, Any]]) -> str:
    """Return the words of a content, never the look of its blocks."""
    if isinstance(content, str):
        return content
    parts = (block if isinstance(block, str) else _block_text(block) for block in content)
    return "".join(parts)


def _written(message: BaseMessage, echo: Echo) -> Wire | None:
    match message:
        case AIMessage():
            return _assistant(message, echo)
        case ToolMessage():
            output = text_of(message.content)
            content = output if output.strip() else NO_OUTPUT
            return {"role": "tool", "tool_call_id": message.tool_call_id, "content": content}
        case SystemMessage():
            return {"role": "system", "content": text_of(message.content)}
        case HumanMessage():
            return {"role": "user", "content": _user_content(message.content)}
        case _:
            raise TypeError(f"{type(message).__name__} has no place in a history")


def _assistant(message: AIMessage, echo: Echo) -> Wire | None:
    text = text_of(message.content)
    if not message.tool_calls:
        return {"role": "assistant", "content": text} if text.strip() else None
    extras = message.additional_kwargs.get(EXTRA) or {} if echo == "extra" else {}
    calls: list[Wire] = []
    for call in message.tool_calls:
        function = {"name": safe_name(call["name"]), "arguments": json.dumps(call["args"])}
        written: Wire = {"id": call["id"], "type": "function", "function": function}
        if call["id"] in extras:
            written[EXTRA] = extras[call["id"]]
        calls.append(written)
    wire: Wire = {"role": "assistant", "content": text if text.strip() else None}
    if echo == "reasoning":
        wire[REASONING] = message.additional_kwargs.get(REASONING) or NOT_KEPT
    return {**wire, "tool_calls": calls}


def _user_content(content: str | list[str | dict[Any, Any]]) -> str | list[Wire]:
    """Return plain text as text, and blocks (pictures among them) as blocks."""
    if isinstance(content, str):
        return content
    blocks = [{"type": "text", "text": b} if isinstance(b, str) else dict(b) for b in content]
    said = [b for b in blocks if b.get("type") != "text" or str(b.get("text", "")).strip()]
    if all(block.get("type") == "text" for block in said):
        return "".join(block["text"] for block in said)
    return said


def _joins(before: Wire, after: Wire) -> bool:
    if before["role"] != after["role"] or before["role"] == "tool":
        return False
    return "tool_calls" not in before


def _joined(before: Wire, after: Wire) -> Wire:
    content: str | list[Wire] | None
    match before["content"], after["content"]:
        case str(first), str(second):
            content = f"{first}\n\n{second}"
        case first, None:
            content = first
        case first, second:
            content = [*_blocks(first), *_blocks(second)]
    return {**before, **after, "content": content}


def _blocks(content: str | list[Wire]) -> list[Wire]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _block_text(block: dict[Any, Any]) -> str:
    said = block.get("text")
    return said if block.get("type", "text") == "text" and isinstance(said, str) else ""
