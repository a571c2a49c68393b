"""Too much, too little and nothing at all, at the API of the real program."""

import json
from collections.abc import Iterator

import httpx
import pytest
import websockets

from finchbot.ids import ThreadId
from tests.e2e.harness import ServerProcess
from tests.support.long_thread import write_long_thread
from tests.support.model_server import ModelServer

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(60)]

LONG = ThreadId("thr_of_ten_thousand")
TURNS = 5000
BODY_BYTES = 1_000_000
PAGE = 200


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer() as model:
        yield model
        model.raise_violations()


@pytest.fixture(scope="module")
def server(model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    home = tmp_path_factory.mktemp("limits") / "home"
    write_long_thread(home, LONG, TURNS)
    environ = {"OPENAI_API_KEY": "sk-test", "OPENAI_API_BASE": model.url}
    with ServerProcess(home, environ) as server:
        yield server


@pytest.fixture
def http(server: ServerProcess) -> Iterator[httpx.Client]:
    url = f"{server.url}/api/v1"
    with httpx.Client(base_url=url, trust_env=False, timeout=20) as http:
        yield http


def test_ten_thousand_messages_are_read_a_page_at_a_time(http: httpx.Client) -> None:
    assert http.get(f"/threads/{LONG}").json()["message_count"] == 2 * TURNS
    path = f"/threads/{LONG}/messages"
    first = http.get(path)
    assert len(first.json()["items"]) == 50
    assert len(first.content) < 50_000
    assert http.get(path, params={"limit": 201}).status_code == 422

    seen: list[str] = []
    slowest_s, cursor = 0.0, None
    while True:
        page = http.get(path, params={"limit": PAGE} | ({"cursor": cursor} if cursor else {}))
        slowest_s = max(slowest_s, page.elapsed.total_seconds())
        seen += [message["parts"][0]["text"] for message in page.json()["items"]]
        cursor = page.json()["next"]
        if cursor is None:
            break
    wanted = [f"{kind} {turn}" for turn in range(TURNS) for kind in ("question", "answer")]
    assert seen == wanted
    # A page costs what is on it: the last of fifty is no dearer than the first. Reading all
    # that lies before it would take many times longer.
    assert slowest_s < 1.0


def test_a_thread_of_ten_thousand_messages_is_found_and_answered(
    http: httpx.Client, model: ModelServer
) -> None:
    found = http.get("/threads", params={"q": "question 4321"}).json()["items"]
    assert [thread["id"] for thread in found] == [LONG]
    stream = {"accept": "text/event-stream"}
    sent = {"text": "and one more"}
    answered = http.post(f"/threads/{LONG}/messages", json=sent, headers=stream)
    assert "event: run.finished" in answered.text
    asked = model.requests[-1].messages
    assert asked[-1]["content"] == "and one more"
    assert f"answer {TURNS - 1}" in json.dumps(asked)
    # What the model gets is a window and not the whole talk.
    assert len(asked) < 1000


@pytest.mark.parametrize("text", ["", " ", "\n\t  \n", "\u200b", "\u3000"])
def test_a_message_of_nothing_is_refused_and_leaves_nothing(http: httpx.Client, text: str) -> None:
    thread = http.post("/threads").json()["id"]
    refused = http.post(f"/threads/{thread}/messages", json={"text": text})
    assert (refused.status_code, refused.json()["code"]) == (422, "message.empty")
    assert refused.headers["content-type"] == "application/problem+json"
    assert http.get(f"/threads/{thread}/messages").json()["items"] == []


def test_a_message_of_nearly_a_megabyte_is_kept_whole(http: httpx.Client) -> None:
    thread = http.post("/threads").json()["id"]
    text = "x" * (BODY_BYTES - 100)
    stream = {"accept": "text/event-stream"}
    answered = http.post(f"/threads/{thread}/messages", json={"text": text}, headers=stream)
    assert answered.status_code == 200
    assert any(kind in answered.text for kind in ("event: run.finished", "event: run.failed"))
    kept = http.get(f"/threads/{thread}/messages", params={"limit": 1}).json()["items"]
    assert kept[0]["parts"] == [{"type": "text", "text": text}]
    # The thread is no dead end.
    again = http.post(f"/threads/{thread}/messages", json={"text": "hello"}, headers=stream)
    assert "event: run.finished" in again.text


def test_a_body_over_the_limit_is_refused_and_the_connection_goes_on(http: httpx.Client) -> None:
    thread = http.post("/threads").json()["id"]
    refused = http.post(f"/threads/{thread}/messages", json={"text": "x" * BODY_BYTES})
    assert refused.status_code == 413
    assert refused.json()["status"] == 413
    assert http.get(f"/threads/{thread}/messages").json()["items"] == []


async def test_the_socket_refuses_the_same_and_stays_open(server: ServerProcess) -> None:
    url = server.url.replace("http", "ws", 1) + "/ws"
    async with websockets.connect(url, proxy=None) as socket:
        assert json.loads(await socket.recv())["type"] == "hello"
        for frame, code in (
            ({"type": "message.send", "text": " ", "client_id": "a"}, "message.empty"),
            ({"type": "message.send", "text": "hi", "thread_id": "thr_none"}, "thread.not_found"),
            ({"type": "thread.subscribe", "thread_id": "thr_none"}, "thread.not_found"),
            ({"type": "run.cancel", "run_id": "run_none"}, "run.not_found"),
            ({"type": "message.send", "text": "hi", "colour": "red"}, "input.unknown_field"),
            ({"type": "dance"}, "input.unknown_type"),
            ({"type": "message.send", "text": "x" * BODY_BYTES}, "input.too_large"),
        ):
            await socket.send(json.dumps(frame))
            told = json.loads(await socket.recv())
            assert (told["type"], told["code"]) == ("error", code)
            assert told["detail"].endswith(".")
            assert told.get("client_id") == frame.get("client_id")
        await socket.send(json.dumps({"type": "ping"}))
        assert json.loads(await socket.recv())["type"] == "pong"


def test_what_nobody_has_is_not_found_in_the_callers_language(http: httpx.Client) -> None:
    chinese = {"accept-language": "zh-CN"}
    for method, path in (
        ("GET", "/threads/thr_none"),
        ("GET", "/threads/thr_none/messages"),
        ("GET", "/threads/thr_none/events"),
        ("PATCH", "/threads/thr_none"),
        ("DELETE", "/threads/thr_none"),
        ("GET", "/runs/run_none"),
        ("POST", "/runs/run_none/cancel"),
    ):
        body = {"title": "x"} if method == "PATCH" else None
        refused = http.request(method, path, headers=chinese, json=body)
        assert refused.status_code == 404, path
        assert "没有" in refused.json()["detail"] or "找不到" in refused.json()["detail"]
