"""A bare LangGraph agent behind a bare WebSocket: no guard, no record, no events, no tools.

``python -m tests.bench.floors.bare_agent <base URL of the model>`` prints its own URL first. It
takes the same ``message.send`` frame as FinchBot's ``/ws`` and answers with the fewest frames a
client can tell a streamed answer by.
"""

import sys
from collections.abc import AsyncIterator
from typing import Any

import openai
from langchain.agents import create_agent
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.language_models.chat_models import BaseChatModel, agenerate_from_stream
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from pydantic import ConfigDict
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from tests.bench.floors.serving import serve

ROLES = {"human": "user", "ai": "assistant"}


class PlainModel(BaseChatModel):
    """The openai client as its documentation shows it, and nothing around it."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    client: openai.AsyncOpenAI

    @property
    def _llm_type(self) -> str:
        return "plain"

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        wire: list[Any] = [{"role": ROLES[m.type], "content": m.content} for m in messages]
        stream = await self.client.chat.completions.create(
            model="scripted", messages=wire, stream=True
        )
        async for event in stream:
            text = event.choices[0].delta.content
            if text:
                yield ChatGenerationChunk(message=AIMessageChunk(content=text))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return await agenerate_from_stream(self._astream(messages, stop, run_manager, **kwargs))

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        raise NotImplementedError


def app(model_url: str) -> Starlette:
    """Return the floor; a talk is the list of its messages, kept by its socket."""
    client = openai.AsyncOpenAI(api_key="none", base_url=model_url)
    agent: Any = create_agent(PlainModel(client=client))

    async def socket(websocket: WebSocket) -> None:
        await websocket.accept()
        talk: list[BaseMessage] = []
        try:
            while True:
                frame = await websocket.receive_json()
                talk.append(HumanMessage(frame["text"]))
                text = ""
                async for chunk, _ in agent.astream({"messages": talk}, stream_mode="messages"):
                    if chunk.content:
                        text += chunk.content
                        await websocket.send_json({"type": "text.delta", "text": chunk.content})
                talk.append(AIMessage(text))
                await websocket.send_json({"type": "run.finished"})
        except WebSocketDisconnect:
            return

    return Starlette(routes=[WebSocketRoute("/ws", socket)])


if __name__ == "__main__":
    serve(app(sys.argv[1]))
