"""BuiltinChatModel: a chat model that needs no key, no network and no weights.

It drives the same graph as every other model, with real tool calls, by rules. It does no I/O
and costs no tokens, so its usage is all zeros.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from datetime import tzinfo
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import LanguageModelInput
from langchain_core.language_models.chat_models import BaseChatModel, generate_from_stream
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    ToolMessage,
    UsageMetadata,
)
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from finchbot.ids import Clock, NewId, new_id
from finchbot.providers.builtin.plan import Call, Result, next_call
from finchbot.providers.builtin.script import language_of
from finchbot.providers.builtin.speak import Speaker
from finchbot.providers.builtin.understand import understand
from finchbot.providers.questions import newest

_WIDE = r"\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef"
_PIECE = re.compile(rf"\s*(?:[{_WIDE}]{{1,3}}|[^\s{_WIDE}]{{1,80}})|\s+")
_MOST_CHUNKS = 400
"""A long answer comes in larger pieces, so that nobody waits for thousands of them."""
_REMEMBERED_TURNS = 8


class BuiltinChatModel(BaseChatModel):
    """The embedded default model: deterministic, and honest about what it is."""

    say: Callable[..., str]
    """A `speak.Say`, the catalogue."""
    clock: Clock
    new_id: NewId = new_id
    """Makes the ids of tool calls."""
    zone: tzinfo | None = None
    """The user's time zone; the machine's when None."""
    language: str = "en-US"
    """To speak in when neither this message nor the ones before it show one."""

    @property
    def _llm_type(self) -> str:
        return "finchbot-builtin"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return the model with tools it may call; ``tool_choice="none"`` forbids them."""
        offered = [] if tool_choice == "none" else [convert_to_openai_tool(tool) for tool in tools]
        return self.bind(tools=offered, **kwargs)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        """Yield the answer word by word, or one tool call."""
        for chunk in self._chunks(messages, kwargs):
            yield chunk
            # Nothing here waits, so give way: others run, and a stop is heard.
            await asyncio.sleep(0)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        yield from self._chunks(messages, kwargs)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return generate_from_stream(self._chunks(messages, kwargs))

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return generate_from_stream(self._chunks(messages, kwargs))

    def _chunks(
        self, messages: Sequence[BaseMessage], settings: dict[str, Any]
    ) -> Iterator[ChatGenerationChunk]:
        step = self._next(messages, _tool_names(settings.get("tools") or ()))
        if isinstance(step, Call):
            yield ChatGenerationChunk(message=self._calling(step))
        else:
            for piece in pieces(step):
                yield ChatGenerationChunk(message=AIMessageChunk(content=piece), text=piece)
        yield ChatGenerationChunk(message=_last())

    def _next(self, messages: Sequence[BaseMessage], tools: frozenset[str]) -> Call | str:
        """Return the call to make, or what to say."""
        asked = _newest_question(messages)
        intents = understand(_asked(messages[asked]) if asked >= 0 else "")
        results = _results(messages[asked + 1 :])
        call = next_call(intents, results, tools)
        if call is not None:
            return call
        language = self._language(messages[: asked + 1])
        return Speaker(self.say, self.clock, self.zone).answer(intents, results, tools, language)

    def _calling(self, call: Call) -> AIMessageChunk:
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        part = tool_call_chunk(name=call.name, args=arguments, id=self.new_id("call"), index=0)
        return AIMessageChunk(content="", tool_call_chunks=[part])

    def _language(self, messages: Sequence[BaseMessage]) -> str:
        questions = [message for message in messages if isinstance(message, HumanMessage)]
        texts = (
            text
            for message in questions[:-_REMEMBERED_TURNS:-1]
            for text in (_asked(message), _text(message))
        )
        return next(filter(None, map(language_of, texts)), self.language)


def pieces(text: str) -> Iterator[str]:
    """Yield the text word by word, Chinese a few characters at a time; together they are it."""
    found = _PIECE.findall(text)
    together = -(-len(found) // _MOST_CHUNKS)
    for at in range(0, len(found), together or 1):
        yield "".join(found[at : at + together])


def _last() -> AIMessageChunk:
    nothing = UsageMetadata(input_tokens=0, output_tokens=0, total_tokens=0)
    return AIMessageChunk(content="", usage_metadata=nothing, chunk_position="last")


def _tool_names(tools: Sequence[dict[str, Any]]) -> frozenset[str]:
    return frozenset(tool["function"]["name"] for tool in tools)


def _newest_question(messages: Sequence[BaseMessage]) -> int:
    at = len(messages) - 1
    while at >= 0 and not isinstance(messages[at], HumanMessage):
        at -= 1
    return at


def _results(messages: Sequence[BaseMessage]) -> list[Result]:
    """Return the calls made since the question; one that was never answered counts as failed."""
    answers = {m.tool_call_id: m for m in messages if isinstance(m, ToolMessage)}
    calls = [call for m in messages if isinstance(m, AIMessage) for call in m.tool_calls]
    return [_result(call["name"], answers.get(call["id"] or "")) for call in calls]


def _result(name: str, answer: ToolMessage | None) -> Result:
    if answer is None:
        return Result(name, "", failed=True)
    return Result(name, _text(answer), failed=answer.status == "error")


def _asked(message: BaseMessage) -> str:
    """Return the words to answer: of several questions in one message, the newest."""
    alone = newest(message) if isinstance(message, HumanMessage) else None
    return _text(message) if alone is None else alone


def _text(message: BaseMessage) -> str:
    if isinstance(message.content, str):
        return message.content
    blocks = (b if isinstance(b, str) else b.get("text") for b in message.content)
    return "\n".join(block for block in blocks if isinstance(block, str))
