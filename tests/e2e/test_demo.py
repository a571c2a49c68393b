"""A demo as strangers meet it: each alone, nothing of them left behind."""

import json
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from tests.e2e.harness import ServerProcess, Visitors
from tests.support.model_server import ModelServer
from tests.support.openai_wire import Body
from tests.support.replies import Reply, answer, call

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(60)]

AWAY_S = 2.0
WORD = "zebrafinch77"


def obedient(body: Body) -> Reply:
    """Call the tool that the user names as ``call <name> <json>``, then repeat what it said."""
    last = body["messages"][-1]
    text = str(last["content"])
    if last["role"] == "user" and text.startswith("call "):
        _, name, arguments = text.split(" ", 2)
        return answer(call(name, arguments))
    return answer(f"heard: {text}")


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer() as model:
        model.respond(obedient)
        yield model
        model.raise_violations()


@pytest.fixture(scope="module")
def server(model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    environ = {
        "SPACE_ID": "somebody/finchbot",
        "OPENAI_API_KEY": "sk-of-the-demo-1234",
        "OPENAI_API_BASE": model.url,
    }
    home = tmp_path_factory.mktemp("demo") / "home"
    entry = ("-m", "tests.support.short_demo", "--away-s", str(AWAY_S))
    with ServerProcess(home, environ, entry=entry) as server:
        yield server


class Stranger:
    """A visitor with a browser's cookies."""

    def __init__(self, server: ServerProcess) -> None:
        self.http = httpx.Client(base_url=f"{server.url}/api/v1", trust_env=False, timeout=10)

    def __enter__(self) -> "Stranger":
        self.http.get("/info")
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def new_thread(self) -> str:
        return str(self.http.post("/threads").json()["id"])

    def say(self, text: str, thread: str | None = None) -> list[dict[str, Any]]:
        """Send a message and return the events of its run."""
        thread = thread or self.new_thread()
        headers = {"accept": "text/event-stream"}
        answered = self.http.post(
            f"/threads/{thread}/messages", json={"text": text}, headers=headers
        )
        assert answered.status_code == 200, answered.text
        lines = answered.text.splitlines()
        return [json.loads(line[6:]) for line in lines if line.startswith("data: ")]

    def use(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Have the model use a tool; return how the call ended."""
        events = self.say(f"call {tool} {json.dumps(arguments)}")
        finished = [event for event in events if event["type"] == "tool_call.finished"]
        assert len(finished) == 1
        return finished[0]


def places_of(home: Path, text: str) -> list[str]:
    """Return the files of a home that hold a text, in whatever part of them."""
    found = []
    for path in home.rglob("*"):
        try:
            if path.is_file() and text.encode() in path.read_bytes():
                found.append(str(path.relative_to(home)))
        except FileNotFoundError:
            continue  # it went while it was looked for
    return found


def until(met: Callable[[], bool], what: str, timeout_s: float = 15.0) -> None:
    """Wait for another process; it can only be asked."""
    deadline = time.monotonic() + timeout_s
    while not met():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


def test_strangers_see_nothing_of_each_other_and_nothing_is_left_of_who_has_gone(
    server: ServerProcess,
) -> None:
    with Stranger(server) as ann, Stranger(server) as bo:
        thread = ann.new_thread()
        # Ann listens all the time, so she is here.
        with ann.http.stream("GET", f"/threads/{thread}/events") as listening:
            wrote = json.dumps({"path": "mine.txt", "content": WORD})
            run = ann.say(f"call write_file {wrote}", thread)[-1]["run_id"]
            assert ann.use("read_file", path="mine.txt")["output"].count(WORD) == 1
            began = time.monotonic()
            _sees_no_thread(bo, thread, run)
            _reads_no_file(bo, server.home)
            _changes_no_setting(bo)
            while time.monotonic() < began + 1.5 * AWAY_S:
                bo.http.get("/info")
            messages = ann.http.get(f"/threads/{thread}/messages").json()["items"]
            assert WORD in json.dumps(messages)
            assert listening.status_code == 200
    assert places_of(server.home, WORD)
    until(lambda: not places_of(server.home, WORD), "what Ann left did not go")
    until(lambda: not list((server.home / "data" / "visitors").iterdir()), "a folder stayed")


def _sees_no_thread(stranger: Stranger, thread: str, run: str) -> None:
    http = stranger.http
    assert http.get("/threads").json()["items"] == []
    assert http.get("/threads", params={"q": WORD}).json()["items"] == []
    for path in ("", "/messages", "/events"):
        assert http.get(f"/threads/{thread}{path}").status_code == 404
    assert http.post(f"/threads/{thread}/messages", json={"text": "hi"}).status_code == 404
    assert http.patch(f"/threads/{thread}", json={"title": "mine"}).status_code == 404
    assert http.delete(f"/threads/{thread}").status_code == 404
    assert http.get(f"/runs/{run}").status_code == 404
    assert http.post(f"/runs/{run}/cancel").status_code == 404


def _reads_no_file(stranger: Stranger, home: Path) -> None:
    (file,) = home.rglob("mine.txt")
    for path in (
        "mine.txt",
        str(file),
        f"../{file.parent.name}/mine.txt",
        str(home / "data" / "threads.db"),
        str(home / "data" / "cookies.key"),
        "../../../logs/finchbot.log",
    ):
        answered = stranger.use("read_file", path=path)
        assert answered["is_error"], path
        assert WORD not in answered["output"]
    for path in ("..", str(file.parent), str(home)):
        assert stranger.use("list_dir", path=path)["is_error"], path
    wrote = stranger.use("write_file", path=str(file), content="not yours")
    assert wrote["is_error"]
    assert file.read_text() == WORD


def _changes_no_setting(stranger: Stranger) -> None:
    assert stranger.http.get("/settings").status_code == 403
    changes = {"revision": "", "changes": {"providers.openai.api_key": "sk-of-a-stranger"}}
    assert stranger.http.patch("/settings", json=changes).status_code == 403
    info = stranger.http.get("/info").json()
    assert info["demo"] is True
    assert [notice["code"] for notice in info["notices"]] == ["demo"]
    assert "sk-" not in json.dumps(info)


def test_the_pages_say_that_nothing_is_kept(visitors: Visitors, server: ServerProcess) -> None:
    page = visitors.open(server.url)
    page.wait_for_selector(".finch-ready")
    expect(page.locator(".banner")).to_contain_text("Nothing is kept after your visit")
    page = visitors.another_tab(page.context, f"{server.url}/admin/")
    expect(page.get_by_text("Nothing is kept after your visit")).to_be_visible()
    expect(page.get_by_text(str(server.home))).to_have_count(0)


def test_a_demo_that_is_ended_or_killed_keeps_nothing(server: ServerProcess) -> None:
    """The last test here: the process ends in it."""
    with Stranger(server) as ann:
        ann.use("write_file", path="mine.txt", content=WORD)
        server.stop(signal.SIGKILL)
    assert places_of(server.home, WORD)
    server.start()
    assert places_of(server.home, WORD) == []
    with Stranger(server) as bo:
        bo.use("write_file", path="mine.txt", content=WORD)
        assert places_of(server.home, WORD)
        assert server.stop() < 3
    assert server.exit_code == 0
    assert places_of(server.home, WORD) == []
