"""What the graph's middleware tells the translator while a run goes on."""

from dataclasses import dataclass

from finchbot.ids import CallId, MessageId
from finchbot.tools.base import ToolOutcome


@dataclass(frozen=True, slots=True)
class StepBegan:
    """The model is asked; what it says belongs to this message."""

    message_id: MessageId


@dataclass(frozen=True, slots=True)
class Mended:
    """The history was broken and is valid now."""

    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shortened:
    """Older turns left the model's view."""

    before_tokens: int
    after_tokens: int


@dataclass(frozen=True, slots=True)
class ToolSaid:
    """A tool says something while it runs."""

    call_id: CallId
    text: str


@dataclass(frozen=True, slots=True)
class ToolAnswered:
    """A tool is done."""

    call_id: CallId
    outcome: ToolOutcome
    elapsed_s: float


Signal = StepBegan | Mended | Shortened | ToolSaid | ToolAnswered
