"""A home in a temporary folder and the stores that look at it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from finchbot.home import Home, open_home
from finchbot.settings import SettingsStore


class SettingsHome:
    """One home whose file, environment and command line a test sets as it likes."""

    def __init__(self, folder: Path) -> None:
        self.home: Home = open_home(folder / "home", {})
        self.file = self.home.config_file

    def write(self, data: Any) -> None:
        """Put data, or text as it is, into the user's file."""
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
        self.file.write_text(text, encoding="utf-8")

    def saved(self) -> Any:
        """Return what the file holds now."""
        return json.loads(self.file.read_text(encoding="utf-8"))

    def store(
        self, overrides: Mapping[str, JsonValue] | None = None, /, **environ: str
    ) -> SettingsStore:
        """Open the settings with nothing but these in the environment."""
        return SettingsStore(self.home, environ=environ, overrides=overrides)
