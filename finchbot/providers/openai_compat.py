"""A chat model for LangChain over any server that speaks the OpenAI protocol."""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import LanguageModelInput
from langchain_core.language_models.chat_models import BaseChatModel, agenerate_from_stream
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import InputTokenDetails, OutputTokenDetails, UsageMetadata
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import ConfigDict, Field

from finchbot.ids import NewId
from finchbot.providers.catalog import Echo
from finchbot.providers.openai_calls import ToolCall
from finchbot.providers.openai_history import EXTRA, REASONING, call_ids, to_wire
from finchbot.providers.openai_line import Line
from finchbot.providers.openai_request import Body
from finchbot.providers.openai_stream import Answer, Piece, TokenCounts


class OpenAICompatChat(BaseChatModel):
    """One model of one provider. Only its async side exists.

    Text and reasoning stream as they come, reasoning in
    ``additional_kwargs["reasoning_content"]``. Tool calls come whole in the last chunk, with
    arguments that always are an object; see `INVALID_ARGUMENTS`. That chunk also carries the
    usage and the finish reason.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    model_name: str
    max_tokens: int
    temperature: float
    extra_fields: Body = Field(default_factory=dict)
    """Further fields of every request, such as those that steer thinking."""
    echo: Echo = "nothing"
    line: Line = Field(exclude=True, repr=False)
    new_id: NewId = Field(exclude=True, repr=False)

    @property
    def _llm_type(self) -> str:
        return "openai-compatible"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model_name": self.model_name, "provider": self.line.provider}

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return the model with tools it may call, sent as OpenAI function definitions."""
        definitions = [convert_to_openai_tool(tool) for tool in tools]
        if tool_choice is not None:
            kwargs["tool_choice"] = _choice(tool_choice)
        return self.bind(tools=definitions, **kwargs) if definitions else self.bind(**kwargs)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        """Yield the answer as it comes.

        Raises:
            ProviderError: Also in the middle; what was yielded before stands.
        """
        answer = Answer()
        body = self._body(messages, stop, kwargs)
        async with aclosing(self.line.stream(self.model_name, body)) as stream:
            async for events in stream:
                piece = answer.feed(events)
                if piece.text or piece.reasoning:
                    yield _spoken(piece)
                    await self.line.gather()
        calls = answer.tool_calls(call_ids(messages), lambda: self.new_id("call"))
        yield _last(answer, calls)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return await agenerate_from_stream(self._astream(messages, stop, run_manager, **kwargs))

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        raise NotImplementedError("only the async side exists: use ainvoke or astream")

    def _body(
        self, messages: list[BaseMessage], stop: list[str] | None, further: dict[str, Any]
    ) -> Body:
        body: Body = {
            "messages": to_wire(messages, echo=self.echo),
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            "stream_options": {"include_usage": True},
            **self.extra_fields,
            **{name: value for name, value in further.items() if value is not None},
        }
        return {**body, "stop": stop} if stop else body


def _choice(wanted: str) -> str | dict[str, Any]:
    if wanted in {"auto", "none", "required"}:
        return wanted
    if wanted == "any":
        return "required"
    return {"type": "function", "function": {"name": wanted}}


def _spoken(piece: Piece) -> ChatGenerationChunk:
    thought = {REASONING: piece.reasoning} if piece.reasoning else {}
    message = AIMessageChunk(content=piece.text, additional_kwargs=thought)
    return ChatGenerationChunk(message=message)


def _last(answer: Answer, calls: list[ToolCall]) -> ChatGenerationChunk:
    extras = {call.call_id: call.extra for call in calls if call.extra is not None}
    metadata = {"finish_reason": answer.finish_reason, "model_name": answer.model}
    message = AIMessageChunk(
        content="",
        additional_kwargs={EXTRA: extras} if extras else {},
        response_metadata={name: value for name, value in metadata.items() if value},
        tool_call_chunks=[
            tool_call_chunk(
                name=call.name, args=json.dumps(call.arguments), id=call.call_id, index=index
            )
            for index, call in enumerate(calls)
        ],
        usage_metadata=_usage(answer.counts) if answer.counts else None,
        chunk_position="last",
    )
    return ChatGenerationChunk(message=message)


def _usage(counts: TokenCounts) -> UsageMetadata:
    return UsageMetadata(
        input_tokens=counts.input,
        output_tokens=counts.output,
        total_tokens=counts.input + counts.output,
        input_token_details=InputTokenDetails(cache_read=counts.cached),
        output_token_details=OutputTokenDetails(reasoning=counts.reasoning),
    )
