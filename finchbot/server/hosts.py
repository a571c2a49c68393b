"""Which names this server answers to, and which pages may speak to it; pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from finchbot.server.arrival import is_loopback

_DEFAULT_PORTS = {"http": "80", "https": "443"}


@dataclass(frozen=True, slots=True)
class HostRule:
    """The names of this server.

    A bind other than loopback that lists no names answers to any: there a password or token
    stands before everything, which a page of a rebound name does not have.
    """

    loopback_bind: bool
    allowed: frozenset[str] = field(default_factory=frozenset)

    def accepts(self, host: str, server: tuple[str, int | None] | None = None) -> bool:
        """Whether a request that calls this server `host` is answered.

        Args:
            host: As in the Host header, with or without a port.
            server: The address the connection came in at; its own number is always right,
                since no name can be rebound to be a number.
        """
        name, port = split_host(host)
        if not name or not (port.isdecimal() or port == ""):
            return False
        if is_loopback(name) or self.names(host):
            return True
        if server is not None and name == server[0]:
            return True
        return not self.loopback_bind and not self.allowed

    def names(self, host: str) -> bool:
        """Whether `host` is listed, with its port or without."""
        return host in self.allowed or split_host(host)[0] in self.allowed

    def accepts_origin(self, origin: str, host: str) -> bool:
        """Whether a page of `origin` may speak to this server, which it calls `host`."""
        parts = urlsplit(origin.lower())
        if parts.scheme not in _DEFAULT_PORTS or not parts.netloc:
            return False
        page_name, page_port = split_host(parts.netloc)
        name, port = split_host(host)
        default = _DEFAULT_PORTS[parts.scheme]
        # A proxy that ends TLS hides the scheme, so only the name and the port are compared.
        same = page_name == name and (page_port or default) == (port or default)
        return same or self.names(parts.netloc)


def host_rule(bind: str, allowed: Iterable[str]) -> HostRule:
    """Return the rule for a server bound to `bind` with the names its user listed."""
    return HostRule(is_loopback(bind), frozenset(name.strip().lower() for name in allowed if name))


def split_host(host: str) -> tuple[str, str]:
    """Return name and port of ``name``, ``name:port``, ``[v6]`` or ``[v6]:port``; no brackets.

    What begins with a bracket and is no address in brackets has no name.
    """
    host = host.strip().lower()
    if host.startswith("["):
        name, closed, rest = host[1:].partition("]")
        return name if closed and rest[:1] in {"", ":"} else "", rest.removeprefix(":")
    name, _, port = host.partition(":")
    return name.rstrip("."), port


def own_origin(scope: Mapping[str, Any]) -> str | None:
    """Return ``http://host:port`` of the very socket a request came in at."""
    server = scope.get("server")
    if not server or server[1] is None:
        return None
    name = f"[{server[0]}]" if ":" in server[0] else server[0]
    return f"http://{name}:{server[1]}"
