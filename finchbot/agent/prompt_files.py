"""The Markdown files of the prompt: defaults beside the program, the user's own in the home."""

import logging
from dataclasses import dataclass
from pathlib import Path

from finchbot.agent.context import OVERRIDES

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Cached:
    stamp: tuple[int, int]
    text: str


class PromptFiles:
    """Reads the files; a file of the same name in the home wins, an edit is seen at once.

    Blocking and safe from several threads: call it through ``asyncio.to_thread``.

    Args:
        defaults: The folder ``bootstrap/``.
        home: The user's folder.
    """

    def __init__(self, defaults: Path, home: Path) -> None:
        self._folders = (home, defaults)
        self._cache: dict[Path, _Cached] = {}

    def read(self) -> dict[str, str]:
        """Return the texts by file name; a file that is nowhere is left out."""
        texts = ((name, self._first(name)) for name in OVERRIDES)
        return {name: text for name, text in texts if text is not None}

    def _first(self, name: str) -> str | None:
        for folder in self._folders:
            text = self._text(folder / name)
            if text is not None:
                return text
        return None

    def _text(self, path: Path) -> str | None:
        """Return a file's text, from memory while its time and size stay the same."""
        try:
            status = path.stat()
            stamp = (status.st_mtime_ns, status.st_size)
            cached = self._cache.get(path)
            if cached is None or cached.stamp != stamp:
                text = path.read_text(encoding="utf-8-sig", errors="replace")
                cached = self._cache[path] = _Cached(stamp, text)
        except FileNotFoundError:
            return None
        except OSError as error:
            log.warning("prompt file %s cannot be read: %s", path, error.strerror)
            return None
        return cached.text
