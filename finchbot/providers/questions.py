"""The newest question inside a message that carries several (pure).

Questions in a row go out as one message, since some providers demand that the sides take turns. A
model that cannot tell them apart, as the builtin one, finds the newest beside the text. It stays in
this process: what goes over a wire is written from the content alone.
"""

from langchain_core.messages import HumanMessage

_NEWEST = "newest_question"


def with_newest(message: HumanMessage, text: str) -> HumanMessage:
    """Return the message with the text of its newest question beside it."""
    beside = {**message.additional_kwargs, _NEWEST: text}
    return message.model_copy(update={"additional_kwargs": beside})


def newest(message: HumanMessage) -> str | None:
    """Return the text of the newest question; None when the message is one question."""
    text = message.additional_kwargs.get(_NEWEST)
    return text if isinstance(text, str) else None
