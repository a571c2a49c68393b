"""The stream of one open page: everything it shows, from the record and the events that follow.

A run belongs to the core. This stream only looks: it may end at any moment and a new one shows
the same page.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import NamedTuple

from finchbot.bot import FinchBot
from finchbot.errors import FinchError
from finchbot.ids import Clock, RunId
from finchbot.run_view import RunView
from finchbot.threads.records import Page, Thread
from finchbot.ui import markup
from finchbot.ui.conversation import FollowedThread
from finchbot.ui.page import OpenPage
from finchbot.ui.render import Shown, earlier_button, shown
from finchbot.ui.words import Words

UPDATES_PER_S = 15.0
"""How often a page repaints while an answer streams."""
LIST_AFTER_S = 0.25
"""How much later than the conversation the thread list shows that a run began or ended: reading
it must not stand in the way of an answer's first words."""
START_S = 0.015
"""What a message just taken in waits for its run to start, so that both are drawn as one and the
drawing comes when the run waits for its model and not while it gets ready."""
AT_ONCE = 4
"""Changes after a pause that show without waiting: the user's words, the start, a first token."""
BEAT_S = 15.0
"""A still page says this often that it is alive, and learns whether anybody is listening."""


class Frame(NamedTuple):
    """What the page's five parts show; None leaves a part as it is."""

    side: str | None
    head: str | None
    hello: str | None
    chat: list[Shown] | None
    foot: str | None

    def beside(self, shown_now: "Frame") -> "Frame":
        """Return this frame without the parts that show already."""
        return Frame(
            side=None if self.side == shown_now.side else self.side,
            head=None if self.head == shown_now.head else self.head,
            hello=None if self.hello == shown_now.hello else self.hello,
            chat=None if self.chat == shown_now.chat else self.chat,
            foot=None if self.foot == shown_now.foot else self.foot,
        )


NOTHING_NEW = Frame(None, None, None, None, None)


@dataclass(frozen=True, slots=True)
class Stage:
    """What every page needs beside its own state."""

    bot: FinchBot
    words: Callable[[OpenPage], Words]
    starters: Callable[[Words], list[str]]
    languages: Mapping[str, str]
    clock: Clock


class Pace:
    """Lets `AT_ONCE` pass at once and then `UPDATES_PER_S`.

    Args:
        now: Seconds on a clock that never goes back.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._seen = now()
        self._left = float(AT_ONCE)

    def delay_s(self) -> float:
        """Take one turn and return how long to wait before it."""
        now = self._now()
        self._left = min(AT_ONCE, self._left + (now - self._seen) * UPDATES_PER_S) - 1.0
        self._seen = now
        return max(0.0, -self._left / UPDATES_PER_S)


class PageStream:
    """Turns one page's state into frames until the page sleeps."""

    def __init__(self, stage: Stage, page: OpenPage) -> None:
        self.stage = stage
        self.page = page
        self._drawn: dict[RunId, tuple[RunView, str, list[Shown]]] = {}
        self._last = NOTHING_NEW
        self._listed: Page[Thread] = Page(items=())
        self._listed_for: object = None
        self._listing: asyncio.Task[None] | None = None
        self._title = ""
        self._beat = 0

    async def frames(self) -> AsyncIterator[Frame]:
        """Yield the page, whole at first, then what changed, while it is followed."""
        page, pace = self.page, Pace(asyncio.get_running_loop().time)
        while page.followed:
            async with AsyncExitStack() as stack:
                thread = await self._enter(stack)
                stack.callback(self._drop_listing)
                shows = page.thread_id
                while True:
                    await asyncio.sleep(pace.delay_s() + _starting_s(thread))
                    page.changed.clear()
                    if not page.followed or page.thread_id != shows:
                        break
                    frame = await self._frame(thread)
                    if frame != NOTHING_NEW:
                        yield frame
                    await self._change(thread)

    async def _enter(self, stack: AsyncExitStack) -> FollowedThread | None:
        page = self.page
        if page.thread_id is None:
            return None
        followed = FollowedThread(
            self.stage.bot,
            page.visitor.user_id,
            page.thread_id,
            limit=page.runs,
            touch=page.touch,
        )
        try:
            return await stack.enter_async_context(followed)
        except FinchError as error:
            self._leave(error)
            return None

    async def _change(self, thread: FollowedThread | None) -> None:
        """Wait until something changed or it is time for a sign of life."""
        try:
            async with asyncio.timeout(BEAT_S):
                await self.page.changed.wait()
        except TimeoutError:
            self._beat += 1
            self._listed_for = None
        if thread is not None and thread.failure is not None:
            self._leave(thread.failure)

    def _leave(self, error: FinchError) -> None:
        """Go to the empty page and say why."""
        self.page.open(None)
        self.page.problem = self.stage.words(self.page).explain(error)

    async def _frame(self, thread: FollowedThread | None) -> Frame:
        page, words = self.page, self.stage.words(self.page)
        await self._read(thread)
        runs = () if thread is None else thread.runs
        page.active_run = next((view.run_id for view in runs if not view.ended), None)
        earlier = [earlier_button(words)] if thread is not None and thread.more else []
        whole = Frame(
            side=self._side(words),
            head=markup.head(self._pulse(), words, self.stage.bot.notices),
            hello="" if runs else markup.hello(self.stage.starters(words), words),
            chat=earlier + self._chat(runs, words),
            foot=markup.foot(page.active_run, page.problem, words),
        )
        last, self._last = self._last, whole
        return whole.beside(last)

    async def _read(self, thread: FollowedThread | None) -> None:
        """Read from the record what is wanted and not here; what fails is said on the page."""
        page = self.page
        try:
            if thread is not None:
                await thread.reach(page.runs)
            await self._list(thread)
        except FinchError as error:
            page.problem = self.stage.words(page).explain(error)

    async def _list(self, thread: FollowedThread | None) -> None:
        """Read the thread list at once when another one is wanted, soon when it may be stale."""
        page = self.page
        wanted = page.query, page.threads, page.thread_id, page.listed
        if wanted != self._listed_for:
            self._listed_for = wanted
            await self._read_list(thread)
        elif thread is not None and thread.listed and self._listing is None:
            self._listing = asyncio.create_task(self._list_soon(thread))

    async def _list_soon(self, thread: FollowedThread) -> None:
        await asyncio.sleep(LIST_AFTER_S)
        try:
            await self._read_list(thread)
        except FinchError as error:
            self.page.problem = self.stage.words(self.page).explain(error)
        self._listing = None
        self.page.touch()

    async def _read_list(self, thread: FollowedThread | None) -> None:
        page, threads, user = self.page, self.stage.bot.threads, self.page.visitor.user_id
        title = ""
        if thread is not None:
            thread.listed = False
            title = (await threads.get(user, thread.thread_id)).title
        self._title = title
        self._listed = await threads.list(user, q=page.query, limit=page.threads)

    def _drop_listing(self) -> None:
        if self._listing is not None:
            self._listing.cancel()
            self._listing = None

    def _side(self, words: Words) -> str:
        page = self.page
        listed = markup.ThreadList(
            self._listed.items, self._listed.next is not None, page.thread_id, page.query
        )
        languages, now = self.stage.languages, self.stage.clock()
        return markup.side(listed, words, languages=languages, now=now)

    def _pulse(self) -> markup.Pulse:
        page = self.page
        return markup.Pulse(page.thread_id, self._title, page.taken, page.refused, self._beat)

    def _chat(self, runs: Sequence[RunView], words: Words) -> list[Shown]:
        """Return the conversation; runs that did not change are not drawn again."""
        self._drawn = {view.run_id: self._draw(view, words) for view in runs}
        return [message for _, _, drawn in self._drawn.values() for message in drawn]

    def _draw(self, view: RunView, words: Words) -> tuple[RunView, str, list[Shown]]:
        before = self._drawn.get(view.run_id)
        if before is not None and before[0] is view and before[1] == words.language:
            return before
        return view, words.language, shown(view, words)


def _starting_s(thread: FollowedThread | None) -> float:
    """Return how long to wait for a run that is about to start."""
    runs = () if thread is None else thread.runs
    about_to = bool(runs) and runs[-1].status == "queued" and runs[-1].position is None
    return START_S if about_to else 0.0
