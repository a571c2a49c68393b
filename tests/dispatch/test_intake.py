import pytest
from hypothesis import given
from hypothesis import strategies as st

from finchbot.dispatch.intake import Limits, checked_text, is_stop, user_message
from finchbot.errors import InputInvalid, TooLarge
from finchbot.ids import OWNER, MessageId, RunId, UploadId
from finchbot.messages import AttachmentPart, InboundMessage, TextPart
from tests.support.clock import START

LIMITS = Limits(text_bytes=12)
FILE = AttachmentPart(upload_id=UploadId("up_1"), name="a.png", media_type="image/png", size=3)


def inbound(text: str, *files: AttachmentPart) -> InboundMessage:
    return InboundMessage(user_id=OWNER, text=text, attachments=files)


@pytest.mark.parametrize("text", ["", " \n\t", "\u3000", "\u200b\u200d", "\x00\x1b", "\u2028"])
def test_a_message_of_which_nothing_can_be_seen_is_empty(text: str) -> None:
    with pytest.raises(InputInvalid) as caught:
        checked_text(inbound(text), LIMITS)
    assert caught.value.code == "message.empty"
    assert checked_text(inbound(text, FILE), LIMITS) == text


@pytest.mark.parametrize(("text", "fits"), [("x" * 12, True), ("x" * 13, False), ("好" * 5, False)])
def test_the_limit_counts_bytes_of_utf8(text: str, fits: bool) -> None:
    if fits:
        assert checked_text(inbound(text), LIMITS) == text
    else:
        with pytest.raises(TooLarge) as caught:
            checked_text(inbound(text), LIMITS)
        assert (caught.value.code, caught.value.params) == ("message.too_large", {"limit": 12})


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=4))
def test_a_text_that_passes_is_kept_as_it_came_but_for_lone_surrogates(text: str) -> None:
    try:
        kept = checked_text(inbound(text), Limits())
    except InputInvalid:
        return
    assert len(kept) == len(text)
    assert all(
        a == b or (b == "\ufffd" and a in _SURROGATES) for a, b in zip(text, kept, strict=True)
    )


_SURROGATES = {chr(code) for code in range(0xD800, 0xE000)}


def test_text_comes_before_what_is_attached() -> None:
    made = user_message(inbound("look", FILE), "look", MessageId("m"), RunId("r"), START)
    assert made.parts == (TextPart(text="look"), FILE)
    without = user_message(inbound("", FILE), "", MessageId("m"), RunId("r"), START)
    assert without.parts == (FILE,)


@pytest.mark.parametrize(
    ("text", "stops"),
    [
        ("/stop", True),
        (" /STOP\n", True),
        ("／ｓｔｏｐ", True),
        ("/stop now", False),
        ("stop", False),
    ],
)
def test_only_the_word_alone_stops(text: str, stops: bool) -> None:
    assert is_stop(text, frozenset({"/stop"})) is stops
