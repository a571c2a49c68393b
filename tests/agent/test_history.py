from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from finchbot.agent.history import before_run, fits, from_first_question, question, to_history
from finchbot.agent.repair import repair
from finchbot.ids import CallId, MessageId, RunId, UploadId
from finchbot.messages import (
    AttachmentPart,
    Message,
    Part,
    ReasoningPart,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from tests.support.clock import FakeClock


def message(mid: str, role: Role, run: str, *parts: Part) -> Message:
    return Message(
        id=MessageId(mid), role=role, parts=parts, run_id=RunId(run), created_at=FakeClock()()
    )


def turn(number: int, *, tool: bool = False) -> list[Message]:
    run = f"r{number}"
    asked = message(f"q{number}", "user", run, TextPart(text="ask"))
    answered = message(f"a{number}", "assistant", run, TextPart(text="answer"))
    if not tool:
        return [asked, answered]
    call = ToolCallPart(call_id=CallId(f"c{number}"), name="read", arguments={"path": "x"})
    result = ToolResultPart(call_id=CallId(f"c{number}"), output="", is_error=True)
    step = message(f"s{number}", "assistant", run, ReasoningPart(text="hm"), call)
    return [asked, step, message(f"t{number}", "tool", run, result), answered]


def talk(number: int) -> list[Message]:
    return [m for at in range(number) for m in turn(at, tool=at % 2 == 0)]


def test_the_record_becomes_a_valid_history_with_the_same_ids() -> None:
    history = to_history(talk(2))
    assert [m.id for m in history if not isinstance(m, ToolMessage)] == [
        "q0",
        "s0",
        "a0",
        "q1",
        "a1",
    ]
    assert repair(history).changes == ()
    step, result = history[1], history[2]
    assert isinstance(step, AIMessage)
    assert step.tool_calls == [
        {"name": "read", "args": {"path": "x"}, "id": "c0", "type": "tool_call"}
    ]
    assert step.additional_kwargs == {"reasoning_content": "hm"}
    assert isinstance(result, ToolMessage)
    assert (result.content, result.status) == ("(no output)", "error")


def test_an_answer_that_never_got_a_word_is_left_out() -> None:
    stopped = [*turn(0)[:1], message("a0", "assistant", "r0", ReasoningPart(text="hm"))]
    assert [m.id for m in to_history(stopped)] == ["q0"]


def test_a_question_names_its_attachments() -> None:
    attached = AttachmentPart(
        upload_id=UploadId("u"), name="a.pdf", media_type="application/pdf", size=3
    )
    asked = question(message("q0", "user", "r0", TextPart(text="read it"), attached))
    assert asked.content == "read it\n[attached: a.pdf, application/pdf, 3 bytes]"


def test_a_question_sent_during_a_run_stands_after_that_run() -> None:
    first, second, third = turn(0), turn(1), turn(2)
    record = [first[0], second[0], third[0], first[1]]
    assert before_run(record, RunId("r1")) == first
    assert before_run([*record, second[1]], RunId("r2")) == [*first, *second]


@given(st.integers(0, 6), st.integers(0, 14))
def test_a_desk_made_of_the_record_s_last_turns_fits(number: int, start: int) -> None:
    record = talk(number)
    desk = to_history(from_first_question(record[min(start, len(record)) :]))
    tail = record[-5:]
    assert fits(desk, tail, whole=len(record) <= 5) == (bool(desk) or not record)


@given(st.integers(1, 6), st.integers(1, 14), st.integers(1, 5))
def test_a_desk_that_ends_elsewhere_does_not_fit(number: int, cut: int, tail: int) -> None:
    record = talk(number)
    shorter = record[: max(0, len(record) - cut)]
    assert not fits(to_history(shorter), record[-tail:], whole=len(record) <= tail)
    assert not fits(to_history(record), shorter[-tail:], whole=len(shorter) <= tail)


def test_a_desk_with_a_changed_answer_does_not_fit() -> None:
    desk = [HumanMessage("ask", id="q1"), AIMessage("other", id="other")]
    assert not fits(desk, turn(1), whole=True)
