"""A window of numbered lines, cut out of text that arrives in pieces; pure."""

from dataclasses import dataclass

WINDOW_BYTES = 64 * 1024
"""The most a window shows, in UTF-8."""
LINE_CHARS = 8000
"""The most it shows of one line."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line, without its break."""

    number: int
    """From 1."""
    text: str
    hidden: int = 0
    """Characters that were left out at its end."""


class Window:
    """Keeps the lines from `first` on, until it is full; the rest is counted or not looked at.

    Args:
        first: Number of the first line wanted, from 1.
        limit: How many lines at most; None for as many as fit.
    """

    def __init__(self, first: int, limit: int | None) -> None:
        self.lines: list[Line] = []
        self.more = False
        """Whether something comes after the last line kept."""
        self.crlf = False
        """Whether a line kept ended with CR LF."""
        self.number = 1
        """Of the line that is being read."""
        self._first = first
        self._limit = limit
        self._size_bytes = 0
        self._text = ""
        self._hidden = 0
        self._open = False

    def feed(self, text: str) -> bool:
        """Take the next piece; return whether another is wanted."""
        start = self._skip(text)
        while start < len(text):
            if self._full:
                self.more = True
                return False
            end = text.find("\n", start)
            self._grow(text, start, len(text) if end < 0 else end)
            if end < 0:
                break
            if not self._close():
                return False
            start = end + 1
        return True

    def end(self) -> None:
        """Say that nothing comes after what was fed: a last line without a break counts."""
        if self._open and not self.more:
            if self.number >= self._first:
                self._close()
            else:
                self.number += 1

    @property
    def _full(self) -> bool:
        return self._limit is not None and len(self.lines) >= self._limit

    def _skip(self, text: str) -> int:
        """Count the lines before the first one wanted; return where the wanted text begins."""
        start = 0
        wanted = self._first - self.number
        if wanted > text.count("\n"):
            self.number += text.count("\n")
            self._open = not text.endswith("\n") if text else self._open
            return len(text)
        for _ in range(wanted):
            start = text.index("\n", start) + 1
            self.number += 1
            self._open = False
        return start

    def _grow(self, text: str, start: int, end: int) -> None:
        room = LINE_CHARS - len(self._text)
        self._text += text[start : min(end, start + room)]
        self._hidden += max(0, end - start - room)
        self._open = True

    def _close(self) -> bool:
        """Keep the line; False when it does not fit any more."""
        self.crlf = self.crlf or self._text.endswith("\r")
        line = Line(self.number, self._text.removesuffix("\r"), self._hidden)
        self._size_bytes += len(line.text.encode(errors="replace")) + 8
        if self.lines and self._size_bytes > WINDOW_BYTES:
            self.more = True
            return False
        self.lines.append(line)
        self.number += 1
        self._text, self._hidden, self._open = "", 0, False
        return True
