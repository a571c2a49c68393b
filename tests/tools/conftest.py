"""A workspace with neighbours that must stay out of reach, and the tools inside it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pydantic import JsonValue

from finchbot.errors import FinchError, Scalar
from finchbot.ids import CallId, RunId, ThreadId, UserId
from finchbot.tools.base import ToolContext, ToolOutcome
from finchbot.tools.deps import ToolDeps
from finchbot.tools.factory import ToolFactory
from finchbot.tools.registry import ToolRegistry

OUTSIDE = "what lies outside"

Invoke = Callable[..., Awaitable[ToolOutcome]]


@dataclass
class RememberedTitles:
    """Titles in memory."""

    titles: dict[tuple[str, str], str] = field(default_factory=dict)

    async def get(self, user_id: UserId, thread_id: ThreadId) -> str:
        return self.titles.get((user_id, thread_id), "")

    async def set_by_tool(self, user_id: UserId, thread_id: ThreadId, title: str) -> None:
        self.titles[user_id, thread_id] = title


def spelled(key: str, /, **params: Scalar) -> str:
    """Show a sentence's key and parameters, as a catalogue of no language would."""
    told = ", ".join(f"{name}={value}" for name, value in params.items())
    return f"[{key} {told}]"


def describe(error: FinchError) -> str:
    return spelled(error.code, **error.params)


async def unheard(text: str) -> None:
    """Take what a tool says while it runs, and drop it."""


def make_context(workspace: Path, *more: Path) -> ToolContext:
    return ToolContext(
        user_id=UserId("owner"),
        thread_id=ThreadId("thr_1"),
        run_id=RunId("run_1"),
        call_id=CallId("call_1"),
        workspace=workspace,
        readable_roots=(workspace, *more),
        writable_roots=(workspace,),
        say=unheard,
    )


@pytest.fixture
def titles() -> RememberedTitles:
    return RememberedTitles()


@pytest.fixture
def registry(titles: RememberedTitles) -> ToolRegistry:
    return ToolFactory().registry(ToolDeps(titles, spelled), describe)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    home = tmp_path.resolve()
    (home / "ws").mkdir()
    (home / "ws-evil").mkdir()
    (home / "ws-evil" / "secret").write_text(OUTSIDE)
    (home / "config.json").write_text(OUTSIDE)
    return home / "ws"


@pytest.fixture
def context(workspace: Path) -> ToolContext:
    return make_context(workspace)


@pytest.fixture
def invoke(registry: ToolRegistry, context: ToolContext) -> Invoke:
    async def call(name: str, **arguments: JsonValue) -> ToolOutcome:
        return await registry.invoke(name, arguments, context)

    return call
