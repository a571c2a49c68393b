"""The user's file: read with the place of every fault, written whole or not at all."""

import contextlib
import hashlib
import json
import math
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from finchbot.errors import ConfigError

LIMIT_BYTES = 2_000_000
"""A larger file is no configuration; reading it would only make the start slow."""
LIMIT_LEVELS = 50
"""Neither is one nested deeper."""

Stamp = tuple[int, int, int] | None
"""Time, size and inode of a file; None when there is none. Equal stamps mean equal bytes."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with the file, and where."""

    detail: str
    """English, for the log; no value from the file."""
    line: int = 1
    column: int = 1


@dataclass(frozen=True, slots=True)
class Document:
    """The file as it was read once."""

    data: dict[str, Any] = field(default_factory=dict)
    """Empty when there is no file or a fault."""
    text: str = ""
    revision: str = "none"
    """Changes with every byte of the file."""
    stamp: Stamp = None
    fault: Fault | None = None


def stamp_of(path: Path) -> Stamp:
    """Return what tells cheaply whether the file has changed."""
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_size, status.st_ino)


def read_document(path: Path) -> Document:
    """Read the file; never raises, a fault is part of the answer."""
    stamp = stamp_of(path)
    try:
        with path.open("rb") as file:
            raw = file.read(LIMIT_BYTES + 1)
    except FileNotFoundError:
        return Document()
    except OSError as error:
        detail = f"the file cannot be read: {error.strerror}"
        return Document(revision="unreadable", stamp=stamp, fault=Fault(detail))
    revision = hashlib.sha256(raw).hexdigest()[:16]
    if len(raw) > LIMIT_BYTES:
        fault = Fault(f"the file is larger than {LIMIT_BYTES} bytes")
        return Document(revision=revision, stamp=stamp, fault=fault)
    parsed, text = _parse(raw)
    if isinstance(parsed, Fault):
        return Document(text=text, revision=revision, stamp=stamp, fault=parsed)
    return Document(parsed, text, revision, stamp)


def write_document(path: Path, data: dict[str, Any]) -> None:
    """Put the settings in the place of the file, in one step, readable by the owner alone.

    A link stays a link: the file it points to is the one replaced. The caller sees to it that
    nobody else is saving.

    Raises:
        ConfigError: ``config.not_saved`` (``file``, ``reason``); the old file is untouched.
    """
    target = Path(os.path.realpath(path))
    try:
        with _fresh_beside(target) as (descriptor, name):
            with os.fdopen(descriptor, "wb") as file:
                file.write(_encoded(data))
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, target)
        _sync_folder(target.parent)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ConfigError("config.not_saved", file=str(path), reason=reason) from error


def place_of(text: str, path: Sequence[str]) -> tuple[int, int]:
    """Return line and column, from 1, of the value under these keys in JSON text.

    Of a key that stands twice the last counts, as it does for the parser. Where a key is not
    found, the value around it is meant.
    """
    start = _skip_blanks(text, 0)
    for key in path:
        inside = dict(_members(text, start)) if text[start : start + 1] == "{" else {}
        if key not in inside:
            break
        start = inside[key]
    return _line_and_column(text, start)


def _parse(raw: bytes) -> tuple[dict[str, Any] | Fault, str]:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode("utf-8", "replace")
        return Fault("the file is not UTF-8", *_line_and_column(before, len(before))), ""
    try:
        data = json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except json.JSONDecodeError as error:
        return Fault(error.msg, error.lineno, error.colno), text
    except (ValueError, RecursionError) as error:
        return Fault(str(error)), text
    if not isinstance(data, dict):
        line, column = place_of(text, ())
        return Fault("the file should hold one object in braces", line, column), text
    if _is_deeper(data, LIMIT_LEVELS):
        return Fault(f"the file is nested deeper than {LIMIT_LEVELS} levels"), text
    return data, text


def _is_deeper(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    inside = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deeper(below, levels - 1) for below in inside)


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON value")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError("a number is too large")
    return number


def _encoded(data: dict[str, Any]) -> bytes:
    try:
        return (json.dumps(data, ensure_ascii=False, indent=2) + "\n").encode()
    except UnicodeEncodeError:
        # Half a surrogate pair, written as an escape in the file, has no UTF-8 form.
        return (json.dumps(data, indent=2) + "\n").encode()


@contextlib.contextmanager
def _fresh_beside(target: Path) -> Iterator[tuple[int, str]]:
    """Give a new file of mode 0600 in the same folder; remove it if it was not moved away."""
    for left in target.parent.glob(f".{target.name}.*.tmp"):
        # A saver was killed; whoever calls holds the lock, so nobody is writing it any more.
        left.unlink(missing_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    try:
        yield descriptor, name
    finally:
        Path(name).unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a power cut, where folders can be synced at all."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _members(text: str, start: int) -> Iterator[tuple[str, int]]:
    """Yield each key of the object at `start` with the place of its value; the text parses."""
    decoder = json.JSONDecoder()
    at = _skip_blanks(text, start + 1)
    while text[at] == '"':
        key, at = decoder.raw_decode(text, at)
        at = _skip_blanks(text, _skip_blanks(text, at) + 1)
        yield key, at
        _, at = decoder.raw_decode(text, at)
        at = _skip_blanks(text, at)
        if text[at] == ",":
            at = _skip_blanks(text, at + 1)


def _skip_blanks(text: str, at: int) -> int:
    blanks = re.compile(r"[ \t\n\r]*").match(text, at)
    return blanks.end() if blanks else at


def _line_and_column(text: str, at: int) -> tuple[int, int]:
    before = text[:at]
    return before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1
