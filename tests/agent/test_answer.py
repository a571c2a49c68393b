import json

import pytest
from hypothesis import given
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage

from finchbot.agent.answer import settle
from finchbot.agent.repair import repair
from finchbot.ids import MessageId
from finchbot.messages import INVALID_ARGUMENTS
from tests.agent.histories import answers
from tests.support.clock import CountedIds

MINE = MessageId("msg_1")


def settled(answer: AIMessage, *history: BaseMessage) -> AIMessage:
    return settle(answer, history, MINE, CountedIds())


@given(answers)
def test_a_settled_answer_and_its_results_are_history_without_mending(answer: AIMessage) -> None:
    kept = settled(answer)
    results = [ToolMessage("out", tool_call_id=call["id"] or "") for call in kept.tool_calls]
    silent = not kept.tool_calls and not kept.text.strip()
    if not silent:
        assert repair([HumanMessage("hi"), kept, *results]).changes == ()


def test_an_id_taken_in_the_history_is_given_anew() -> None:
    call = ToolCall(name="read", args={}, id="call_0", type="tool_call")
    before = AIMessage("", tool_calls=[call])
    [again] = settled(AIMessage("", tool_calls=[call]), before).tool_calls
    assert again["id"] == "call_0001"


@pytest.mark.parametrize("raw", ['{"command": "cd /x', "", "[1]"])
def test_unreadable_arguments_become_an_object_that_holds_them(raw: str) -> None:
    invalid = {"name": "exec", "args": raw, "id": "c1", "error": None}
    [call] = settled(AIMessage("", invalid_tool_calls=[invalid])).tool_calls
    assert call["args"] == {INVALID_ARGUMENTS: raw}


@pytest.mark.parametrize("value", [10**30, -(2**63) - 1, [[[{"a": [10**19]}]]]])
def test_a_number_too_wide_to_keep_makes_arguments_invalid(value: object) -> None:
    call = ToolCall(name="exec", args={"n": value}, id="c1", type="tool_call")
    [kept] = settled(AIMessage("", tool_calls=[call])).tool_calls
    assert list(kept["args"]) == [INVALID_ARGUMENTS]


def test_arguments_nested_too_deeply_to_keep_are_invalid() -> None:
    deep: dict[str, object] = {}
    for _ in range(400):
        deep = {"a": deep}
    call = ToolCall(name="exec", args=deep, id="c1", type="tool_call")
    [kept] = settled(AIMessage("", tool_calls=[call])).tool_calls
    assert list(kept["args"]) == [INVALID_ARGUMENTS]


def test_what_a_provider_adds_is_kept_as_far_as_it_can_be_written() -> None:
    raw = AIMessage(
        [{"type": "text", "text": "Hello"}, {"type": "odd", "n": 10**30}],
        additional_kwargs={"signature": "s", "wide": 10**30},
        response_metadata={"wide": 10**30},
        usage_metadata={"input_tokens": 10**30, "output_tokens": 1, "total_tokens": 10**30},
    )
    kept = settled(raw)
    assert kept.content == [{"type": "text", "text": "Hello"}]
    assert kept.additional_kwargs == {"signature": "s"}
    assert (kept.response_metadata, kept.usage_metadata) == ({}, None)


def test_a_call_without_a_name_gets_one_that_providers_take() -> None:
    nameless = ToolCall(name="", args={}, id="c1", type="tool_call")
    odd = ToolCall(name="read file!", args={}, id="c2", type="tool_call")
    calls = settled(AIMessage("", tool_calls=[nameless, odd])).tool_calls
    assert [call["name"] for call in calls] == ["unnamed_tool", "read_file_"]


def test_thoughts_leave_the_text_and_stay_beside_it() -> None:
    kept = settled(AIMessage("<think>plan</think>Hello"))
    assert kept.content == "Hello"
    assert kept.additional_kwargs == {"reasoning_content": "plan"}


def test_the_provider_s_own_thoughts_are_kept_for_the_requests_that_follow() -> None:
    kept = settled(AIMessage("Hello", additional_kwargs={"reasoning_content": "plan"}))
    assert kept.additional_kwargs == {"reasoning_content": "plan"}


def test_copies_of_the_calls_are_left_out_and_blocks_with_words_stay() -> None:
    thinking = {"type": "thinking", "thinking": "x", "signature": "s"}
    text = {"type": "text", "text": "Hello"}
    use = {"type": "tool_use", "id": "c1", "name": "read", "input": {}}
    call = ToolCall(name="read", args={}, id="c1", type="tool_call")
    raw = AIMessage(
        [thinking, text, {"type": "text", "text": " "}, use],
        tool_calls=[call],
        additional_kwargs={"tool_calls": [{"id": "c1"}]},
    )
    kept = settled(raw)
    assert kept.content == [thinking, text]
    assert kept.additional_kwargs == {}


def test_split_characters_can_be_written_to_disk() -> None:
    call = ToolCall(name="write", args={"content": "\ud83d"}, id="c1", type="tool_call")
    kept = settled(AIMessage("\ud83d\ude00", tool_calls=[call]))
    assert kept.content == "😀"
    json.dumps(kept.tool_calls, ensure_ascii=False).encode()
