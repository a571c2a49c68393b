"""FinchTool: one thing the agent can do, and what it gets to do it with."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue

from finchbot.ids import CallId, RunId, ThreadId, UserId

Touches = Literal["reads", "writes", "network", "process"]


class Arguments(BaseModel):
    """Base of every tool's arguments: unknown ones are refused, types are strict on the wire."""

    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True, slots=True)
class ToolContext:
    """On whose behalf, and where, a tool runs."""

    user_id: UserId
    thread_id: ThreadId
    run_id: RunId
    call_id: CallId
    workspace: Path
    """Relative paths start here; already resolved."""
    readable_roots: tuple[Path, ...]
    """Folders the file tools may read; the workspace is the first."""
    writable_roots: tuple[Path, ...]
    say: Callable[[str], Awaitable[None]]
    """Streams output while the tool runs (`tool_call.output`)."""
    closed: tuple[Path, ...] = ()
    """Folders and files that stay shut inside the roots, such as the user's settings."""


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a tool answered."""

    output: str
    is_error: bool = False
    diff: str | None = None


ArgumentsT = TypeVar("ArgumentsT", bound=Arguments)


class FinchTool(ABC, Generic[ArgumentsT]):
    """A tool: what the model is told of it, and what it does.

    `run` raises `ToolError` for what the model can act on; `ToolRegistry.invoke` validates the
    arguments, holds the time-out and turns errors into an outcome, so a call always answers.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    arguments: ClassVar[type[Arguments]]
    touches: ClassVar[frozenset[Touches]]
    timeout_s: float = 60.0

    @abstractmethod
    async def run(self, arguments: ArgumentsT, context: ToolContext) -> ToolOutcome:
        """Do the work.

        Raises:
            ToolError: With a code and parameters; the model reads the sentence.
        """

    def schema(self) -> dict[str, JsonValue]:
        """Return the JSON Schema of the arguments, as the model gets it."""
        return self.arguments.model_json_schema()
