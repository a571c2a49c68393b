"""A clock and ids that stand still until a test moves them."""

from collections import Counter
from datetime import UTC, datetime, timedelta

START = datetime(2026, 12, 1, 8, 0, tzinfo=UTC)


class FakeClock:
    """A `Clock` that says what it was told."""

    def __init__(self, now: datetime = START) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> datetime:
        """Move on and return the new moment."""
        self.now += timedelta(seconds=seconds)
        return self.now


class CountedIds:
    """A `NewId` that counts per prefix: ``thr_0001``, ``thr_0002``, ``run_0001``."""

    def __init__(self) -> None:
        self._made: Counter[str] = Counter()

    def __call__(self, prefix: str) -> str:
        self._made[prefix] += 1
        return f"{prefix}_{self._made[prefix]:04d}"
