import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finchbot.tools.files.encoding import detect

SIMPLIFIED = "今天讨论了部署方案，我的邮箱是一个测试。喜欢吃苹果和香蕉。\n"
TRADITIONAL = "今天討論了部署方案，我的郵箱是一個測試。喜歡吃蘋果和香蕉。\n"


@pytest.mark.parametrize(
    ("text", "stored", "label"),
    [
        ("", "utf-8", "UTF-8"),
        ("plain\n", "ascii", "UTF-8"),
        (SIMPLIFIED, "utf-8", "UTF-8"),
        (SIMPLIFIED, "utf-8-sig", "UTF-8 with BOM"),
        (SIMPLIFIED, "utf-16", "UTF-16-LE with BOM"),
        (SIMPLIFIED, "utf-32", "UTF-32-LE with BOM"),
        ("plain\r\n", "utf-16-le", "UTF-16-LE"),
        ("plain\r\n", "utf-16-be", "UTF-16-BE"),
        (SIMPLIFIED, "gbk", "GB18030"),
        (SIMPLIFIED, "gb18030", "GB18030"),
        (TRADITIONAL, "gb18030", "GB18030"),
        ("重跑gen-itgc后50条", "gbk", "GB18030"),
        (TRADITIONAL, "big5", "BIG5HKSCS"),
        ("café au lait, Müller, déjà été\n", "latin-1", "CP1252"),
        ("“smart” – quotes\n", "cp1252", "CP1252"),
    ],
)
def test_the_encoding_of_a_text_is_told(text: str, stored: str, label: str) -> None:
    encoding = detect(text.encode(stored), whole=True)
    assert encoding is not None
    assert encoding.label == label
    raw = text.encode(stored)
    assert raw[len(encoding.mark) :].decode(encoding.codec) == text
    assert encoding.mark + text.encode(encoding.codec) == raw


@given(text=st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_any_text_in_utf8_is_utf8(text: str) -> None:
    encoding = detect(text.encode(), whole=True)
    assert encoding is not None
    if not text.startswith("\ufeff"):
        assert encoding.codec == "utf-8"


@given(cut=st.integers(20, 200), stored=st.sampled_from(["utf-8", "gb18030"]))
def test_a_sample_may_end_inside_a_character(cut: int, stored: str) -> None:
    sample = (SIMPLIFIED * 10).encode(stored)[:cut]
    encoding = detect(sample, whole=False)
    assert encoding is not None
    assert encoding.codec in (stored, "utf-8")


@pytest.mark.parametrize(
    "raw",
    [b"\0" * 100, b"\x7fELF\x02\x01\x01\0\0\0", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"text\0more",
     bytes(range(256)), b"\x01\x02\x03"],
)  # fmt: skip
def test_binary_data_is_no_text(raw: bytes) -> None:
    assert detect(raw, whole=True) is None


def test_noise_is_no_text() -> None:
    assert detect(os.urandom(4096), whole=False) is None
