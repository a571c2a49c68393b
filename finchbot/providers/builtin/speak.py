"""What the `builtin` model says: Markdown, in the language of the message."""

import re
from collections.abc import Collection, Sequence
from datetime import datetime, tzinfo
from typing import Protocol

from finchbot.errors import Scalar
from finchbot.ids import Clock
from finchbot.providers.builtin.intents import TASKS, Intent, Kind
from finchbot.providers.builtin.markdown import code, fenced, language_of_file
from finchbot.providers.builtin.plan import Result, tool_of

SHOWN_CHARS = 12_000
"""Of a tool's output; the rest stands in the tool step the user can open."""

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERED = re.compile(r" *\d+\t(.*)", re.DOTALL)


class Say(Protocol):
    """The catalogue: returns the text of a key in a language."""

    def __call__(self, key: str, language: str, /, **params: Scalar) -> str:
        """Return a sentence; ``builtin.greet``, ``zh-CN``."""


class Speaker:
    """Puts answers into words.

    Args:
        say: The catalogue.
        clock: Tells the time when somebody asks for it.
        zone: The user's time zone; the machine's when None.
    """

    def __init__(self, say: Say, clock: Clock, zone: tzinfo | None = None) -> None:
        self._say = say
        self._clock = clock
        self._zone = zone

    def answer(
        self,
        intents: Sequence[Intent],
        results: Sequence[Result],
        tools: Collection[str],
        language: str,
    ) -> str:
        """Return the answer to a message.

        Args:
            intents: What it asks for.
            results: What the tools brought, in the order of the intents; may be fewer or more.
            tools: The names of the tools there are.
            language: To speak in where an intent does not show one, or which Chinese.
        """
        parts = [
            self._result(intent, result, _spoken(intent, language))
            for intent, result in zip(intents, results, strict=False)
        ]
        parts += [self._other(result, language) for result in results[len(intents) :]]
        left = intents[len(results) :]
        if left and any(result.failed for result in results):
            parts.append(self._say("builtin.rest_undone", _spoken(left[0], language)))
        else:
            parts += [self._reply(intent, tools, _spoken(intent, language)) for intent in left]
        return "\n\n".join(parts)

    def _reply(self, intent: Intent, tools: Collection[str], language: str) -> str:
        """Answer what needs no tool, or cannot have one."""
        if intent.kind in TASKS:
            return self._ask_or_regret(intent, tools, language)
        match intent.kind:
            case Kind.NOW:
                return self._now(language)
            case Kind.HELP | Kind.UNKNOWN:
                return self._say(
                    f"builtin.{intent.kind}",
                    language,
                    abilities=self._abilities(tools, language),
                    connect=self._say("builtin.connect", language),
                )
            case _:
                return self._say(f"builtin.{intent.kind}", language)

    def _ask_or_regret(self, intent: Intent, tools: Collection[str], language: str) -> str:
        if tool_of(intent.kind) not in tools:
            what = self._say(f"builtin.what.{intent.kind}", language)
            return self._say("builtin.unavailable", language, what=what)
        if "path" in intent.slots:
            return self._say("builtin.ask.content", language, path=code(intent.slots["path"]))
        return self._say(f"builtin.ask.{intent.kind}", language)

    def _abilities(self, tools: Collection[str], language: str) -> str:
        kinds = (kind for kind in Kind if tool_of(kind) in tools)
        return "\n".join(f"- {self._say(f'builtin.can.{kind}', language)}" for kind in kinds)

    def _now(self, language: str) -> str:
        now = self._clock().astimezone(self._zone)
        return self._say(
            "builtin.now",
            language,
            date=f"{now:%Y-%m-%d}",
            time=f"{now:%H:%M}",
            weekday=self._say(f"builtin.weekday.{_WEEKDAYS[now.weekday()]}", language),
            zone=_zone_name(now),
        )

    def _result(self, intent: Intent, result: Result, language: str) -> str:
        if result.name != tool_of(intent.kind):
            return self._other(result, language)
        subject = code(_subject(intent))
        if result.failed:
            reason = _clipped(result.output.strip())[0]
            return self._say(f"builtin.failed.{intent.kind}", language, what=subject, reason=reason)
        match intent.kind:
            case Kind.LIST_FILES:
                return self._listing(intent, result.output, language)
            case Kind.READ_FILE:
                return self._file(intent.slots["path"], result.output, language)
            case Kind.WRITE_FILE | Kind.RENAME_CHAT | Kind.REMEMBER:
                return self._say(f"builtin.done.{intent.kind}", language, what=subject)
            case _:
                return self._other(result, language)

    def _listing(self, intent: Intent, output: str, language: str) -> str:
        """The first line of a listing names the folder; alone it says that nothing is there."""
        _, _, entries = output.strip("\n").partition("\n")
        place = "list_files" if intent.slots.get("path", ".") != "." else "list_workspace"
        state = "done" if entries else "empty"
        intro = self._say(f"builtin.{state}.{place}", language, what=code(_subject(intent)))
        return f"{intro}\n\n{self._block(entries, language)}" if entries else intro

    def _file(self, path: str, output: str, language: str) -> str:
        """Show a file without its line numbers; what the tool says around it stays below."""
        lines = output.split("\n")
        numbered = [_NUMBERED.fullmatch(line) for line in lines]
        text = "\n".join(found[1] for found in numbered if found)
        if not any(numbered):
            return output.strip() or self._say("builtin.no_output", language)
        intro = self._say("builtin.done.read_file", language, what=code(path))
        shown = f"{intro}\n\n{self._block(text, language, language_of_file(path))}"
        whole = numbered[-1] is not None
        return shown if whole else f"{shown}\n\n{self._say('builtin.goes_on', language)}"

    def _other(self, result: Result, language: str) -> str:
        output = result.output.strip("\n")
        if result.failed:
            reason = _clipped(output)[0]
            return self._say(
                "builtin.failed.other", language, what=code(result.name), reason=reason
            )
        return self._block(output, language) if output else self._say("builtin.no_output", language)

    def _block(self, text: str, language: str, kind: str = "text") -> str:
        shown, cut = _clipped(text)
        block = fenced(shown, kind)
        return f"{block}\n\n{self._say('builtin.cut', language)}" if cut else block


def _spoken(intent: Intent, language: str) -> str:
    """Return the language to answer a request in."""
    if intent.language != "zh":
        return intent.language or language
    return language if language.startswith("zh-") else "zh-CN"


def _subject(intent: Intent) -> str:
    """Return what the request is about, in the user's words."""
    for slot in ("path", "title", "text", "query", "pattern", "url", "command"):
        if slot in intent.slots:
            return intent.slots[slot][:200]
    return "."


def _clipped(text: str) -> tuple[str, bool]:
    if len(text) <= SHOWN_CHARS:
        return text, False
    end = text.rfind("\n", 0, SHOWN_CHARS)
    return text[: end if end > 0 else SHOWN_CHARS], True


def _zone_name(now: datetime) -> str:
    offset = f"{now:%z}"
    return f"UTC{offset[:3]}:{offset[3:5]}" if offset[1:5] != "0000" else "UTC"
