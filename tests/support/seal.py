"""The seal: a test process connects to loopback and to nothing else."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address

LOCAL_NAMES = frozenset({"", "localhost", "localhost.localdomain", "ip6-localhost"})


class SealBroken(RuntimeError):
    """Something tried to leave the machine."""


class Seal:
    """Refuses sockets and name look-ups that leave the machine, and remembers them.

    An audit hook sees every socket of this process, whichever library opens it and however it
    got hold of `connect`. A hook cannot be taken out again, so it looks at `closed`.
    """

    def __init__(self) -> None:
        self.closed = False
        self.broken: list[str] = []

    def install(self) -> None:
        """Add the audit hook; once per process."""
        sys.addaudithook(self._audit)

    @contextmanager
    def around(self) -> Iterator[None]:
        """Refuse while the block runs; blocks may be nested.

        Raises:
            SealBroken: At the end, when an attempt was made, even if the code under test
                swallowed the refusal.
        """
        outer = self.closed, self.broken
        self.closed, self.broken = True, []
        try:
            yield
            attempts = self.broken
        finally:
            self.closed, self.broken = outer
        if attempts:
            raise SealBroken(f"the test tried to leave the machine: {attempts}")

    def _audit(self, event: str, args: tuple[object, ...]) -> None:
        if not self.closed or not event.startswith("socket."):
            return
        match event, args:
            case ("socket.connect" | "socket.sendto", (_, (str(host), *_))):
                self._refuse_foreign(host)
            case ("socket.getaddrinfo" | "socket.gethostbyname", (str(host) | bytes(host), *_)):
                self._refuse_foreign(host if isinstance(host, str) else host.decode())
            case _:
                return

    def _refuse_foreign(self, host: str) -> None:
        if not is_local(host):
            self.broken.append(host)
            raise SealBroken(f"only loopback may be reached from a test, not {host}")


def is_local(host: str) -> bool:
    """Return whether `host` is this machine: loopback, unspecified, or a name of it."""
    if host in LOCAL_NAMES:
        return True
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified
