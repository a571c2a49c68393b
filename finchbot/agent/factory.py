"""AgentFactory: composes model, tools, prompt and checkpointer into an agent."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from finchbot.agent.context import ContextBuilder
from finchbot.agent.desk import open_desk
from finchbot.agent.graph import build_graph
from finchbot.agent.model_step import ModelStep
from finchbot.agent.prompt import SystemPrompt
from finchbot.agent.prompt_files import PromptFiles
from finchbot.agent.run_context import AgentOptions, Monotonic, Say, Tools, Workspaces
from finchbot.agent.runner import AgentParts, GraphAgent, ModelSource, Record
from finchbot.agent.tool_step import ToolStep
from finchbot.agent.window import Limits
from finchbot.ids import Clock, NewId, new_id, utc_now


class AgentFactory:
    """Builds the one agent of a bot.

    Args:
        models: Where chat models come from.
        tools: What the agent can do.
        record: The transcript the working state is held against.
        options: Gives the agent's settings as they are when a run starts.
        workspaces: Gives each user their workspace.
        prompt_files: The Markdown files of the prompt.
        say: Sentences for the user, by key and language.
        limits: How much of a talk the model sees.
        clock: Tells the day.
        monotonic: Measures times.
        new_id: Makes ids of messages and calls.
    """

    def __init__(
        self,
        *,
        models: ModelSource,
        tools: Tools,
        record: Record,
        options: Callable[[], AgentOptions],
        workspaces: Workspaces,
        prompt_files: PromptFiles,
        say: Say,
        limits: Limits | None = None,
        clock: Clock = utc_now,
        monotonic: Monotonic = time.monotonic,
        new_id: NewId = new_id,
    ) -> None:
        self._parts = AgentParts(
            models=models,
            tools=tools,
            record=record,
            prompt=SystemPrompt(prompt_files, clock, ContextBuilder()),
            options=options,
            workspaces=workspaces,
            monotonic=monotonic,
        )
        self._limits = limits or Limits()
        self._clock = clock
        self._model_step = ModelStep(self._limits, say, new_id)
        self._tool_step = ToolStep(tools, say, monotonic)

    @asynccontextmanager
    async def open(self, checkpoints: Path) -> AsyncIterator[GraphAgent]:
        """Open the working state and yield the agent; it belongs to the running loop.

        Args:
            checkpoints: ``checkpoints.db``; made when missing.

        Raises:
            StoreTooNew: A newer program wrote the file.
        """
        async with open_desk(checkpoints, clock=self._clock) as desk:
            graph = build_graph(self._model_step, self._tool_step, desk.saver)
            yield GraphAgent(graph, desk, self._parts, self._limits.messages)
