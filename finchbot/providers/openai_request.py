"""What a request of the OpenAI protocol carries, and what a server would not take of it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from finchbot.providers.catalog import ThinkingStyle
from finchbot.settings.model import Thinking

Body = dict[str, Any]

_MAX_TOKENS = "max_tokens"
_MAX_COMPLETION_TOKENS = "max_completion_tokens"
_OPTIONAL = ("stream_options", "temperature", "reasoning_effort", "enable_thinking", "thinking")
"""Fields an answer is possible without; older servers and some models refuse them."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """What one model of one server takes, as learned from its refusals."""

    without: frozenset[str] = frozenset()
    completion_tokens: bool = False
    """Whether the limit is called ``max_completion_tokens``."""

    def speak(self, body: Mapping[str, Any]) -> Body:
        """Return the body as this model takes it."""
        said = {name: value for name, value in body.items() if name not in self.without}
        if self.completion_tokens and _MAX_TOKENS in said:
            said[_MAX_COMPLETION_TOKENS] = said.pop(_MAX_TOKENS)
        return said

    def learn(self, said: Mapping[str, Any], refusal: str) -> "Dialect | None":
        """Return a dialect without the trouble; None when nothing in `said` is to blame.

        Args:
            said: The body that was refused.
            refusal: What the server wrote about it.
        """
        limit = next((name for name in (_MAX_TOKENS, _MAX_COMPLETION_TOKENS) if name in said), None)
        if limit and limit in refusal and "too large" in refusal:
            return replace(self, without=self.without | {_MAX_TOKENS})
        if limit == _MAX_TOKENS and _MAX_COMPLETION_TOKENS in refusal:
            return replace(self, completion_tokens=True)
        for name in _OPTIONAL:
            if name in said and name in refusal:
                return replace(self, without=self.without | {name})
        return None


def thinking_fields(style: ThinkingStyle, wish: Thinking) -> Body:
    """Return the fields that tell a provider whether, or how hard, to think; ``auto`` is silent."""
    if wish == "auto":
        return {}
    match style:
        case "type":
            return {"thinking": {"type": "disabled" if wish == "off" else "enabled"}}
        case "flag":
            return {"enable_thinking": wish != "off"}
        case "effort":
            return {"reasoning_effort": {"off": "none", "on": "medium"}.get(wish, wish)}
        case "none":
            return {}
