"""How far the start-up is: named parts that are waited for."""

import contextlib
from collections.abc import Iterable, Iterator


class Progress:
    """The parts that are still starting.

    Args:
        parts: Known from the beginning, in the order a person is shown them.
    """

    def __init__(self, parts: Iterable[str] = ()) -> None:
        self._ready: dict[str, bool] = dict.fromkeys(parts, False)

    @property
    def parts(self) -> dict[str, bool]:
        """Every part by name, and whether it is ready."""
        return dict(self._ready)

    @property
    def waiting_for(self) -> list[str]:
        """The parts that are not ready."""
        return [part for part, ready in self._ready.items() if not ready]

    @contextlib.contextmanager
    def step(self, part: str) -> Iterator[None]:
        """Name what is being started while the block runs; it is ready when the block ends."""
        self._ready[part] = False
        yield
        self._ready[part] = True
