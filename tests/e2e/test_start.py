"""The start: what is refused, with one sentence, and what is shown while things load."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.e2e.harness import ROOT, ServerProcess

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(60)]

Made = tuple[list[str], dict[str, str]]
"""Words of the command line, and variables."""


def refusal(words: list[str], environ: dict[str, str], folder: Path) -> str:
    """Start the program in vain; return the one sentence it says about it."""
    variables = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    ended = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, str(ROOT / "app.py"), *words],
        env=variables | environ,
        capture_output=True,
        encoding="utf-8",
        timeout=55,
        check=False,
    )
    assert ended.returncode == 2, ended.stderr
    assert ended.stdout == ""
    assert "Traceback" not in ended.stderr
    serving, *rest = ended.stderr.splitlines()
    # Only what is found behind the open port comes after the line that says where it is.
    (sentence,) = rest if serving.startswith("FinchBot is at ") else [serving, *rest]
    return sentence


def _below_a_file(folder: Path) -> Made:
    (folder / "file").touch()
    return ["--home", str(folder / "file" / "home")], {}


def _below_a_file_by_variable(folder: Path) -> Made:
    (folder / "file").touch()
    return [], {"FINCHBOT_HOME": str(folder / "file" / "home")}


def _home_is_a_file(folder: Path) -> Made:
    (folder / "file").touch()
    return ["--home", str(folder / "file")], {}


def _newer_threads(folder: Path) -> Made:
    return _newer(folder, "threads.db")


def _newer_checkpoints(folder: Path) -> Made:
    return _newer(folder, "checkpoints.db")


def _newer(folder: Path, name: str) -> Made:
    data = folder / "home" / "data"
    data.mkdir(parents=True)
    with closing(sqlite3.connect(data / name)) as connection:
        connection.execute("CREATE TABLE of_the_future (a)")
        connection.execute("PRAGMA user_version = 99")
    return ["--home", str(folder / "home"), "--port", "0"], {}


def _words(*words: str, **environ: str) -> Callable[[Path], Made]:
    return lambda folder: (["--home", str(folder / "home"), *words], environ)


EVERYWHERE = "0.0.0.0"  # noqa: S104 - what the program refuses
REFUSED: dict[str, tuple[Callable[[Path], Made], str]] = {
    "a home below a file": (_below_a_file, "cannot write to its folder"),
    "a variable's home below a file": (_below_a_file_by_variable, "cannot write to its folder"),
    "a home that is a file": (_home_is_a_file, "cannot write to its folder"),
    "an unknown option": (_words("--bogus"), "--bogus is no option here"),
    "a stray word": (_words("please"), "please is no option here"),
    "an option without its value": (_words("--host"), "--host needs a value"),
    "a port that is no number": (_words("--port", "http"), "--port needs a number"),
    "a port that cannot be": (_words("--port", "70000"), "at most 65535"),
    "a variable that is no number": (_words(FINCHBOT_SERVER__PORT="http"), "FINCHBOT_SERVER__PORT"),
    "a variable out of range": (
        _words(FINCHBOT_AGENTS__DEFAULTS__TEMPERATURE="9"),
        "FINCHBOT_AGENTS__DEFAULTS__TEMPERATURE must be at most 2",
    ),
    "a model of nobody": (_words("--model", "nonsense/x"), "no provider named nonsense"),
    "an open door": (_words("--host", EVERYWHERE), "would be open to everybody"),
    "an open door by variable": (_words(FINCHBOT_SERVER__HOST="::"), "would be open to everybody"),
    "an address of nobody here": (
        _words("--host", "192.0.2.1", FINCHBOT_DEMO="1"),
        "192.0.2.1",
    ),
    "threads of a newer program": (_newer_threads, "threads.db was written by a newer FinchBot"),
    "a desk of a newer program": (_newer_checkpoints, "checkpoints.db was written by a newer"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_wrong_start_is_one_sentence_and_exit_code_two(case: str, tmp_path: Path) -> None:
    make, expected = REFUSED[case]
    words, environ = make(tmp_path)
    assert expected in refusal(words, environ, tmp_path)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """Give a program that is just starting, on a home whose record is garbage."""
    home = tmp_path_factory.mktemp("start") / "home"
    (home / "data").mkdir(parents=True)
    (home / "data" / "threads.db").write_bytes(b"not what it was \x00\xff" * 512)
    server = ServerProcess(home)
    server.launch()
    yield server
    server.stop()


def test_a_page_is_there_while_it_starts_and_a_damaged_record_is_kept_aside(
    server: ServerProcess,
) -> None:
    page = {"accept": "text/html"}
    with httpx.Client(base_url=server.url, trust_env=False, timeout=10) as http:
        first = _when_open(server, http)
        assert (first.status_code, first.json()["status"]) == (503, "starting")
        assert set(first.json()["parts"]) == {"model", "memory", "vectors", "channels"}
        starting = http.get("/", headers=page)
        assert starting.status_code == 200
        assert "FinchBot is starting" in starting.text
        server.wait_ready()
        health = http.get("/healthz").json()
        assert health["status"] == "ok"
        assert "FinchBot is starting" not in http.get("/", headers=page).text

        (notice,) = http.get("/api/v1/info").json()["notices"]
        assert notice["code"] == "store.set_aside"
        (kept,) = (server.home / "data").glob("threads.db.corrupt-*")
        assert kept.read_bytes() == b"not what it was \x00\xff" * 512
        assert str(kept) in notice["detail"]
        assert "threads.db is damaged" in (server.home / "logs" / "finchbot.log").read_text()
        thread = http.post("/api/v1/threads").json()["id"]
        assert http.get(f"/api/v1/threads/{thread}").status_code == 200


def _when_open(server: ServerProcess, http: httpx.Client) -> httpx.Response:
    """Return the first answer to a look at its health."""
    while True:
        server.check_alive()
        try:
            return http.get("/healthz")
        except httpx.ConnectError:
            continue  # the port is not open yet


def test_a_second_program_on_one_home_or_one_port_is_told(
    server: ServerProcess, tmp_path: Path
) -> None:
    server.wait_ready()
    told = refusal(["--home", str(server.home), "--port", "0"], {}, tmp_path)
    assert str(server.home) in told
    assert str(server.pid) in told
    told = refusal(["--home", str(tmp_path / "other"), "--port", str(server.port)], {}, tmp_path)
    assert f"Port {server.port} on 127.0.0.1 is in use" in told
