"""A chat model that plays a script and refuses a history no provider accepts."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ToolCallChunk,
    UsageMetadata,
    convert_to_openai_messages,
)
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from pydantic import Field, PrivateAttr

from tests.support.strict_history import check_history

Chunk = AIMessageChunk | BaseException | asyncio.Event
"""What the model does next: says something, fails, or waits for the test."""
Reply = Sequence[Chunk]
Script = Callable[["Request"], Reply]


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it reached the model."""

    messages: list[BaseMessage]
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def wire(self) -> list[dict[str, Any]]:
        """The messages as the OpenAI protocol has them."""
        wire = convert_to_openai_messages(self.messages)
        assert isinstance(wire, list)
        return wire

    @property
    def tools(self) -> list[str]:
        """The names of the tools on offer."""
        return [tool["function"]["name"] for tool in self.settings.get("tools", ())]


class ScriptedChatModel(BaseChatModel):
    """Answers request after request; when the script is at its end the last reply comes again.

    Args:
        replies: In order; or one function that decides by the request.
    """

    _replies: list[Reply] = PrivateAttr()
    _script: Script | None = PrivateAttr()
    requests: list[Request] = Field(default_factory=list)
    closed_early: int = 0
    """How many streams ended before their reply did."""

    def __init__(self, *replies: Reply, script: Script | None = None) -> None:
        super().__init__()
        self._replies = list(replies)
        self._script = script

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **settings: Any) -> Runnable[Any, AIMessage]:
        return self.bind(tools=list(tools), **settings)

    def _next(self, messages: list[BaseMessage], settings: dict[str, Any]) -> Reply:
        request = Request(list(messages), settings)
        self.requests.append(request)
        check_history(request.wire)
        if self._script is not None:
            return self._script(request)
        return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **settings: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        finished = False
        try:
            for chunk in self._next(messages, settings):
                if isinstance(chunk, asyncio.Event):
                    await chunk.wait()
                elif isinstance(chunk, BaseException):
                    raise chunk
                else:
                    yield ChatGenerationChunk(message=chunk)
            finished = True
        finally:
            self.closed_early += not finished

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **settings: Any,
    ) -> ChatResult:
        whole: AIMessageChunk | None = None
        async for chunk in self._astream(messages, stop, run_manager, **settings):
            assert isinstance(chunk.message, AIMessageChunk)
            whole = chunk.message if whole is None else whole + chunk.message
        message = whole or AIMessageChunk(content="")
        return ChatResult(
            generations=[
                ChatGeneration(
                    message=AIMessage(
                        content=message.content,
                        tool_calls=message.tool_calls,
                        additional_kwargs=message.additional_kwargs,
                        usage_metadata=message.usage_metadata,
                    )
                )
            ]
        )

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        raise NotImplementedError("asynchronous only")


def saying(text: str, *, chunk: int = 4) -> list[Chunk]:
    """Return a reply that says `text` in chunks, with its usage at the end."""
    pieces = [text[at : at + chunk] for at in range(0, len(text), chunk)]
    return [*(AIMessageChunk(content=piece) for piece in pieces), usage(10, len(pieces))]


def usage(input_tokens: int, output_tokens: int, cached: int = 0) -> AIMessageChunk:
    """Return the chunk that tells what a call cost."""
    told = UsageMetadata(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        total_tokens=input_tokens + output_tokens,
        input_token_details={"cache_read": cached},
    )
    return AIMessageChunk(content="", usage_metadata=told)


def calling(*calls: tuple[str, str, str], text: str = "") -> list[Chunk]:
    """Return a reply that calls tools.

    Args:
        calls: Id, name and arguments as JSON of each; the JSON comes in two chunks.
        text: Said before.
    """
    chunks: list[Chunk] = [AIMessageChunk(content=text)] if text else []
    for index, (call_id, name, arguments) in enumerate(calls):
        half = len(arguments) // 2
        chunks += [
            _part(index, arguments[:half], name=name, call_id=call_id),
            _part(index, arguments[half:]),
        ]
    return [*chunks, usage(20, 5)]


def _part(
    index: int, arguments: str, *, name: str | None = None, call_id: str | None = None
) -> AIMessageChunk:
    part = ToolCallChunk(name=name, args=arguments, id=call_id, index=index, type="tool_call_chunk")
    return AIMessageChunk(content="", tool_call_chunks=[part])
