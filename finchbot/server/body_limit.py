"""How much a request may bring: counted while it is read."""

import asyncio
import contextlib

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from finchbot.errors import TooLarge

JSON_BYTES = 1_000_000
UPLOAD_BYTES = 50_000_000
_FORM_BYTES = 64_000
"""What a multipart form may weigh beside its file."""
_DRAIN_BYTES = 8_000_000
_DRAIN_S = 1.0
_UPLOADS = ("/gradio_api/upload", "/admin/_stcore/upload_file", "/api/v1/uploads")


def limit_for(path: str) -> int:
    """Return how many bytes a request to `path` may bring."""
    if any(path == place or path.startswith(f"{place}/") for place in _UPLOADS):
        return UPLOAD_BYTES + _FORM_BYTES
    return JSON_BYTES


def declared_bytes(scope: Scope) -> int:
    """Return the ``Content-Length``, 0 when there is none."""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0


async def run_limited(app: ASGIApp, scope: Scope, receive: Receive, send: Send, limit: int) -> None:
    """Run `app` on a request whose body is cut off after `limit` bytes.

    To the app a cut body looks like a client that left; what it says to that is dropped.

    Raises:
        TooLarge: The body was too large and no response has begun.
    """
    if declared_bytes(scope) > limit:
        await _drain(receive)
        raise TooLarge(limit_bytes=limit)
    body = _Body(receive, send, limit)
    try:
        await app(scope, body.receive, body.send)
    except ClientDisconnect:
        if not body.over:
            raise
    if body.over and not body.begun:
        await _drain(receive)
        raise TooLarge(limit_bytes=limit)


class _Body:
    def __init__(self, receive: Receive, send: Send, limit: int) -> None:
        self._receive = receive
        self._send = send
        self._left = limit
        self.over = False
        self.begun = False

    async def receive(self) -> Message:
        if self.over:
            return {"type": "http.disconnect"}
        message = await self._receive()
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                self.over = True
                return {"type": "http.disconnect"}
        return message

    async def send(self, message: Message) -> None:
        if self.over and not self.begun:
            return
        self.begun = True
        await self._send(message)


async def _drain(receive: Receive) -> None:
    """Read on for a moment, so that a client still sending gets to see the answer."""
    left = _DRAIN_BYTES
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_DRAIN_S):
            while left > 0:
                message = await receive()
                left -= len(message.get("body", b""))
                if message["type"] != "http.request" or not message.get("more_body"):
                    return
