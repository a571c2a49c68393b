"""Boot: the shim in front that answers while the libraries load; standard library only.

The port is bound within a second; the gateway, with its heavy imports, opens behind it. Pages
get the start-up page, ``/healthz`` says "starting", sockets wait and are then handed over.
"""

import asyncio
import contextlib
import json
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from finchbot.errors import FinchError
from finchbot.server.progress import Progress
from finchbot.server.splash import Splash

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
OpenGateway = Callable[[Progress], AbstractAsyncContextManager[App]]

_PARTS = ("model", "memory", "vectors", "channels")
_log = logging.getLogger(__name__)


class Boot:
    """An ASGI app that opens another behind itself.

    Args:
        open_gateway: Opens what is served; heavy work in it runs in threads.
        splash: The start-up page.
        version: For ``/healthz``.
        progress: The parts the start-up page lists.
        on_failure: Called when the gateway could not be opened, or failed to close; ends the
            program with exit code 1.
        linger_s: How long a failed start stays visible before `on_failure`.
        socket_wait_s: How long a socket waits for the gateway.
    """

    def __init__(
        self,
        open_gateway: OpenGateway,
        *,
        splash: Splash,
        version: str,
        progress: Progress,
        on_failure: Callable[[], None],
        linger_s: float = 3.0,
        socket_wait_s: float = 60.0,
    ) -> None:
        self._open_gateway = open_gateway
        self._splash = splash
        self._version = version
        self._progress = progress
        self._on_failure = on_failure
        self._linger_s = linger_s
        self._socket_wait_s = socket_wait_s
        self._app: App | None = None
        self._failure: str | None = None
        self._error: BaseException | None = None
        self._settled = asyncio.Event()
        self._closing = asyncio.Event()
        self._life: asyncio.Task[None] | None = None
        self._farewell: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, socket or the lifespan."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif self._app is not None and not self._closing.is_set():
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._socket(scope, receive, send)
        else:
            await self._answer(scope, send)

    @property
    def error(self) -> BaseException | None:
        """Why the gateway could not be opened, or failed to close."""
        return self._error

    @property
    def failed(self) -> bool:
        """Whether the gateway could not be opened, or failed to close."""
        return self._failure is not None

    async def settled(self) -> None:
        """Return when the gateway is open, or has failed."""
        await self._settled.wait()

    def open(self) -> None:
        """Begin to open the gateway in the background."""
        self._life = asyncio.create_task(self._live(), name="gateway")
        self._life.add_done_callback(self._ended)

    async def close(self) -> None:
        """Close the gateway: no new work, runs ended, streams said goodbye to, stores closed.

        A second call waits for the first. Call it while the connections are open, so that they
        hear how it ends.
        """
        self._closing.set()
        if self._farewell is not None:
            self._farewell.cancel()
        if self._life is not None:
            if self._app is None and not self._life.done():
                self._life.cancel()
            await asyncio.wait([self._life])

    async def _live(self) -> None:
        async with self._open_gateway(self._progress) as app:
            self._app = app
            self._settled.set()
            await self._closing.wait()

    def _ended(self, life: "asyncio.Task[None]") -> None:
        error = None if life.cancelled() else life.exception()
        if error is None:
            return
        self._failure, self._error = secrets.token_hex(4), error
        if isinstance(error, FinchError):
            # Who started the program is told by one sentence, so this stays in the file.
            _log.info("the gateway did not open, or not close [%s]: %s", self._failure, error)
        else:
            _log.critical("the gateway failed [%s]", self._failure, exc_info=error)
        self._app = None
        self._settled.set()
        if self._closing.is_set():
            self._on_failure()
        else:
            self._farewell = asyncio.create_task(self._say_farewell(), name="farewell")

    async def _say_farewell(self) -> None:
        await asyncio.sleep(self._linger_s)
        self._on_failure()

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        self.open()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.close()
        await send({"type": "lifespan.shutdown.complete"})

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._socket_wait_s):
                await self._settled.wait()
        if self._app is not None and not self._closing.is_set():
            await self._app(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1013})

    async def _answer(self, scope: Scope, send: Send) -> None:
        headers = {name.decode("latin-1"): value for name, value in scope["headers"]}
        language = headers.get("accept-language", b"").decode("latin-1")
        if scope["path"].removeprefix(self._splash.root_path) == "/healthz":
            await _respond(send, 503, "application/json", json.dumps(self._health()))
        elif scope["method"] == "GET" and b"text/html" in headers.get("accept", b""):
            await self._show(send, language)
        else:
            problem = json.dumps(self._problem(language), ensure_ascii=False)
            await _respond(send, 503, "application/problem+json", problem)

    async def _show(self, send: Send, language: str) -> None:
        status = 200
        if self._failure is not None:
            status = 500
            page, policy = self._splash.failed(self._failure, language)
        elif self._closing.is_set():
            status = 503
            page, policy = self._splash.closing(language)
        else:
            page, policy = self._splash.starting(self._progress, language)
        extra = {"content-security-policy": policy, "referrer-policy": "same-origin"}
        await _respond(send, status, "text/html; charset=utf-8", page, extra)

    def _health(self) -> dict[str, Any]:
        over = self._closing.is_set() or self._failure is not None
        status = "draining" if over else "starting"
        return {
            "status": status,
            "version": self._version,
            "parts": dict.fromkeys(_PARTS, status),
            "waiting_for": self._progress.waiting_for,
        }

    def _problem(self, language: str) -> dict[str, Any]:
        over = self._closing.is_set() or self._failure is not None
        code = "server.draining" if over else "server.starting"
        return {
            "type": f"urn:finchbot:error:{code}",
            "title": self._splash.say("server.status.503", language),
            "status": 503,
            "detail": self._splash.say(f"error.{code}", language),
            "code": code,
            "params": {},
        }


async def _respond(
    send: Send, status: int, kind: str, text: str, extra: Mapping[str, str] | None = None
) -> None:
    headers = {
        "content-type": kind,
        "content-length": str(len(text.encode())),
        "cache-control": "no-store",
        "retry-after": "1",
        "x-content-type-options": "nosniff",
        **(extra or {}),
    }
    encoded = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": text.encode()})
