"""Reads what a LangChain message says, whichever way its provider writes content (pure)."""

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import BaseMessage

from finchbot.agent.thinking import Said

REASONING = "reasoning_content"
"""The key in ``additional_kwargs`` under which thoughts travel, as DeepSeek names it."""

Block = str | dict[Any, Any]


def said(message: BaseMessage) -> Said:
    """Return the text and the thoughts of a message or chunk; content may be text or blocks."""
    reasoning = message.additional_kwargs.get(REASONING)
    thought = reasoning if isinstance(reasoning, str) else ""
    content: str | list[Block] = message.content
    if isinstance(content, str):
        return Said(content, thought)
    text = "".join(map(block_text, content))
    return Said(text, thought or "".join(map(_block_thought, content)))


def block_text(block: Block) -> str:
    """Return the words of one block; empty for an image, a thought or anything else."""
    if isinstance(block, str):
        return block
    return _string(block, "text") if block.get("type") in {"text", "output_text"} else ""


def _block_thought(block: Block) -> str:
    if isinstance(block, str):
        return ""
    match block.get("type"):
        case "thinking":
            return _string(block, "thinking")
        case "reasoning":
            return _string(block, "reasoning") or _string(block, "text") or _summary(block)
        case "reasoning_content":
            inner = block.get(REASONING)
            return _string(inner, "text") if isinstance(inner, dict) else ""
        case _:
            return ""


def _summary(block: Mapping[Any, Any]) -> str:
    parts = block.get("summary")
    if not isinstance(parts, list):
        return ""
    return "".join(_string(part, "text") for part in parts if isinstance(part, dict))


def _string(block: Mapping[Any, Any], key: str) -> str:
    value = block.get(key)
    return value if isinstance(value, str) else ""
