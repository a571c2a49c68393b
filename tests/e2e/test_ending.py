"""The program is ended or killed in the middle of things, and goes on where it was."""

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import websockets

from tests.e2e.harness import ServerProcess
from tests.support.model_server import ModelServer
from tests.support.replies import Gate, Wait, answer, call

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(60)]

Event = dict[str, Any]
ENDS = {"run.finished", "run.cancelled", "run.interrupted", "run.failed"}


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer() as model:
        yield model
        model.raise_violations()


@pytest.fixture(scope="module")
def server(model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    environ = {"OPENAI_API_KEY": "sk-test", "OPENAI_API_BASE": model.url}
    with ServerProcess(tmp_path_factory.mktemp("ending") / "home", environ) as server:
        yield server


class Socket:
    """A client of ``/ws`` that keeps what it was told."""

    def __init__(self, connection: websockets.ClientConnection) -> None:
        self.connection = connection
        self.seen: list[Event] = []

    async def say(self, text: str, thread: str | None = None) -> str:
        """Send a message; return its thread."""
        frame = {"type": "message.send", "text": text, "thread_id": thread}
        await self.connection.send(json.dumps(frame))
        return str((await self.until("accepted"))["thread_id"])

    async def until(self, *kinds: str) -> Event:
        """Return the next frame of these kinds."""
        while True:
            frame: Event = json.loads(await self.connection.recv())
            self.seen.append(frame)
            if frame["type"] in kinds:
                return frame


def connected(server: ServerProcess, path: str = "/ws") -> websockets.connect:
    return websockets.connect(server.url.replace("http", "ws", 1) + path, proxy=None)


def record(server: ServerProcess, thread: str) -> list[Event]:
    """Return what is kept of a thread, message by message."""
    items: list[Event] = server.api("GET", f"/threads/{thread}/messages")["items"]
    return items


def texts(messages: list[Event], role: str) -> list[str]:
    return [
        "".join(part["text"] for part in message["parts"] if part["type"] == "text")
        for message in messages
        if message["role"] == role
    ]


def replayed(server: ServerProcess, thread: str, count: int) -> list[Event]:
    """Return the first `count` events of a thread from its beginning."""
    url = f"{server.url}/api/v1/threads/{thread}/events"
    events: list[Event] = []
    with httpx.stream("GET", url, trust_env=False, timeout=10) as stream:
        for line in stream.iter_lines():
            if line.startswith("data: "):
                events.append(json.loads(line[6:]))
                if len(events) == count:
                    return events
    raise AssertionError(f"there are only {len(events)} events")


async def test_a_terminated_program_says_goodbye_to_everybody_and_keeps_what_came(
    server: ServerProcess, model: ModelServer
) -> None:
    model.on("a finished turn", "Of course.")
    model.on("hold on", answer("the first half,", Wait(Gate()), " never said"))
    async with (
        connected(server) as connection,
        connected(server, "/admin/_stcore/stream") as admin,
        httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=10) as http,
    ):
        socket = Socket(connection)
        thread = await socket.say("a finished turn")
        await socket.until("run.finished")
        before = await asyncio.to_thread(record, server, thread)
        await socket.say("hold on", thread)
        async with http.stream("GET", f"/api/v1/threads/{thread}/events") as stream:
            lines = stream.aiter_lines()
            while "the first half," not in "".join(_said(socket.seen)):
                await socket.until("text.delta")
            await anext(lines)
            ending = asyncio.create_task(asyncio.to_thread(server.stop))
            completed = await socket.until("message.completed")
            last = await socket.until(*ENDS)
            streamed = [line async for line in lines]
        took_s = await ending
        for one in (connection, admin):
            await one.wait_closed()
    assert took_s < 3
    assert server.exit_code == 0
    assert "Traceback" not in server.output
    assert (completed["text"], completed["partial"]) == ("the first half,", True)
    assert (last["type"], last["reason"]) == ("run.interrupted", "shutdown")
    assert "event: run.interrupted" in streamed

    await asyncio.to_thread(server.start)
    after = await asyncio.to_thread(record, server, thread)
    assert after[: len(before)] == before
    assert texts(after, "user") == ["a finished turn", "hold on"]
    assert texts(after, "assistant") == ["Of course.", "the first half,"]
    assert after[-1]["partial"] is True
    assert server.api("GET", f"/runs/{last['run_id']}")["status"] == "interrupted"
    told = [frame for frame in socket.seen if "seq" in frame]
    again = await asyncio.to_thread(replayed, server, thread, len(told))
    assert again == told


def _said(frames: list[Event]) -> list[str]:
    return [frame["text"] for frame in frames if frame["type"] == "text.delta"]


async def test_a_killed_program_goes_on_with_every_thread(
    server: ServerProcess, model: ModelServer
) -> None:
    """Killed in the middle of an answer in one thread, and inside a tool in another."""
    model.on("begin", "We have begun.")
    model.on("wait a bit", answer("half of it,", Wait(Gate()), " never said"))
    model.on(
        "look it up", answer("Let me look.", call("read_file", {"path": "endless", "offset": 9999}))
    )
    endless = server.home / "workspace" / "endless"
    _write_endless(endless)
    async with connected(server) as one, connected(server) as other:
        speaking, working = Socket(one), Socket(other)
        spoken, worked = await speaking.say("begin"), await working.say("begin")
        for socket in (speaking, working):
            await socket.until("run.finished")
        before = {thread: record(server, thread) for thread in (spoken, worked)}
        await speaking.say("wait a bit", spoken)
        while "half of it," not in "".join(_said(speaking.seen)):
            await speaking.until("text.delta")
        await working.say("look it up", worked)
        await working.until("tool_call.started")
        await asyncio.to_thread(server.stop, signal.SIGKILL)

    endless.unlink()
    await asyncio.to_thread(server.start)
    for socket, thread in ((speaking, spoken), (working, worked)):
        after = record(server, thread)
        assert after[: len(before[thread])] == before[thread]
        seen = [frame for frame in socket.seen if "seq" in frame]
        again = replayed(server, thread, max(frame["seq"] for frame in seen) + 1)
        assert [event["seq"] for event in again] == [n + 1 for n in range(len(again))]
        assert _lasting(again)[: len(_lasting(seen))] == _lasting(seen)
    assert texts(record(server, spoken), "assistant")[-1].startswith("half")
    assert _results(record(server, worked)) == [True]

    model.on("go on", "Here we go on.")
    async with connected(server) as connection:
        socket = Socket(connection)
        for thread in (spoken, worked):
            await socket.say("go on", thread)
            finished = await socket.until(*ENDS)
            assert finished["type"] == "run.finished"
            assert texts(record(server, thread), "assistant")[-1] == "Here we go on."
            ended = server.api("GET", f"/threads/{thread}")
            assert ended["running"] is False
    asked = json.dumps(model.requests[-1].messages)
    assert "look it up" in asked
    assert "begin" in asked


def _write_endless(path: Path) -> None:
    """Make a file that looks like text and takes minutes to read, though it fills no disk."""
    path.write_text("a line of text\n" * 4096)
    os.truncate(path, 1 << 40)


def _lasting(events: list[Event]) -> list[Event]:
    """Leave out deltas, which a killed program may lose."""
    return [event for event in events if not event["type"].endswith(".delta")]


def _results(messages: list[Event]) -> list[bool]:
    parts = [part for message in messages for part in message["parts"]]
    return [part["is_error"] for part in parts if part["type"] == "tool_result"]
