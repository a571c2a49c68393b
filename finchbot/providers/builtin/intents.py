"""What a message may ask of the `builtin` model, as kinds and slots."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType


class Kind(StrEnum):
    """What is asked for; the value is part of locale keys and of the test sets."""

    HELP = "help"
    LIST_FILES = "list_files"
    READ_FILE = "read_file"
    WRITE_FILE = "write_file"
    RENAME_CHAT = "rename_chat"
    REMEMBER = "remember"
    RECALL = "recall"
    FORGET = "forget"
    WEB_SEARCH = "web_search"
    READ_PAGE = "read_page"
    RUN_COMMAND = "run_command"
    MAKE_SKILL = "make_skill"
    GREET = "greet"
    THANKS = "thanks"
    OKAY = "okay"
    WHO = "who"
    NOW = "now"
    UNKNOWN = "unknown"


REQUIRED: Mapping[Kind, tuple[str, ...]] = MappingProxyType(
    {
        Kind.READ_FILE: ("path",),
        Kind.WRITE_FILE: ("path", "content"),
        Kind.RENAME_CHAT: ("title",),
        Kind.REMEMBER: ("text",),
        Kind.RECALL: ("query",),
        Kind.FORGET: ("pattern",),
        Kind.WEB_SEARCH: ("query",),
        Kind.READ_PAGE: ("url",),
        Kind.RUN_COMMAND: ("command",),
        Kind.MAKE_SKILL: ("description",),
    }
)
"""The slots without which there is nothing to do but ask. `LIST_FILES` may carry ``path``."""

TASKS = frozenset({Kind.LIST_FILES, *REQUIRED})
"""The kinds that need a tool."""


@dataclass(frozen=True, slots=True)
class Intent:
    """One request, understood."""

    kind: Kind
    language: str
    """``en-US``, ``zh-CN``, ``zh-HK``; ``zh`` when it may be either, empty when none shows."""
    slots: Mapping[str, str] = field(default_factory=dict)
    """The words as the user wrote them, quotes and fences taken off."""
    confidence: float = 0.0
    """1.0 said plainly · 0.7 after mending a misspelling · 0.5 by its cues · 0.0 not understood."""

    @property
    def missing(self) -> tuple[str, ...]:
        """The required slots that were not said."""
        return tuple(name for name in REQUIRED.get(self.kind, ()) if name not in self.slots)
