import pytest
from hypothesis import given
from hypothesis import strategies as st

from finchbot.errors import InputInvalid, TooLarge
from finchbot.threads.title_text import (
    FIRST_COLUMNS,
    clean_title,
    columns,
    first_title,
    given_title,
)


@given(st.text(max_size=200))
def test_a_first_title_is_one_short_line_of_the_text(text: str) -> None:
    title = first_title(text)
    assert columns(title) <= FIRST_COLUMNS
    assert title == clean_title(title)
    assert title.removesuffix("…") in clean_title(text) or title == ""


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Hello", "Hello"),
        ("\n\n  Second line first  \nmore", "Second line first"),
        ("", ""),
        ("\u200b\n\t", ""),
        (
            "Please read the file notes.md and write a summary",
            "Please read the file notes.md and write…",
        ),
        (
            "请帮我把这份会议记录整理成一份简短的摘要并发给大家",
            "请帮我把这份会议记录整理成一份简短的摘…",
        ),
        ("用 Python 写一个能排序的函数 quicksortimplementation", "用 Python 写一个能排序的函数…"),
        ("x" * 60, "x" * 39 + "…"),
        ("a\x00b\x1b[31m", "ab[31m"),
    ],
)
def test_a_first_title_is_cut_between_words_or_chinese_characters(text: str, title: str) -> None:
    assert first_title(text) == title


def test_a_title_of_nothing_is_refused() -> None:
    with pytest.raises(InputInvalid) as caught:
        given_title(" \u200b\n")
    assert caught.value.code == "title.empty"


def test_a_title_of_two_hundred_characters_is_the_longest() -> None:
    assert given_title("好" * 200) == "好" * 200
    with pytest.raises(TooLarge):
        given_title("好" * 201)


def test_a_given_title_is_kept_on_one_line() -> None:
    assert given_title("  Trip\n to \t Bern \ud83d ") == "Trip to Bern \ufffd"
