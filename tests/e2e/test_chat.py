"""The chat page as a person meets it: a real server, a scripted model, a real browser."""

import re
import signal
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import CDPSession, Locator, Page, expect

from tests.e2e.harness import ServerProcess, Visitors, picture
from tests.support.model_server import ModelServer
from tests.support.replies import Drop, Gate, Reply, Wait, answer, call, say, think

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(60)]

HOSTILE = (
    "<img src=x onerror=window.hacked=1> <svg/onload=window.hacked=1> "
    "[x](javascript:window.hacked=1) <iframe srcdoc='<script>parent.hacked=1</script>'></iframe> "
    "<form action=//evil.example><input name=q></form> ![p](http://evil.example/p.png) "
    "<a href=javascript:window.hacked=1>a</a> ${window.hacked=1} {{window.hacked}} `<b>`"
)


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer() as model:
        yield model
        model.raise_violations()


@pytest.fixture(scope="module")
def server(model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    environ = {"OPENAI_API_KEY": "sk-test", "OPENAI_API_BASE": model.url}
    with ServerProcess(tmp_path_factory.mktemp("chat") / "home", environ) as server:
        yield server


def at_home(visitors: Visitors, server: ServerProcess, **options: object) -> Page:
    """Return an open chat page, ready to be used."""
    page = visitors.open(server.url, **options)
    settled(page)
    return page


def settled(page: Page) -> None:
    page.wait_for_selector(".finch-ready")


def box(page: Page) -> Locator:
    return page.get_by_role("textbox", name=re.compile("Message|消息"))


def write(page: Page, text: str) -> None:
    box(page).fill(text)
    box(page).press("Enter")


def users(page: Page) -> Locator:
    return page.get_by_test_id("user")


def bots(page: Page) -> Locator:
    return page.get_by_test_id("bot")


def begun(page: Page, text: str, answered: str) -> None:
    """Have a conversation of one turn."""
    write(page, text)
    expect(bots(page).last).to_contain_text(answered)
    at_rest(page)


def answered(server: ServerProcess, thread_id: str, text: str) -> None:
    """Send a message without a browser, and return when its run has ended."""
    path = f"{server.url}/api/v1/threads/{thread_id}/messages"
    stream = httpx.post(path, json={"text": text}, headers={"accept": "text/event-stream"})
    assert "event: run.finished" in stream.text


def at_rest(page: Page) -> None:
    expect(page.locator(".composer")).to_have_attribute("data-running", "false")


def open_thread(page: Page) -> str:
    expect(page).to_have_url(re.compile(r"thread=thr_"))
    return page.url


def words(count: int) -> list[str]:
    return [f"w{number} " for number in range(count)]


def test_an_answer_is_painted_while_it_streams(
    visitors: Visitors, server: ServerProcess, model: ModelServer
) -> None:
    gate = Gate()
    model.on("tell me slowly", answer("the first half,", Wait(gate), " the second half"))
    page = at_home(visitors, server)
    write(page, "tell me slowly")
    expect(users(page)).to_have_text("tell me slowly")
    expect(bots(page)).to_have_text("the first half,")
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_visible()
    gate.open()
    expect(bots(page)).to_have_text("the first half, the second half")
    at_rest(page)
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_visible()
    expect(box(page)).to_be_focused()
    expect(page.locator(".thread .title")).to_contain_text("tell me slowly")


def test_a_browser_closed_at_token_fifty_finds_the_whole_answer_once(
    visitors: Visitors, server: ServerProcess, model: ModelServer
) -> None:
    gate = Gate()
    before, after = say("".join(words(50)), pieces=50), say("".join(words(100)[50:]), pieces=50)
    model.on("a hundred words", Reply.of(before, Wait(gate), after))
    page = at_home(visitors, server)
    write(page, "a hundred words")
    expect(bots(page).last).to_contain_text("w49")
    url = open_thread(page)
    page.context.close()
    gate.open()
    page = visitors.open(url)
    settled(page)
    expect(bots(page)).to_have_count(1)
    expect(bots(page)).to_have_text("".join(words(100)).strip())


def test_a_reload_in_the_middle_follows_on(
    visitors: Visitors, server: ServerProcess, model: ModelServer
) -> None:
    gate = Gate()
    model.on("reload me", answer("before", Wait(gate), " and after"))
    page = at_home(visitors, server)
    write(page, "reload me")
    expect(bots(page)).to_have_text("before")
    open_thread(page)
    page.reload()
    settled(page)
    expect(bots(page)).to_have_text("before")
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_visible()
    gate.open()
    expect(bots(page)).to_have_text("before and after")


def test_stop_keeps_what_had_arrived_and_the_next_message_works(
    visitors: Visitors, server: ServerProcess, model: ModelServer
) -> None:
    model.on("stop me", answer("so far", Wait(Gate())))
    page = at_home(visitors, server)
    write(page, "stop me")
    expect(bots(page)).to_have_text("so far")
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_text("Stopped.")).to_be_visible()
    expect(bots(page).first).to_have_text("so far")
    begun(page, "and now", "You said: and now")


def test_a_message_during_a_run_waits_visibly_and_the_word_stop_acts_at_once(
    visitors: Visitors, server: ServerProcess, model: ModelServer
) -> None:
    model.on("never ends", answer("endless", Wait(Gate())))
    page = at_home(visitors, server)
    write(page, "never ends")
    expect(bots(page)).to_have_text("endless")
    write(page, "me next")
    expect(page.locator(".queued")).to_contain_text("Waits for the answer before it")
    write(page, "/stop")
    expect(page.get_by_text("Stopped.")).to_be_visible()
    expect(bots(page).last).to_have_text("You said: me next")
    expect(page.locator(".queued")).to_have_count(0)


def test_a_broken_stream_keeps_its_text_and_can_be_tried_again(
    visitors: Visitors, server: ServerProcess, model: ModelServer
) -> None:
    model.script(answer("half an answer", Drop()))
    page = at_home(visitors, server)
    write(page, "please break")
    broken = page.locator(".broken")
    expect(broken).to_contain_text("broke off")
    expect(bots(page).first).to_have_text("half an answer")
    picture(page, "chat-error")
    broken.get_by_role("button", name="Try again").click()
    expect(users(page)).to_have_count(2)
    expect(bots(page).last).to_have_text("You said: please break")


def test_a_tool_step_is_one_line_that_opens_and_reasoning_is_folded(
    visitors: Visitors, server: ServerProcess, model: ModelServer
) -> None:
    model.script(
        answer(
            think("They want a note."), call("write_file", {"path": "a.md", "content": "# Hi\n"})
        ),
        answer("It is in `a.md`."),
    )
    page = at_home(visitors, server)
    write(page, "note this")
    expect(bots(page).last).to_have_text("It is in a.md.")
    thoughts, step = page.locator(".thought-group").all()
    expect(thoughts).to_have_text(re.compile("Thoughts"))
    expect(page.get_by_text("They want a note.")).to_have_count(0)
    thoughts.get_by_role("button").first.click()
    expect(page.get_by_text("They want a note.")).to_be_visible()
    expect(step).to_contain_text("a.md")
    expect(step).to_contain_text("Done")
    height = step.bounding_box()
    assert height is not None
    assert height["height"] <= 40
    step.get_by_role("button").first.press("Enter")
    expect(step.locator("pre.pane").first).to_contain_text('"path": "a.md"')
    expect(step).to_contain_text("Output")
    picture(page, "chat-tool-step")


def test_copy_takes_the_answer_without_its_steps(
    visitors: Visitors, server: ServerProcess, model: ModelServer
) -> None:
    model.script(
        answer(think("Aha."), "First I look.", call("list_dir", {})), answer("**Then** I tell.")
    )
    page = at_home(visitors, server)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    write(page, "look and tell")
    expect(bots(page).last).to_have_text("Then I tell.")
    bots(page).last.hover()
    page.get_by_role("button", name="Copy").last.click()
    expect(page.locator("button.copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == "First I look.\n\nThen I tell."


def test_threads_are_made_switched_renamed_found_and_deleted(
    visitors: Visitors, server: ServerProcess
) -> None:
    page = at_home(visitors, server)
    begun(page, "the apple thread", "You said: the apple thread")
    first = open_thread(page)
    page.get_by_role("button", name="New thread").click()
    expect(page.locator(".hello")).to_be_visible()
    expect(page).not_to_have_url(re.compile("thread="))
    begun(page, "the pear thread", "You said: the pear thread")
    page.get_by_role("link", name=re.compile("the apple thread")).click()
    expect(users(page)).to_have_text("the apple thread")
    expect(page).to_have_url(first)
    page.go_back()
    expect(users(page)).to_have_text("the pear thread")
    page.get_by_role("link", name=re.compile("the pear thread")).hover()
    page.get_by_role("button", name="Rename “the pear thread”").click()
    page.get_by_role("textbox", name="Title").fill("Fruit <b>& more</b>")
    page.get_by_role("textbox", name="Title").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Fruit <b>& more</b>")
    page.get_by_role("searchbox").press_sequentially("apple")
    expect(page.locator(".thread")).to_have_count(1)
    page.get_by_role("searchbox").fill("")
    page.get_by_role("link", name=re.compile("Fruit")).hover()
    page.get_by_role("button", name=re.compile("Delete “Fruit")).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Cancel").click()
    expect(users(page)).to_have_text("the pear thread")
    page.get_by_role("link", name=re.compile("Fruit")).hover()
    page.get_by_role("button", name=re.compile("Delete “Fruit")).click()
    dialog.get_by_role("button", name="Delete thread").click()
    expect(page.locator(".hello")).to_be_visible()
    expect(page.get_by_role("link", name=re.compile("Fruit"))).to_have_count(0)
    expect(page).not_to_have_url(re.compile("thread="))


def test_hostile_text_is_shown_and_not_obeyed(
    visitors: Visitors, server: ServerProcess, model: ModelServer
) -> None:
    model.on("evil.example", answer(HOSTILE))
    page = at_home(visitors, server)
    write(page, HOSTILE)
    expect(users(page)).to_contain_text("<img src=x onerror=window.hacked=1> <svg/onload")
    expect(users(page)).to_contain_text("[x](javascript:window.hacked=1)")
    expect(bots(page).last).to_contain_text("<form action=//evil.example>")
    at_rest(page)
    assert page.evaluate("window.hacked") is None
    for part in ("#finch-chat .message-wrap", "#finch-side", "#finch-head"):
        inside = page.locator(part)
        expect(inside.locator("img, iframe, form, script, object, embed")).to_have_count(0)
        expect(inside.locator("[href^='javascript:' i]")).to_have_count(0)
        assert inside.evaluate(
            "node => [...node.querySelectorAll('*')]"
            ".every(one => [...one.attributes].every(a => !a.name.startsWith('on')))"
        )
    page.locator("#finch-chat a").first.evaluate("link => link.click()")
    assert page.evaluate("window.hacked") is None


def test_an_input_methods_enter_does_not_send(visitors: Visitors, server: ServerProcess) -> None:
    page = at_home(visitors, server)
    keyboard = page.context.new_cdp_session(page)
    box(page).focus()
    composing = {"text": "nihao", "selectionStart": 5, "selectionEnd": 5}
    keyboard.send("Input.imeSetComposition", composing)
    enter(keyboard, "rawKeyDown", code=229)
    keyboard.send("Input.insertText", {"text": "你好"})
    # Safari's order: the composition has ended, and only now the key that ended it comes.
    enter(keyboard, "keyDown", code=13)
    enter(keyboard, "keyUp", code=13)
    expect(box(page)).to_have_value("你好")
    box(page).dispatch_event("keydown", {"key": "Enter", "isComposing": True, "bubbles": True})
    page.keyboard.press("Shift+Enter")
    expect(box(page)).to_have_value("你好\n")
    expect(users(page)).to_have_count(0)
    page.keyboard.press("Enter")
    expect(users(page)).to_have_text("你好")


def enter(keyboard: CDPSession, kind: str, *, code: int) -> None:
    event = {"type": kind, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": code}
    keyboard.send("Input.dispatchKeyEvent", {**event, "text": "\r"} if kind == "keyDown" else event)


def test_a_chinese_browser_gets_a_chinese_page_and_the_switch_changes_all_of_it(
    visitors: Visitors, server: ServerProcess, model: ModelServer
) -> None:
    model.script(answer("一半", Drop()))
    page = at_home(visitors, server, locale="zh-CN")
    expect(page.get_by_role("button", name="新建对话")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    picture(page, "chat-empty-chinese")
    write(page, "请断开")
    expect(page.locator(".broken")).to_contain_text("断了")
    page.get_by_role("combobox", name="语言").select_option("en-US")
    expect(page.locator(".broken")).to_contain_text("broke off")
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    expect(users(page)).to_have_text("请断开")
    page.reload()
    settled(page)
    expect(page.get_by_role("button", name="New thread")).to_be_visible()


def test_another_tab_shows_what_is_said_in_this_one(
    visitors: Visitors, server: ServerProcess
) -> None:
    page = at_home(visitors, server)
    begun(page, "from the first tab", "You said: from the first tab")
    other = visitors.another_tab(page.context, open_thread(page))
    settled(other)
    begun(other, "from the second tab", "You said: from the second tab")
    expect(users(page)).to_have_count(2)
    expect(bots(page).last).to_have_text("You said: from the second tab")


def test_what_cannot_be_sent_goes_back_into_the_box_with_the_reason(
    visitors: Visitors, server: ServerProcess, model: ModelServer
) -> None:
    page = at_home(visitors, server)
    begun(page, "soon gone", "You said: soon gone")
    thread_id = open_thread(page).partition("thread=")[2]
    long = "x" * 1_000_001
    box(page).evaluate("(area, text) => { area.value = text }", long)
    box(page).press("Enter")
    expect(page.get_by_role("status").get_by_text("too long")).to_be_visible()
    assert box(page).input_value() == long
    write(page, "\u200b")
    expect(page.get_by_role("alert")).to_contain_text("The message is empty")
    expect(box(page)).to_have_value("\u200b")
    server.api("DELETE", f"/threads/{thread_id}")
    expect(page.get_by_role("alert")).to_contain_text("no such thread")
    expect(page.locator(".hello")).to_be_visible()


def test_a_long_thread_shows_its_end_and_loads_earlier_turns_on_request(
    visitors: Visitors, server: ServerProcess
) -> None:
    thread_id = server.api("POST", "/threads", json={"title": "Long"})["id"]
    for number in range(27):
        answered(server, thread_id, f"turn {number}.")
    page = visitors.open(f"{server.url}/?thread={thread_id}")
    settled(page)
    expect(bots(page).last).to_have_text("You said: turn 26.")
    expect(users(page)).to_have_count(25)
    expect(users(page).first).to_have_text("turn 2.")
    expect(page.get_by_text("You said: turn 26.")).to_be_in_viewport()
    page.get_by_role("button", name="Load earlier messages").click()
    expect(users(page)).to_have_count(27)
    expect(users(page).first).to_have_text("turn 0.")
    expect(users(page).nth(2)).to_be_in_viewport()
    expect(page.get_by_role("button", name="Load earlier messages")).to_have_count(0)


def test_on_a_phone_the_threads_are_a_drawer_closed_at_first(
    visitors: Visitors, server: ServerProcess
) -> None:
    size = {"width": 390, "height": 844}
    page = at_home(visitors, server, viewport=size, is_mobile=True, has_touch=True)
    new = page.get_by_role("button", name="New thread")
    expect(new).to_be_hidden()
    picture(page, "chat-phone")
    page.get_by_role("button", name="Show threads").tap()
    expect(new).to_be_visible()
    page.keyboard.press("Escape")
    expect(new).to_be_hidden()
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= size["width"]


def test_dark_follows_the_system(visitors: Visitors, server: ServerProcess) -> None:
    page = at_home(visitors, server, color_scheme="dark")
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert colour == "rgb(21, 23, 26)"
    picture(page, "chat-empty-dark")


@pytest.mark.timeout(60)
def test_the_page_and_its_history_outlive_the_server(visitors: Visitors, tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "home") as server:
        page = at_home(visitors, server)
        visitors.expect_errors(page, "ERR_", "network error", "Failed to fetch", "503")
        starters = page.locator(".starter")
        expect(starters).to_have_count(4)
        starters.nth(2).click()
        expect(bots(page).last).to_contain_text("hello.md")
        at_rest(page)
        url = open_thread(page)
        box(page).press_sequentially("not yet sent")
        picture(page, "chat-builtin")
        assert server.stop(signal.SIGTERM) < 3
        expect(page.get_by_text("connection to FinchBot is lost")).to_be_visible()
        server.start()
        expect(page.get_by_text("connection to FinchBot is lost")).to_have_count(0, timeout=30_000)
        settled(page)
        expect(page).to_have_url(url)
        expect(users(page)).to_have_count(1)
        expect(bots(page).last).to_contain_text("hello.md")
        expect(box(page)).to_have_value("not yet sent")
