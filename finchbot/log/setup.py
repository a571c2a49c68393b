"""Sets logging up once per program, and takes it down again."""

import atexit
import contextlib
import logging
import sys
from collections.abc import Callable, Iterable
from logging.handlers import QueueListener
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import Protocol, Self

from finchbot.log.redaction import Redactor
from finchbot.log.sinks import (
    Floor,
    HandOver,
    OwnerFileHandler,
    Records,
    Short,
    TerminalHandler,
    Whole,
)

_OWN_HANDLERS = (
    "uvicorn",
    "uvicorn.access",
    "uvicorn.error",
    "websockets",
    "httpx",
    "openai",
    "gradio",
    "streamlit",
)
"""Loggers whose libraries may have given them handlers that know no secrets."""

_CHATTY = (
    "asyncio",
    "httpcore",
    "httpcore2",
    "httpx",
    "httpx2",
    "openai",
    "urllib3",
    "uvicorn.access",
    "watchfiles",
)
"""Below a warning these tell of every request; only someone who debugs wants that."""

_NEVER_BELOW_INFO = ("aiosqlite", "markdown_it")
"""Their debug lines repeat every statement and token."""


class LogHome(Protocol):
    """What logging needs to know of a home."""

    @property
    def logs(self) -> Path:
        """The folder of the log files; it exists."""


class Logs(contextlib.AbstractContextManager["Logs"]):
    """Logging while it is set up; leaving it, or `close`, puts everything back."""

    def __init__(self, file: Path, redactor: Redactor, level: int, terminal_level: int) -> None:
        self.file = file
        """The file being written."""
        self.redactor = redactor
        """The same filter, for other text that leaves."""
        queue: Records = SimpleQueue()
        self._handler = HandOver(queue)
        self._listener = QueueListener(
            queue, *_sinks(file, redactor, terminal_level), respect_handler_level=True
        )
        self._before = {name: logging.getLogger(name).level for name in ("", *_quieted(level))}
        # Libraries raise levels when they load, by variables of their own; so levels are not all.
        self._handler.setLevel(level)
        self._floors = [Floor(name, floor) for name, floor in _quieted(level).items()]
        for floor in self._floors:
            self._handler.addFilter(floor)
            logging.getLogger(floor.name).addFilter(floor)
        self._listener.start()
        self._open = True
        # A program that ends without closing still writes its last lines.
        atexit.register(self.close)
        root = logging.getLogger()
        root.addHandler(self._handler)
        root.setLevel(level)
        claim_loggers()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Write what is still on its way, close the file, restore the levels."""
        if not self._open:
            return
        self._open = False
        atexit.unregister(self.close)
        logging.getLogger().removeHandler(self._handler)
        self._listener.stop()
        for sink in self._listener.handlers:
            sink.close()
        self._handler.close()
        for floor in self._floors:
            logging.getLogger(floor.name).removeFilter(floor)
        for name, level in self._before.items():
            logging.getLogger(name).setLevel(level)


def setup_logging(
    home: LogHome,
    level: str = "INFO",
    secrets: Callable[[], Iterable[str]] = tuple,
    *,
    terminal_level: str = "WARNING",
) -> Logs:
    """Write all logging to ``<home>/logs/finchbot.log``, short warnings to the terminal as well.

    Whoever starts uvicorn passes it ``log_config=None``, so that its loggers stay with ours.

    Args:
        home: Its ``logs`` folder holds the file (mode 0600) and the older ones.
        level: ``DEBUG``, ``INFO``, ``WARNING`` or ``ERROR``, for the file.
        secrets: Returns what must never be written, asked for at every line.
        terminal_level: The same for standard error.

    Returns:
        To be closed when the program ends.
    """
    file = home.logs / "finchbot.log"
    levels = logging.getLevelNamesMapping()
    return Logs(file, Redactor(secrets), levels[level], levels[terminal_level])


def claim_loggers() -> None:
    """Lead the loggers of libraries through the one filter, and quieten those that tell too much.

    Call it again after a library was loaded that gives loggers handlers or levels of its own.
    """
    for name in _OWN_HANDLERS:
        _through_root(logging.getLogger(name))
    for name, floor in _quieted(logging.getLogger().level).items():
        logging.getLogger(name).setLevel(floor)


def _sinks(file: Path, redactor: Redactor, terminal_level: int) -> tuple[logging.Handler, ...]:
    whole = OwnerFileHandler(file)
    whole.setFormatter(Whole(redactor))
    terminal = TerminalHandler(sys.stderr)
    terminal.setFormatter(Short(redactor))
    terminal.setLevel(terminal_level)
    return whole, terminal


def _quieted(level: int) -> dict[str, int]:
    chatty = dict.fromkeys(_CHATTY, logging.WARNING) if level > logging.DEBUG else {}
    return chatty | dict.fromkeys(_NEVER_BELOW_INFO, logging.INFO)


def _through_root(logger: logging.Logger) -> None:
    """Let the logger's records go through the root's filter alone."""
    for handler in tuple(logger.handlers):
        logger.removeHandler(handler)
    logger.propagate = True
