"""Text that UTF-8 can hold, whatever a server sent (pure)."""

import re
from typing import Any

FIRST_HALF = re.compile(r"[\ud800-\udbff]\Z")


def sound(text: str) -> str:
    """Return the text with split characters joined and lone halves replaced by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def sound_value(value: Any) -> Any:
    """Return a JSON value with every text in it sound."""
    match value:
        case str():
            return sound(value)
        case dict():
            return {sound_value(key): sound_value(item) for key, item in value.items()}
        case list():
            return [sound_value(item) for item in value]
        case _:
            return value


class CharacterJoiner:
    """Joins the halves of a character that a server split over two chunks."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, chunk: str) -> str:
        """Return the chunk's whole characters; a first half at its end waits for the next."""
        if chunk.isascii() and not self._half:
            return chunk
        text = self._half + chunk
        half = FIRST_HALF.search(text)
        self._half = half[0] if half else ""
        return sound(text[: half.start()] if half else text)

    def finish(self) -> str:
        """Return what is left: a replacement for a half that stayed alone."""
        half, self._half = self._half, ""
        return sound(half)
