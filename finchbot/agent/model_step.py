"""One call of the model within a run: a valid, bounded request goes out, a sound answer stays."""

from collections.abc import Awaitable, Callable
from typing import Any, cast

from langchain.agents import AgentState
from langchain.agents.middleware import (
    AgentMiddleware,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
)
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, RemoveMessage, SystemMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Command

from finchbot.agent.answer import settle, words
from finchbot.agent.content import said
from finchbot.agent.repair import alternating, repair
from finchbot.agent.run_context import RunContext, Say
from finchbot.agent.signals import Mended, Shortened, Signal, StepBegan
from finchbot.agent.tokens import tokens_of_all
from finchbot.agent.window import Limits, Window, fit
from finchbot.errors import ContextTooLong
from finchbot.ids import MessageId, NewId

Request = ModelRequest[RunContext]
Handler = Callable[[Request], Awaitable[ModelResponse[Any]]]
Tell = Callable[[Signal], None]

LAST_STEP = (
    "The limit of tool steps for this turn is reached and no tool can be called any more. "
    "Answer the user now with what you have found out, and say what is still open."
)


class ModelStep(AgentMiddleware[AgentState[Any], RunContext]):
    """Wraps every call of the model.

    Args:
        limits: How much of the talk the model sees.
        say: Sentences for the user where the model has none.
        new_id: Makes ids of messages and calls.
    """

    def __init__(self, limits: Limits, say: Say, new_id: NewId) -> None:
        super().__init__()
        self._limits = limits
        self._say = say
        self._new_id = new_id

    async def awrap_model_call(
        self, request: Request, handler: Handler
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Ask the model; what was mended or left out on the way is so in the state, too."""
        run = request.runtime.context
        tell: Tell = request.runtime.stream_writer
        run.steps += 1
        message_id = MessageId(self._new_id("msg"))
        given: list[BaseMessage] = list(request.messages)
        history = self._prepare(given, tell)
        tell(StepBegan(message_id))
        try:
            raw = await _ask(request, handler, history)
        except ContextTooLong:
            history = _halve(history, self._limits, tell)
            raw = await _ask(request, handler, history)
        answer = self._sound(settle(raw, history, message_id, self._new_id), run)
        response: ModelResponse[Any] = ModelResponse(result=[answer])
        if history is given:
            return response
        remade = [RemoveMessage(id=REMOVE_ALL_MESSAGES), *history, answer]
        return ExtendedModelResponse(response, Command(update={"messages": remade}))

    def _prepare(self, given: list[BaseMessage], tell: Tell) -> list[BaseMessage]:
        """Return a valid history within the limits; the very list when it is so already."""
        repaired = repair(given)
        if repaired.changes:
            tell(Mended(repaired.changes))
            given = repaired.messages
        window = fit(given, self._limits)
        return _shorten(window, tell) if window else given

    def _sound(self, answer: AIMessage, run: RunContext) -> AIMessage:
        """Return the answer, in words when it has none and nothing more can come."""
        text = said(answer).text
        if answer.tool_calls:
            if not _is_last(run):
                return answer
            return words(text if text.strip() else self._sentence("agent.tool_limit", run), answer)
        return answer if text.strip() else words(self._sentence("agent.no_answer", run), answer)

    def _sentence(self, key: str, run: RunContext) -> str:
        return self._say(key, run.turn.language)


def _is_last(run: RunContext) -> bool:
    return run.steps > run.options.max_tool_iterations


async def _ask(request: Request, handler: Handler, history: list[BaseMessage]) -> AIMessage:
    run = request.runtime.context
    last = _is_last(run)
    prompt = f"{run.system_prompt}\n\n{LAST_STEP}" if last else run.system_prompt
    response = await handler(
        request.override(
            model=run.model,
            system_message=SystemMessage(prompt),
            tools=[] if last else [*run.tools],
            messages=cast(list[AnyMessage], alternating(history)),
            model_settings={
                "max_tokens": run.options.max_tokens,
                "temperature": run.options.temperature,
            },
        )
    )
    [answer] = response.result
    if not isinstance(answer, AIMessage):
        raise TypeError(f"the model answered with {type(answer).__name__}")
    return answer


def _halve(history: list[BaseMessage], limits: Limits, tell: Tell) -> list[BaseMessage]:
    """Make room after the provider found the request too long; our count is an estimate.

    Raises:
        ContextTooLong: Nothing can be left out.
    """
    window = fit(history, Limits(tokens_of_all(history) // 2, limits.messages))
    if window is None:
        raise ContextTooLong
    return _shorten(window, tell)


def _shorten(window: Window, tell: Tell) -> list[BaseMessage]:
    tell(Shortened(window.before_tokens, window.after_tokens))
    return window.messages
