"""How often a password may be tried."""

import ipaddress
from collections import OrderedDict, deque
from collections.abc import Callable

from finchbot.errors import Busy

_TRIES = 8
_WINDOW_S = 300.0
_ADDRESSES = 1000
_ONE_HOME_V6 = 64
"""Whoever has one IPv6 address has a network of this prefix length to choose others from."""


class LoginLimit:
    """Counts wrong passwords per client address, of IPv6 per network.

    Args:
        monotonic: Seconds that only go forward.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._failures: OrderedDict[str, deque[float]] = OrderedDict()

    def check(self, address: str) -> None:
        """Let a try pass.

        Raises:
            Busy: ``access.too_many_tries`` (``retry_after_s``).
        """
        failures = self._recent(address)
        if len(failures) >= _TRIES:
            wait_s = failures[0] + _WINDOW_S - self._monotonic()
            raise Busy("access.too_many_tries", retry_after_s=max(1, round(wait_s)))

    def failed(self, address: str) -> None:
        """Count a wrong password."""
        failures, home = self._recent(address), _home_of(address)
        failures.append(self._monotonic())
        self._failures[home] = failures
        self._failures.move_to_end(home)
        while len(self._failures) > _ADDRESSES:
            self._failures.popitem(last=False)

    def succeeded(self, address: str) -> None:
        """Forget the wrong ones."""
        self._failures.pop(_home_of(address), None)

    def _recent(self, address: str) -> deque[float]:
        since = self._monotonic() - _WINDOW_S
        failures = self._failures.get(_home_of(address), ())
        return deque(when for when in failures if when > since)


def _home_of(address: str) -> str:
    """Return what stands for everybody who can come from this address."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 4 or parsed.ipv4_mapped:
        return address
    return str(ipaddress.ip_network((parsed, _ONE_HOME_V6), strict=False))
