import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from finchbot.cli.plain import plain, plain_json, plain_line

ANY = st.text(st.characters()) | st.text(st.sampled_from("a\x1b[]0;\x07\x9b\r\n\t\u202e\x7f"))


def is_order(char: str) -> bool:
    controls = unicodedata.category(char) == "Cc" and char not in "\t\n"
    return controls or char in "\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@given(text=ANY)
def test_no_order_reaches_the_terminal(text: str) -> None:
    assert not any(map(is_order, plain(text)))
    plain(text).encode()


@given(text=st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp", "Cf"])))
def test_words_come_through_as_they_are(text: str) -> None:
    assert plain(text) == text
    assert plain(plain(text)) == text


def test_an_escape_is_shown_as_a_sign() -> None:
    assert plain("\x1b]0;owned\x07 \x1b[2J\r\nok\x9b1m") == "␛]0;owned␇ ␛[2J\nok\ufffd1m"


def test_joined_emoji_stay_joined() -> None:
    assert plain("👩\u200d🔬") == "👩\u200d🔬"


@given(text=ANY, width=st.integers(1, 30))
def test_a_line_is_one_line_of_its_width(text: str, width: int) -> None:
    line = plain_line(text, width)
    assert len(line) <= width
    assert "\n" not in line


@given(value=st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), ANY))
def test_json_says_the_same_without_orders(value: dict[str, str]) -> None:
    text = plain_json(json.dumps(value, ensure_ascii=False))
    assert not any(map(is_order, text))
    assert json.loads(text) == value
