"""A valid history leaves in a form that the strictest provider takes."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from finchbot.providers.openai_history import EXTRA, NO_OUTPUT, REASONING, call_ids, to_wire
from tests.support.strict_history import check_history

WORDS = st.text(min_size=1, max_size=12).filter(str.strip)
MAYBE = st.sampled_from(["", " ", "\n", "words", "字"])
ARGUMENTS = st.dictionaries(st.text(max_size=6), st.text(max_size=12) | st.integers(), max_size=3)
TEXT_BLOCKS: st.SearchStrategy[list[str | dict[Any, Any]]] = st.lists(
    WORDS.map(lambda said: {"type": "text", "text": said}), min_size=1
)


@st.composite
def turns(draw: st.DrawFn) -> list[BaseMessage]:
    """Return valid turns, ending where a model is asked; answers may be missing or empty."""
    messages: list[BaseMessage] = []
    if draw(st.booleans()):
        messages.append(SystemMessage(draw(WORDS)))
    number = 0
    for _ in range(draw(st.integers(min_value=1, max_value=4))):
        messages.append(HumanMessage(draw(WORDS | TEXT_BLOCKS)))
        for _ in range(draw(st.integers(min_value=0, max_value=2))):
            count = draw(st.integers(min_value=1, max_value=3))
            ids = [f"call_{number + n}" for n in range(count)]
            number += count
            calls = [{"id": i, "name": draw(MAYBE), "args": draw(ARGUMENTS)} for i in ids]
            messages.append(AIMessage(draw(MAYBE), tool_calls=calls))
            messages += [ToolMessage(draw(MAYBE), tool_call_id=i) for i in ids]
        if draw(st.booleans()):
            messages.append(AIMessage(draw(MAYBE | TEXT_BLOCKS)))
    return [*messages, HumanMessage(draw(WORDS))]


@given(turns(), st.sampled_from(["nothing", "reasoning", "extra"]))
def test_a_valid_history_passes_the_strict_checker(history: list[BaseMessage], echo: Any) -> None:
    before = copy.deepcopy(history)
    wire = to_wire(history, echo=echo)
    check_history(wire)
    assert history == before


@given(turns())
def test_nothing_that_was_said_is_lost(history: list[BaseMessage]) -> None:
    wire = json.dumps(to_wire(history), ensure_ascii=False)
    for message in history:
        if isinstance(message.content, str) and message.content.strip():
            assert json.dumps(message.content, ensure_ascii=False)[1:-1] in wire
    assert all(f'"{call_id}"' in wire for call_id in call_ids(history))


def calling(**fields: Any) -> list[BaseMessage]:
    call = {"id": "c1", "name": "f", "args": {"x": "é"}}
    return [
        HumanMessage("hi"),
        AIMessage("", tool_calls=[call], **fields),
        ToolMessage("done", tool_call_id="c1"),
    ]


def test_reasoning_goes_back_only_where_it_is_demanded_and_only_with_calls() -> None:
    thought = {REASONING: "hm"}
    history = [*calling(additional_kwargs=thought), AIMessage("a", additional_kwargs=thought)]
    assert all(REASONING not in message for message in to_wire(history))
    echoed = to_wire(history, echo="reasoning")
    assert [message.get(REASONING) for message in echoed] == [None, "hm", None, None]


def test_reasoning_that_nobody_kept_is_not_left_out() -> None:
    assert to_wire(calling(), echo="reasoning")[1][REASONING]


def test_what_came_with_a_call_goes_back_with_it_only_where_it_is_wanted() -> None:
    history = calling(additional_kwargs={EXTRA: {"c1": {"google": "sig"}}})
    assert to_wire(history, echo="extra")[1]["tool_calls"][0][EXTRA] == {"google": "sig"}
    assert EXTRA not in to_wire(history)[1]["tool_calls"][0]


def test_empty_results_are_named_and_empty_answers_left_out() -> None:
    history = [*calling(), AIMessage("  "), HumanMessage("go on")]
    history[2] = ToolMessage("", tool_call_id="c1")
    wire = to_wire(history)
    assert [m["role"] for m in wire] == ["user", "assistant", "tool", "user"]
    assert wire[2]["content"] == NO_OUTPUT


def test_neighbours_of_one_role_are_joined() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
    wire = to_wire([HumanMessage("one"), HumanMessage("two"), HumanMessage([picture])])
    assert wire == [
        {"role": "user", "content": [{"type": "text", "text": "one\n\ntwo"}, picture]},
    ]


def test_blocks_of_an_answer_leave_as_their_words() -> None:
    blocks: list[str | dict[str, Any]] = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "Hello"},
        " you",
    ]
    assert to_wire([HumanMessage("hi"), AIMessage(blocks)])[1]["content"] == "Hello you"


def test_a_message_of_no_known_role_is_refused() -> None:
    with pytest.raises(TypeError):
        to_wire([BaseMessage(content="hi", type="odd")])
