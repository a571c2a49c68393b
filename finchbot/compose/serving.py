"""Serving: from the options of the command line to a program that ends with an exit code."""

import asyncio
import logging
import signal
import socket
from collections.abc import Callable

from finchbot import __version__
from finchbot.compose.foundation import Foundation, check_model, lay_foundation
from finchbot.compose.gateway import PARTS, open_gateway
from finchbot.compose.options import Options
from finchbot.errors import FinchError
from finchbot.lazy import load
from finchbot.server.bind import check_bind, root_path
from finchbot.server.boot import Boot
from finchbot.server.look import Look
from finchbot.server.progress import Progress
from finchbot.server.serving import Server, listen
from finchbot.server.splash import Splash
from finchbot.server.visits import AWAY_S

_log = logging.getLogger(__name__)


def serve(options: Options, tell: Callable[[str], None], *, away_s: float = AWAY_S) -> int:
    """Serve until a signal ends it; the port answers at once, the rest follows.

    Args:
        options: Of the command line.
        tell: Is given the sentence that says where to look, when the port is open.
        away_s: How long a visitor of a demo may be away before what is theirs goes.

    Returns:
        The exit code: 0, or 1 when something broke behind the open port.

    Raises:
        FinchError: The user must know: a wrong option, variable or home, a taken port, an open
            door, a file of a newer program.
    """
    with lay_foundation(options) as base:
        settings = base.settings.current
        check_model(base, options)
        check_bind(settings.server, demo=settings.demo)
        listener = listen(settings.server.host, settings.server.port)
        boot = _boot(base, away_s)
        server = Server(boot)
        url = _url(listener)
        _log.info("FinchBot %s serves %s", __version__, url)
        tell(base.catalogue.text("cli.serving", base.language, url=url))
        # uvicorn's choice of a loop: uvloop where it is installed.
        with asyncio.Runner(loop_factory=server.config.get_loop_factory()) as runner:
            runner.run(server.serve(sockets=[listener]))
        if isinstance(boot.error, FinchError):
            raise boot.error
        return 1 if boot.failed else 0


def _url(listener: socket.socket) -> str:
    """Return where a browser on this machine finds the page."""
    host, port = listener.getsockname()[:2]
    name = "127.0.0.1" if host == "0.0.0.0" else f"[{host}]" if ":" in host else host  # noqa: S104 - compared
    return f"http://{name}:{port}"


def _boot(base: Foundation, away_s: float) -> Boot:
    root = root_path(base.settings.current.server.root_path)
    look = _look()
    return Boot(
        lambda progress: open_gateway(base, look, progress, away_s=away_s),
        splash=Splash(
            look, lambda key, wanted: base.catalogue.text(key, base.language_for(wanted)), root
        ),
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
