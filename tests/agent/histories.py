"""Strategies for histories of every kind of brokenness."""

from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    InvalidToolCall,
    SystemMessage,
    ToolCall,
    ToolMessage,
)

texts = st.sampled_from(["", " ", "hi", "读文件", "a\n\nb"])
blocks = st.lists(st.builds(lambda text: {"type": "text", "text": text}, texts), max_size=2)
contents = st.one_of(texts, blocks)
call_ids = st.sampled_from(["", "c1", "c2", "c3"])
message_ids = st.one_of(st.none(), st.sampled_from(["m1", "m2", "m3"]))
names = st.sampled_from(["read_file", "", "bad name", "x" * 80, "文件"])
arguments = st.sampled_from([{}, {"path": "a"}, {"n": [1]}])

calls = st.builds(lambda n, a, i: ToolCall(name=n, args=a, id=i), names, arguments, call_ids)
invalid_calls = st.builds(
    lambda n, i: InvalidToolCall(name=n, args='{"cut', id=i, error=None, type="invalid_tool_call"),
    names,
    call_ids,
)
humans = st.builds(lambda content, mid: HumanMessage(content, id=mid), contents, message_ids)
answers = st.builds(
    lambda content, mid, given, invalid: AIMessage(
        content, id=mid, tool_calls=given, invalid_tool_calls=invalid
    ),
    contents,
    message_ids,
    st.lists(calls, max_size=3),
    st.lists(invalid_calls, max_size=1),
)
results = st.builds(
    lambda content, call_id, mid: ToolMessage(content, tool_call_id=call_id, id=mid),
    contents,
    call_ids,
    message_ids,
)
strangers = st.builds(SystemMessage, st.just("sys"))
histories: st.SearchStrategy[list[BaseMessage]] = st.lists(
    st.one_of(humans, answers, results, strangers), max_size=10
)


@st.composite
def valid_histories(draw: st.DrawFn) -> list[BaseMessage]:
    """Return a history with nothing to mend: turns of a question, tool steps and an answer."""
    history: list[BaseMessage] = []
    for turn in range(draw(st.integers(1, 4))):
        history.append(HumanMessage(f"question {turn}", id=f"q{turn}"))
        for step in range(draw(st.integers(0, 2))):
            ids = [f"c{turn}.{step}.{at}" for at in range(draw(st.integers(1, 3)))]
            made = [ToolCall(name="read", args={"n": at}, id=at, type="tool_call") for at in ids]
            history.append(AIMessage(draw(texts), id=f"s{turn}.{step}", tool_calls=made))
            history += [ToolMessage(f"out {at}", tool_call_id=at, id=f"r{at}") for at in ids]
        history.append(AIMessage(f"answer {turn}", id=f"a{turn}"))
    return history
