import pytest
from hypothesis import given
from hypothesis import strategies as st

from finchbot.cli.commands import Command, Unknown, read_line


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("", ""),
        ("  hello \n", "hello"),
        ("/help", Command("help")),
        ("/? ", Command("help")),
        ("/q", Command("quit")),
        ("/exit", Command("quit")),
        ("/open  3 ", Command("open", "3")),
        ("/stop", Command("stop")),
        ("/nonsense", Unknown("nonsense")),
        ("/nonsense a b", Unknown("nonsense")),
        ("/etc/hosts 是什么？", "/etc/hosts 是什么？"),
        ("/ help", "/ help"),
        ("//help", "//help"),
        ("3/4 of it", "3/4 of it"),
        ("/Users is where?", "/Users is where?"),
    ],
)
def test_a_line_is_an_order_or_a_message(line: str, meant: Command | Unknown | str) -> None:
    assert read_line(line) == meant


@given(line=st.text().filter(lambda line: not line.strip().startswith("/")))
def test_what_does_not_begin_with_a_slash_is_said_as_it_is(line: str) -> None:
    assert read_line(line) == line.strip()
