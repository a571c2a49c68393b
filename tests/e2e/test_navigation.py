"""Going from page to page and from thread to thread, as the browser's own buttons do."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.harness import ServerProcess, Visitors
from tests.support.model_server import ModelServer
from tests.support.replies import Gate, Wait, answer, say

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(60)]


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer() as model:
        yield model


@pytest.fixture(scope="module")
def server(model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    environ = {"OPENAI_API_KEY": "sk-test", "OPENAI_API_BASE": model.url}
    with ServerProcess(tmp_path_factory.mktemp("navigation") / "home", environ) as server:
        yield server


@pytest.fixture
def page(visitors: Visitors, server: ServerProcess) -> Page:
    page = visitors.open(server.url)
    page.wait_for_selector(".finch-ready")
    return page


def write(page: Page, text: str) -> None:
    page.locator("#finch-foot textarea").fill(text)
    page.locator("#finch-foot textarea").press("Enter")


def title(page: Page, text: str) -> None:
    expect(page.locator(".head h1")).to_have_text(text)


def test_the_link_to_the_admin_leads_there_and_back_again(page: Page) -> None:
    write(page, "one more")
    expect(page).to_have_url(re.compile(r"thread=thr_"))
    at = page.url
    for _ in range(2):
        page.locator("a[href='admin/']").click()
        expect(page).to_have_url(re.compile(r"/admin/$"))
        page.wait_for_selector("[data-testid=stApp]")
        page.go_back()
        page.wait_for_selector(".finch-ready")
        assert page.url == at
        title(page, "one more")


def test_back_and_forward_go_through_the_threads_and_keep_every_draft(
    page: Page, model: ModelServer
) -> None:
    gate = Gate()
    model.on("speaks on", answer(say("It begins and goes on ", pieces=5), Wait(gate), say("end")))
    draft = page.locator("#finch-foot textarea")
    write(page, "first words")
    title(page, "first words")
    draft.fill("for the first")
    page.locator("#finch-side .new").click()
    page.wait_for_selector(".hello")
    write(page, "it speaks on")
    title(page, "it speaks on")
    draft.fill("for the second")
    page.go_back()
    title(page, "first words")
    expect(draft).to_have_value("for the first")
    page.go_forward()
    title(page, "it speaks on")
    expect(draft).to_have_value("for the second")
    gate.open()
    expect(page.get_by_test_id("bot").last).to_contain_text("end")
    page.go_back()
    title(page, "first words")


def test_a_wide_table_is_scrolled_and_its_words_stay_whole(page: Page, model: ModelServer) -> None:
    columns = "|" + " unbreakable |" * 12
    rule = "|" + "---:|" * 12
    model.on("a table", answer(say(f"{columns}\n{rule}\n{columns}\n\n- [x] done\n")))
    write(page, "draw a table")
    cell = page.locator("#finch-chat td").first
    expect(cell).to_have_css("text-align", "right")
    one_line = page.evaluate(
        "() => { const cell = document.querySelector('#finch-chat td');"
        " return cell.clientHeight < 2.2 * parseFloat(getComputedStyle(cell).lineHeight); }"
    )
    assert one_line
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    expect(page.locator("#finch-chat li input")).to_be_checked()
