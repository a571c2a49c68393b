"""The bounded view of a talk that a model gets (pure).

Over a limit, whole old turns go until about 60 % are left: rarely, and then much at once, so
that the beginning of a request stays the same from turn to turn and a provider's cache hits.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from finchbot.agent.tokens import tokens_of, tokens_of_all

KEEP = 0.6
OUTPUT_REMOVED = "(removed to make room; call the tool again if you need it)"


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a talk a model sees."""

    tokens: int = 24_000
    """Estimated tokens of the history, the system prompt and the tools not counted."""
    messages: int = 200


@dataclass(frozen=True, slots=True)
class Window:
    """What is left to see."""

    messages: list[BaseMessage]
    before_tokens: int
    after_tokens: int


def fit(messages: Sequence[BaseMessage], limits: Limits) -> Window | None:
    """Return a smaller view of a talk that is over the limits; None when it is not.

    The turn under way stays whole, but for old tool outputs when it alone is over the limit.
    """
    before = tokens_of_all(messages)
    if before <= limits.tokens and len(messages) <= limits.messages:
        return None
    kept = _newest_turns(messages, before, limits)
    if tokens_of_all(kept) > limits.tokens:
        kept = _without_old_outputs(kept, limits)
    after = tokens_of_all(kept)
    return Window(kept, before, after) if after < before else None


def _newest_turns(
    messages: Sequence[BaseMessage], tokens: int, limits: Limits
) -> list[BaseMessage]:
    """Drop turns from the front; the last one always stays."""
    starts = [at for at, message in enumerate(messages) if isinstance(message, HumanMessage)]
    cut = 0
    for start in starts[1:]:
        if tokens <= limits.tokens * KEEP and len(messages) - cut <= limits.messages * KEEP:
            break
        tokens -= tokens_of_all(messages[cut:start])
        cut = start
    return list(messages[cut:])


def _without_old_outputs(messages: list[BaseMessage], limits: Limits) -> list[BaseMessage]:
    """Empty tool outputs from the oldest on; those the model has not seen yet stay."""
    answered = [at for at, message in enumerate(messages) if isinstance(message, AIMessage)]
    tokens = tokens_of_all(messages)
    kept = list(messages)
    for at in range(answered[-1] if answered else 0):
        message = messages[at]
        if tokens <= limits.tokens * KEEP:
            break
        if isinstance(message, ToolMessage):
            emptied = message.model_copy(update={"content": OUTPUT_REMOVED})
            saved = tokens_of(message) - tokens_of(emptied)
            if saved > 0:
                kept[at] = emptied
                tokens -= saved
    return kept
