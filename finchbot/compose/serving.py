"""Serving: from the options of the command line to a program that ends with an exit code."""

import asyncio
import logging
import signal

from finchbot import __version__
from finchbot.compose.foundation import Foundation, lay_foundation
from finchbot.compose.gateway import PARTS, open_gateway
from finchbot.compose.options import Options
from finchbot.lazy import load
from finchbot.server.bind import check_bind, root_path
from finchbot.server.boot import Boot
from finchbot.server.look import Look
from finchbot.server.progress import Progress
from finchbot.server.serving import Server, listen
from finchbot.server.splash import Splash

_log = logging.getLogger(__name__)


def serve(options: Options) -> int:
    """Serve until a signal ends it; the port answers at once, the rest follows.

    Returns:
        The exit code: 0, or 1 when the start failed behind the open port.

    Raises:
        ConfigError: Before the port is open: an option, variable, home, port or open door.
    """
    with lay_foundation(options) as base:
        settings = base.settings.current
        host = _host(base)
        check_bind(settings.server.model_copy(update={"host": host}), demo=settings.demo)
        listener = listen(host, settings.server.port)
        boot = _boot(base)
        server = Server(boot)
        _log.info("FinchBot %s serves %s:%d", __version__, *listener.getsockname()[:2])
        asyncio.run(server.serve(sockets=[listener]))
        return 1 if boot.failed else 0


def _host(base: Foundation) -> str:
    """Return the address to bind: a Space and a demo are there to be visited."""
    if base.settings.current.demo and base.settings.fields()["server.host"].source == "default":
        return "0.0.0.0"  # noqa: S104 - demo mode limits what strangers can do
    return base.settings.current.server.host


def _boot(base: Foundation) -> Boot:
    root = root_path(base.settings.current.server.root_path)
    look = _look()
    return Boot(
        lambda progress: open_gateway(base, look, progress),
        splash=Splash(look, base.catalogue.text, root),
        version=__version__,
        progress=Progress(PARTS),
        # The signal handler of the server ends it in good order.
        on_failure=lambda: signal.raise_signal(signal.SIGTERM),
    )


def _look() -> Look:
    theme, icons = load("finchbot.ui.theme"), load("finchbot.ui.icons")
    return Look(
        variables=theme.css_variables(),
        mark=icons.finch(56),
        icon=icons.finch_file(theme.LIGHT.accent),
    )
