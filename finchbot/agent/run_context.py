"""What one run needs, chosen when it starts; it travels through LangGraph as runtime context."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from langchain_core.language_models.chat_models import BaseChatModel
from pydantic import JsonValue

from finchbot.agent.turn import Turn
from finchbot.ids import UserId
from finchbot.tools.base import ToolContext, ToolOutcome

Definition = dict[str, JsonValue]
"""A tool as OpenAI's protocol describes it: ``{"type": "function", "function": {…}}``."""

Say = Callable[[str, str | None], str]
"""Takes a key such as ``"agent.no_answer"`` and a language tag, returns the sentence."""

Monotonic = Callable[[], float]
"""Returns seconds of a clock that never goes back."""


class AgentOptions(Protocol):
    """The settings of the agent."""

    @property
    def max_tokens(self) -> int:
        """Upper bound on the tokens of one answer."""

    @property
    def temperature(self) -> float:
        """0 is sober, 2 is wild."""

    @property
    def max_tool_iterations(self) -> int:
        """How many times a run may go from the model to the tools."""


class Tools(Protocol):
    """The tools the agent has; `ToolRegistry` is one."""

    def definitions(self) -> list[Definition]:
        """Return what the model is told of them."""

    async def invoke(
        self, name: str, arguments: Mapping[str, JsonValue], context: ToolContext
    ) -> ToolOutcome:
        """Run a tool; whatever goes wrong is an outcome."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """Where the tools of one user work; every path resolved."""

    folder: Path
    readable_roots: tuple[Path, ...]
    writable_roots: tuple[Path, ...]
    closed: tuple[Path, ...] = ()
    """What stays shut inside the roots."""


Workspaces = Callable[[UserId], Workspace]
"""Gives each user their workspace."""


@dataclass(slots=True)
class RunContext:
    """One run: what was chosen for it, and how far it is."""

    turn: Turn
    model: BaseChatModel
    system_prompt: str
    tools: Sequence[Definition]
    options: AgentOptions
    workspace: Workspace
    steps: int = 0
    """Model calls begun."""
    calls: Counter[str] = field(default_factory=Counter)
    """How often each tool call was made, by name and arguments."""
