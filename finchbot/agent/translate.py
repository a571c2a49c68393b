"""Translates LangGraph's stream into run events (pure; the one place that knows both).

The stream is that of ``astream(stream_mode=["messages", "updates", "custom"])``: chunks of the
model, then the node's update with the whole message, and our own signals in between.
"""

from collections.abc import Iterator
from typing import Any, assert_never

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage

from finchbot.agent.content import said
from finchbot.agent.signals import Mended, Shortened, Signal, StepBegan, ToolAnswered, ToolSaid
from finchbot.agent.speech import Speech
from finchbot.events import (
    ContextCompacted,
    HistoryRepaired,
    RunEvent,
    ToolCallFinished,
    ToolCallOutput,
    ToolCallStarted,
    Usage,
)
from finchbot.ids import CallId, RunId, ThreadId

MODEL_NODE = "model"


class Translator:
    """Turns the stream of one run into events, item by item.

    Args:
        thread_id: Of every event.
        run_id: Of every event.
    """

    def __init__(self, thread_id: ThreadId, run_id: RunId) -> None:
        self.thread_id = thread_id
        self.run_id = run_id
        self.usage = Usage()
        """Tokens of the model calls so far; the times are not filled in."""
        self._speech: Speech | None = None

    def events(self, mode: str, item: Any) -> list[RunEvent]:
        """Return the events of one item.

        Args:
            mode: ``"messages"``, ``"updates"`` or ``"custom"``.
            item: What LangGraph gives in that mode.
        """
        match mode:
            case "messages":
                chunk, origin = item
                return self._hear(chunk, origin.get("langgraph_node"))
            case "updates":
                return [event for answer in _answers(item) for event in self._complete(answer)]
            case _:
                return self._obey(item)

    def _hear(self, chunk: BaseMessage, node: object) -> list[RunEvent]:
        """Take a chunk; whole messages and those of other nodes come again as updates."""
        if self._speech is None or node != MODEL_NODE or not isinstance(chunk, AIMessageChunk):
            return []
        return self._speech.hear(said(chunk))

    def _complete(self, answer: AIMessage) -> list[RunEvent]:
        speech = self._speech
        if speech is None or answer.id != speech.message_id:
            return []
        self._speech = None
        self.usage = _added(self.usage, answer)
        return [*speech.complete(said(answer)), *self._calls(answer)]

    def _calls(self, answer: AIMessage) -> Iterator[RunEvent]:
        for call in answer.tool_calls:
            yield ToolCallStarted(
                thread_id=self.thread_id,
                run_id=self.run_id,
                call_id=CallId(call["id"] or ""),
                name=call["name"],
                arguments=call["args"],
            )

    def _obey(self, signal: Signal) -> list[RunEvent]:
        thread_id, run_id = self.thread_id, self.run_id
        match signal:
            case StepBegan(message_id=message_id):
                self._speech = Speech(thread_id, run_id, message_id)
                return []
            case Mended(changes=changes):
                return [HistoryRepaired(thread_id=thread_id, run_id=run_id, changes=changes)]
            case Shortened(before_tokens=before, after_tokens=after):
                return [
                    ContextCompacted(
                        thread_id=thread_id, run_id=run_id, before_tokens=before, after_tokens=after
                    )
                ]
            case ToolSaid(call_id=call_id, text=text):
                return [
                    ToolCallOutput(thread_id=thread_id, run_id=run_id, call_id=call_id, text=text)
                ]
            case ToolAnswered(call_id=call_id, outcome=outcome, elapsed_s=elapsed_s):
                return [
                    ToolCallFinished(
                        thread_id=thread_id,
                        run_id=run_id,
                        call_id=call_id,
                        output=outcome.output,
                        is_error=outcome.is_error,
                        elapsed_s=elapsed_s,
                        diff=outcome.diff,
                    )
                ]
            case _:
                assert_never(signal)


def _answers(update: Any) -> Iterator[AIMessage]:
    """Yield the model's messages in an update: a node writes a mapping, or a list of them."""
    written = update.get(MODEL_NODE) if isinstance(update, dict) else None
    for part in written if isinstance(written, list) else [written]:
        messages = part.get("messages", ()) if isinstance(part, dict) else ()
        yield from (message for message in messages if isinstance(message, AIMessage))


def _added(usage: Usage, answer: AIMessage) -> Usage:
    told = answer.usage_metadata
    if told is None:
        return usage
    cached = told.get("input_token_details", {}).get("cache_read", 0)
    return usage.model_copy(
        update={
            "input_tokens": usage.input_tokens + told["input_tokens"],
            "output_tokens": usage.output_tokens + told["output_tokens"],
            "cached_tokens": usage.cached_tokens + cached,
        }
    )
