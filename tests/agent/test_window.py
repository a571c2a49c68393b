import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage

from finchbot.agent.repair import repair
from finchbot.agent.tokens import tokens_of, tokens_of_all, tokens_of_text
from finchbot.agent.window import KEEP, OUTPUT_REMOVED, Limits, fit
from tests.agent.histories import valid_histories


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("four", 1), ("fours", 2), ("你好", 2), ("你好 abc", 3), ("한국어", 3)],
)
def test_a_wide_character_is_a_token_and_four_others_are_one(text: str, tokens: int) -> None:
    assert tokens_of_text(text) == tokens


@given(st.text(), st.text())
def test_more_text_never_takes_fewer_tokens(one: str, two: str) -> None:
    assert tokens_of_text(one + two) >= max(tokens_of_text(one), tokens_of_text(two))


def test_calls_and_thoughts_count() -> None:
    call = ToolCall(name="write", args={"content": "x" * 400}, id="c1", type="tool_call")
    assert tokens_of(AIMessage("", tool_calls=[call])) > 100
    assert tokens_of(AIMessage("", additional_kwargs={"reasoning_content": "x" * 400})) > 100


@given(valid_histories(), st.integers(1, 200), st.integers(1, 40))
def test_a_smaller_view_is_a_valid_history_that_ends_with_the_turn_under_way(
    history: list[BaseMessage], tokens: int, messages: int
) -> None:
    window = fit(history, Limits(tokens, messages))
    if window is None:
        return
    assert window.after_tokens == tokens_of_all(window.messages) < window.before_tokens
    assert repair(window.messages).changes == ()
    last = max(at for at, message in enumerate(history) if isinstance(message, HumanMessage))
    newest = history[last:]
    assert [m.id for m in window.messages[-len(newest) :]] == [m.id for m in newest]
    whole = [m for m in window.messages if m.content != OUTPUT_REMOVED]
    assert all(message in history for message in whole)


def turns(number: int, size: int = 396) -> list[BaseMessage]:
    talk: list[BaseMessage] = []
    for turn in range(number):
        talk += [HumanMessage(f"{turn}", id=f"q{turn}"), AIMessage("x" * size, id=f"a{turn}")]
    return talk


def test_a_talk_within_the_limits_is_left_alone() -> None:
    assert fit(turns(8), Limits(tokens=1000)) is None


def test_over_the_limit_old_turns_go_until_there_is_room_for_many_more() -> None:
    limits = Limits(tokens=1000)
    window = fit(turns(10), limits)
    assert window is not None
    assert window.after_tokens <= limits.tokens * KEEP
    grown = [*window.messages, *turns(3)]
    assert fit(grown, limits) is None, "the very next turn is cut again"


def test_too_many_messages_are_too_much_as_well() -> None:
    window = fit(turns(11, size=4), Limits(messages=20))
    assert window is not None
    assert len(window.messages) == 12


def test_a_turn_that_alone_is_too_long_loses_its_old_tool_outputs_first() -> None:
    def step(number: int) -> list[BaseMessage]:
        call = ToolCall(name="read", args={}, id=f"c{number}", type="tool_call")
        return [
            AIMessage("", tool_calls=[call]),
            ToolMessage("x" * 4000, tool_call_id=f"c{number}"),
        ]

    talk = [HumanMessage("read all"), *step(1), *step(2), *step(3)]
    window = fit(talk, Limits(tokens=2500))
    assert window is not None
    outputs = [m.content for m in window.messages if isinstance(m, ToolMessage)]
    assert outputs == [OUTPUT_REMOVED, OUTPUT_REMOVED, "x" * 4000]


def test_one_question_too_long_is_not_cut() -> None:
    assert fit([HumanMessage("x" * 8000)], Limits(tokens=1000)) is None
