"""Writes the system prompt of a run from what is true at this moment."""

import platform
from collections.abc import Sequence
from pathlib import Path

from finchbot.agent.context import ContextBuilder, Definition, Surroundings
from finchbot.agent.prompt_files import PromptFiles
from finchbot.ids import Clock


class SystemPrompt:
    """Reads the files and the day, and has the prompt built (blocking).

    Args:
        files: The texts.
        clock: Tells the day; shown in the machine's own time zone.
        builder: Puts it together.
    """

    def __init__(self, files: PromptFiles, clock: Clock, builder: ContextBuilder) -> None:
        self._files = files
        self._clock = clock
        self._builder = builder
        self._system = f"{platform.system()} {platform.machine()}"

    def write(self, tools: Sequence[Definition], workspace: Path, language: str | None) -> str:
        """Return the prompt."""
        where = Surroundings(
            now=self._clock().astimezone(),
            system=self._system,
            python=platform.python_version(),
            workspace=str(workspace),
            language=language,
        )
        return self._builder.build(self._files.read(), tools, where)
