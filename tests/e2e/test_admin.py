"""The admin as its owner meets it: behind a password, in a real browser, beside the real API."""

import re
import signal
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, StorageState, expect
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.e2e.harness import ServerProcess, Visitors, picture

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(60)]

# S105: only of the server that this test starts.
PASSWORD = "open sesame"  # noqa: S105
OWNER = {"Authorization": "Bearer token-of-the-owner"}
PATHS = ("", "threads", "health")
PHONE = {"width": 390, "height": 844}
# Streamlit looks below every deep link first whether it is served there.
PROBES = r"404 \(Not Found\) \(.*/_stcore/(health|host-config)\)"
HOSTILE = (
    "<img src=x onerror=window.hacked=1>",
    "<svg/onload=window.hacked=1><iframe srcdoc='<script>parent.hacked=1</script>'>",
    "[x](javascript:window.hacked=1) https://evil.example ![p](http://evil.example/p.png)",
    ":red[hot] :smile: :material/delete: $x^2$ **bold** `code` -> a_b_c",
    "# head\n\n- one\n1. two\n> three\t| four",
)
# Names, and what is the same in every language.
UNTRANSLATED = re.compile(
    r"FinchBot|Python|API|WebSocket|Ollama|[A-Z_]+_KEY|builtin|config\.json|app\.py|"
    r"English|/\S*|export .*|python .*|FinchBot \S+"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    environ = {
        "FINCHBOT_SERVER__PASSWORD": PASSWORD,
        "FINCHBOT_SERVER__API_TOKEN": "token-of-the-owner",
    }
    with ServerProcess(tmp_path_factory.mktemp("admin") / "home", environ) as server:
        yield server


def api(server: ServerProcess, method: str, path: str, **options: Any) -> Any:
    return server.api(method, path, headers=OWNER, **options)


def thread_titled(server: ServerProcess, title: str) -> str:
    made: str = api(server, "POST", "/threads", json={"title": title})["id"]
    return made


class Owner:
    """Opens pages as somebody who gave the password."""

    def __init__(self, visitors: Visitors, server: ServerProcess, session: StorageState) -> None:
        self.visitors = visitors
        self._server = server
        self._session = session

    def open(self, path: str = "", **options: Any) -> Page:
        url = f"{self._server.url}/admin/{path}"
        page = self.visitors.open(url, storage_state=self._session, **options)
        self.visitors.expect_errors(page, PROBES)
        settled(page)
        return page


@pytest.fixture(scope="module")
def session(browser: Browser, server: ServerProcess) -> StorageState:
    """Go through the login page once, and keep the cookie."""
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{server.url}/admin/health")
        page.locator("input[type=password]").fill(PASSWORD)
        page.keyboard.press("Enter")
        settled(page)
        expect(page).to_have_url(f"{server.url}/admin/health")
        return context.storage_state()


@pytest.fixture
def owner(visitors: Visitors, server: ServerProcess, session: StorageState) -> Owner:
    return Owner(visitors, server, session)


def go(page: Page, server: ServerProcess, path: str) -> None:
    page.goto(f"{server.url}/admin/{path}")
    settled(page)


def settled(page: Page) -> None:
    """Wait until the page has everything it draws."""
    expect(page.locator("h1")).to_be_visible()
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
    expect(page.locator("[data-testid=stSkeleton]:visible")).to_have_count(0)


def row(page: Page, title: str) -> Locator:
    return page.locator("[class*=st-key-row-thr]").filter(has=page.get_by_text(title, exact=True))


def choose(page: Page, title: str, action: str) -> None:
    """Open a thread's menu and take one entry."""
    row(page, title).get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name=action, exact=True).click()


def search(page: Page, words: str) -> None:
    box = page.get_by_role("textbox", name="Search titles and text")
    box.fill(words)
    box.press("Enter")


def test_nothing_of_the_admin_is_there_without_the_password(server: ServerProcess) -> None:
    page = {"Accept": "text/html"}
    with httpx.Client(base_url=server.url, trust_env=False) as stranger:
        for path in PATHS:
            answer = stranger.get(f"/admin/{path}", headers=page)
            assert answer.status_code == 303
            assert answer.headers["location"] == f"/login?next=/admin/{path}"
        for path in ("_stcore/health", "_stcore/host-config", "static/index.html", "media/x.png"):
            assert stranger.get(f"/admin/{path}").status_code == 401
    with pytest.raises(InvalidStatus) as refused:
        connect(server.url.replace("http", "ws") + "/admin/_stcore/stream", proxy=None)
    assert refused.value.response.status_code == 401


def test_home_answers_whether_all_is_well_before_anything_else(
    owner: Owner, server: ServerProcess
) -> None:
    page = owner.open()
    texts = page.locator("[data-testid=stText]:visible").all_inner_texts()
    assert texts[0] == "All is well."
    expect(page.get_by_text("built-in rules answer")).to_be_visible()
    expect(page.get_by_text("export OPENAI_API_KEY")).to_be_visible()
    page.get_by_role("tab", name="config.json").click()
    expect(page.get_by_text(str(server.home / "config.json"), exact=True)).to_be_visible()
    picture(page, "admin-home")


def test_no_other_host_is_asked_even_by_what_a_page_would_load(
    owner: Owner, server: ServerProcess
) -> None:
    page = owner.open()
    owner.visitors.expect_errors(page, "Content Security Policy")
    answer = httpx.get(f"{server.url}/admin/", headers=OWNER, trust_env=False)
    assert "img-src 'self' data: blob:" in answer.headers["content-security-policy"]
    blocked = page.evaluate(
        """() => new Promise((tell) => {
          document.addEventListener("securitypolicyviolation", (event) => tell(event.blockedURI));
          document.body.append(Object.assign(new Image(), {src: "http://evil.example/x.png"}));
        })"""
    )
    assert blocked == "http://evil.example/x.png"


def test_a_thread_is_renamed_pinned_and_archived(owner: Owner, server: ServerProcess) -> None:
    thread_id = thread_titled(server, "Swallows")
    page = owner.open("threads")
    choose(page, "Swallows", "Rename")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Title").fill("Swifts <b>")
    dialog.get_by_role("button", name="Rename").click()
    expect(page.get_by_text("The thread has its new title.")).to_be_visible()
    expect(row(page, "Swifts <b>")).to_be_visible()
    thread = api(server, "GET", f"/threads/{thread_id}")
    assert (thread["title"], thread["title_source"]) == ("Swifts <b>", "user")
    choose(page, "Swifts <b>", "Pin")
    expect(row(page, "Swifts <b>")).to_contain_text("Pinned")
    choose(page, "Swifts <b>", "Archive")
    expect(row(page, "Swifts <b>")).to_have_count(0)
    thread = api(server, "GET", f"/threads/{thread_id}")
    assert (thread["pinned"], thread["archived"]) == (True, True)
    page.get_by_text("Archived").click()
    choose(page, "Swifts <b>", "Take out of the archive")
    expect(page.get_by_text("What you archive will be here")).to_be_visible()
    assert not api(server, "GET", f"/threads/{thread_id}")["archived"]


def test_delete_names_what_goes_and_asks(owner: Owner, server: ServerProcess) -> None:
    kept, gone = thread_titled(server, "To be kept"), thread_titled(server, "To be gone")
    page = owner.open("threads")
    dialog = page.get_by_role("dialog")
    choose(page, "To be kept", "Delete thread")
    expect(dialog.get_by_text("To be kept", exact=True)).to_be_visible()
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    choose(page, "To be gone", "Delete thread")
    expect(dialog).to_contain_text("This cannot be undone")
    picture(page, "admin-delete")
    dialog.get_by_role("button", name="Delete thread").click()
    expect(page.get_by_text("The thread is deleted.")).to_be_visible()
    expect(row(page, "To be gone")).to_have_count(0)
    assert api(server, "GET", f"/threads/{kept}")["title"] == "To be kept"
    answer = httpx.get(f"{server.url}/api/v1/threads/{gone}", headers=OWNER, trust_env=False)
    assert answer.status_code == 404


def test_what_was_deleted_elsewhere_is_said_in_the_dialog(
    owner: Owner, server: ServerProcess
) -> None:
    thread_id = thread_titled(server, "Deleted elsewhere")
    page = owner.open("threads")
    choose(page, "Deleted elsewhere", "Rename")
    expect(page.get_by_role("dialog").get_by_role("button", name="Rename")).to_be_visible()
    api(server, "DELETE", f"/threads/{thread_id}")
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    expect(page.get_by_role("dialog")).to_contain_text("no such thread")
    expect(page.get_by_role("dialog")).to_contain_text("thread.not_found · HTTP 404")


def test_two_chinese_characters_find_a_thread(owner: Owner, server: ServerProcess) -> None:
    thread_titled(server, "苏黎世的鸟")
    thread_titled(server, "Birds of Bern")
    page = owner.open("threads")
    expect(row(page, "Birds of Bern")).to_be_visible()
    search(page, "世的")
    expect(row(page, "Birds of Bern")).to_have_count(0)
    expect(row(page, "苏黎世的鸟")).to_be_visible()
    search(page, "nowhere to be found")
    expect(page.get_by_text("No thread has these words.")).to_be_visible()
    page.get_by_role("button", name="Show all threads").click()
    expect(row(page, "Birds of Bern")).to_be_visible()


def test_a_list_longer_than_a_page_is_leafed_through(owner: Owner, server: ServerProcess) -> None:
    for number in range(27):
        thread_titled(server, f"leaf {number}")
    page = owner.open("threads")
    search(page, "leaf")
    expect(row(page, "leaf 26")).to_be_visible()
    expect(row(page, "leaf 1")).to_have_count(0)
    page.get_by_role("button", name="Older").click()
    expect(row(page, "leaf 1")).to_be_visible()
    expect(row(page, "leaf 26")).to_have_count(0)
    page.get_by_role("button", name="Newer").click()
    expect(row(page, "leaf 26")).to_be_visible()


def test_a_thread_opens_in_the_chat_in_the_same_tab(owner: Owner, server: ServerProcess) -> None:
    thread_id = thread_titled(server, "Straight to the chat")
    page = owner.open("threads")
    row(page, "Straight to the chat").get_by_role("link", name="Open").click()
    expect(page).to_have_url(f"{server.url}/?thread={thread_id}")
    page.go_back()
    settled(page)
    page.get_by_role("link", name="Back to the chat").click()
    expect(page).to_have_url(f"{server.url}/")


def test_hostile_titles_are_shown_letter_by_letter(owner: Owner, server: ServerProcess) -> None:
    for title in HOSTILE:
        thread_titled(server, title)
    shown = [" ".join(title.split()) for title in HOSTILE]
    page = owner.open("threads")
    for path in ("threads", ""):
        go(page, server, path)
        for title in shown:
            expect(page.get_by_text(title, exact=True)).to_be_visible()
        assert page.locator("[data-testid=stMain] :is(img, svg[onload], iframe, h2)").count() == 0
    go(page, server, "threads")
    for title in shown:
        choose(page, title, "Delete thread")
        expect(page.get_by_role("dialog").get_by_text(title, exact=True)).to_be_visible()
        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_role("dialog")).to_have_count(0)
    assert page.evaluate("window.hacked") is None
    for thread in api(server, "GET", "/threads", params={"limit": 200})["items"]:
        if thread["title"] in {*HOSTILE, *shown}:
            api(server, "DELETE", f"/threads/{thread['id']}")


@pytest.mark.parametrize("language", ["zh-CN", "zh-HK"])
def test_chinese_readers_see_no_english(owner: Owner, server: ServerProcess, language: str) -> None:
    for thread in api(server, "GET", "/threads", params={"limit": 200})["items"]:
        api(server, "DELETE", f"/threads/{thread['id']}")
    thread_titled(server, "鸟")
    page = owner.open(locale=language)
    for path in PATHS:
        go(page, server, path)
        expect(page.locator("html")).to_have_attribute("lang", language)
        assert english(page) == []
        picture(page, f"admin-{path or 'home'}-{language}")
    go(page, server, "threads")
    for position in (0, -1):
        page.locator("[data-testid=stMenuButton] button").click()
        page.get_by_role("menuitem").nth(position).click()
        expect(page.get_by_role("dialog")).to_be_visible()
        assert english(page) == []
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)


def english(page: Page) -> list[str]:
    """Return what a person sees or hears on the page that has English words in it."""
    said: list[str] = page.evaluate(
        """() => {
          const said = [document.title];
          const walk = (element) => {
            const style = getComputedStyle(element);
            if (style.display === "none" || element.dataset.testid === "stIconMaterial") return;
            for (const name of ["aria-label", "title", "placeholder"])
              said.push(element.getAttribute(name) || "");
            for (const child of element.childNodes)
              if (child.nodeType === Node.TEXT_NODE) said.push(child.data);
              else if (!["SCRIPT", "STYLE", "NOSCRIPT"].includes(child.tagName)) walk(child);
          };
          walk(document.body);
          return said;
        }"""
    )
    return [text for text in said if re.search("[A-Za-z]{3}", UNTRANSLATED.sub("", text))]


def test_a_language_picked_in_the_chat_holds_here_too(owner: Owner, server: ServerProcess) -> None:
    page = owner.open("health")
    expect(page.locator("h1")).to_have_text("Health")
    page.context.add_cookies([{"name": "finchbot_language", "value": "zh-CN", "url": server.url}])
    go(page, server, "health")
    expect(page.locator("h1")).to_have_text("运行状态")


def test_a_broken_settings_file_is_said_on_every_page_until_it_is_mended(
    owner: Owner, server: ServerProcess
) -> None:
    file = server.home / "config.json"
    file.write_text('{\n  "default_model": "auto",\n}\n', encoding="utf-8")
    page = owner.open()
    banner = page.locator(".st-key-banner-error")
    for path in PATHS:
        go(page, server, path)
        expect(banner).to_contain_text("FinchBot runs on its default settings.")
        expect(banner).to_contain_text(str(file))
        expect(banner).to_contain_text("line 3")
    picture(page, "admin-safe-mode")
    file.write_text('{"default_model": "auto"}\n', encoding="utf-8")
    page.get_by_role("button", name="Check again").click()
    expect(banner).to_have_count(0)
    file.unlink()


def test_health_says_what_each_part_means_and_where_things_are(
    owner: Owner, server: ServerProcess
) -> None:
    page = owner.open("health")
    for part in ("Model", "Memory", "Meaning index", "Channels"):
        expect(page.get_by_text(part, exact=True)).to_be_visible()
    expect(page.get_by_text("For free conversation, set a model")).to_be_visible()
    for fact in (server.home, server.home / "config.json", server.home / "logs" / "finchbot.log"):
        expect(page.get_by_text(str(fact), exact=True)).to_be_visible()
    assert (server.home / "logs" / "finchbot.log").exists()


def test_on_a_phone_nothing_runs_over_and_the_menu_is_closed_at_first(
    owner: Owner, server: ServerProcess
) -> None:
    thread_titled(server, "A rather long title that has to find its place on a narrow screen")
    page = owner.open("threads", viewport=PHONE, is_mobile=True, has_touch=True)
    picture(page, "admin-phone")
    for path in PATHS:
        go(page, server, path)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    expect(page.get_by_role("link", name="Threads", exact=True)).not_to_be_in_viewport()
    page.get_by_role("button", name="Show menu").tap()
    expect(page.get_by_role("link", name="Threads", exact=True)).to_be_in_viewport()
    picture(page, "admin-phone-menu")


def test_light_and_dark_follow_the_system(owner: Owner, server: ServerProcess) -> None:
    for scheme, colour in (("light", "rgb(251, 250, 247)"), ("dark", "rgb(21, 23, 26)")):
        page = owner.open("health", color_scheme=scheme)
        found = page.evaluate("getComputedStyle(document.querySelector('.stApp')).backgroundColor")
        assert found == colour
        picture(page, f"admin-health-{scheme}")


def test_a_page_that_is_not_there_is_said_in_the_readers_words(
    owner: Owner, server: ServerProcess
) -> None:
    page = owner.open("nowhere")
    owner.visitors.expect_errors(page, "does not seem to exist", "404 .*/admin/nowhere")
    expect(page.get_by_role("dialog")).to_contain_text("This page does not exist")
    expect(page.get_by_role("dialog")).not_to_contain_text("Streamlit")


def test_a_server_that_went_away_is_said_and_the_page_goes_on_when_it_is_back(
    owner: Owner, server: ServerProcess
) -> None:
    page = owner.open("health")
    owner.visitors.expect_errors(
        page, "ERR_CONNECTION", "WebSocket", "503", "not respond|No response"
    )
    server.stop(signal.SIGTERM)
    expect(page.get_by_role("dialog")).to_contain_text("The connection to FinchBot is lost")
    expect(page.get_by_role("dialog")).not_to_contain_text("Streamlit")
    server.start()
    expect(page.get_by_role("dialog")).to_have_count(0, timeout=30_000)
    page.get_by_role("button", name="Check again").click()
    settled(page)
