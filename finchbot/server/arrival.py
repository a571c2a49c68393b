"""How a request arrived: scheme, host and client, seen through the proxies that are trusted."""

import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Header = tuple[bytes, bytes]

_FORWARDED = frozenset(
    {
        b"cf-connecting-ip",
        b"forwarded",
        b"true-client-ip",
        b"via",
        b"x-client-ip",
        b"x-forwarded-for",
        b"x-forwarded-host",
        b"x-forwarded-port",
        b"x-forwarded-prefix",
        b"x-forwarded-proto",
        b"x-forwarded-server",
        b"x-real-ip",
    }
)
_OURS = frozenset({b"x-finchbot-origin", b"x-gradio-server"})
"""Headers the programs behind the guard believe; a client's own copies are dropped."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """Where a request came from and what it called this server."""

    scheme: str
    """``http`` or ``https``; a socket's ``ws`` and ``wss`` likewise."""
    host: str
    """The Host header, or a trusted proxy's word for it, in lower case."""
    client: str
    """The address of the client, empty when nobody knows it."""
    direct: bool
    """Whether no proxy stood in between, or every proxy is trusted and named its client."""

    @property
    def from_loopback(self) -> bool:
        """Whether the client sits at this machine, as far as can be known.

        A proxy nobody told us about may speak for anybody, so whoever comes through one does
        not count as sitting here.
        """
        return self.direct and is_loopback(self.client)

    @property
    def secure(self) -> bool:
        """Whether the browser's side is encrypted."""
        return self.scheme == "https"


class TrustedProxies:
    """The proxies whose forwarding headers are believed.

    Args:
        addresses: IP addresses and networks (``10.0.0.0/8``), or ``*`` for all.
    """

    def __init__(self, addresses: Iterable[str]) -> None:
        wanted = [address.strip() for address in addresses]
        self.everybody = "*" in wanted
        """Whether every proxy is trusted."""
        self._networks = [
            ipaddress.ip_network(address, strict=False)
            for address in wanted
            if address and address != "*"
        ]

    def __contains__(self, address: str) -> bool:
        """Whether the proxy at this address is trusted."""
        if self.everybody:
            return True
        parsed = _parse(address)
        return parsed is not None and any(parsed in network for network in self._networks)


def arrive(scope: Mapping[str, Any], trusted: TrustedProxies) -> Arrival:
    """Return how the request of an ASGI scope arrived."""
    headers: Sequence[Header] = scope["headers"]
    client = scope.get("client")
    peer: str = client[0] if client else ""
    scheme = {"ws": "http", "wss": "https"}.get(scope["scheme"], scope["scheme"])
    host = _only(headers, b"host")
    forwarded = any(name in _FORWARDED for name, _ in headers)
    if not forwarded or peer not in trusted:
        return Arrival(scheme, host, peer, direct=not forwarded)
    proto = _all(headers, b"x-forwarded-proto")
    client_address = _client(_all(headers, b"x-forwarded-for"), trusted)
    return Arrival(
        scheme=proto[0].lower() if proto and proto[0].lower() in {"http", "https"} else scheme,
        host=(_all(headers, b"x-forwarded-host") or [host])[-1].lower(),
        client=client_address or peer,
        direct=client_address is not None,
    )


def inner_headers(headers: Iterable[Header], arrival: Arrival) -> list[Header]:
    """Return the headers the programs behind the guard see.

    Forwarding headers are gone, since what they said is in the scope, and so are the headers
    that only the guard may set.
    """
    dropped = _FORWARDED | _OURS
    kept = [(name, value) for name, value in headers if name not in dropped and name != b"host"]
    return [(b"host", arrival.host.encode("latin-1")), *kept]


def is_loopback(address: str) -> bool:
    """Whether an IP address or ``localhost`` names this machine itself."""
    if address.lower() == "localhost":
        return True
    parsed = _parse(address)
    if parsed is None:
        return False
    mapped = getattr(parsed, "ipv4_mapped", None)
    return bool((mapped or parsed).is_loopback)


def _parse(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(address.strip("[]"))
    except ValueError:
        return None


def _client(chain: Sequence[str], trusted: TrustedProxies) -> str | None:
    """Return the last address of ``X-Forwarded-For`` that is no trusted proxy, else the first.

    Who trusts every proxy knows none of them, so only the one we speak to can be believed, and
    what it saw is the last address: anything before that a client may have written itself.
    """
    if trusted.everybody:
        return chain[-1] if chain else None
    for address in reversed(chain):
        if address not in trusted:
            return address
    return chain[0] if chain else None


def _all(headers: Iterable[Header], wanted: bytes) -> list[str]:
    values = [value.decode("latin-1") for name, value in headers if name == wanted]
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


def _only(headers: Iterable[Header], wanted: bytes) -> str:
    """Return the value of a header that may come once; empty when there are several."""
    values = [value for name, value in headers if name == wanted]
    return values[0].decode("latin-1").strip().lower() if len(values) == 1 else ""
