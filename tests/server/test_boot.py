import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
import websockets
from starlette.types import ASGIApp

from finchbot.errors import ConfigError
from finchbot.server.boot import Boot
from finchbot.server.progress import Progress
from finchbot.server.serving import listen
from tests.support.gateway import boot_for, page_app, served_boot

PAGE = {"accept": "text/html"}


class Slow:
    """A gateway that opens and closes when it is told to."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.may_close = asyncio.Event()
        self.may_close.set()
        self.closed = False

    @asynccontextmanager
    async def open(self, progress: Progress) -> AsyncIterator[ASGIApp]:
        with progress.step("chat"):
            await self.go.wait()
        yield page_app("chat")
        await self.may_close.wait()
        self.closed = True


@asynccontextmanager
async def booting(boot: Boot) -> AsyncIterator[httpx.AsyncClient]:
    async with (
        served_boot(boot) as (url, _),
        httpx.AsyncClient(base_url=url, trust_env=False) as client,
    ):
        yield client


async def test_while_it_starts_pages_wait_and_programs_are_told() -> None:
    slow = Slow()
    boot = boot_for(slow.open, progress=Progress(["chat", "admin"]))
    async with booting(boot) as client:
        page = await client.get("/admin/memory", headers=PAGE | {"Accept-Language": "zh-CN"})
        assert page.status_code == 200
        assert 'lang="zh-CN"' in page.text
        assert "FinchBot 正在启动" in page.text
        assert "聊天页面" in page.text
        assert 'http-equiv="refresh"' in page.text
        assert "http://" not in page.text
        assert "https://" not in page.text
        assert "default-src 'none'" in page.headers["content-security-policy"]
        health = await client.get("/healthz")
        assert health.status_code == 503
        assert health.json()["status"] == "starting"
        assert set(health.json()["parts"]) == {"model", "memory", "vectors", "channels"}
        assert set(health.json()["waiting_for"]) == {"chat", "admin"}
        for method in ("GET", "POST"):
            answer = await client.request(method, "/api/v1/info")
            assert answer.status_code == 503
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.json()["code"] == "server.starting"
            assert answer.headers["retry-after"] == "1"
        slow.go.set()
        await boot.settled()
        assert (await client.get("/", headers=PAGE)).text == "chat page of /"


async def test_a_socket_waits_and_is_handed_over() -> None:
    slow = Slow()
    boot = boot_for(slow.open)
    async with booting(boot) as client:
        url = str(client.base_url).replace("http", "ws", 1) + "/_stcore/nothing"
        connecting = asyncio.create_task(_status(url))
        assert (await client.get("/healthz")).json()["status"] == "starting"
        assert not connecting.done()
        slow.go.set()
        # The page app has no socket here; its own answer shows that it was asked.
        assert await connecting == 403


async def test_a_socket_does_not_wait_for_ever() -> None:
    boot = boot_for(Slow().open, socket_wait_s=0.01)
    async with booting(boot) as client:
        assert await _status(str(client.base_url).replace("http", "ws", 1)) == 403


async def _status(url: str) -> int:
    try:
        async with websockets.connect(url, proxy=None):
            return 101
    except websockets.InvalidStatus as refused:
        return refused.response.status_code


async def test_a_failed_start_is_shown_logged_and_ends_the_program(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told = asyncio.Event()
    lingering = boot_for(_broken, on_failure=told.set, linger_s=60)
    async with booting(lingering) as client:
        await lingering.settled()
        page = await client.get("/", headers=PAGE)
        assert page.status_code == 500
        reference = page.text.split("<code>")[1].split("</code>")[0]
        assert reference in caplog.text
        assert "the model is gone" in caplog.text
        assert "the model is gone" not in page.text
        assert (await client.get("/healthz")).json()["status"] == "draining"
        assert (await client.get("/api/v1/info")).json()["code"] == "server.draining"
        assert not told.is_set()
    quick = boot_for(_broken, on_failure=told.set, linger_s=0)
    async with booting(quick):
        await told.wait()
    assert quick.failed


@asynccontextmanager
async def _broken(_progress: Progress) -> AsyncIterator[ASGIApp]:
    raise RuntimeError("the model is gone")
    yield


async def test_while_it_stops_it_says_so_and_closes_what_it_opened() -> None:
    slow = Slow()
    slow.go.set()
    slow.may_close.clear()
    boot = boot_for(slow.open)
    async with booting(boot) as client:
        await boot.settled()
        closing = asyncio.create_task(boot.close())
        await asyncio.sleep(0)
        health = await client.get("/healthz")
        assert (health.status_code, health.json()["status"]) == (503, "draining")
        assert (await client.post("/api/v1/threads")).status_code == 503
        page = await client.get("/", headers=PAGE)
        assert (page.status_code, "FinchBot is stopping" in page.text) == (503, True)
        assert not slow.closed
        slow.may_close.set()
        await closing
        assert slow.closed


async def test_it_can_be_stopped_before_it_is_ready() -> None:
    boot = boot_for(Slow().open)
    async with booting(boot) as client:
        assert (await client.get("/healthz")).status_code == 503
    assert not boot.failed


def test_the_shim_needs_the_standard_library_alone() -> None:
    code = (
        "import sys, finchbot.server.boot, finchbot.server.splash\n"
        "heavy = {'starlette', 'fastapi', 'pydantic', 'uvicorn', 'babel', 'gradio', 'streamlit'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    # The command is this interpreter with the code above.
    found = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"


def test_a_taken_port_is_named() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError) as refused:
            listen("127.0.0.1", port)
    assert refused.value.code == "server.port_in_use"
    assert refused.value.params == {"host": "127.0.0.1", "port": port}
