"""The graph: model ⇄ tools, compiled once for the whole bot.

Everything that may change comes with each run as its `RunContext`, so an edited prompt file,
key or model counts from the next run on, and nothing has to be compiled again.
"""

from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph.state import CompiledStateGraph

from finchbot.agent.model_step import ModelStep
from finchbot.agent.run_context import RunContext
from finchbot.agent.tool_step import ToolStep

Graph = CompiledStateGraph[Any, RunContext, Any, Any]


def build_graph(
    model_step: ModelStep, tool_step: ToolStep, checkpointer: BaseCheckpointSaver[str] | None
) -> Graph:
    """Return the compiled graph."""
    return create_agent(
        _PerRunModel(),
        middleware=(model_step, tool_step),
        context_schema=RunContext,
        checkpointer=checkpointer,
    )


class _PerRunModel(BaseChatModel):
    """Stands where `create_agent` wants a model; each run brings its own."""

    @property
    def _llm_type(self) -> str:
        return "per-run"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        raise NotImplementedError("the run's own model answers")
