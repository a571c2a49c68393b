"""The gateway: one app for API, socket, admin and chat page, behind one guard."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

from finchbot.compose.core import Core, open_core
from finchbot.compose.foundation import ROOT, Foundation
from finchbot.compose.loading import collector_at_rest
from finchbot.ids import new_id, utc_now
from finchbot.lazy import load
from finchbot.log import claim_loggers
from finchbot.server.admin import AdminPaths
from finchbot.server.bind import make_door
from finchbot.server.boot import App
from finchbot.server.cookies import Signer, load_key
from finchbot.server.guard import Door, Guard
from finchbot.server.look import Look
from finchbot.server.progress import Progress
from finchbot.server.streams import Streams
from finchbot.server.visits import Visits

if TYPE_CHECKING:
    from fastapi import FastAPI

PARTS = ("libraries", "core", "admin", "chat")
"""What the start-up page lists, in this order."""

STREAMLIT_OPTIONS = {
    "browser.gatherUsageStats": False,
    "client.showErrorDetails": "none",
    "client.showErrorLinks": False,
    "client.toolbarMode": "minimal",
    # It would show every string that stands alone in a page, explanations of constants included.
    "runner.magicEnabled": False,
    # A watcher would drop changed modules and so make a second core.
    "server.fileWatcherType": "none",
    "server.headless": True,
}


@asynccontextmanager
async def open_gateway(
    base: Foundation, look: Look, progress: Progress, *, away_s: float
) -> AsyncIterator[App]:
    """Open the core, then what serves it.

    Closing goes the other way round, but for two things: runs end first, and the streams that
    told of them end while the page and the socket can still be written to.

    Args:
        base: What it is built on.
        look: Colours and mark.
        progress: Told of each part.
        away_s: How long a visitor of a demo may be away before what is theirs goes.
    """
    async with AsyncExitStack() as stack:
        with collector_at_rest():
            core = await stack.enter_async_context(open_core(base, progress))
            # Also without demo mode: an earlier demo may have been killed on this home.
            await stack.enter_async_context(core.visitors.kept_for_now())
            visits = Visits(core.visitors.remove, time.monotonic, away_s=away_s)
            await stack.enter_async_context(visits.watched())
            streams = Streams()
            door = await asyncio.to_thread(_door, base, visits)
            app = await asyncio.to_thread(_build, base, core, look, door, streams, progress)
            await stack.enter_async_context(app.router.lifespan_context(app))
        stack.push_async_callback(streams.close)
        stack.push_async_callback(core.dispatcher.drain)
        # The agent's libraries load while the browser is busy with the page.
        core.agent.want()
        yield _guarded(app, base, door)


def _build(
    base: Foundation, core: Core, look: Look, door: Door, streams: Streams, progress: Progress
) -> "FastAPI":
    """Build the app with its two faces; blocks, since Gradio and Streamlit load here."""
    services = load("finchbot.server.services").Services(
        bot=core.bot,
        catalogue=base.catalogue,
        door=door,
        streams=streams,
        look=look,
        model_name=core.model_name,
        parts=core.parts,
        demo=base.settings.current.demo,
    )
    with progress.step("admin"):
        admin = make_admin()
    app: FastAPI = load("finchbot.server.app").create_app(services, admin.lifespan())
    app.mount("/admin", AdminPaths(admin, "/admin", _admin_pages(base)))
    with progress.step("chat"):
        _mount_chat(app, base, core, door)
    return app


def _door(base: Foundation, visits: Visits) -> Door:
    settings = base.settings.current
    return make_door(
        settings.server,
        demo=settings.demo,
        environ=base.environ,
        signer=Signer(load_key(base.home.data / "cookies.key")),
        clock=utc_now,
        new_id=new_id,
        visits=visits,
    )


def _admin_pages(base: Foundation) -> set[str]:
    """Return the names of the admin's pages: each has a word in the menu."""
    words = base.catalogue.section("admin")
    return {key.removesuffix(".menu") for key in words if key.endswith(".menu")}


def make_admin() -> Any:
    """Return Streamlit's app; only options set like this reach one that is mounted."""
    theme = load("finchbot.ui.theme").streamlit_options()
    load("streamlit.web.bootstrap").load_config_options({**STREAMLIT_OPTIONS, **theme})
    failed = load("pages.failure").show_unexpected
    app = load("streamlit").App(ROOT / "pages" / "Home.py", on_script_error=failed)
    # Streamlit gave uvicorn's loggers handlers of its own; every line would come twice.
    claim_loggers()
    return app


def _mount_chat(app: "FastAPI", base: Foundation, core: Core, door: Door) -> None:
    chat = load("finchbot.ui.chat")
    blocks = chat.build_chat(
        core.bot,
        base.catalogue,
        free_talk=lambda: not core.model_name().startswith("builtin"),
    )
    chat.mount_chat(app, blocks, root_path=door.root_path or None)


def _guarded(app: "FastAPI", base: Foundation, door: Door) -> App:
    problems = load("finchbot.server.problems").Problems(base.catalogue)
    return cast(App, Guard(app, door, problems, base.language_for))
