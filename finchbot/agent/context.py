"""ContextBuilder: composes the system prompt (pure).

The stable part comes first and does not change from turn to turn, so that a provider's prompt
cache hits; what changes, the day for one, comes last and never names a minute.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import JsonValue

IDENTITY = "SYSTEM.md"
TOOL_DOCS = "TOOLS.md"
PROMPT_FILES = (IDENTITY, "MEMORY_GUIDE.md", "SOUL.md", "AGENT_CONFIG.md")
"""In the order of the prompt."""
OVERRIDES = (*PROMPT_FILES, TOOL_DOCS)
"""The files a user may put into the home; of the last, FinchBot writes the default itself."""

Definition = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where and when a run happens."""

    now: datetime
    """Aware, in the time zone of the machine."""
    system: str
    """Such as ``"Linux x86_64"``."""
    python: str
    workspace: str
    language: str | None
    """Tag of the language the person reads."""


class ContextBuilder:
    """Puts the prompt together, in one fixed order."""

    def build(
        self, files: Mapping[str, str], tools: Sequence[Definition], where: Surroundings
    ) -> str:
        """Return the system prompt.

        Args:
            files: Texts by the names in `OVERRIDES`; a missing or blank one is left out.
            tools: OpenAI function definitions.
            where: Named last.
        """
        parts = [files.get(name, "") for name in PROMPT_FILES]
        parts += [files.get(TOOL_DOCS) or tool_docs(tools), surroundings(where)]
        return "\n\n".join(part.strip() for part in parts if part.strip())


def tool_docs(tools: Sequence[Definition]) -> str:
    """Return a list of the tools, a line each; empty when there are none."""
    lines = [_tool_line(definition) for definition in tools]
    return "\n".join(("# Tools", "", *lines)) if lines else ""


def surroundings(where: Surroundings) -> str:
    """Return what is true of this day and this machine."""
    language = [f"- Language of the user interface: {where.language}"] if where.language else []
    lines = (
        f"- System: {where.system}, Python {where.python}",
        f"- Workspace: {where.workspace} (relative paths start here)",
        *language,
        _zone(where.now),
        f"- Today: {where.now:%A}, {where.now:%Y-%m-%d}",
    )
    return "\n".join(("# Surroundings", "", *lines))


def _zone(now: datetime) -> str:
    offset = f"{now:%z}"
    return f"- Time zone: {now:%Z} (UTC{offset[:3]}:{offset[3:5]})"


def _tool_line(definition: Definition) -> str:
    function = definition.get("function")
    if not isinstance(function, dict):
        return ""
    first, *_ = str(function.get("description", "")).strip().split("\n", 1)
    return f"- `{function.get('name', '')}`: {first}"
