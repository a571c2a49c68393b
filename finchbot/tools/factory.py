"""ToolFactory: which topic modules the bot's tools come from, by configuration."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from finchbot.lazy import load
from finchbot.tools.deps import ToolDeps
from finchbot.tools.registry import AnyTool, Describe, ToolRegistry, ToolSource


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic module; it has ``tools(deps) -> list[FinchTool]`` and is loaded when needed."""

    name: str
    module: str

    def __call__(self, deps: ToolDeps) -> list[AnyTool]:
        """Load the module and return its tools."""
        tools: list[AnyTool] = load(self.module).tools(deps)
        return tools


TOPICS = (
    Topic("files", "finchbot.tools.files"),
    Topic("titling", "finchbot.tools.titling"),
)


class ToolFactory:
    """Assembles the registry.

    Args:
        switched_off: Names of topics that are left out, such as ``{"files"}``.
        extra: Sources of other packages; they come last.
    """

    def __init__(
        self, *, switched_off: Collection[str] = (), extra: Sequence[ToolSource] = ()
    ) -> None:
        built_in = [topic for topic in TOPICS if topic.name not in switched_off]
        self._sources: tuple[ToolSource, ...] = (*built_in, *extra)

    def registry(self, deps: ToolDeps, describe: Describe) -> ToolRegistry:
        """Return the registry; its tools are made when first asked for."""
        return ToolRegistry(self._sources, deps, describe)
