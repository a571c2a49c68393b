"""What to do next in a turn: the next tool call, or the answer (pure).

A turn makes at most one call per request the user made, in order; a failed one is the last.
So it always ends.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from finchbot.providers.builtin.intents import Intent, Kind

TITLE_CHARS = 120
"""What `session_title` takes."""

Arguments = dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call to make."""

    name: str
    arguments: Arguments


@dataclass(frozen=True, slots=True)
class Result:
    """A call of this turn that was made, with what came of it."""

    name: str
    output: str
    failed: bool = False


def tool_of(kind: Kind) -> str | None:
    """Return the name of the tool that does what is asked, or None when there is no such tool."""
    return _TOOLS[kind][0] if kind in _TOOLS else None


def next_call(
    intents: Sequence[Intent], results: Sequence[Result], tools: Collection[str]
) -> Call | None:
    """Return the call to make now, or None when it is time to answer.

    Args:
        intents: What the message asks for.
        results: Of the calls made in this turn, in order.
        tools: The names of the tools there are.
    """
    if len(results) >= len(intents) or any(result.failed for result in results):
        return None
    intent = intents[len(results)]
    if intent.kind not in _TOOLS or intent.missing:
        return None
    name, arguments = _TOOLS[intent.kind]
    return Call(name, arguments(intent.slots)) if name in tools else None


def _title(slots: Mapping[str, str]) -> Arguments:
    return {"action": "set", "title": " ".join(slots["title"].split())[:TITLE_CHARS]}


_TOOLS: Mapping[Kind, tuple[str, Callable[[Mapping[str, str]], Arguments]]] = {
    Kind.LIST_FILES: ("list_dir", lambda slots: {"path": slots.get("path", ".")}),
    Kind.READ_FILE: ("read_file", lambda slots: {"path": slots["path"]}),
    Kind.WRITE_FILE: (
        "write_file",
        lambda slots: {"path": slots["path"], "content": slots["content"]},
    ),
    Kind.RENAME_CHAT: ("session_title", _title),
    Kind.REMEMBER: ("remember", lambda slots: {"text": slots["text"]}),
    Kind.RECALL: ("recall", lambda slots: {"query": slots["query"]}),
    Kind.FORGET: ("forget", lambda slots: {"pattern": slots["pattern"]}),
    Kind.WEB_SEARCH: ("web_search", lambda slots: {"query": slots["query"]}),
    Kind.READ_PAGE: ("web_extract", lambda slots: {"urls": [slots["url"]]}),
    Kind.RUN_COMMAND: ("exec", lambda slots: {"command": slots["command"]}),
}
