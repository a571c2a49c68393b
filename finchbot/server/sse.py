"""Event streams: a thread's events as server-sent events."""

import asyncio
from collections.abc import AsyncIterator

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from finchbot.events import RunEvent
from finchbot.server.streams import Streams, close_iterator

_HEARTBEAT_S = 15.0


class EventStream(Response):
    """Sends events until there are no more, the client leaves, or the program ends.

    ``id`` is the event's `seq`, ``event`` its `type`, ``data`` the event itself. A run does not
    notice who listens.

    Args:
        events: Closed when the stream ends, however it ends.
        streams: Where it is counted.
        heartbeat_s: Seconds between comments that keep proxies from cutting a quiet stream.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        events: AsyncIterator[RunEvent],
        streams: Streams,
        *,
        heartbeat_s: float = _HEARTBEAT_S,
    ) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._events = events
        self._streams = streams
        self._heartbeat_s = heartbeat_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the stream."""
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        with self._streams.opened():
            pump = asyncio.create_task(self._pump(send))
            gone = asyncio.create_task(_gone(receive))
            others = [
                gone,
                asyncio.create_task(self._beat(send)),
                asyncio.create_task(self._streams.time_to_end()),
            ]
            try:
                await asyncio.wait([pump, *others], return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in (pump, *others):
                    task.cancel()
                await asyncio.wait([pump, *others])
            if not pump.cancelled():
                pump.result()
        if not gone.done() or gone.cancelled():
            await send({"type": "http.response.body", "body": b""})

    async def _pump(self, send: Send) -> None:
        try:
            async for event in self._events:
                await send({"type": "http.response.body", "body": frame(event), "more_body": True})
        finally:
            await close_iterator(self._events)

    async def _beat(self, send: Send) -> None:
        while True:
            await asyncio.sleep(self._heartbeat_s)
            await send({"type": "http.response.body", "body": b": \n\n", "more_body": True})


def frame(event: RunEvent) -> bytes:
    """Return one event in the form of the stream."""
    return f"id: {event.seq}\nevent: {event.type}\ndata: {event.model_dump_json()}\n\n".encode()


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
