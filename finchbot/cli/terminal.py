"""The terminal: the answer goes to standard output, all else to standard error."""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from io import TextIOWrapper
from typing import Literal, TextIO

from finchbot.cli.plain import plain, plain_json
from finchbot.errors import FinchError

_FAINT, _RED, _USUAL = "\x1b[2m", "\x1b[31m", "\x1b[0m"


@dataclass(frozen=True, slots=True)
class Piece:
    """Some text and where it belongs: the answer, or beside it."""

    kind: Literal["answer", "note", "error"]
    text: str


@dataclass(frozen=True, slots=True)
class Terminal:
    """Where words come from and go to."""

    keys: TextIO
    out: TextIO
    err: TextIO
    colour: bool

    @classmethod
    def of_process(cls, environ: Mapping[str, str]) -> "Terminal":
        """Return the process's own; a character it cannot show becomes a question mark."""
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="replace")
        colour = sys.stderr.isatty() and not environ.get("NO_COLOR")
        return cls(sys.stdin, sys.stdout, sys.stderr, colour and environ.get("TERM") != "dumb")

    @property
    def interactive(self) -> bool:
        """Whether a person sits at both ends."""
        return self.keys.isatty() and self.out.isatty()

    @property
    def streaming(self) -> bool:
        """Whether somebody watches the answer grow; else it is written message by message."""
        return self.out.isatty()

    def answer(self, text: str) -> None:
        """Write to standard output at once; `text` is plain already."""
        self.out.write(text)
        self.out.flush()

    def note(self, text: str) -> None:
        """Write something beside the answer, faintly."""
        self._aside(text, _FAINT)

    def error(self, text: str) -> None:
        """Write what went wrong."""
        self._aside(text, _RED)

    def write(self, piece: Piece) -> None:
        """Write a piece where it belongs."""
        writers = {"answer": self.answer, "note": self.note, "error": self.error}
        writers[piece.kind](piece.text)

    def fault(self, error: FinchError, sentence: str, *, as_json: bool) -> None:
        """Say an error as a sentence; for programs that read JSON, as an object too."""
        if as_json:
            told = {
                "type": "error",
                "code": error.code,
                "detail": sentence,
                "params": dict(error.params),
            }
            self.answer(f"{plain_json(json.dumps(told, ensure_ascii=False))}\n")
        self.error(f"{plain(sentence)}\n")

    def hang_up(self) -> None:
        """Give up standard output whose reader has gone, so that leaving makes no noise."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.out.fileno())

    def _aside(self, text: str, colour: str) -> None:
        self.err.write(f"{colour}{text}{_USUAL}" if self.colour else text)
        self.err.flush()
