"""A client of a chat socket, ours or the floor's: both take and give the same few frames."""

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

ANSWER_S = 60.0


@dataclass(slots=True)
class Heard:
    """One answer as its client saw it."""

    first_s: float = 0.0
    """From the question to the first words."""
    whole_s: float = 0.0
    """From the question to the end of the run."""
    parts: list[str] = field(default_factory=list)
    tool_calls: int = 0

    @property
    def words(self) -> int:
        return len("".join(self.parts).split())


class Talker:
    """One socket and the thread it talks in."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._thread_id: str | None = None

    async def ask(self, text: str) -> Heard:
        """Send a message and return what came until the run was over."""
        frame = {"type": "message.send", "text": text}
        if self._thread_id is not None:
            frame["thread_id"] = self._thread_id
        heard, began = Heard(), time.perf_counter()
        await self._socket.send(json.dumps(frame))
        async for raw in self._socket:
            if self._take(heard, json.loads(raw), began):
                return heard
        raise AssertionError("the socket closed in the middle of an answer")

    def _take(self, heard: Heard, event: dict[str, Any], began: float) -> bool:
        """Note one event; return whether the run is over."""
        match event["type"]:
            case "text.delta":
                if not heard.parts:
                    heard.first_s = time.perf_counter() - began
                heard.parts.append(event["text"])
            case "tool_call.finished":
                assert not event["is_error"], event
                heard.tool_calls += 1
            case "accepted":
                self._thread_id = event["thread_id"]
            case "run.finished":
                heard.whole_s = time.perf_counter() - began
                return True
            case "error" | "run.failed" | "run.cancelled" | "run.interrupted":
                raise AssertionError(event)
        return False


@asynccontextmanager
async def talker(url: str) -> AsyncIterator[Talker]:
    """Open a socket at ``/ws`` of a server, uncompressed."""
    address = f"{url.replace('http', 'ws', 1)}/ws"
    async with connect(address, compression=None, open_timeout=ANSWER_S, proxy=None) as socket:
        yield Talker(socket)
