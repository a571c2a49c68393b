"""Which encoding a file is written in, told from its first bytes; pure."""

import codecs
from dataclasses import dataclass

SAMPLE_BYTES = 64 * 1024
"""How much of a file `detect` wants to see."""

# UTF-32's little-endian mark begins with UTF-16's, so it comes first.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Characters in daily use: most of what a real text in that encoding is made of.
_COMMON = {"gb18030": "gb2312", "big5hkscs": "big5"}
_ALLOWED_CONTROLS = frozenset("\t\n\r\f\b\x1b")


@dataclass(frozen=True, slots=True)
class Encoding:
    """How text is stored."""

    codec: str
    """A name Python knows, without byte-order mark."""
    mark: bytes = b""
    """The byte-order mark the file starts with."""

    @property
    def label(self) -> str:
        """The name for people, such as ``UTF-8 with BOM``."""
        return f"{self.codec.upper()} with BOM" if self.mark else self.codec.upper()


def detect(sample: bytes, *, whole: bool) -> Encoding | None:
    """Return the encoding of a text, or None for binary data.

    Args:
        sample: The first bytes of a file, up to `SAMPLE_BYTES`.
        whole: Whether they are all of it; if not, the last character may be cut.
    """
    for mark, codec in _MARKS:
        if sample.startswith(mark):
            return Encoding(codec, mark)
    if b"\0" in sample:
        return _without_mark(sample, whole)
    if _plain(sample, "utf-8", whole) is not None:
        return Encoding("utf-8")
    found = max(_COMMON, key=lambda codec: _likeness(sample, codec, whole))
    if _likeness(sample, found, whole) > 0.5:
        return Encoding(found)
    return Encoding("cp1252") if _plain(sample, "cp1252", whole) is not None else None


def _without_mark(sample: bytes, whole: bool) -> Encoding | None:
    """Tell UTF-16 by its zeros: Latin text has one in every second byte, on one side only."""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    codec = "utf-16-le" if odd > even else "utf-16-be"
    one_sided = min(even, odd) == 0 and max(even, odd) * 5 > len(sample) // 2
    if one_sided and _plain(sample, codec, whole) is not None:
        return Encoding(codec)
    return None


def _plain(sample: bytes, codec: str, whole: bool) -> str | None:
    """Decode strictly; None when it is no text in that encoding."""
    try:
        text = codecs.getincrementaldecoder(codec)("strict").decode(sample, final=whole)
    except UnicodeDecodeError:
        return None
    controls = sum(char < " " and char not in _ALLOWED_CONTROLS for char in text)
    return None if controls else text


def _likeness(sample: bytes, codec: str, whole: bool) -> float:
    """Return the share of the foreign characters that are in daily use, 0.0–1.0."""
    text = _plain(sample, codec, whole)
    foreign = [char for char in text or "" if char > "\x7f"]
    if not foreign:
        return 0.0
    return sum(_is_common(char, _COMMON[codec]) for char in foreign) / len(foreign)


def _is_common(char: str, codec: str) -> bool:
    try:
        encoded = char.encode(codec)
    except UnicodeEncodeError:
        return False
    # Big5 keeps its daily characters below lead byte 0xC7, GB 2312 its below 0xD8.
    return encoded[0] < (0xC7 if codec == "big5" else 0xD8)
