from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    ToolCall,
    ToolMessage,
    convert_to_openai_messages,
)

from finchbot.agent.repair import NO_RESULT, alternating, repair
from finchbot.messages import INVALID_ARGUMENTS
from finchbot.providers.openai_history import to_wire
from finchbot.providers.questions import newest
from tests.agent.histories import histories, valid_histories
from tests.support.strict_history import check_history

ASK = HumanMessage("go on", id="ask")


def call(call_id: str, name: str = "read") -> ToolCall:
    return ToolCall(name=name, args={}, id=call_id, type="tool_call")


def wire(messages: list[BaseMessage]) -> list[dict[str, object]]:
    converted = convert_to_openai_messages(alternating(messages))
    assert isinstance(converted, list)
    return converted


@given(histories)
def test_any_list_of_messages_becomes_a_history_the_strictest_provider_takes(
    history: list[BaseMessage],
) -> None:
    check_history(wire(repair([*history, ASK]).messages))


@given(histories)
def test_a_mended_history_needs_no_more_mending(history: list[BaseMessage]) -> None:
    once = repair(history)
    again = repair(once.messages)
    assert again.changes == ()
    assert again.messages == once.messages


@given(valid_histories())
def test_a_correct_history_comes_back_unchanged(history: list[BaseMessage]) -> None:
    repaired = repair(history)
    assert repaired.changes == ()
    assert repaired.messages == history
    assert alternating(history) == history


@given(valid_histories(), st.data())
def test_whatever_is_lost_from_a_history_it_stays_valid(
    history: list[BaseMessage], data: st.DataObject
) -> None:
    kept = data.draw(st.lists(st.sampled_from(range(len(history))), unique=True))
    broken = [history[at] for at in kept]
    check_history(wire(repair([*broken, ASK]).messages))


@given(valid_histories(), st.integers(0, 40))
def test_a_history_cut_anywhere_keeps_all_that_was_said_before(
    history: list[BaseMessage], end: int
) -> None:
    cut = history[: max(1, end % (len(history) + 1))]
    repaired = repair(cut)
    assert set(repaired.changes) <= {"result_added"}
    assert [message for message in repaired.messages if message in cut] == cut


def test_a_call_without_a_result_gets_one_that_says_so() -> None:
    asked = AIMessage("", tool_calls=[call("c1"), call("c2")])
    answered = ToolMessage("out", tool_call_id="c2")
    repaired = repair([HumanMessage("hi"), asked, answered, HumanMessage("hello?")])
    assert repaired.changes == ("result_added",)
    assert [m.content for m in repaired.messages] == ["hi", "", NO_RESULT, "out", "hello?"]


def test_a_result_that_strayed_is_moved_behind_its_call() -> None:
    asked = AIMessage("", tool_calls=[call("c1")])
    strayed = ToolMessage("out", tool_call_id="c1")
    repaired = repair([HumanMessage("hi"), asked, HumanMessage("hello?"), strayed])
    assert repaired.changes == ("result_moved",)
    assert [m.type for m in repaired.messages] == ["human", "ai", "tool", "human"]


def test_results_in_another_order_are_put_in_the_order_of_the_calls() -> None:
    asked = AIMessage("", tool_calls=[call("c1"), call("c2")])
    two, one = ToolMessage("2", tool_call_id="c2"), ToolMessage("1", tool_call_id="c1")
    repaired = repair([HumanMessage("hi"), asked, two, one])
    assert [m.content for m in repaired.messages[2:]] == ["1", "2"]


def test_a_result_of_no_call_and_a_second_result_are_dropped() -> None:
    asked = AIMessage("", tool_calls=[call("c1")])
    results = [
        ToolMessage(text, tool_call_id=i) for text, i in (("a", "c1"), ("b", "c1"), ("c", "x"))
    ]
    repaired = repair([HumanMessage("hi"), asked, *results])
    assert repaired.changes == ("result_dropped",)
    assert [m.content for m in repaired.messages] == ["hi", "", "a"]


def test_an_id_used_by_two_calls_is_given_anew_with_its_result() -> None:
    steps: list[BaseMessage] = [
        message
        for text in ("1", "2")
        for message in (
            AIMessage("", tool_calls=[call("c1")]),
            ToolMessage(text, tool_call_id="c1"),
        )
    ]
    repaired = repair([HumanMessage("hi"), *steps])
    asked = [m.tool_calls[0]["id"] for m in repaired.messages if isinstance(m, AIMessage)]
    answered = [m.tool_call_id for m in repaired.messages if isinstance(m, ToolMessage)]
    assert asked == answered
    assert len(set(asked)) == 2
    assert "id_renamed" in repaired.changes


def test_arguments_that_are_no_object_are_kept_raw_inside_one() -> None:
    cut = AIMessage(
        "",
        invalid_tool_calls=[{"name": "exec", "args": '{"command": "cd', "id": "c1", "error": None}],
    )
    repaired = repair([HumanMessage("hi"), cut, ToolMessage("bad", tool_call_id="c1")])
    mended = repaired.messages[1]
    assert isinstance(mended, AIMessage)
    assert mended.tool_calls[0]["args"] == {INVALID_ARGUMENTS: '{"command": "cd'}
    assert repaired.changes == ("call_mended",)


def test_two_questions_in_a_row_are_shown_as_one_and_kept_as_two() -> None:
    history: list[BaseMessage] = [HumanMessage("first", id="1"), HumanMessage("second", id="2")]
    assert repair(history).messages == history
    [seen] = alternating(history)
    assert (seen.content, seen.id) == ("first\n\nsecond", "2")
    assert isinstance(seen, HumanMessage)
    assert newest(seen) == "second"


def test_of_questions_in_a_row_the_last_is_the_newest_whatever_it_is_made_of() -> None:
    last = HumanMessage([{"type": "text", "text": "third"}, {"type": "image_url", "image_url": ""}])
    [seen] = alternating([HumanMessage("first"), HumanMessage("second"), last])
    assert isinstance(seen, HumanMessage)
    assert newest(seen) == "third"
    assert newest(last) is None


@given(histories)
def test_what_stands_beside_a_question_never_goes_over_the_wire(history: list[BaseMessage]) -> None:
    view = alternating([*repair(history).messages, ASK, HumanMessage("now")])
    bare = [message.model_copy(update={"additional_kwargs": {}}) for message in view]
    assert to_wire(view) == to_wire(bare)
