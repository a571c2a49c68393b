"""A real process that is told to end while people are connected."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import websockets

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(60)]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
async def program() -> AsyncIterator[asyncio.subprocess.Process]:
    program = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.support.gateway",
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    yield program
    if program.returncode is None:
        program.kill()
    await program.communicate()


async def test_a_terminated_server_says_goodbye_and_is_gone_within_three_seconds(
    program: asyncio.subprocess.Process,
) -> None:
    assert program.stdout is not None
    assert program.stderr is not None
    url = (await program.stdout.readline()).decode().strip()
    socket_url = url.replace("http", "ws", 1) + "/ws"
    async with (
        websockets.connect(socket_url, proxy=None) as busy,
        websockets.connect(socket_url, proxy=None) as idle,
        httpx.AsyncClient(base_url=url, trust_env=False) as client,
    ):
        await busy.send(json.dumps({"type": "message.send", "text": "hold on"}))
        accepted = await _until(busy, "accepted")
        await _until(busy, "text.delta")
        path = f"/api/v1/threads/{accepted['thread_id']}/events?after_seq=0"
        async with client.stream("GET", path) as stream:
            lines = stream.aiter_lines()
            await anext(lines)
            program.send_signal(signal.SIGTERM)
            async with asyncio.timeout(3):
                assert (await _until(busy, "run.interrupted"))["reason"] == "shutdown"
                streamed = [line async for line in lines]
                for socket in (busy, idle):
                    await socket.wait_closed()
                    assert socket.close_code == 1012
                _, errors = await program.communicate()
        assert "event: run.interrupted" in streamed
    assert program.returncode == 0
    assert b"Traceback" not in errors


async def _until(socket: websockets.ClientConnection, kind: str) -> dict[str, str]:
    while True:
        frame: dict[str, str] = json.loads(await socket.recv())
        if frame["type"] == kind:
            return frame
