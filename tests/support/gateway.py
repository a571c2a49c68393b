"""A whole gateway around the echoing core, served by a real uvicorn on a free port."""

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import websockets
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket
from websockets.typing import Subprotocol

from finchbot.i18n import Catalogue
from finchbot.ids import new_id, utc_now
from finchbot.server.app import create_app
from finchbot.server.bind import check_bind, make_door
from finchbot.server.boot import Boot, OpenGateway
from finchbot.server.caller import caller_of
from finchbot.server.cookies import Signer
from finchbot.server.guard import Door, Guard
from finchbot.server.look import Look
from finchbot.server.progress import Progress
from finchbot.server.services import Services
from finchbot.server.serving import Server, listen
from finchbot.server.splash import Splash
from finchbot.server.streams import Streams
from finchbot.settings import Settings
from tests.support.echo_core import EchoCore, echo_bot

ROOT = Path(__file__).resolve().parents[2]
CATALOGUE = Catalogue.load(ROOT / "locales")
LOOK = Look(":root { --finch-page: #FBFAF7; }", '<svg class="finch"></svg>', "<svg></svg>")


@dataclass(slots=True)
class Gateway:
    """A served gateway and what is inside."""

    core: EchoCore
    streams: Streams
    url: str = ""
    server: Server = field(init=False)
    parts: dict[str, str] = field(default_factory=dict)
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def socket_url(self) -> str:
        return self.url.replace("http", "ws", 1) + "/ws"

    def client(
        self, headers: Mapping[str, str] | None = None, timeout: float = 5.0
    ) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            base_url=self.url, headers=headers, timeout=timeout, trust_env=False
        )

    def connect(
        self,
        path: str = "/ws",
        headers: Mapping[str, str] | None = None,
        *,
        subprotocols: Sequence[str] | None = None,
        max_queue: int | None = 16,
        compression: str | None = "deflate",
    ) -> websockets.connect:
        return websockets.connect(
            self.url.replace("http", "ws", 1) + path,
            additional_headers=headers,
            subprotocols=[Subprotocol(name) for name in subprotocols or ()] or None,
            max_queue=max_queue,
            compression=compression,
            proxy=None,
        )


@asynccontextmanager
async def served(
    home: Path, environ: Mapping[str, str] | None = None, *, page: ASGIApp | None = None
) -> AsyncIterator[Gateway]:
    """Serve a gateway with these environment variables."""
    variables = dict(environ or {})
    core, streams, parts = EchoCore(), Streams(), dict[str, str]()
    bot = await asyncio.to_thread(echo_bot, core, home, variables)
    settings = await asyncio.to_thread(lambda: bot.settings.current)
    check_bind(settings.server, demo=settings.demo)
    gateway = Gateway(core, streams, parts=parts)

    @asynccontextmanager
    async def open_gateway(_progress: Progress) -> AsyncIterator[ASGIApp]:
        async with AsyncExitStack() as stack:
            stack.callback(gateway.closed.set)
            stack.push_async_callback(streams.close)
            await stack.enter_async_context(core)
            services = Services(
                bot=bot,
                catalogue=CATALOGUE,
                door=_door(settings, variables),
                streams=streams,
                look=LOOK,
                model_name=lambda: "echo/echo",
                parts=lambda: parts,
                demo=settings.demo,
            )
            app = create_app(services)
            app.mount("/admin", page_app("admin"))
            app.mount("/", page or page_app("chat"))
            yield Guard(app, services.door, services.problems, CATALOGUE.negotiate)

    boot = boot_for(open_gateway)
    async with served_boot(boot) as (url, server):
        gateway.url, gateway.server = url, server
        await boot.settled()
        yield gateway


def boot_for(
    open_gateway: OpenGateway,
    *,
    progress: Progress | None = None,
    on_failure: Callable[[], None] = lambda: None,
    linger_s: float = 0.0,
    socket_wait_s: float = 60.0,
) -> Boot:
    """Return a boot shim with everything it needs."""
    splash = Splash(LOOK, lambda key, wanted: CATALOGUE.text(key, CATALOGUE.negotiate(wanted)))
    return Boot(
        open_gateway,
        splash=splash,
        version="0",
        progress=progress or Progress(["chat"]),
        on_failure=on_failure,
        linger_s=linger_s,
        socket_wait_s=socket_wait_s,
    )


@asynccontextmanager
async def served_boot(boot: Boot) -> AsyncIterator[tuple[str, Server]]:
    """Serve a boot shim; yields its address and the server."""
    listener = listen("127.0.0.1", 0)
    server = Server(boot)
    serving = asyncio.create_task(server.serve([listener]))
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", server
    finally:
        server.should_exit = True
        await serving
        listener.close()


def page_app(name: str) -> Starlette:
    """Return an app that answers every path with 200, as a chat page at ``/`` does."""

    async def page(request: Request) -> Response:
        if request.url.path.endswith("/whoami"):
            return JSONResponse(
                {
                    "user_id": caller_of(request.scope).user_id,
                    "kind": caller_of(request.scope).kind,
                    "headers": dict(request.headers),
                    "url": str(request.url),
                    "client": request.client.host if request.client else None,
                }
            )
        await request.body()
        headers = {"access-control-allow-origin": "*"}
        return PlainTextResponse(f"{name} page of {request.url.path}", headers=headers)

    async def socket(websocket: WebSocket) -> None:
        await websocket.accept()
        await websocket.send_json(
            {
                "user_id": caller_of(websocket.scope).user_id,
                "origin": websocket.headers.get("x-finchbot-origin"),
            }
        )
        await websocket.close()

    methods = ["GET", "POST", "PUT", "DELETE"]
    return Starlette(
        routes=[
            WebSocketRoute("/_stcore/stream", socket),
            Route("/{path:path}", page, methods=methods),
        ]
    )


def _door(settings: Settings, environ: Mapping[str, str]) -> Door:
    return make_door(
        settings.server,
        demo=settings.demo,
        environ=environ,
        signer=Signer(b"k" * 32),
        clock=utc_now,
        new_id=new_id,
    )


async def _main() -> None:
    """Serve until a signal comes; the address is the first line of output."""
    async with served(Path(tempfile.mkdtemp())) as gateway:
        sys.stdout.write(f"{gateway.url}\n")
        sys.stdout.flush()
        await gateway.closed.wait()


if __name__ == "__main__":
    asyncio.run(_main())
