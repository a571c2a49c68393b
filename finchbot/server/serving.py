"""Serving: uvicorn around the boot shim, closed in the order that lets everybody hear of it."""

import errno
import logging
import signal
import socket
import sys
from types import FrameType

import uvicorn

from finchbot.errors import ConfigError
from finchbot.server.boot import Boot

_GRACE_S = 1
"""What open connections get after the gateway has closed."""

_REFUSED = "ASGI callable returned without completing handshake."

if sys.platform == "win32":
    # There, to reuse an address would mean to share it with whoever listens already.
    _ADDRESS_RULE = socket.SO_EXCLUSIVEADDRUSE
else:
    _ADDRESS_RULE = socket.SO_REUSEADDR


class Server(uvicorn.Server):
    """A uvicorn server that closes the gateway while its connections are still open.

    uvicorn alone would cut the connections first, and nobody would hear how their run ended.

    Args:
        boot: What is served.
    """

    def __init__(self, boot: Boot) -> None:
        self._boot = boot
        config = uvicorn.Config(
            boot,
            lifespan="on",
            # Logging is set up by the program itself; uvicorn's would print lines twice.
            log_config=None,
            # Only the guard knows which proxies to trust.
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=_GRACE_S,
        )
        super().__init__(config)
        logging.getLogger("uvicorn.error").addFilter(_not_about_refusals)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end; a second interrupt ends at once.

        A terminate signal is not raised again afterwards as uvicorn does, since that would kill
        the program before it has closed its home.
        """
        if sig == signal.SIGTERM:
            self.should_exit = True
        else:
            super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close the gateway, then the connections."""
        await self._boot.close()
        await super().shutdown(sockets)


def _not_about_refusals(record: logging.LogRecord) -> bool:
    """Drop uvicorn's error after every socket that was refused with a reason.

    It comes after a complete ``websocket.http.response``, which is a way to end a handshake.
    """
    return record.msg != _REFUSED


def listen(host: str, port: int) -> socket.socket:
    """Return a socket bound to the address, ready to be served.

    Raises:
        ConfigError: ``server.port_in_use`` (``host``, ``port``), or
            ``server.cannot_listen`` (``host``, ``port``, ``reason``).
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise _cannot_listen(host, port, error) from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, _ADDRESS_RULE, 1)
        listener.bind(address)
        listener.listen(2048)
    except OSError as error:
        listener.close()
        raise _cannot_listen(host, port, error) from error
    return listener


def _cannot_listen(host: str, port: int, error: OSError) -> ConfigError:
    if error.errno == errno.EADDRINUSE:
        return ConfigError("server.port_in_use", host=host, port=port)
    reason = error.strerror or str(error)
    return ConfigError("server.cannot_listen", host=host, port=port, reason=reason)
