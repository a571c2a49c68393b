"""The program as a process of its own, in a home of its own."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from finchbot.cli.voice import Voice

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Program:
    """Runs ``python -m finchbot`` with a fresh home and no settings of the tester's."""

    home: Path

    @property
    def environ(self) -> dict[str, str]:
        """The environment it gets."""
        kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
        return kept | {
            "FINCHBOT_HOME": str(self.home),
            "HOME": str(self.home.parent),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(ROOT),
            "PYTHONWARNINGS": "ignore",
        }

    def command(self, *words: str) -> list[str]:
        """Return the command line."""
        return [sys.executable, "-m", "finchbot", *words]

    def __call__(
        self, *words: str, keys: str = "", **environ: str
    ) -> subprocess.CompletedProcess[str]:
        """Run it to its end."""
        return subprocess.run(  # noqa: S603 - our own program
            self.command(*words),
            input=keys,
            capture_output=True,
            encoding="utf-8",
            env=self.environ | environ,
            timeout=55,
            check=False,
        )


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path / "home")


@pytest.fixture(scope="session")
def english() -> Voice:
    return Voice.of({}, "en-US")
