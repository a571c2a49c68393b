"""The plan of a turn: one call per request, in order, and then an answer."""

from hypothesis import given
from hypothesis import strategies as st

from finchbot.providers.builtin.intents import REQUIRED, Intent, Kind
from finchbot.providers.builtin.plan import TITLE_CHARS, Call, Result, next_call, tool_of

ALL_TOOLS = frozenset(filter(None, map(tool_of, Kind)))
INTENTS = st.lists(
    st.builds(
        lambda kind: Intent(kind, "en-US", dict.fromkeys(REQUIRED.get(kind, ()), "x")),
        st.sampled_from(Kind),
    ),
    min_size=1,
    max_size=3,
)


@given(INTENTS, st.sets(st.sampled_from(sorted(ALL_TOOLS))), st.integers(0, 3))
def test_a_turn_always_ends(intents: list[Intent], tools: set[str], fails_at: int) -> None:
    results: list[Result] = []
    while call := next_call(intents, results, tools):
        assert call.name in tools
        results.append(Result(call.name, "", failed=len(results) == fails_at))
    assert len(results) <= len(intents)
    assert not any(result.failed for result in results[:-1])


def test_calls_carry_the_arguments_the_tools_take() -> None:
    calls = {
        Kind.LIST_FILES: Call("list_dir", {"path": "."}),
        Kind.READ_FILE: Call("read_file", {"path": "x"}),
        Kind.WRITE_FILE: Call("write_file", {"path": "x", "content": "x"}),
        Kind.RENAME_CHAT: Call("session_title", {"action": "set", "title": "x"}),
        Kind.REMEMBER: Call("remember", {"text": "x"}),
        Kind.RECALL: Call("recall", {"query": "x"}),
        Kind.FORGET: Call("forget", {"pattern": "x"}),
        Kind.WEB_SEARCH: Call("web_search", {"query": "x"}),
        Kind.READ_PAGE: Call("web_extract", {"urls": ["x"]}),
        Kind.RUN_COMMAND: Call("exec", {"command": "x"}),
    }
    for kind, call in calls.items():
        intent = Intent(kind, "en-US", dict.fromkeys(REQUIRED.get(kind, ()), "x"))
        assert next_call([intent], [], ALL_TOOLS) == call


def test_a_title_is_no_longer_than_the_tool_takes() -> None:
    intent = Intent(Kind.RENAME_CHAT, "en-US", {"title": "long  " * 100})
    call = next_call([intent], [], ALL_TOOLS)
    assert call is not None
    assert len(str(call.arguments["title"])) <= TITLE_CHARS


def test_nothing_is_called_while_something_is_missing() -> None:
    assert next_call([Intent(Kind.WRITE_FILE, "en-US", {"path": "a"})], [], ALL_TOOLS) is None
