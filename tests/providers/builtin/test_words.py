"""Scripts, slips of typing, and Markdown that holds what is put into it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finchbot.providers.builtin.markdown import code, fenced, language_of_file
from finchbot.providers.builtin.script import chinese_of, language_of, simplify
from finchbot.providers.builtin.typos import corrections

KNOWN = frozenset({"list", "files", "read", "rename", "the"})


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("lsit", "list"),
        ("raed", "read"),
        ("fiiles", "files"),
        ("renme", "rename"),
        ("reneme", "rename"),
    ],
)
def test_one_slip_is_mended(word: str, meant: str) -> None:
    assert corrections(frozenset({word}), KNOWN) == {word: meant}


@pytest.mark.parametrize("word", ["lead", "road", "lost", "he", "tthe", "files", "zzzz"])
def test_another_word_is_left_alone(word: str) -> None:
    assert corrections(frozenset({word}), KNOWN) == {}


def test_traditional_characters_are_read_as_simplified() -> None:
    assert "".join(map(simplify, "請讀檔案，睇下對話")) == "请读档案，看下对话"


@pytest.mark.parametrize(
    ("text", "language"),
    [("讀檔案", "zh-HK"), ("读文件", "zh-CN"), ("中文", "zh"), ("hello", "en-US"), ("42", "")],
)
def test_the_language_shows_in_the_characters(text: str, language: str) -> None:
    assert language_of(text) == language
    assert not language.startswith("zh") or chinese_of(text) == language


@given(st.text(st.sampled_from("`~ab\n")) | st.text())
def test_a_fence_is_closed_by_its_own_end_alone(text: str) -> None:
    block = fenced(text, "text")
    marks = re.match("`+", block)
    assert marks is not None
    assert len(marks[0]) >= 3
    inside = block[len(marks[0]) + len("text\n") : -len(marks[0]) - 1]
    assert inside == text.removesuffix("\n")
    assert marks[0] not in inside


@given(st.text())
def test_code_stays_on_one_line(text: str) -> None:
    shown = code(text)
    assert shown.isprintable()
    marks = re.match("`+", shown)
    assert marks is not None
    assert shown.endswith(marks[0])
    assert marks[0] not in shown[len(marks[0]) : -len(marks[0])].strip("` ")


@pytest.mark.parametrize(
    ("path", "language"),
    [("a/b.py", "python"), ("X.JSON", "json"), ("README", "text"), ("", "text")],
)
def test_a_file_is_highlighted_by_its_extension(path: str, language: str) -> None:
    assert language_of_file(path) == language
