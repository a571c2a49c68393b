"""Visits: which visitors of a demo are here, and a farewell to those who have gone."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from finchbot.errors import FinchError
from finchbot.ids import UserId

AWAY_S = 1800.0
"""Away for so long, a visitor has gone."""
MOST = 10_000
"""Visitors remembered; beyond that the one who has been away longest has gone."""

log = logging.getLogger(__name__)

Farewell = Callable[[UserId], Awaitable[None]]
"""Removes what a visitor left behind; raises `FinchError` when it could not."""


@dataclass(slots=True)
class _Visit:
    doors: int = 0
    """Requests, sockets and streams that are open."""
    left_at: float = 0.0


class Visits:
    """Counts every visitor's open requests, sockets and streams.

    Args:
        farewell: Called once a visitor has gone; again later, when it raises.
        monotonic: Seconds on a clock that never goes back.
        away_s: How long a visitor may be away.
        most: How many visitors are remembered, those who are here not counted out.
    """

    def __init__(
        self,
        farewell: Farewell,
        monotonic: Callable[[], float],
        *,
        away_s: float = AWAY_S,
        most: int = MOST,
    ) -> None:
        self._farewell = farewell
        self._monotonic = monotonic
        self._away_s = away_s
        self._most = most
        # Whoever leaves is put last, so those away longest stand first.
        self._visits: dict[UserId, _Visit] = {}

    def __len__(self) -> int:
        """Return how many visitors are here or expected back."""
        return len(self._visits)

    @contextmanager
    def here(self, user_id: UserId) -> Iterator[None]:
        """Note that a visitor is here while the block runs."""
        visit = self._visits.setdefault(user_id, _Visit())
        visit.doors += 1
        try:
            yield
        finally:
            visit.doors -= 1
            visit.left_at = self._monotonic()
            self._visits[user_id] = self._visits.pop(user_id, visit)

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Say farewell to whoever has gone, while the block runs."""
        watch = asyncio.create_task(self._watch(), name="visits")
        try:
            yield
        finally:
            watch.cancel()
            await asyncio.wait([watch])
            if not watch.cancelled():
                watch.result()

    async def see_off(self) -> None:
        """Say farewell to everybody who has been away for too long."""
        for user_id, visit, left_at in self._gone():
            back = visit.doors or visit.left_at != left_at
            if back or self._visits.get(user_id) is not visit:
                continue
            del self._visits[user_id]
            try:
                await self._farewell(user_id)
            except FinchError as error:
                log.error("what a visitor left could not be removed: %s", error.code)
                visit.left_at = self._monotonic()
                self._visits.setdefault(user_id, visit)

    def _gone(self) -> list[tuple[UserId, _Visit, float]]:
        away = [(user_id, visit) for user_id, visit in self._visits.items() if not visit.doors]
        since = self._monotonic() - self._away_s
        too_many = len(self._visits) - self._most
        return [
            (user_id, visit, visit.left_at)
            for place, (user_id, visit) in enumerate(away)
            if visit.left_at <= since or place < too_many
        ]

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self._away_s / 10)
            await self.see_off()
