"""Brings a model's answer into the form that is kept as history (pure)."""

from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage

from finchbot.agent.calls import CallIds, asked_for, valid_call
from finchbot.agent.characters import sound, sound_value
from finchbot.agent.content import REASONING, block_text, said
from finchbot.agent.thinking import split
from finchbot.ids import MessageId, NewId
from finchbot.messages import is_plain

RAW_CALLS = frozenset({"tool_calls", "function_call"})
"""Copies of the calls that some clients leave in ``additional_kwargs``."""
CALL_BLOCKS = frozenset({"tool_use", "tool_call", "function_call", "input_json_delta"})
"""Copies of the calls that some clients leave among the blocks of the content."""


def settle(
    answer: AIMessage, history: Sequence[BaseMessage], message_id: MessageId, new_id: NewId
) -> AIMessage:
    """Return the answer with our id, its thoughts apart, and calls no provider refuses.

    What the working state could not hold of a provider's own data is left out.

    Args:
        answer: As the model gave it.
        history: What it answers; ids of calls in it are taken.
        message_id: The id its events bear.
        new_id: Makes ids for calls that have none, or one that is taken.
    """
    extra = {
        key: sound_value(value)
        for key, value in answer.additional_kwargs.items()
        if key not in RAW_CALLS and is_plain(value)
    }
    content = answer.content
    if isinstance(content, str):
        parts = split(sound(content))
        content = parts.text
        if parts.reasoning:
            extra[REASONING] = said(answer).reasoning + parts.reasoning
    else:
        content = [
            sound_value(block)
            for block in content
            if is_plain(block) and not is_blank(block) and not _is_call(block)
        ]
    taken = CallIds(call_ids(history), new_id)
    return AIMessage(
        content=content,
        id=message_id,
        tool_calls=[valid_call(call, taken.give(call.get("id"))) for call in asked_for(answer)],
        additional_kwargs=extra,
        response_metadata=answer.response_metadata if is_plain(answer.response_metadata) else {},
        usage_metadata=answer.usage_metadata if is_plain(answer.usage_metadata) else None,
    )


def is_blank(block: str | dict[str, object]) -> bool:
    """Tell whether a block is text without words, which some providers refuse."""
    is_text = isinstance(block, str) or block.get("type") == "text"
    return is_text and not block_text(block).strip()


def _is_call(block: str | dict[str, object]) -> bool:
    return not isinstance(block, str) and block.get("type") in CALL_BLOCKS


def call_ids(history: Sequence[BaseMessage]) -> set[str]:
    """Return the ids of all calls in a history."""
    return {
        call["id"] or ""
        for message in history
        if isinstance(message, AIMessage)
        for call in message.tool_calls
    }


def words(text: str, answer: AIMessage) -> AIMessage:
    """Return the answer saying `text` instead, and calling nothing."""
    return answer.model_copy(update={"content": text, "tool_calls": [], "invalid_tool_calls": []})
