from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from finchbot.agent.context import OVERRIDES, ContextBuilder, Definition, Surroundings
from finchbot.agent.prompt_files import PromptFiles
from tests.support.golden import Golden

ROOT = Path(__file__).resolve().parents[2]
ZURICH = timezone(timedelta(hours=1), "CET")
WHERE = Surroundings(
    now=datetime(2026, 12, 1, 9, 41, tzinfo=ZURICH),
    system="Linux x86_64",
    python="3.11.7",
    workspace="/home/ada/.finchbot/workspace",
    language="zh-CN",
)
TOOLS: list[Definition] = [
    {"type": "function", "function": {"name": "read_file", "description": "Read.\nMore."}},
    {"type": "function", "function": {"name": "list_dir", "description": "List."}},
]
FILES = {name: f"<{name}>" for name in OVERRIDES if name != "TOOLS.md"}


def test_the_prompt_is_the_golden_one(golden: Golden, tmp_path: Path) -> None:
    files = PromptFiles(ROOT / "bootstrap", tmp_path).read()
    golden("prompt.md", ContextBuilder().build(files, TOOLS, WHERE) + "\n")


def test_the_parts_come_in_one_fixed_order() -> None:
    prompt = ContextBuilder().build(FILES, TOOLS, WHERE)
    marks = [
        "<SYSTEM.md>",
        "<MEMORY_GUIDE.md>",
        "<SOUL.md>",
        "<AGENT_CONFIG.md>",
        "`read_file`",
        "Today",
    ]
    places = [prompt.index(mark) for mark in marks]
    assert places == sorted(places)


@given(st.integers(0, 23), st.integers(0, 59))
def test_within_a_day_the_prompt_never_changes(hour: int, minute: int) -> None:
    later = replace(WHERE, now=WHERE.now.replace(hour=hour, minute=minute))
    build = ContextBuilder().build
    assert build(FILES, TOOLS, later) == build(FILES, TOOLS, WHERE)


def test_what_changes_from_day_to_day_is_the_last_line() -> None:
    build = ContextBuilder().build
    today = build(FILES, TOOLS, WHERE).splitlines()
    later = replace(WHERE, now=datetime(2027, 1, 2, tzinfo=UTC).astimezone(ZURICH))
    assert build(FILES, TOOLS, later).splitlines()[:-1] == today[:-1]
    assert today[-1] == "- Today: Tuesday, 2026-12-01"


def test_a_user_s_tool_documentation_stands_for_the_written_one() -> None:
    prompt = ContextBuilder().build({**FILES, "TOOLS.md": "my own words"}, TOOLS, WHERE)
    assert "my own words" in prompt
    assert "`read_file`" not in prompt


def test_a_blank_file_leaves_no_gap() -> None:
    prompt = ContextBuilder().build({**FILES, "SOUL.md": " \n"}, [], WHERE)
    assert "\n\n\n" not in prompt
