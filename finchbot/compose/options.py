"""Options: what the command line said; it wins over environment and file."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue


@dataclass(frozen=True, slots=True)
class Options:
    """None leaves the question to environment, file and default."""

    host: str | None = None
    port: int | None = None
    home: Path | None = None
    model: str | None = None
    lang: str | None = None

    def overrides(self) -> dict[str, JsonValue]:
        """Return the settings these options set, by dotted name."""
        named: dict[str, JsonValue] = {
            "server.host": self.host,
            "server.port": self.port,
            "default_model": self.model,
            "language": self.lang,
        }
        return {name: value for name, value in named.items() if value is not None}
