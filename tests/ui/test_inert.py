"""Text made harmless: nothing in it is obeyed, nothing of it is lost."""

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finchbot.ui import inert

TEXT = st.text(
    st.sampled_from("<>!`*_#[]()~|\\&-+.:/ \n\tab中é\u00a0") | st.characters(codec="utf-8")
)
PROSE = TEXT.map(lambda text: re.sub("[`~]", "", text))
LIVE_TAG = re.compile(r"<(?!https?://[^\s<>]+>|br ?/?>)")


@given(TEXT)
def test_literal_text_has_nothing_to_obey_and_reads_as_it_was(text: str) -> None:
    shown = inert.literal(text)
    assert not re.search(r"[<>*_`~#\[\]|!\\]", re.sub(r"&#\d+;", "", shown))
    assert html.unescape(shown).split() == text.split()


@given(PROSE)
def test_prose_of_a_model_never_holds_a_tag_or_an_image(text: str) -> None:
    shown = inert.markdown(text)
    assert not LIVE_TAG.search(shown)
    assert "![" not in shown


@given(PROSE.filter(lambda text: "![" not in text))
def test_a_model_s_words_are_all_kept(text: str) -> None:
    assert inert.markdown(text).replace("&lt;", "<") == text.replace("&lt;", "<")


@given(TEXT)
def test_a_block_stays_one_line_without_a_tag(text: str) -> None:
    shown = inert.block(text)
    assert not re.search("[<>\n\r]", shown)
    assert html.unescape(shown) == re.sub("\r\n|\r", "\n", text)


@given(TEXT)
def test_an_attribute_cannot_be_left(text: str) -> None:
    assert not re.search("[<>\"'\n\r]", inert.attribute(text))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("`<b>` and <b>", "`<b>` and &lt;b>"),
        ("``a ` <b>`` <i>", "``a ` <b>`` &lt;i>"),
        ("\\`<b>\\`", "\\`&lt;b>\\`"),
        ("`open <b>", "`open &lt;b>"),
        ("`not\n\none` <b>", "`not\n\none` &lt;b>"),
        ("```html\n<b>\n```\n<b>", "```html\n<b>\n```\n&lt;b>"),
        ("~~~\n<b>\n~~~`\n<b>", "~~~\n<b>\n~~~`\n&lt;b>"),
        ("```\n<b> unclosed", "```\n<b> unclosed"),
        ("    ```\n<b>\n\n<b>", "    ```\n&lt;b>\n\n&lt;b>"),
        ("``` `\n<b>", "``` `\n&lt;b>"),
        ("<https://a.example> <br> <br/>", "<https://a.example> <br> <br/>"),
        ("![a](http://x) ![](http://x)", "[a](http://x) […](http://x)"),
        ("a < b", "a &lt; b"),
    ],
)
def test_code_stays_code_and_the_rest_is_shown(text: str, shown: str) -> None:
    assert inert.markdown(text) == shown


def test_a_users_code_block_stays_code_and_spaces_stay() -> None:
    assert inert.spoken("see\n```\n<b> *x*\n```") == "see\n```\n<b> *x*\n```"
    assert inert.spoken("  *x*") == "\u00a0\u00a0&#42;x&#42;"
