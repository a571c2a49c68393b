import json
import subprocess
import sys

import pytest

from finchbot import __version__
from tests.cli.conftest import ROOT, Program

HEAVY = ("pydantic", "gradio", "langchain", "langchain_core", "langgraph", "streamlit", "fastapi",
         "openai", "aiosqlite", "anyio", "finchbot.compose", "finchbot.events")  # fmt: skip


@pytest.mark.parametrize("words", [["--help"], ["chat", "--help"], ["version"], ["chat", "--foo"]])
def test_what_needs_no_bot_loads_nothing_heavy(words: list[str]) -> None:
    code = (
        "import json, sys\n"
        "from finchbot.cli.main import main\n"
        "try:\n"
        f"    main({words!r})\n"
        "except SystemExit:\n"
        "    pass\n"
        f"print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))\n"
    )
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert json.loads(done.stdout.splitlines()[-1]) == []


@pytest.mark.parametrize(
    ("words", "fragment"),
    [
        (["chatt"], "chatt"),
        (["--home", "x", "chat"], "--home"),
        (["chat", "--bar"], "--bar"),
        (["chat", "extra"], "extra"),
        (["chat", "--port", "1"], "--port"),
        (["chat", "-m"], "--message"),
        (["chat", "--json=1"], "--json"),
        (["chat", "--help=1"], "--help"),
        (["chat", "--new", "--thread", "thr_1"], "--thread"),
        (["serve", "--port", "many"], "--port"),
        (["serve", "--por", "1"], "--por"),
        (["version", "--model", "x"], "--model"),
    ],
)
def test_wrong_usage_is_one_sentence_and_code_2(
    words: list[str], fragment: str, program: Program
) -> None:
    done = program(*words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert fragment in done.stderr
    assert done.stderr.count("\n") == 1


def test_no_command_shows_the_commands_and_is_wrong_usage(program: Program) -> None:
    done = program()
    assert (done.returncode, done.stdout) == (2, "")
    assert "serve" in done.stderr


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["chat", "-h"], ["serve", "--help"]])
def test_help_goes_to_standard_output(words: list[str], program: Program) -> None:
    done = program(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Usage: python -m finchbot")
    assert not program.home.exists()


@pytest.mark.parametrize(
    ("words", "environ"),
    [
        (["chat", "--help", "--lang", "zh-CN"], {}),
        (["chat", "--help", "--lang=zh-SG"], {}),
        (["chat", "--help"], {"FINCHBOT_LANG": "zh-CN"}),
        (["chat", "--help"], {"LANG": "zh_CN.UTF-8"}),
    ],
)
def test_help_speaks_the_readers_language(
    words: list[str], environ: dict[str, str], program: Program
) -> None:
    shown = program(*words, **environ).stdout
    assert shown.startswith("用法：")
    assert "继续这个编号的对话" in shown
    for english in ("options", "show this", "usage"):
        assert english not in shown


def test_the_version_is_told_to_people_and_programs(program: Program) -> None:
    assert program("version").stdout == f"FinchBot {__version__}\n"
    told = json.loads(program("version", "--json").stdout)
    assert told == {"name": "FinchBot", "version": __version__}


def test_a_program_that_reads_json_gets_its_error_as_json(program: Program) -> None:
    done = program("version", "--jsonn", "--json")
    told = json.loads(done.stdout)
    assert done.returncode == 2
    assert (told["type"], told["code"]) == ("error", "cli.unknown_option")
    assert told["params"]["word"] == "--jsonn"
    assert done.stderr == f"{told['detail']}\n"


def test_a_fault_of_our_own_is_a_sentence_and_a_file_without_its_message(
    program: Program,
) -> None:
    code = (
        "import os, sys\n"
        "from finchbot.cli.main import main\n"
        "main(['version'])\n"
        "raise RuntimeError('sk-secret')\n"
    )
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=program.environ | {"TMPDIR": str(program.home.parent)},
    )
    [file] = program.home.parent.glob("finchbot-fault-*")
    assert done.returncode == 1
    assert str(file) in done.stderr
    assert done.stderr.count("\n") == 1
    assert "RuntimeError" in file.read_text()
    assert "sk-secret" not in file.read_text() + done.stderr
    assert file.stat().st_mode & 0o777 == 0o600
