from hypothesis import given
from hypothesis import strategies as st

from finchbot.agent.characters import CharacterJoiner, sound, sound_value

units = st.text(st.one_of(st.characters(), st.characters(categories=["Cs"])))


@given(units)
def test_whatever_comes_in_utf8_can_hold_what_comes_out(text: str) -> None:
    assert sound(sound(text)) == sound(text)
    sound(text).encode()


@given(st.text())
def test_sound_text_stays_as_it_is(text: str) -> None:
    assert sound(text) == text


def test_the_halves_of_a_character_in_two_chunks_become_one() -> None:
    joiner = CharacterJoiner()
    assert joiner.feed("a\ud83d") == "a"
    assert joiner.feed("\ude00\n") == "😀\n"
    assert joiner.feed("\ud83d") == ""
    assert joiner.finish() == "\ufffd"


def test_texts_deep_in_a_value_become_sound() -> None:
    assert sound_value({"a\ud800": ["\udc00", 1, None]}) == {"a\ufffd": ["\ufffd", 1, None]}
