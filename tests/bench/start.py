"""From the start of the process: to the first HTTP 200, and to the first answer on a page."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser

from tests.bench.browser import BARE_BOX, OUR_BOX, OUR_SIGN, TOLD, new_page
from tests.bench.processes import READY_S, environment, running
from tests.bench.report import Figure, Reach
from tests.e2e.harness import ROOT, running_browser

ROUNDS = 5
PAGE_ROUNDS = 3
WARM_UP = 1
"""Rounds before those that count: code is compiled, files are in memory."""
LOOK_AGAIN_S = 0.002
"""Another process begins to answer; it can only be asked."""
FLOOR = "import fastapi, uvicorn"
GET = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/html\r\nConnection: close\r\n\r\n"

WHEN_BARE = """
addEventListener("DOMContentLoaded", async () => {
  bench.tell(await bench.there(%(box)s));
});
"""
WHEN_ANSWERED = """
addEventListener("DOMContentLoaded", async () => {
  await bench.there(%(sign)s, %(box)s);
  const began = performance.now();
  const [first] = await bench.ask({box: %(box)s, question: "help", first: "", last: ""});
  bench.tell(began + first);
});
"""


def first_response(folder: Path) -> list[Figure]:
    """Measure the first HTTP 200 against the imports that no server can do without."""
    pairs = [(_imports_s(), _first_200_s(folder / f"home{n}")) for n in range(WARM_UP + ROUNDS)]
    floors, own = zip(*pairs[WARM_UP:], strict=True)
    reach = Reach("ours", 1.5)
    return [Figure("first HTTP 200", median(own), median(floors), "s", reach, quiet_only=True)]


def first_answer(folder: Path) -> list[Figure]:
    """Measure the first answer of the builtin model, painted, against a bare page, painted."""
    with running_browser() as browser:
        pairs = [
            (_bare_painted_s(browser), _answer_painted_s(browser, folder / f"home{number}"))
            for number in range(WARM_UP + PAGE_ROUNDS)
        ]
    floors, own = zip(*pairs[WARM_UP:], strict=True)
    name = "first builtin answer painted"
    return [Figure(name, median(own), median(floors), "s", Reach("ratio", 1.25))]


def _imports_s() -> float:
    began = time.perf_counter()
    # S603: the command is ours, word for word.
    subprocess.run([sys.executable, "-c", FLOOR], check=True, env=environment())  # noqa: S603
    return time.perf_counter() - began


def _first_200_s(home: Path) -> float:
    began = time.perf_counter()
    with _app(home) as port:
        while not _answers_200(port):
            assert time.perf_counter() - began < READY_S, "the port never answered"
            time.sleep(LOOK_AGAIN_S)
        return time.perf_counter() - began


def _bare_painted_s(browser: Browser) -> float:
    began = time.time()
    with running("tests.bench.floors.bare_mount") as url:
        return _painted_at(browser, url, WHEN_BARE % _quoted(box=BARE_BOX)) - began


def _answer_painted_s(browser: Browser, home: Path) -> float:
    began = time.time()
    with _app(home) as port:
        while not _answers_200(port):
            assert time.time() - began < READY_S, "the port never answered"
            time.sleep(LOOK_AGAIN_S)
        script = WHEN_ANSWERED % _quoted(box=OUR_BOX, sign=OUR_SIGN)
        return _painted_at(browser, f"http://127.0.0.1:{port}", script) - began


def _painted_at(browser: Browser, url: str, script: str) -> float:
    """Return when what the script waits for was painted, in seconds of the machine's clock."""
    page = new_page(browser, script)
    with page.expect_console_message(lambda message: message.text.startswith(TOLD)) as told:
        page.goto(url)
    page.context.close()
    return float(told.value.text.removeprefix(TOLD)) / 1000


@contextmanager
def _app(home: Path) -> Iterator[int]:
    """Run ``python app.py`` and give its port, on which it may not answer yet."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    command = [sys.executable, "app.py", "--port", str(port), "--home", str(home)]
    # S603: the command is ours, word for word.
    with subprocess.Popen(  # noqa: S603
        command, cwd=ROOT, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield port
        finally:
            process.kill()


def _answers_200(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=READY_S) as connection:
            connection.sendall(GET)
            return connection.makefile("rb").readline().split(b" ")[1:2] == [b"200"]
    except ConnectionError:
        return False


def _quoted(**selectors: str) -> dict[str, str]:
    return {name: json.dumps(selector) for name, selector in selectors.items()}
