"""The stream of a page, against the echoing core."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager

from hypothesis import given
from hypothesis import strategies as st

from finchbot.bot import FinchBot
from finchbot.i18n import Catalogue
from finchbot.ids import OWNER, ThreadId, UserId, utc_now
from finchbot.messages import InboundMessage
from finchbot.ui.follow import AT_ONCE, UPDATES_PER_S, Frame, Pace, PageStream, Stage
from finchbot.ui.page import OpenPage, OpenPages
from tests.support.echo_core import EchoCore


class Screen:
    """What a person sees: the newest of every part."""

    def __init__(self, stream: PageStream) -> None:
        self.stream = stream.frames()
        self.shows = Frame("", "", "", [], "")
        self.frames = 0

    async def until(self, sees: Callable[[Frame], bool]) -> Frame:
        while not (self.frames and sees(self.shows)):
            frame = await anext(self.stream)
            self.frames += 1
            changed = {name: part for name, part in frame._asdict().items() if part is not None}
            assert changed, "a frame without news was sent"
            self.shows = self.shows._replace(**changed)
        return self.shows

    async def close(self) -> None:
        if isinstance(self.stream, AsyncGenerator):
            await self.stream.aclose()


@asynccontextmanager
async def watching(bot: FinchBot, page: OpenPage, catalogue: Catalogue) -> AsyncIterator[Screen]:
    stage = Stage(
        bot=bot,
        words=lambda page: page.visitor.words(catalogue, page.language),
        starters=lambda words: ["a", "b", "c", "d"],
        languages={"en-US": "English"},
        clock=utc_now,
    )
    screen = Screen(PageStream(stage, page))
    try:
        yield screen
    finally:
        await screen.close()


def said(frame: Frame) -> str:
    return "\n".join(message["content"] for message in frame.chat or [])


async def talk(bot: FinchBot, text: str, thread_id: ThreadId | None = None) -> ThreadId:
    message = InboundMessage(user_id=OWNER, text=text, thread_id=thread_id)
    return (await bot.send(message)).thread_id


async def test_an_empty_page_greets(bot: FinchBot, page: OpenPage, catalogue: Catalogue) -> None:
    async with watching(bot, page, catalogue) as screen:
        frame = await screen.until(lambda frame: True)
        assert "What can I do for you?" in (frame.hello or "")
        assert frame.chat == []


async def test_a_thread_opened_in_the_middle_of_a_run_is_followed_to_its_end(
    bot: FinchBot, page: OpenPage, catalogue: Catalogue, core: EchoCore
) -> None:
    page.thread_id = await talk(bot, "hold one two three")
    async with watching(bot, page, catalogue) as screen:
        frame = await screen.until(lambda frame: "hold" in said(frame).split("\n")[-1])
        assert 'data-running="true"' in (frame.foot or "")
        assert page.active_run is not None
        core.go.set()
        frame = await screen.until(lambda frame: 'data-running="false"' in (frame.foot or ""))
        assert said(frame).split("\n") == ["hold one two three"] * 2
        assert page.active_run is None
        assert frame.hello == ""


async def test_what_is_said_in_another_tab_appears(
    bot: FinchBot, page: OpenPage, catalogue: Catalogue
) -> None:
    page.thread_id = await talk(bot, "first")
    async with watching(bot, page, catalogue) as screen:
        await screen.until(lambda frame: said(frame) == "first\nfirst")
        await talk(bot, "second", page.thread_id)
        await screen.until(lambda frame: said(frame) == "first\nfirst\nsecond\nsecond")


async def test_the_thread_list_follows_a_talk_and_does_not_hold_it_up(
    bot: FinchBot, page: OpenPage, catalogue: Catalogue, core: EchoCore
) -> None:
    page.thread_id = await talk(bot, "first")
    async with watching(bot, page, catalogue) as screen:
        await screen.until(lambda frame: said(frame) == "first\nfirst")
        await bot.threads.update(OWNER, page.thread_id, title="Renamed elsewhere")
        await talk(bot, "hold on", page.thread_id)
        frame = await screen.until(lambda frame: said(frame).endswith("hold"))
        assert "Renamed elsewhere" not in (frame.side or "")
        await screen.until(lambda frame: "Renamed elsewhere" in (frame.side or ""))
        core.go.set()
        await screen.until(lambda frame: said(frame).endswith("hold on"))


async def test_switching_leaves_the_other_thread_alone(
    bot: FinchBot, page: OpenPage, catalogue: Catalogue, core: EchoCore
) -> None:
    one, two = await talk(bot, "one"), await talk(bot, "two")
    page.thread_id = one
    async with watching(bot, page, catalogue) as screen:
        await screen.until(lambda frame: said(frame) == "one\none")
        page.open(two)
        await screen.until(lambda frame: said(frame) == "two\ntwo")
        assert core.subscribers == 1
        page.open(None)
        await screen.until(lambda frame: frame.chat == [])
        assert core.subscribers == 0


async def test_a_deleted_thread_leaves_the_empty_page_and_a_sentence(
    bot: FinchBot, page: OpenPage, catalogue: Catalogue
) -> None:
    page.thread_id = await talk(bot, "soon gone")
    async with watching(bot, page, catalogue) as screen:
        await screen.until(lambda frame: "soon gone" in said(frame))
        await bot.threads.delete(OWNER, page.thread_id)
        frame = await screen.until(lambda frame: "no such thread" in (frame.foot or ""))
        assert page.thread_id is None
        assert frame.chat == []


async def test_an_unknown_or_foreign_thread_is_not_shown(
    bot: FinchBot, page: OpenPage, catalogue: Catalogue
) -> None:
    foreign = await bot.send(InboundMessage(user_id=UserId("somebody"), text="secret"))
    for thread_id in (ThreadId("thr_nowhere"), foreign.thread_id):
        page.open(thread_id)
        async with watching(bot, page, catalogue) as screen:
            frame = await screen.until(lambda frame: "no such thread" in (frame.foot or ""))
            assert "secret" not in said(frame) + (frame.side or "")


async def test_the_language_changes_and_the_conversation_stays(
    bot: FinchBot, page: OpenPage, catalogue: Catalogue
) -> None:
    page.thread_id = await talk(bot, "fail now")
    async with watching(bot, page, catalogue) as screen:
        await screen.until(lambda frame: "Try again" in said(frame))
        page.language = "zh-CN"
        page.touch()
        frame = await screen.until(lambda frame: "重试" in said(frame))
        assert "新建对话" in (frame.side or "")
        assert said(frame).startswith("fail now")


async def test_only_what_changed_is_sent(
    bot: FinchBot, page: OpenPage, catalogue: Catalogue
) -> None:
    page.thread_id = await talk(bot, "one")
    async with watching(bot, page, catalogue) as screen:
        await screen.until(lambda frame: said(frame) == "one\none")
        page.problem = "Something small."
        page.touch()
        frame = await anext(screen.stream)
        assert frame[:4] == (None, None, None, None)
        assert "Something small." in (frame.foot or "")


async def test_leaving_the_page_leaves_no_subscription_and_the_run_goes_on(
    bot: FinchBot, page: OpenPage, catalogue: Catalogue, core: EchoCore
) -> None:
    page.thread_id = await talk(bot, "hold one two")
    async with watching(bot, page, catalogue) as screen:
        await screen.until(lambda frame: page.active_run is not None)
    await asyncio.wait_for(core.until_nobody_listens(), 1)
    core.go.set()
    async with watching(bot, page, catalogue) as screen:
        await screen.until(lambda frame: said(frame) == "hold one two\nhold one two")


async def test_a_page_ends_with_the_server_and_when_its_tab_comes_again(
    bot: FinchBot, page: OpenPage, catalogue: Catalogue
) -> None:
    pages = OpenPages()
    first = pages.open(page.visitor, None)

    async def stream(page: OpenPage) -> None:
        async with watching(bot, page, catalogue) as screen:
            try:
                await screen.until(lambda frame: False)
            except StopAsyncIteration:
                pages.close(page)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(stream(first))
        await asyncio.sleep(0)
        second = pages.open(page.visitor, None)
        assert not first.followed
        tasks.create_task(stream(second))
        await pages.end()
    assert len(pages) == 0


def test_a_tab_is_found_within_its_user_alone(page: OpenPage) -> None:
    pages = OpenPages()
    mine = pages.open(page.visitor, None)
    assert pages.find(page.visitor) is mine
    stranger = type(page.visitor)(UserId("somebody"), "tab", "en-US", page.visitor.zone)
    assert pages.find(stranger) is None
    pages.close(OpenPage(page.visitor, "en-US"))
    assert pages.find(page.visitor) is mine


@given(st.lists(st.floats(0, 2), max_size=60))
def test_repaints_keep_the_pace_whenever_they_are_wanted(pauses: list[float]) -> None:
    now = 0.0
    pace = Pace(lambda: now)
    shown_at: list[float] = []
    for pause in pauses:
        now += pause
        now += pace.delay_s()
        shown_at.append(now)
    for at, began in enumerate(shown_at):
        within = [moment for moment in shown_at[at:] if moment - began <= 1.0]
        assert len(within) <= UPDATES_PER_S + AT_ONCE + 1


def test_the_first_changes_after_a_pause_show_at_once() -> None:
    pace = Pace(lambda: 0.0)
    assert [pace.delay_s() for _ in range(AT_ONCE)] == [0.0] * AT_ONCE
    assert pace.delay_s() > 0
