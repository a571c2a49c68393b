"""The page around the conversation: our own elements, with foreign text inert in them."""

from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from zoneinfo import ZoneInfo

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from finchbot.i18n import Catalogue
from finchbot.ids import OWNER, RunId, ThreadId
from finchbot.threads.records import Thread
from finchbot.ui import markup
from finchbot.ui.words import Words, zone_of

NOW = datetime(2026, 3, 5, 23, 30, tzinfo=UTC)
LANGUAGES = {"en-US": "English", "zh-CN": "简体中文"}


class Elements(HTMLParser):
    """Collects elements, attributes and text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def thread(title: str, thread_id: str = "thr_1", **fields: object) -> Thread:
    known: dict[str, object] = {
        "id": thread_id,
        "user_id": OWNER,
        "title": title,
        "title_source": "user",
        "channel": "chat",
        "created_at": NOW,
        "last_active_at": NOW,
        "message_count": 1,
        "turn_count": 1,
    }
    return Thread.model_validate({**known, **fields})


def side(words: Words, *threads: Thread, query: str = "", more: bool = False) -> str:
    listed = markup.ThreadList(threads, more, ThreadId("thr_1"), query)
    return markup.side(listed, words, languages=LANGUAGES, now=NOW)


@given(st.text(min_size=1).filter(str.strip))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_title_can_add_an_element_or_an_attribute(words: Words, title: str) -> None:
    plain, strange = Elements(side(words, thread("plain"))), Elements(side(words, thread(title)))
    assert strange.names == plain.names
    assert [name for name, _ in strange.attributes] == [name for name, _ in plain.attributes]
    pulse = markup.Pulse(ThreadId(title), title, title, title, 1)
    assert Elements(markup.head(pulse, words)).names.count("div") == 1
    assert "script" not in Elements(markup.foot(RunId(title), title, words)).names


def test_the_open_thread_is_marked_and_a_busy_one_breathes(words: Words) -> None:
    html = side(words, thread("one"), thread("two", "thr_2", running=True))
    assert html.count('aria-current="page"') == 1
    assert 'href="?thread=thr_1" data-do="open" data-id="thr_1" title="one" aria-current' in html
    assert html.count('class="busy"') == 1


def test_an_empty_list_says_what_will_be_here_or_that_nothing_fits(words: Words) -> None:
    assert "will be listed here" in side(words)
    assert "No thread fits" in side(words, query="zebra")


def test_more_threads_can_be_asked_for_only_when_there_are_more(words: Words) -> None:
    assert 'data-do="more"' in side(words, thread("one"), more=True)
    assert 'data-do="more"' not in side(words, thread("one"))


def test_a_thread_without_a_title_has_a_name(words: Words) -> None:
    assert "New thread</span>" in side(words, thread(""))


def test_the_chosen_language_is_selected(catalogue: Catalogue) -> None:
    html = side(Words(catalogue, "zh-CN"))
    assert '<option value="zh-CN" selected>简体中文</option>' in html
    assert "新建对话" in html


def test_the_box_knows_whether_a_run_goes_on(words: Words) -> None:
    assert 'data-running="true"' in markup.foot(RunId("run_1"), "", words)
    assert 'data-running="false"' in markup.foot(None, "", words)
    assert 'role="alert"' not in markup.foot(None, "", words)
    assert 'role="alert"' in markup.foot(None, "Too much.", words)


def test_an_empty_page_greets_with_its_starters(words: Words) -> None:
    html = markup.hello(["a", "<b>", "c", "d"], words)
    assert html.count('data-do="start"') == 4
    assert "&lt;b&gt;" in html


def test_times_are_the_readers_own(catalogue: Catalogue) -> None:
    zurich = Words(catalogue, "zh-CN", ZoneInfo("Europe/Zurich"))
    assert zurich.moment(NOW, now=NOW) == "00:30"
    assert zurich.moment(NOW - timedelta(hours=2), now=NOW) == "3月5日"
    assert zurich.moment(NOW - timedelta(days=400), now=NOW) == "2025/1/30"


def test_an_unknown_zone_is_utc() -> None:
    assert zone_of("Nowhere/Land") is UTC
    assert zone_of("../etc/passwd") is UTC
    assert zone_of("") is UTC
    assert zone_of("Asia/Shanghai") == ZoneInfo("Asia/Shanghai")
