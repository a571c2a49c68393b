"""One tool call within a run, on the user's behalf."""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from langchain.agents import AgentState
from langchain.agents.middleware import AgentMiddleware, ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.types import Command

from finchbot.agent.calls import NO_OUTPUT
from finchbot.agent.characters import sound
from finchbot.agent.run_context import Monotonic, RunContext, Say, Tools
from finchbot.agent.signals import ToolAnswered, ToolSaid
from finchbot.ids import CallId
from finchbot.tools.base import ToolContext, ToolOutcome

Handler = Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]

REPEATS = 5
"""The same call with the same arguments, made so many times in a run, is not made again."""


class ToolStep(AgentMiddleware[AgentState[Any], RunContext]):
    """Runs every tool call through the registry; LangGraph's own execution is never reached.

    Args:
        tools: Run the call.
        say: The note on a call repeated without end.
        monotonic: Measures how long a tool takes.
    """

    def __init__(self, tools: Tools, say: Say, monotonic: Monotonic) -> None:
        super().__init__()
        self._tools = tools
        self._say = say
        self._monotonic = monotonic

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Handler) -> ToolMessage:
        """Return the tool's answer for the model; surfaces are told of it at once."""
        call, run = request.tool_call, cast(RunContext, request.runtime.context)
        tell = request.runtime.stream_writer
        call_id = CallId(call["id"] or "")
        began = self._monotonic()

        async def say(text: str) -> None:
            tell(ToolSaid(call_id, text))

        context = _context(run, call_id, say)
        outcome = await self._outcome(call["name"], call["args"], context, run)
        tell(ToolAnswered(call_id, outcome, self._monotonic() - began))
        output = sound(outcome.output)
        return ToolMessage(
            output if output.strip() else NO_OUTPUT,
            tool_call_id=call_id,
            name=call["name"],
            status="error" if outcome.is_error else "success",
        )

    async def _outcome(
        self, name: str, arguments: Mapping[str, Any], context: ToolContext, run: RunContext
    ) -> ToolOutcome:
        key = json.dumps([name, arguments], sort_keys=True, default=repr)
        run.calls[key] += 1
        if run.calls[key] >= REPEATS:
            note = self._say("agent.repeated_call", run.turn.language)
            return ToolOutcome(note, is_error=True)
        return await self._tools.invoke(name, arguments, context)


def _context(
    run: RunContext, call_id: CallId, say: Callable[[str], Awaitable[None]]
) -> ToolContext:
    return ToolContext(
        user_id=run.turn.user_id,
        thread_id=run.turn.thread_id,
        run_id=run.turn.run_id,
        call_id=call_id,
        workspace=run.workspace.folder,
        readable_roots=run.workspace.readable_roots,
        writable_roots=run.workspace.writable_roots,
        closed=run.workspace.closed,
        say=say,
    )
