from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolCall, ToolMessage

from finchbot.agent.answer import settle, words
from finchbot.agent.signals import Mended, Shortened, StepBegan, ToolAnswered, ToolSaid
from finchbot.agent.thinking import split
from finchbot.agent.translate import Translator
from finchbot.events import (
    ContextCompacted,
    HistoryRepaired,
    MessageCompleted,
    ReasoningDelta,
    RunEvent,
    RunFinished,
    RunStarted,
    TextDelta,
    TextRetracted,
    ToolCallFinished,
    ToolCallOutput,
    ToolCallStarted,
    Usage,
)
from finchbot.ids import CallId, MessageId, RunId, ThreadId
from finchbot.tools.base import ToolOutcome
from tests.support.clock import CountedIds
from tests.support.event_laws import check_run

THREAD, RUN = ThreadId("thr_1"), RunId("run_1")
MINE = MessageId("msg_1")
FROM_MODEL = {"langgraph_node": "model"}

Item = tuple[str, Any]
pieces = st.lists(
    st.sampled_from(["<thi", "nk>", "</think>", "Hello", " ", "你", "\ud83d", "\ude00", "\n", "`"]),
    max_size=8,
)


def chunk(content: Any, **extra: Any) -> Item:
    return ("messages", (AIMessageChunk(content=content, **extra), FROM_MODEL))


def completed(answer: AIMessage) -> Item:
    return ("updates", {"model": {"messages": [answer]}})


def translated(items: list[Item]) -> list[RunEvent]:
    translator = Translator(THREAD, RUN)
    return [event for mode, item in items for event in translator.events(mode, item)]


def said(events: list[RunEvent]) -> tuple[str, str]:
    [whole] = [event for event in events if isinstance(event, MessageCompleted)]
    return whole.text, whole.reasoning


def lawful(events: list[RunEvent]) -> None:
    started = RunStarted(thread_id=THREAD, run_id=RUN, model="m")
    finished = RunFinished(thread_id=THREAD, run_id=RUN, usage=Usage())
    check_run(RUN, [started, *events, finished])


@st.composite
def steps(draw: st.DrawFn) -> list[Item]:
    """Return the stream of a run: steps of the model, each with tool calls that run at once."""
    items: list[Item] = []
    ids = CountedIds()
    for number in range(draw(st.integers(1, 3))):
        message_id = MessageId(f"msg_{number}")
        text = draw(pieces)
        items.append(("custom", StepBegan(message_id)))
        items += draw(st.sampled_from([_plain, _blocks, _whole]))(text, draw(st.booleans()))
        calls = [
            ToolCall(name="read", args={"n": at}, id=f"c{number}.{at}", type="tool_call")
            for at in range(draw(st.integers(0, 3)))
        ]
        raw = AIMessage("".join(text), tool_calls=calls)
        items.append(completed(settle(raw, [], message_id, ids)))
        items += draw(_tools([call["id"] or "" for call in calls]))
    return items


def _plain(text: list[str], thinks: bool) -> list[Item]:
    first = [chunk("", additional_kwargs={"reasoning_content": "hm"})] if thinks else []
    return [*first, *(chunk(piece) for piece in text)]


def _blocks(text: list[str], thinks: bool) -> list[Item]:
    first = [chunk([{"type": "thinking", "thinking": "hm"}])] if thinks else []
    return [*first, *(chunk([{"type": "text", "text": piece}]) for piece in text)]


def _whole(text: list[str], thinks: bool) -> list[Item]:
    return []


@st.composite
def _tools(draw: st.DrawFn, call_ids: list[str]) -> list[Item]:
    items: list[Item] = []
    for call_id in draw(st.permutations(call_ids)):
        for _ in range(draw(st.integers(0, 2))):
            items.append(("custom", ToolSaid(CallId(call_id), "…")))
        outcome = ToolOutcome("out", is_error=draw(st.booleans()))
        items.append(("custom", ToolAnswered(CallId(call_id), outcome, 0.5)))
        message = ToolMessage("out", tool_call_id=call_id)
        items.append(("messages", (message, {"langgraph_node": "tools"})))
        items.append(("updates", {"tools": {"messages": [message]}}))
    return items


@given(steps())
def test_any_stream_becomes_events_that_keep_the_laws(items: list[Item]) -> None:
    lawful(translated(items))


@given(steps())
def test_every_call_of_the_stream_starts_and_finishes_once(items: list[Item]) -> None:
    events = translated(items)
    started = [event.call_id for event in events if isinstance(event, ToolCallStarted)]
    finished = [event.call_id for event in events if isinstance(event, ToolCallFinished)]
    assert sorted(started) == sorted(finished)
    assert len(set(started)) == len(started)


@given(pieces, st.booleans())
def test_streamed_or_whole_blocks_or_text_the_message_says_the_same(
    text: list[str], blocks: bool
) -> None:
    whole = "".join(text).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    answer = settle(AIMessage("".join(text)), [], MINE, CountedIds())
    stream = (_blocks if blocks else _plain)(text, False)
    events = translated([("custom", StepBegan(MINE)), *stream, completed(answer)])
    expected = split(whole)
    assert said(events) == (expected.text, expected.reasoning)


def test_blocks_are_read_as_text_and_thoughts_never_as_a_list() -> None:
    events = translated(
        [
            ("custom", StepBegan(MINE)),
            chunk([{"type": "thinking", "thinking": "one "}]),
            chunk([{"type": "reasoning", "reasoning": "two "}]),
            chunk([{"type": "reasoning", "summary": [{"type": "summary_text", "text": "three"}]}]),
            chunk([{"type": "text", "text": "Hel"}, "lo"]),
            chunk([{"type": "image_url", "image_url": {}}, {"type": "input_json_delta"}]),
            completed(AIMessage("Hello", id=MINE)),
        ]
    )
    assert said(events) == ("Hello", "one two three")


def test_a_character_split_over_two_chunks_becomes_one_in_words_and_in_thoughts() -> None:
    events = translated(
        [
            ("custom", StepBegan(MINE)),
            chunk("", additional_kwargs={"reasoning_content": "a\ud83d"}),
            chunk("", additional_kwargs={"reasoning_content": "\ude00b\ud83d"}),
            chunk("c\ud83d"),
            chunk("\ude00d"),
            completed(AIMessage("c😀d", id=MINE)),
        ]
    )
    assert said(events) == ("c😀d", "a😀b\ufffd")
    lawful(events)


def test_a_lone_closing_tag_retracts_and_tells_the_thought_again() -> None:
    events = translated(
        [
            ("custom", StepBegan(MINE)),
            chunk("plan"),
            chunk("</think>"),
            chunk("Hi"),
            completed(AIMessage("Hi", id=MINE)),
        ]
    )
    kinds = [type(event) for event in events]
    assert kinds == [TextDelta, TextRetracted, ReasoningDelta, TextDelta, MessageCompleted]
    lawful(events)


def test_words_put_in_the_place_of_an_empty_answer_are_streamed_too() -> None:
    answer = words("nothing came", AIMessage("", id=MINE))
    events = translated([("custom", StepBegan(MINE)), chunk(" "), completed(answer)])
    assert [type(event) for event in events] == [TextDelta, MessageCompleted]
    assert said(events) == ("nothing came", "")


def test_a_message_is_completed_once_though_the_state_was_written_anew() -> None:
    answer = AIMessage("Hi", id=MINE)
    remade = [HumanMessage("q", id="q"), AIMessage("before", id="msg_0"), answer]
    update = {"model": [{"messages": [answer]}, {"messages": remade}]}
    events = translated([("custom", StepBegan(MINE)), chunk("Hi"), ("updates", update)])
    assert [event.type for event in events] == ["text.delta", "message.completed"]


def test_what_other_models_say_within_a_tool_is_not_the_answer() -> None:
    inner = ("messages", (AIMessageChunk(content="inner"), {"langgraph_node": "tools"}))
    assert translated([("custom", StepBegan(MINE)), inner]) == []


def test_an_empty_message_that_calls_tools_is_completed_before_they_start() -> None:
    call = ToolCall(name="read", args={"path": "x"}, id="c1", type="tool_call")
    done = ToolAnswered(CallId("c1"), ToolOutcome("out", diff="+x"), 0.5)
    events = translated(
        [
            ("custom", StepBegan(MINE)),
            completed(AIMessage("", id=MINE, tool_calls=[call])),
            ("custom", ToolSaid(CallId("c1"), "half")),
            ("custom", done),
        ]
    )
    ids = {"thread_id": THREAD, "run_id": RUN, "call_id": CallId("c1")}
    assert events == [
        MessageCompleted(thread_id=THREAD, run_id=RUN, message_id=MINE, text=""),
        ToolCallStarted.model_validate({**ids, "name": "read", "arguments": {"path": "x"}}),
        ToolCallOutput.model_validate({**ids, "text": "half"}),
        ToolCallFinished.model_validate(
            {**ids, "output": "out", "is_error": False, "elapsed_s": 0.5, "diff": "+x"}
        ),
    ]


def test_notices_become_events() -> None:
    repaired, compacted = translated(
        [("custom", Mended(("result_added",))), ("custom", Shortened(30, 10))]
    )
    assert isinstance(repaired, HistoryRepaired)
    assert repaired.changes == ("result_added",)
    assert isinstance(compacted, ContextCompacted)
    assert (compacted.before_tokens, compacted.after_tokens) == (30, 10)


def test_tokens_of_all_calls_are_added_up() -> None:
    translator = Translator(THREAD, RUN)
    for number in (1, 2):
        mid = MessageId(f"msg_{number}")
        translator.events("custom", StepBegan(mid))
        told: Any = {
            "input_tokens": 10,
            "output_tokens": number,
            "total_tokens": 10 + number,
            "input_token_details": {"cache_read": 4},
        }
        translator.events(*completed(AIMessage("x", id=mid, usage_metadata=told)))
    assert translator.usage == Usage(input_tokens=20, output_tokens=3, cached_tokens=8)
