"""What a person does on the page."""

import pytest

from finchbot.bot import FinchBot
from finchbot.errors import InputInvalid, ThreadNotFound
from finchbot.ids import OWNER, RunId, ThreadId
from finchbot.ui.actions import parse_action, perform
from finchbot.ui.page import RUNS_AT_ONCE, OpenPage
from finchbot.ui.words import Words
from tests.support.echo_core import EchoCore


async def do(page: OpenPage, bot: FinchBot, words: Words, **action: object) -> None:
    page.changed.clear()
    await perform(parse_action(action), page, bot, words)
    assert page.changed.is_set()


async def test_the_first_message_opens_its_thread_and_the_next_goes_there(
    page: OpenPage, bot: FinchBot, words: Words
) -> None:
    await do(page, bot, words, do="send", text="one", client_id="1")
    thread_id = page.thread_id
    assert thread_id is not None
    await do(page, bot, words, do="send", text="two", client_id="2")
    assert page.thread_id == thread_id
    assert page.taken == "2"
    assert len(await bot.threads.recent_runs(OWNER, thread_id)) == 2


async def test_what_is_refused_names_the_message_and_says_why(
    page: OpenPage, bot: FinchBot, words: Words
) -> None:
    await do(page, bot, words, do="send", text="  ", client_id="1")
    assert (page.taken, page.refused, page.thread_id) == ("", "1", None)
    assert page.problem
    await do(page, bot, words, do="dismiss")
    assert page.problem == ""


async def test_stop_ends_the_run_under_way(
    page: OpenPage, bot: FinchBot, words: Words, core: EchoCore
) -> None:
    await do(page, bot, words, do="stop")
    await do(page, bot, words, do="send", text="hold on", client_id="1")
    assert page.thread_id is not None
    (view,) = await bot.threads.recent_runs(OWNER, page.thread_id)
    page.active_run = view.run_id
    await do(page, bot, words, do="stop")
    (view,) = await bot.threads.recent_runs(OWNER, page.thread_id)
    assert view.status == "cancelled"


async def test_retry_says_the_same_words_again(page: OpenPage, bot: FinchBot, words: Words) -> None:
    await do(page, bot, words, do="send", text="fail please", client_id="1")
    assert page.thread_id is not None
    (view,) = await bot.threads.recent_runs(OWNER, page.thread_id)
    await do(page, bot, words, do="retry", run_id=view.run_id, client_id="2")
    first, second = await bot.threads.recent_runs(OWNER, page.thread_id)
    assert first.user_message is not None
    assert second.user_message is not None
    assert second.user_message.text == first.user_message.text
    await do(page, bot, words, do="retry", run_id="run_of_another", client_id="3")
    assert page.problem


async def test_a_thread_is_renamed_and_deleted(page: OpenPage, bot: FinchBot, words: Words) -> None:
    await do(page, bot, words, do="send", text="one", client_id="1")
    thread_id = page.thread_id
    assert thread_id is not None
    listed = page.listed
    await do(page, bot, words, do="rename", thread_id=thread_id, title=" New name ")
    assert (await bot.threads.get(OWNER, thread_id)).title == "New name"
    assert page.listed > listed
    await do(page, bot, words, do="delete", thread_id=thread_id)
    assert page.thread_id is None
    with pytest.raises(ThreadNotFound):
        await bot.threads.get(OWNER, thread_id)


async def test_another_thread_can_go_while_this_one_stays_open(
    page: OpenPage, bot: FinchBot, words: Words
) -> None:
    other = await bot.threads.create(OWNER, title="other")
    await do(page, bot, words, do="open", thread_id="thr_mine")
    await do(page, bot, words, do="delete", thread_id=other.id)
    assert page.thread_id == ThreadId("thr_mine")
    await do(page, bot, words, do="delete", thread_id=other.id)
    assert page.problem


async def test_opening_a_thread_starts_its_page_anew(
    page: OpenPage, bot: FinchBot, words: Words
) -> None:
    page.active_run, page.problem = RunId("run_1"), "old"
    await do(page, bot, words, do="earlier")
    assert page.runs == 2 * RUNS_AT_ONCE
    await do(page, bot, words, do="open", thread_id="thr_2")
    assert page == OpenPage(
        page.visitor, "en-US", ThreadId("thr_2"), sending=page.sending, changed=page.changed
    )


async def test_the_small_actions_change_the_page(
    page: OpenPage, bot: FinchBot, words: Words
) -> None:
    await do(page, bot, words, do="search", query=" apple ")
    assert page.query == "apple"
    await do(page, bot, words, do="language", language="zh-CN")
    assert page.language == "zh-CN"
    for _ in range(9):
        await do(page, bot, words, do="more")
    assert page.threads == 200
    assert page.followed
    await do(page, bot, words, do="sleep")
    assert not page.followed


@pytest.mark.parametrize(
    "data", [None, "send", {}, {"do": "send"}, {"do": "fly"}, {"do": "stop", "more": 1}]
)
def test_what_is_no_action_is_refused(data: object) -> None:
    with pytest.raises(InputInvalid):
        parse_action(data)
