"""The border around Gradio's server, behind the guard of a demo with two visitors."""

from collections.abc import AsyncIterator
from datetime import UTC
from pathlib import Path

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from finchbot.ids import UserId
from finchbot.ui.border import Border
from finchbot.ui.caller import Visitor
from finchbot.ui.page import OpenPages, TabTaken
from tests.support.gateway import Gateway, page_app, served

DEMO = {"FINCHBOT_DEMO": "1"}


class Words:
    """Stands for Gradio: says what it is told to whoever asks for the queue's data."""

    def __init__(self, pages: OpenPages) -> None:
        self.pages = pages
        self.owner = UserId("")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"begins,", "more_body": True})
        if self.owner:
            self.pages.open(Visitor(self.owner, "tab", "en-US", UTC), None)
        await send({"type": "http.response.body", "body": b"private", "more_body": True})
        await send({"type": "http.response.body", "body": b""})


@pytest.fixture
def pages() -> OpenPages:
    return OpenPages()


@pytest.fixture
async def gateway(tmp_path: Path, pages: OpenPages) -> AsyncIterator[Gateway]:
    async with served(tmp_path, page=Border(page_app("chat"), pages)) as gateway:
        yield gateway


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/config",
        "/theme.css?v=1",
        "/assets/index.js",
        "/static/img/logo.svg",
        "/manifest.json",
        "/gradio_api/startup-events",
        "/gradio_api/queue/data?session_hash=x",
    ],
)
async def test_what_the_page_asks_for_passes(gateway: Gateway, path: str) -> None:
    async with gateway.client() as client:
        assert (await client.get(path)).text == f"chat page of {path.split('?')[0]}"
        for asked in ("/gradio_api/queue/join", "/gradio_api/run/predict"):
            assert (await client.post(asked, json={})).status_code == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/gradio_api/upload"),
        ("GET", "/gradio_api/upload_progress?upload_id=x"),
        ("GET", "/gradio_api/file=/tmp/gradio/x/y"),
        ("GET", "/gradio_api/file/x"),
        ("GET", "/gradio_api/call/follow/0123"),
        ("POST", "/gradio_api/call/follow"),
        ("POST", "/gradio_api/run/follow"),
        ("POST", "/gradio_api/cancel"),
        ("POST", "/gradio_api/reset"),
        ("POST", "/gradio_api/component_server"),
        ("POST", "/gradio_api/vibe-edit"),
        ("GET", "/gradio_api/dev/reload"),
        ("GET", "/gradio_api/info"),
        ("GET", "/gradio_api/heartbeat/tab"),
        ("GET", "/monitoring"),
        ("GET", "/openapi.json"),
        ("POST", "/"),
        ("GET", "/nothing"),
    ],
)
async def test_what_else_gradio_serves_is_not_there(
    gateway: Gateway, method: str, path: str
) -> None:
    async with gateway.client() as client:
        answer = await client.request(method, path)
    assert (answer.status_code, answer.json()["code"]) == (404, "server.not_found")


async def test_nobody_hears_a_tab_of_another_whoever_was_there_first(
    tmp_path: Path, pages: OpenPages
) -> None:
    words = Words(pages)
    async with (
        served(tmp_path, DEMO, page=Border(words, pages)) as gateway,
        gateway.client() as mine,
        gateway.client() as theirs,
    ):
        stream = "/gradio_api/queue/data?session_hash=tab"
        await mine.get("/api/v1/info")
        assert (await theirs.get(stream)).text == "begins,private"
        words.owner = await _user(mine)
        assert (await theirs.get(stream)).text == "begins,"
        words.owner = UserId("")
        assert (await theirs.get(stream)).text == ""
        assert (await mine.get(stream)).text == "begins,private"


def test_a_tab_of_another_or_without_a_name_cannot_be_opened(pages: OpenPages) -> None:
    pages.open(Visitor(UserId("one"), "tab", "en-US", UTC), None)
    for user_id, session in (("two", "tab"), ("one", ""), ("two", "")):
        with pytest.raises(TabTaken):
            pages.open(Visitor(UserId(user_id), session, "en-US", UTC), None)
    assert len(pages) == 1


async def _user(client: httpx.AsyncClient) -> UserId:
    return UserId((await client.get("/api/v1/info")).json()["user_id"])
