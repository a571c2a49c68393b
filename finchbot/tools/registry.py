"""ToolRegistry: the bot's tools by name, made once; a call to one always answers."""

import asyncio
import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pydantic import JsonValue, ValidationError

from finchbot.errors import (
    ConfigError,
    FinchError,
    ToolFailed,
    ToolInputInvalid,
    ToolNotFound,
    ToolTimeout,
)
from finchbot.lazy import Lazy
from finchbot.log import frames_of
from finchbot.messages import INVALID_ARGUMENTS
from finchbot.tools.base import Arguments, FinchTool, ToolContext, ToolOutcome
from finchbot.tools.deps import ToolDeps

# A tool's type of arguments is its own affair: the registry parses them by the tool's schema.
AnyTool = FinchTool[Any]
ToolSource = Callable[[ToolDeps], Iterable[AnyTool]]
"""What a topic module offers as ``tools``."""

Describe = Callable[[FinchError], str]
"""Turns an error into the sentence the model (and the person) reads."""

log = logging.getLogger(__name__)


class ToolRegistry:
    """Tools by name, in the order of their sources; built on first use, from any thread.

    Args:
        sources: Called once, in order, with `deps`.
        deps: What the tools may reach.
        describe: Makes the sentence of an error.
    """

    def __init__(self, sources: Sequence[ToolSource], deps: ToolDeps, describe: Describe) -> None:
        self._tools = Lazy(lambda: _index(tool for source in sources for tool in source(deps)))
        self._definitions = Lazy(lambda: [_definition(tool) for tool in self._tools.get().values()])
        self._describe = describe

    def names(self) -> tuple[str, ...]:
        """Return the names of all tools, in order."""
        return tuple(self._tools.get())

    def get(self, name: str) -> AnyTool:
        """Return one tool.

        Raises:
            ToolNotFound: There is none of that name; the sentence lists those there are.
        """
        tools = self._tools.get()
        if name not in tools:
            raise ToolNotFound("tool.unknown", tool=name, known=", ".join(tools))
        return tools[name]

    def definitions(self) -> list[dict[str, JsonValue]]:
        """Return the tools as OpenAI function definitions, ``{"type": "function", …}``."""
        return list(self._definitions.get())

    async def invoke(
        self, name: str, arguments: Mapping[str, JsonValue], context: ToolContext
    ) -> ToolOutcome:
        """Run a tool; whatever goes wrong is an outcome with `is_error`.

        Cancelling the call cancels the tool, waits for it to end, and passes on.
        """
        try:
            tool = self.get(name)
            return await _run(tool, parse_arguments(tool, arguments), context)
        except FinchError as error:
            return ToolOutcome(self._describe(error), is_error=True)


def parse_arguments(tool: AnyTool, arguments: Mapping[str, JsonValue]) -> Arguments:
    """Return the arguments as the tool's own type; its JSON Schema holds to the letter.

    Raises:
        ToolInputInvalid: They do not fit; params: ``tool``, ``field``, ``problem``.
    """
    if INVALID_ARGUMENTS in arguments:
        raise ToolInputInvalid("tool.input_not_object", tool=tool.name)
    try:
        return tool.arguments.model_validate_json(json.dumps(_whole(dict(arguments))), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        field = ".".join(str(step) for step in first["loc"]) or "arguments"
        raise ToolInputInvalid(tool=tool.name, field=field, problem=first["msg"]) from error


async def _run(tool: AnyTool, arguments: Arguments, context: ToolContext) -> ToolOutcome:
    """Run the tool in a task of its own, so that a fault of it is a value to look at.

    Raises:
        FinchError: The tool's own, a time-out, or ``tool.crashed`` for anything unforeseen.
    """
    try:
        async with asyncio.timeout(tool.timeout_s):
            [answer] = await asyncio.gather(tool.run(arguments, context), return_exceptions=True)
    except TimeoutError as error:
        raise ToolTimeout(tool=tool.name, timeout_s=tool.timeout_s) from error
    if isinstance(answer, ToolOutcome):
        return answer
    if isinstance(answer, FinchError):
        raise answer
    log.error("tool %s crashed: %s", tool.name, frames_of(answer))
    raise ToolFailed("tool.crashed", tool=tool.name)


def _index(tools: Iterable[AnyTool]) -> dict[str, AnyTool]:
    index: dict[str, AnyTool] = {}
    for tool in tools:
        if tool.name in index:
            raise ConfigError("tool.duplicate", tool=tool.name)
        index[tool.name] = tool
    return index


def _definition(tool: AnyTool) -> dict[str, JsonValue]:
    function: dict[str, JsonValue] = {
        "name": tool.name,
        "description": tool.description,
        "parameters": _untitled(tool.schema()),
    }
    return {"type": "function", "function": function}


def _untitled(schema: JsonValue) -> JsonValue:
    """Drop the titles pydantic writes from names: they only repeat them, in paid tokens."""
    match schema:
        case dict():
            return {
                key: _untitled(value)
                for key, value in schema.items()
                if not (key == "title" and isinstance(value, str))
            }
        case list():
            return [_untitled(value) for value in schema]
        case _:
            return schema


def _whole(value: JsonValue) -> JsonValue:
    """Write 5.0 as 5: JSON Schema calls both integers, and some providers send only floats."""
    match value:
        case float() if value.is_integer():
            return int(value)
        case dict():
            return {key: _whole(item) for key, item in value.items()}
        case list():
            return [_whole(item) for item in value]
        case _:
            return value
