"""What the open pages show: one `OpenPage` per tab, changed by actions, followed by its stream."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field

from finchbot.errors import FinchError
from finchbot.ids import RunId, ThreadId, UserId
from finchbot.ui.caller import Visitor

RUNS_AT_ONCE = 25
"""Turns a page shows before "load earlier": about 50 messages."""
THREADS_AT_ONCE = 50
GRACE_S = 0.5
"""What streams get to end at shutdown; then their connections are cut."""


@dataclass(slots=True)
class OpenPage:
    """One tab of one user.

    Actions change the fields and call `touch`; the tab's stream waits for that and shows it.
    """

    visitor: Visitor
    language: str
    thread_id: ThreadId | None = None
    runs: int = RUNS_AT_ONCE
    threads: int = THREADS_AT_ONCE
    listed: int = 0
    """Counted up when the thread list must be read again."""
    query: str = ""
    """What the thread list is searched for."""
    problem: str = ""
    """A sentence about what just went wrong, until the next action."""
    taken: str = ""
    """Client id of the newest message that was accepted."""
    refused: str = ""
    """Client id of the newest message that was not; its text goes back into the box."""
    active_run: RunId | None = None
    """The run that Stop ends; kept up to date by the stream."""
    asleep: bool = False
    """Whether the tab has been out of sight for long; its stream ends, nothing is lost."""
    ended: bool = False
    """Whether the stream must end though the tab looks on; the tab will come again."""
    sending: asyncio.Lock = field(default_factory=asyncio.Lock)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def touch(self) -> None:
        """Make the stream show the page anew."""
        self.changed.set()

    @property
    def followed(self) -> bool:
        """Whether the stream goes on."""
        return not (self.asleep or self.ended)

    def open(self, thread_id: ThreadId | None) -> None:
        """Show another thread, or the empty page."""
        self.thread_id = thread_id
        self.runs = RUNS_AT_ONCE
        self.problem = ""
        self.active_run = None
        self.touch()


class TabTaken(FinchError):
    """A page names itself like one of another user, or not at all."""

    default_code = "access.denied"
    status = 403


class OpenPages:
    """The pages open now, found by tab; a tab belongs to the user who opened it."""

    def __init__(self) -> None:
        self._pages: dict[str, OpenPage] = {}
        self._left = asyncio.Event()

    def __len__(self) -> int:
        return len(self._pages)

    def open(self, visitor: Visitor, thread_id: ThreadId | None) -> OpenPage:
        """Return a fresh page for a tab; a stream still running for the tab ends.

        Raises:
            TabTaken: The tab has no name, or is another user's.
        """
        if not visitor.session or self.is_of_another(visitor.user_id, visitor.session):
            raise TabTaken
        older = self.find(visitor)
        if older is not None:
            older.ended = True
            older.touch()
        page = OpenPage(visitor, visitor.language, thread_id)
        self._pages[visitor.session] = page
        return page

    def find(self, visitor: Visitor) -> OpenPage | None:
        """Return the tab's page, or None when its stream is not running."""
        page = self._pages.get(visitor.session)
        return page if page is not None and page.visitor.user_id == visitor.user_id else None

    def is_of_another(self, user_id: UserId, session: str) -> bool:
        """Whether a tab is open and not this user's."""
        page = self._pages.get(session)
        return page is not None and page.visitor.user_id != user_id

    def close(self, page: OpenPage) -> None:
        """Forget a page whose stream has ended."""
        if self._pages.get(page.visitor.session) is page:
            del self._pages[page.visitor.session]
        self._left.set()

    async def end(self) -> None:
        """End every stream, and return when the last has ended or `GRACE_S` are over."""
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE_S):
                while self._pages:
                    for page in self._pages.values():
                        page.ended = True
                        page.touch()
                    self._left.clear()
                    await self._left.wait()
