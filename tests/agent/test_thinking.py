from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finchbot.agent.thinking import Piece, Said, ThoughtSplitter, gathered, split

ALPHABET = [
    "<think>",
    "</think>",
    "<Thought>",
    "</thinking>",
    "`",
    "```",
    "\n",
    " ",
    "<",
    "plan",
    "你好",
]
texts = st.lists(st.sampled_from(ALPHABET), max_size=24).map("".join)


@pytest.mark.parametrize(
    ("given_text", "text", "reasoning"),
    [
        ("<think>plan</think>Hello", "Hello", "plan"),
        ("plan</think>Hello", "Hello", "plan"),
        ("<think>plan", "", "plan"),
        ("<think>plan</think>\n\nHello", "Hello", "plan"),
        ("<thinking>plan</thinking>Hello", "Hello", "plan"),
        ("<thought>plan</thought>Hello", "Hello", "plan"),
        ("<THINK>plan</THINK>Hello", "Hello", "plan"),
        ("\n<think>plan</think>Hello", "Hello", "plan"),
        ("<think>\n\n</think>\n\nHello", "Hello", ""),
        ("</think>Hello", "Hello", ""),
        ("<think>a</think>one <think>b</think>two", "one two", "ab"),
        ("<think>a <think>b</think> c</think>Hello", "Hello", "a <think>bc"),
        ("Hello", "Hello", ""),
        ("    code first", "    code first", ""),
        ("a < b, <thin", "a < b, <thin", ""),
        ("say `<think>` and `</think>` twice", "say `<think>` and `</think>` twice", ""),
        ("```xml\n<think>x</think>\n```\nend", "```xml\n<think>x</think>\n```\nend", ""),
        ("~~~\n</think>\n~~~\nend", "~~~\n</think>\n~~~\nend", ""),
        ("```\nx\n```\nplan</think>Hello", "Hello", "```\nx\n```\nplan"),
    ],
)
def test_words_and_thoughts_are_told_apart(given_text: str, text: str, reasoning: str) -> None:
    assert split(given_text) == Said(text, reasoning)


@given(texts, st.lists(st.integers(0, 200), max_size=12))
def test_the_borders_of_chunks_change_nothing(text: str, borders: list[int]) -> None:
    cuts = sorted({0, len(text), *(border % (len(text) + 1) for border in borders)})
    splitter = ThoughtSplitter()
    pieces = [piece for start, end in pairwise(cuts) for piece in splitter.feed(text[start:end])]
    assert gathered([*pieces, *splitter.finish()]) == split(text)


@given(st.text(st.characters(exclude_characters="<")))
def test_a_text_without_tags_comes_out_as_it_was(text: str) -> None:
    assert split(text) == Said(text if text.strip() else "", "")


@given(texts)
def test_nothing_is_retracted_that_was_not_said(text: str) -> None:
    splitter = ThoughtSplitter()
    said = False
    for piece in [*splitter.feed(text), *splitter.finish()]:
        assert piece.kind != "retract" or said
        said = piece.kind == "text" or (said and piece.kind != "retract")
        assert piece == Piece("retract") or piece.text


def test_a_tag_split_over_chunks_is_held_back_and_never_shown() -> None:
    splitter = ThoughtSplitter()
    assert splitter.feed("plan</thi") == [Piece("text", "plan")]
    assert splitter.feed("nk>Hello") == [Piece("retract"), Piece("text", "Hello")]
    assert splitter.finish() == []
