"""`chat` as its users meet it: a process, a home, and a model behind it."""

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from finchbot.events import MessageCompleted, MessageReceived, RunEvent, TextDelta, event_adapter
from finchbot.home import lock_home, open_home
from tests.cli.conftest import Program, Screen
from tests.support.event_laws import check_run
from tests.support.model_server import ModelServer
from tests.support.replies import Gate, Wait, answer

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(60)]


def events_of(stdout: str) -> list[RunEvent]:
    return [event_adapter.validate_json(line) for line in stdout.splitlines()]


def test_one_message_gives_one_answer_and_the_next_goes_on_in_its_thread(
    program: Program,
) -> None:
    first = program("chat", "-m", "write file notes/a.txt: hello there")
    assert first.returncode == 0
    assert "notes/a.txt" in first.stdout
    assert first.stderr.startswith("· Write a file notes/a.txt\n  ✓ Write a file")
    assert first.stderr.count("\n") == 2
    assert (program.home / "workspace/notes/a.txt").read_text() == "hello there"

    told = [events_of(program("chat", "--json", "-m", "help").stdout) for _ in range(2)]
    fresh = events_of(program("chat", "--json", "--new", "-m", "help").stdout)
    for events in (*told, fresh):
        check_run(events[0].run_id, events)  # type: ignore[union-attr]
        assert isinstance(events[0], MessageReceived)
        assert any(isinstance(event, TextDelta) for event in events)
    assert told[0][0].thread_id == told[1][0].thread_id != fresh[0].thread_id
    assert told[0][0].seq > 1
    assert fresh[0].seq == 1

    back = program("chat", "--json", "-s", told[0][0].thread_id, "-m", "help")
    assert events_of(back.stdout)[0].thread_id == told[0][0].thread_id


def test_lines_of_a_pipe_are_messages_in_order(program: Program) -> None:
    done = program(
        "chat", "--lang", "zh-CN", keys="写文件 a.txt：你好\n\n读文件 a.txt\n/new\n/foo\n/threads"
    )
    assert done.returncode == 0
    assert (program.home / "workspace/a.txt").read_text() == "你好"
    assert done.stdout.index("a.txt") < done.stdout.index("你好")
    notes = done.stderr.splitlines()
    assert notes[0].startswith("· 写入文件 a.txt")
    assert "没有 /foo 这个指令。/help 列出全部指令。" in notes
    assert "thr_" in notes[-1]


def test_a_message_may_come_whole_from_standard_input(program: Program) -> None:
    done = program("chat", "-m", "-", "--json", keys="help\nme\n")
    [received] = [event for event in events_of(done.stdout) if isinstance(event, MessageReceived)]
    assert received.message.text == "help\nme"


@pytest.mark.parametrize(
    ("words", "code", "fragment"),
    [
        (["-s", "thr_none", "-m", "hi"], 3, "no such thread"),
        (["-m", "  "], 2, "empty"),
        (["-m", "x" * 2_000_000], 2, ""),
        (["--model", "openai/gpt-4o", "-m", "hi"], 1, "OPENAI_API_KEY"),
        (["--lang", "?", "-m", "hi"], 2, "language"),
        (["--home", "/dev/null/x", "-m", "hi"], 2, "/dev/null/x"),
    ],
)
def test_what_goes_wrong_is_one_sentence_and_a_code(
    words: list[str], code: int, fragment: str, program: Program
) -> None:
    if len(words[-1]) > 100_000:
        # Longer than a word of a command line may be.
        done = program("chat", "-m", "-", keys=words[-1])
    else:
        done = program("chat", *words)
    assert done.returncode == code
    assert done.stdout == ""
    assert fragment in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_home_that_is_in_use_is_told_with_what_to_do(program: Program) -> None:
    with lock_home(open_home(program.home, {})):
        done = program("chat", "--json", "-m", "hi")
    assert done.returncode == 2
    assert json.loads(done.stdout)["code"] == "home.in_use"
    assert str(os.getpid()) in done.stderr
    assert "open its page in the browser" in done.stderr


def test_a_reader_that_leaves_early_makes_no_noise(program: Program) -> None:
    with subprocess.Popen(  # noqa: S603 - our own program
        program.command("chat", "-m", "help"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=program.environ,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


def test_a_character_the_terminal_cannot_show_does_not_end_the_talk(program: Program) -> None:
    done = program("chat", "-m", "你好", PYTHONIOENCODING="ascii", FINCHBOT_LANG="zh-CN")
    assert (done.returncode, done.stderr) == (0, "")
    assert "FinchBot" in done.stdout


def test_a_key_that_is_refused_ends_with_code_1(
    program: Program, model: dict[str, str], model_server: ModelServer
) -> None:
    model_server.manners.api_key = "sk-another"
    done = program("chat", "-m", "hi", **model)
    assert done.returncode == 1
    assert "openai" in done.stderr
    assert "sk-test" not in done.stderr + done.stdout


def test_an_interrupted_message_is_stopped_and_kept(
    program: Program, model: dict[str, str], model_server: ModelServer
) -> None:
    gate = Gate()
    model_server.script(answer("One two", Wait(gate), " three"))
    with subprocess.Popen(  # noqa: S603 - our own program
        program.command("chat", "--json", "-m", "count"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=program.environ | model,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if json.loads(line).get("text", "").endswith("two"):
                break
        process.send_signal(signal.SIGINT)
        shown, notes = process.communicate(timeout=20)
    gate.open()
    assert process.returncode == 130
    assert notes == ""
    [completed, cancelled] = events_of(shown)
    assert isinstance(completed, MessageCompleted)
    assert (completed.text, completed.partial) == ("One two", True)
    assert cancelled.type == "run.cancelled"


def test_a_terminated_talk_closes_its_run_in_good_order(
    program: Program, model: dict[str, str], model_server: ModelServer
) -> None:
    gate = Gate()
    model_server.script(answer("One", Wait(gate)))
    with subprocess.Popen(  # noqa: S603 - our own program
        program.command("chat", "--json", "-m", "count"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=program.environ | model,
    ) as process:
        gate.wait_reached(50)
        process.terminate()
        shown, notes = process.communicate(timeout=20)
    gate.open()
    assert process.returncode == 128 + signal.SIGTERM
    assert notes == ""
    assert events_of(shown)[-1].type == "run.interrupted"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_who_leaves_while_it_starts_hears_nothing_more(
    number: signal.Signals, program: Program
) -> None:
    with subprocess.Popen(  # noqa: S603 - our own program
        program.command("chat", "-m", "help"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=program.environ,
    ) as process:
        while not (program.home / "data" / "home.lock").exists():
            assert process.poll() is None
        process.send_signal(number)
        assert process.communicate(timeout=40) == (b"", b"")
    assert process.returncode == 128 + number


Start = Callable[..., Screen]


def test_a_person_sees_the_answer_grow_stops_it_and_goes_on(
    at_terminal: Start, model: dict[str, str], model_server: ModelServer
) -> None:
    gate = Gate()
    model_server.script(answer("One \x1b[2Jtwo", Wait(gate)), answer("It works."))
    screen = at_terminal("chat", **model)
    screen.look_for("/help lists the orders")
    screen.look_for("> ")
    screen.type("count\n")
    screen.look_for("One ␛[2Jtwo")
    gate.wait_reached()
    screen.interrupt()
    screen.look_for("Stopped.")
    screen.look_for("> ")
    screen.type("and now?\n")
    screen.look_for("It works.")
    screen.look_for("> ")
    screen.type("/threads\n")
    screen.look_for("thr_")
    screen.type("/new\n")
    screen.look_for("starts a new thread")
    screen.type("/open 1\n")
    screen.look_for("Continuing “count”")
    screen.type("/open nothing\n")
    screen.look_for("no such thread")
    screen.type("/quit\n")
    assert screen.end() == 0
    assert "\x1b[2J" not in screen.seen
    gate.open()


def test_ctrl_c_twice_at_the_prompt_leaves(at_terminal: Start) -> None:
    screen = at_terminal("chat")
    screen.look_for("> ")
    screen.interrupt()
    screen.look_for("Press Ctrl-C again to leave")
    screen.type("help\n")
    screen.look_for("list files")
    screen.look_for("> ")
    screen.interrupt()
    screen.look_for("Press Ctrl-C again to leave")
    screen.interrupt()
    assert screen.end() == 130
    assert "Traceback" not in screen.seen


def test_ctrl_c_stops_the_answer_and_once_more_leaves(
    at_terminal: Start, model: dict[str, str], model_server: ModelServer
) -> None:
    gate = Gate()
    model_server.script(answer("One", Wait(gate)))
    screen = at_terminal("chat", **model)
    screen.look_for("> ")
    screen.type("count\n")
    screen.look_for("One")
    screen.interrupt()
    screen.look_for("Stopped.")
    screen.interrupt()
    assert screen.end() == 130
    gate.open()


def test_orders_and_messages_may_be_typed_while_the_answer_comes(
    at_terminal: Start, model: dict[str, str], model_server: ModelServer
) -> None:
    gate = Gate()
    model_server.script(answer("One", Wait(gate)), answer("Second answer."))
    screen = at_terminal("chat", **model)
    screen.look_for("> ")
    screen.type("count\n")
    gate.wait_reached(20)
    screen.look_for("One")
    screen.type("then this\n")
    screen.look_for("Waits for the answer before it.")
    screen.type("/stop\n")
    screen.look_for("Stopped.")
    screen.look_for("Second answer.")
    screen.look_for("> ")
    screen.type("\x04")
    assert screen.end() == 0
    assert model_server.requests[-1].last_user_text == "then this"
    gate.open()


def test_a_fresh_home_holds_everything_and_only_for_its_owner(program: Program) -> None:
    assert program("chat", "-m", "help").returncode == 0
    assert program.home.stat().st_mode & 0o077 == 0
    logs = list((program.home / "logs").iterdir())
    assert all(Path(log).stat().st_mode & 0o077 == 0 for log in logs)
