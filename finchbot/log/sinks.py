"""Where log records end: a file of the owner's alone, and the terminal."""

import copy
import logging
import os
import sys
from io import TextIOWrapper
from logging.handlers import QueueHandler, RotatingFileHandler
from pathlib import Path
from queue import SimpleQueue
from typing import TextIO

from finchbot.log.redaction import Redactor

FILE_BYTES = 5_000_000
FILES_KEPT = 4

Records = SimpleQueue[logging.LogRecord | None]
"""Records on their way to the writing thread; None ends it."""


class Floor(logging.Filter):
    """Drops what a logger, or one below it, says below a level, whatever its own level is."""

    def __init__(self, name: str, level: int) -> None:
        super().__init__(name)
        self._level = level

    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno >= self._level or not super().filter(record)


class Whole(logging.Formatter):
    """The whole record with its traceback, secrets hidden in the finished text."""

    default_msec_format = "%s.%03d"

    def __init__(self, redactor: Redactor) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        return self._redactor.redact(super().format(record))


class Short(logging.Formatter):
    """One line for a person at a terminal; the traceback is in the file."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        line = f"{record.levelname.lower()}: {record.getMessage()}"
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            line += f" ({type(error).__name__}: {error})"
        return " ".join(self._redactor.redact(line).split())


class OwnerFileHandler(RotatingFileHandler):
    """A rotating file that nobody but its owner can read, from its first byte on."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=FILE_BYTES, backupCount=FILES_KEPT, encoding="utf-8")

    def _open(self) -> TextIOWrapper:
        return open(
            self.baseFilename, "a", encoding="utf-8", errors="backslashreplace", opener=_private
        )

    def handleError(self, record: logging.LogRecord) -> None:
        say_lost(record)


class TerminalHandler(logging.StreamHandler[TextIO]):
    """Standard error."""

    def handleError(self, record: logging.LogRecord) -> None:
        say_lost(record)


class HandOver(QueueHandler):
    """Passes records to the writing thread, so that logging never blocks the event loop."""

    def __init__(self, queue: Records) -> None:
        super().__init__(queue)

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        """Fix the message now, as its arguments may change; the traceback is written later."""
        record = copy.copy(record)
        record.msg, record.args = record.getMessage(), None
        return record

    def handleError(self, record: logging.LogRecord) -> None:
        say_lost(record)


def _private(path: str, flags: int) -> int:
    descriptor = os.open(path, flags, 0o600)
    os.chmod(path, 0o600)
    return descriptor


def say_lost(record: logging.LogRecord) -> None:
    """Say that a line is lost, without its arguments: logging itself would print them bare."""
    print(f"a log line of {record.name} (line {record.lineno}) is lost", file=sys.stderr)  # noqa: T201
