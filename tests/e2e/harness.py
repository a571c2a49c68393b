"""A real server process and a real browser, for the tests that see what a person sees."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright
from playwright.sync_api import Request as BrowserRequest

ROOT = Path(__file__).resolve().parents[2]
ARTIFACTS = ROOT / "tests" / ".artifacts"
SYSTEM_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
START_S = 45.0
# A page that is left while its stream is open says this once; nobody can see it any more.
_LEAVING = re.compile(r"AbortError: signal is aborted|Connection errored out")
_INHERITED = ("PATH", "LANG", "HOME", "TMPDIR", "VIRTUAL_ENV", "PYTHONPATH")


class ServerProcess:
    """``python app.py`` on a free port of loopback, with a home of its own.

    Args:
        home: Where it keeps things; made when it is not there.
        environ: Variables beside the few that are passed on; nothing of the tester's own keys.
        arguments: Further options of the command line.
        entry: What the interpreter runs.
    """

    def __init__(
        self,
        home: Path,
        environ: Mapping[str, str] | None = None,
        *arguments: str,
        entry: Sequence[str] = (str(ROOT / "app.py"),),
    ) -> None:
        self.home = home
        self.exit_code: int | None = None
        """Of the process that ended last."""
        self._entry = entry
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._environ = {
            **{name: os.environ[name] for name in _INHERITED if name in os.environ},
            "PYTHONDONTWRITEBYTECODE": "1",
            **(environ or {}),
        }
        self._arguments = arguments
        self._output = home.parent / f"{home.name}.out"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "ServerProcess":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start it and return when it says that it is well."""
        self.launch()
        self.wait_ready()

    def launch(self) -> None:
        """Start it and return at once."""
        command = [sys.executable, *self._entry, "--port", str(self.port)]
        with self._output.open("ab") as output:
            # The command is written here; nothing of it comes from outside.
            self._process = subprocess.Popen(  # noqa: S603
                [*command, "--home", str(self.home), *self._arguments],
                cwd=ROOT,
                env=self._environ,
                stdout=output,
                stderr=output,
            )

    def wait_ready(self) -> None:
        """Return when it says that it is well."""
        deadline = time.monotonic() + START_S
        while not self.ready():
            self.check_alive()
            assert time.monotonic() < deadline, f"the server did not get ready: {self.output}"
            # Another process gets ready; it can only be asked.
            time.sleep(0.1)

    def check_alive(self) -> None:
        """Fail when the process has ended by itself."""
        assert self._process is not None
        assert self._process.poll() is None, f"the server ended: {self.output}"

    @property
    def pid(self) -> int:
        """The process's id."""
        assert self._process is not None
        return self._process.pid

    def ready(self) -> bool:
        """Whether it answers and is not starting or draining."""
        try:
            answer = httpx.get(f"{self.url}/healthz", trust_env=False, timeout=5)
        except httpx.TransportError:
            return False
        return answer.status_code == 200

    def stop(self, kind: signal.Signals = signal.SIGTERM) -> float:
        """End it; return how many seconds that took."""
        process, self._process = self._process, None
        if process is None:
            return 0.0
        began = time.monotonic()
        process.send_signal(kind)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
        self.exit_code = process.returncode
        return time.monotonic() - began

    def api(self, method: str, path: str, **options: Any) -> Any:
        """Call the API as the owner; return the body of the answer."""
        answer = httpx.request(
            method, f"{self.url}/api/v1{path}", trust_env=False, timeout=10, **options
        )
        answer.raise_for_status()
        return answer.json() if answer.content else None

    @property
    def output(self) -> str:
        """What it wrote to the terminal."""
        return self._output.read_text(encoding="utf-8", errors="replace")


# Playwright hangs attributes of its own on whoever listens, hence no slots.
@dataclass
class Watched:
    """A page, and everything it did that it should not have."""

    page: Page
    errors: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)
    """Patterns of console errors that the test provokes on purpose."""

    def __post_init__(self) -> None:
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", self._request)
        self.page.on("requestfailed", self._failed)

    def check(self) -> None:
        """Fail on console errors and on every request that left the machine."""
        unexpected = [
            error
            for error in self.errors
            if not any(re.search(pattern, error) for pattern in self.expected)
        ]
        assert not unexpected, unexpected
        assert not self.foreign, self.foreign

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not _LEAVING.search(message.text):
            self.errors.append(f"{message.text} ({message.location.get('url', '')})")

    def _request(self, request: BrowserRequest) -> None:
        parts = urlsplit(request.url)
        if parts.scheme in {"http", "https", "ws", "wss"} and parts.hostname != "127.0.0.1":
            self.foreign.append(request.url)

    def _failed(self, request: BrowserRequest) -> None:
        """Forget what the policy of the page held back: it never left the machine."""
        if request.failure == "csp" and request.url in self.foreign:
            self.foreign.remove(request.url)


class Visitors:
    """Opens pages, each for a visitor of its own, and checks them all at the end."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self._watched: list[Watched] = []

    def open(self, url: str, **options: Any) -> Page:
        """Return a page on `url` in a fresh profile: language, size, colour scheme, …"""
        settings = {"viewport": {"width": 1280, "height": 860}, "locale": "en-US", **options}
        context = self._browser.new_context(**settings)
        context.set_default_timeout(15_000)
        self._contexts.append(context)
        return self.another_tab(context, url)

    def another_tab(self, context: BrowserContext, url: str) -> Page:
        """Return one more page of a visitor."""
        page = context.new_page()
        self._watched.append(Watched(page))
        page.goto(url)
        return page

    def expect_errors(self, page: Page, *patterns: str) -> None:
        """Let console errors of these kinds pass on one page."""
        next(one for one in self._watched if one.page is page).expected.extend(patterns)

    def close(self) -> None:
        """Close every page, then fail if one did what it should not."""
        for context in self._contexts:
            context.close()
        for watched in self._watched:
            watched.check()


def picture(page: Page, name: str) -> Path:
    """Keep a screenshot among the artifacts; return where."""
    ARTIFACTS.mkdir(exist_ok=True)
    path = ARTIFACTS / f"{name}.png"
    page.screenshot(path=path, animations="disabled")
    return path


@contextmanager
def running_browser() -> Iterator[Browser]:
    """Run Chromium: the system's, else Playwright's own."""
    with sync_playwright() as playwright:
        executable = next(filter(None, map(shutil.which, SYSTEM_BROWSERS)), None)
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
