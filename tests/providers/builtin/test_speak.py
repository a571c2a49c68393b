"""What is said: the right thing, in the right language, as sound Markdown."""

from datetime import timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finchbot.i18n import Catalogue
from finchbot.providers.builtin.intents import REQUIRED, Intent, Kind
from finchbot.providers.builtin.plan import Result, tool_of
from finchbot.providers.builtin.speak import SHOWN_CHARS, Speaker
from tests.support.clock import FakeClock

FILES = frozenset({"list_dir", "read_file", "write_file", "session_title"})
READ = Intent(Kind.READ_FILE, "en-US", {"path": "a.py"})
LIST = Intent(Kind.LIST_FILES, "en-US")
LANGUAGES = ["en-US", "zh-CN", "zh-HK"]


@pytest.fixture(scope="module")
def speaker(catalogue: Catalogue) -> Speaker:
    return Speaker(catalogue.text, FakeClock(), timezone(timedelta(hours=8)))


def test_a_file_is_shown_without_line_numbers_in_a_fence_that_holds(speaker: Speaker) -> None:
    output = "a.py: 20 bytes, UTF-8, lines 1 to 3\n     1\tx = 1\n     2\t```\n     3\t\t7\ttabs"
    shown = speaker.answer([READ], [Result("read_file", output)], FILES, "en-US")
    assert shown == "This is in `a.py`:\n\n````python\nx = 1\n```\n\t7\ttabs\n````"


def test_a_file_that_goes_on_is_said_to(speaker: Speaker) -> None:
    output = "head\n     1\tx\nThere is more: read on with offset=2."
    shown = speaker.answer([READ], [Result("read_file", output)], FILES, "en-US")
    assert shown.endswith("```python\nx\n```\n\nThat is the beginning; the file goes on.")


def test_what_is_no_text_is_told_in_the_words_of_the_tool(speaker: Speaker) -> None:
    output = "a.png: 9 bytes of binary data, not shown."
    assert speaker.answer([READ], [Result("read_file", output)], FILES, "en-US") == output


def test_a_listing_is_shown_as_given_below_a_sentence(speaker: Speaker) -> None:
    output = ".:\na.txt  3\nnotes/\n  b.txt  4"
    shown = speaker.answer([LIST], [Result("list_dir", output)], FILES, "zh-CN")
    assert shown.endswith("\n\n```text\na.txt  3\nnotes/\n  b.txt  4\n```")


def test_an_empty_folder_is_said_to_be_empty(speaker: Speaker) -> None:
    here = speaker.answer([LIST], [Result("list_dir", "The folder . is empty.")], FILES, "en-US")
    assert here.startswith("Your workspace is empty.")
    there = Intent(Kind.LIST_FILES, "zh-CN", {"path": "笔记"})
    shown = speaker.answer([there], [Result("list_dir", "空")], FILES, "en-US")
    assert shown == "文件夹 `笔记` 是空的。"


def test_a_failure_says_what_happened_and_what_to_do(speaker: Speaker) -> None:
    failed = Result("read_file", "There is nothing at a.py.", failed=True)
    shown = speaker.answer([READ], [failed], FILES, "en-US")
    assert shown.startswith("I could not read `a.py`. There is nothing at a.py.")
    assert "list files" in shown


def test_after_a_failure_the_rest_is_left_undone(speaker: Speaker) -> None:
    failed = Result("read_file", "gone", failed=True)
    shown = speaker.answer([READ, LIST], [failed], FILES, "en-US")
    assert shown.endswith("I left the rest undone.")


def test_a_long_output_is_cut_at_a_line_and_said_to_be(speaker: Speaker) -> None:
    output = "head\n" + "\n".join(f"{n:>6}\tline {n}" for n in range(1, 5000))
    shown = speaker.answer([READ], [Result("read_file", output)], FILES, "en-US")
    assert len(shown) < SHOWN_CHARS + 200
    assert shown.endswith("all of it stands in the tool step above.")
    assert "```" in shown.removeprefix("This is in `a.py`:\n\n```python")


@pytest.mark.parametrize("language", LANGUAGES)
def test_help_names_what_there_is_and_how_to_talk_freely(speaker: Speaker, language: str) -> None:
    for kind in (Kind.HELP, Kind.UNKNOWN):
        said = speaker.answer([Intent(kind, language)], [], FILES, "en-US")
        assert said.count("\n- ") == len(FILES)
        assert all(place in said for place in ("admin/", "OPENAI_API_KEY", "config.json"))
        assert "https://" not in said


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", [kind for kind in REQUIRED if kind != Kind.READ_FILE])
def test_what_is_not_there_is_said_in_one_sentence(
    speaker: Speaker, catalogue: Catalogue, kind: Kind, language: str
) -> None:
    said = speaker.answer([Intent(kind, language)], [], frozenset({"read_file"}), "en-US")
    what = catalogue.text(f"builtin.what.{kind}", language)
    assert said == catalogue.text("builtin.unavailable", language, what=what)


@pytest.mark.parametrize("kind", [kind for kind in REQUIRED if tool_of(kind)])
def test_what_was_left_unsaid_is_asked_for_with_an_example(speaker: Speaker, kind: Kind) -> None:
    every = frozenset(filter(None, map(tool_of, Kind)))
    said = speaker.answer([Intent(kind, "en-US")], [], every, "en-US")
    assert "?" in said
    assert said.count("`") == 2


def test_a_name_without_content_is_repeated_in_the_question(speaker: Speaker) -> None:
    intent = Intent(Kind.WRITE_FILE, "en-US", {"path": "a.txt"})
    assert "`a.txt`" in speaker.answer([intent], [], FILES, "en-US")


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en-US", "It is Tuesday, 2026-12-01, 16:00 (UTC+08:00)."),
        ("zh-CN", "现在是 2026-12-01 星期二 16:00（UTC+08:00）。"),
    ],
)
def test_the_time_is_that_of_the_clock_in_the_users_zone(
    speaker: Speaker, language: str, said: str
) -> None:
    assert speaker.answer([Intent(Kind.NOW, language)], [], FILES, "en-US") == said


def test_chinese_that_may_be_either_follows_the_talk(speaker: Speaker) -> None:
    intent = Intent(Kind.THANKS, "zh")
    assert speaker.answer([intent], [], FILES, "zh-HK") == "不客氣。"
    assert speaker.answer([intent], [], FILES, "en-US") == "不客气。"


def test_a_result_nobody_planned_is_shown_as_it_is(speaker: Speaker) -> None:
    results = [Result("weather", "sunny"), Result("weather", "", failed=True)]
    said = speaker.answer([READ], results, FILES, "en-US")
    assert said.startswith("```text\nsunny\n```")
    assert "The tool `weather` did not succeed." in said


RESULTS = st.lists(
    st.builds(
        Result,
        st.sampled_from([*sorted(FILES), "remember", "other"]),
        st.text(),
        st.booleans(),
    ),
    max_size=4,
)
SLOTS = st.dictionaries(st.sampled_from(["path", "content", "title", "text", "query"]), st.text())
INTENTS = st.lists(
    st.builds(
        lambda kind, language, slots: Intent(
            kind, language, dict.fromkeys(REQUIRED.get(kind, ()), "x") | slots
        ),
        st.sampled_from(Kind),
        st.sampled_from([*LANGUAGES, "zh", ""]),
        SLOTS,
    ),
    min_size=1,
    max_size=3,
)


@given(INTENTS, RESULTS, st.sampled_from(LANGUAGES))
def test_there_is_always_something_to_say(
    speaker: Speaker, intents: list[Intent], results: list[Result], language: str
) -> None:
    said = speaker.answer(intents, results, FILES, language)
    assert said.strip()
    assert "builtin." not in said
