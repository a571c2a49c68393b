"""The skeleton: what the rules see, and the way back to the source."""

from hypothesis import given
from hypothesis import strategies as st

from finchbot.providers.builtin.skeleton import (
    FENCE,
    HEAD_CHARS,
    QUOTE,
    TAIL,
    URL,
    skeleton_of,
)

TEXTS = st.text(st.sampled_from("ab 读檔，：“”「」\"'`~\n\x00\u200bＡ.:/")) | st.text()


@given(TEXTS)
def test_every_character_points_into_the_source_in_order(source: str) -> None:
    skeleton = skeleton_of(source)
    assert len(skeleton.spans) == len(skeleton.text)
    end = 0
    for span in skeleton.spans:
        assert end <= span.start < span.end <= len(source)
        assert span.start <= span.inner_start <= span.inner_end <= span.end
        end = span.end


@given(TEXTS)
def test_all_words_together_are_the_source_but_for_what_cannot_be_seen(source: str) -> None:
    skeleton = skeleton_of(source)
    words = skeleton.words(0, len(skeleton.text))
    assert words in source
    left_out = set(source) - set(words)
    assert all(character.isspace() or not character.isprintable() for character in left_out)


def test_spelling_is_folded_and_quotations_are_lifted_out() -> None:
    skeleton = skeleton_of("請ＲＥＡＤ「我的 檔案.txt」和 `b.txt`，\r\nhttps://a.example/b。")
    assert skeleton.text == f"请read{QUOTE}和 {QUOTE},\n{URL}."
    assert skeleton.value(5, 7) == "「我的 檔案.txt」和"
    assert skeleton.value(5, 6) == "我的 檔案.txt"


def test_an_apostrophe_in_a_word_opens_no_quotation() -> None:
    assert skeleton_of("what's in 'it's 5 o'clock'?").text == f"what's in {QUOTE}?"


def test_a_block_is_lifted_with_its_fence() -> None:
    skeleton = skeleton_of("save\n```py\na\n```\nas a.py")
    assert skeleton.text == f"save\n{FENCE}\nas a.py"
    assert skeleton.value(5, 6) == "a\n"


def test_the_rest_of_a_long_message_is_one_character() -> None:
    source = "a" * (HEAD_CHARS + 10)
    skeleton = skeleton_of(source)
    assert skeleton.text == "a" * HEAD_CHARS + TAIL
    assert skeleton.words(0, len(skeleton.text)) == source


def test_respelled_words_still_point_to_what_was_written() -> None:
    skeleton = skeleton_of("raed a.txt").with_words({"raed": "reading"})
    assert skeleton.text == "reading a.txt"
    assert skeleton.words(0, 7) == "raed"
    assert skeleton.words(8, 13) == "a.txt"
