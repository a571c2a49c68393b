"""Estimates how many tokens a message takes, without any tokenizer (pure)."""

import json
import re
from collections.abc import Iterable

from langchain_core.messages import AIMessage, BaseMessage

from finchbot.agent.content import said

WIDE = re.compile("[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef]+")
"""Runs of Chinese, Japanese and Korean characters: about one token each."""
CHARACTERS_PER_TOKEN = 4
PER_MESSAGE = 4


def tokens_of_text(text: str) -> int:
    """Return about how many tokens a text takes: one per wide character, else one per four."""
    wide = 0 if text.isascii() else sum(map(len, WIDE.findall(text)))
    return wide + -(-(len(text) - wide) // CHARACTERS_PER_TOKEN)


def tokens_of(message: BaseMessage) -> int:
    """Return about how many tokens a message takes, its calls and thoughts included."""
    spoken = said(message)
    count = PER_MESSAGE + tokens_of_text(spoken.text) + tokens_of_text(spoken.reasoning)
    if isinstance(message, AIMessage):
        for call in message.tool_calls:
            arguments = json.dumps(call["args"], ensure_ascii=False, default=repr)
            count += PER_MESSAGE + tokens_of_text(call["name"]) + tokens_of_text(arguments)
    return count


def tokens_of_all(messages: Iterable[BaseMessage]) -> int:
    """Return the sum over the messages."""
    return sum(map(tokens_of, messages))
