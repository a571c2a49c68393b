"""The program as a process of its own, in a home of its own."""

import fcntl
import os
import pty
import select
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.model_server import ModelServer

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


class Screen:
    """The program at a real terminal, with a person who types and looks."""

    def __init__(self, program: Program, *words: str, **environ: str) -> None:
        self._keyboard, terminal = pty.openpty()
        self.seen = ""
        self._looked = 0
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            program.command(*words),
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            env=program.environ | {"TERM": "xterm", "NO_COLOR": "1"} | environ,
            start_new_session=True,
            preexec_fn=_take_terminal,
        )
        os.close(terminal)

    def look_for(self, text: str, timeout_s: float = 40.0) -> str:
        """Wait until `text` is on the screen, behind what was looked for before.

        Returns what came before it.
        """
        deadline = time.monotonic() + timeout_s
        while (place := self.seen.find(text, self._looked)) < 0:
            left = deadline - time.monotonic()
            assert left > 0, f"{text!r} did not come; the screen shows {self.seen!r}"
            if not self._read(left):
                raise AssertionError(f"it ended without {text!r}: {self.seen!r}")
        before = self.seen[self._looked : place]
        self._looked = place + len(text)
        return before

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self._keyboard, text.encode())

    def interrupt(self) -> None:
        """Press Ctrl-C, once the program sits and waits.

        Python misses an interrupt between readline's prompt and its waiting for keys; a person
        who presses again is heard, but here a second press means something else.
        """
        status = Path(f"/proc/{self._process.pid}/stat")
        while status.exists() and status.read_text().rpartition(")")[2].split()[0] != "S":
            self._read(0.01)
        self.type("\x03")

    def end(self, timeout_s: float = 20.0) -> int:
        """Wait for the end and return the exit code."""
        deadline = time.monotonic() + timeout_s
        while self._read(max(0.0, deadline - time.monotonic())):
            assert time.monotonic() < deadline, f"it did not end: {self.seen!r}"
        return self._process.wait(5)

    def close(self) -> None:
        """End it, if it has not ended."""
        self._process.kill()
        self._process.wait(5)
        os.close(self._keyboard)

    def _read(self, timeout_s: float) -> bool:
        """Take in what comes; False at the end."""
        if not select.select([self._keyboard], [], [], timeout_s)[0]:
            return True
        try:
            data = os.read(self._keyboard, 1 << 16)
        except OSError:
            # Linux says EIO when the other end of a terminal has gone.
            return False
        self.seen += data.decode(errors="replace").replace("\r\n", "\n")
        return bool(data)


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture
def at_terminal(program: Program) -> Iterator[Callable[..., Screen]]:
    screens: list[Screen] = []

    def start(*words: str, **environ: str) -> Screen:
        screens.append(Screen(program, *words, **environ))
        return screens[-1]

    yield start
    for screen in screens:
        screen.close()


@pytest.fixture
def model(model_server: ModelServer) -> dict[str, str]:
    """Return the environment in which the scripted model is the default one."""
    return {
        "OPENAI_API_KEY": "sk-test",
        "OPENAI_BASE_URL": model_server.url,
        "FINCHBOT_DEFAULT_MODEL": "openai/gpt-test",
    }
