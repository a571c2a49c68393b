"""The bytes of an open file: by chunks, or whole up to a limit."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from finchbot.errors import ToolInputInvalid
from finchbot.tools.files.encoding import SAMPLE_BYTES, Encoding, detect
from finchbot.tools.files.offload import StopSign
from finchbot.tools.files.opening import Spot, check_regular, opened

CHUNK_BYTES = 256 * 1024
WHOLE_BYTES = 8 * 1024 * 1024
"""The largest file that is edited or compared."""


@dataclass(frozen=True, slots=True)
class Content:
    """A text file, whole."""

    raw: bytes
    encoding: Encoding
    text: str
    """Without byte-order mark; line breaks as they are stored."""
    mode: int

    def encoded(self, text: str) -> bytes:
        """Return another text in the same encoding, mark included.

        Raises:
            UnicodeEncodeError: A character does not exist there.
        """
        return self.encoding.mark + text.encode(self.encoding.codec)


def chunks(descriptor: int, sign: StopSign) -> Iterator[bytes]:
    """Yield the bytes from here to the end."""
    while chunk := os.read(descriptor, CHUNK_BYTES):
        sign.check()
        yield chunk


def read_content(spot: Spot, sign: StopSign) -> Content:
    """Read a whole text file.

    Raises:
        ToolInputInvalid: It is no plain file, too large, binary, or not what it seems.
        ToolNotFound: Nothing is there.
    """
    if spot.status is not None:
        check_regular(spot, spot.status)
    with opened(spot) as descriptor:
        status = os.fstat(descriptor)
        check_regular(spot, status)
        raw = _whole(spot, descriptor, sign)
    encoding = detect(raw[:SAMPLE_BYTES], whole=len(raw) <= SAMPLE_BYTES)
    if encoding is None:
        raise ToolInputInvalid("tool.is_binary", path=spot.shown, size_bytes=len(raw))
    try:
        text = raw[len(encoding.mark) :].decode(encoding.codec)
    except UnicodeDecodeError as error:
        raise ToolInputInvalid(
            "tool.not_decodable", path=spot.shown, encoding=encoding.label
        ) from error
    return Content(raw, encoding, text, stat.S_IMODE(status.st_mode))


def _whole(spot: Spot, descriptor: int, sign: StopSign) -> bytes:
    raw = bytearray()
    for chunk in chunks(descriptor, sign):
        raw += chunk
        if len(raw) > WHOLE_BYTES:
            raise ToolInputInvalid("tool.file_too_large", path=spot.shown, limit_bytes=WHOLE_BYTES)
    return bytes(raw)
