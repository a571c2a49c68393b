"""How often a password may be tried."""

from collections import OrderedDict, deque
from collections.abc import Callable

from finchbot.errors import Busy

_TRIES = 8
_WINDOW_S = 300.0
_ADDRESSES = 1000


class LoginLimit:
    """Counts wrong passwords per client address.

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
        failures = self._recent(address)
        failures.append(self._monotonic())
        self._failures[address] = failures
        self._failures.move_to_end(address)
        while len(self._failures) > _ADDRESSES:
            self._failures.popitem(last=False)

    def succeeded(self, address: str) -> None:
        """Forget the wrong ones."""
        self._failures.pop(address, None)

    def _recent(self, address: str) -> deque[float]:
        since = self._monotonic() - _WINDOW_S
        return deque(when for when in self._failures.get(address, ()) if when > since)
