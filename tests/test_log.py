"""Secrets never reach a log; the log never blocks the loop."""

import asyncio
import json
import logging
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from finchbot.home import open_home
from finchbot.log import HIDDEN, Logs, Redactor, claim_loggers, setup_logging
from finchbot.log.sinks import FILE_BYTES
from finchbot.settings import SettingsStore

KEY = "sk-live-Zq8vTn2LkR4wXy6B"


@dataclass(frozen=True)
class Folder:
    logs: Path


@pytest.fixture
def known() -> list[str]:
    return [KEY]


@pytest.fixture
def logs(tmp_path: Path, known: list[str]) -> Iterator[Logs]:
    with setup_logging(Folder(tmp_path), "DEBUG", lambda: known) as logs:
        yield logs


def written(logs: Logs) -> str:
    logs.close()
    return logs.file.read_text(encoding="utf-8")


def raise_with(secret: str) -> None:
    raise RuntimeError(f"cannot sign with {secret}")


@pytest.mark.parametrize("name", ["finchbot.agent", "uvicorn.error", "httpx", "openai", "root"])
def test_a_known_secret_is_hidden_in_message_arguments_and_traceback(logs: Logs, name: str) -> None:
    logger = logging.getLogger(None if name == "root" else name)
    logger.debug("in the text %s" % KEY)  # noqa: UP031
    logger.debug("as an argument %s and in %r", KEY, {"headers": {"Authorization": KEY}})
    try:
        raise_with(KEY)
    except RuntimeError:
        logger.exception("the call failed")
    text = written(logs)
    assert KEY not in text
    assert "cannot sign with [secret]" in text
    assert "raise_with" in text
    assert text.count(HIDDEN) >= 4


def test_a_secret_learned_later_is_hidden_from_then_on(logs: Logs, known: list[str]) -> None:
    known.append("correct horse battery staple")
    logging.getLogger("finchbot").info("it is correct horse battery staple now")
    assert "it is [secret] now" in written(logs)


def test_a_key_saved_while_the_program_runs_is_hidden_from_then_on(tmp_path: Path) -> None:
    home = open_home(tmp_path, {})
    store = SettingsStore(home, environ={"SOME_SERVICE_TOKEN": "service-token-value"})
    with setup_logging(home, "DEBUG", store.secrets) as logs:
        store.patch(store.revision, {"providers.My-Prov.api_key": "plain words for a key"})
        store.patch(store.revision, {"providers.My-Prov.api_key": "quite another one"})
        for secret in ("plain words for a key", "quite another one", "service-token-value"):
            logging.getLogger("openai").debug("headers %s", {"x-key": secret})
        text = written(logs)
    assert text.count(HIDDEN) == 3
    assert "words" not in text


def test_a_library_with_a_handler_of_its_own_still_passes_the_filter(tmp_path: Path) -> None:
    logger = logging.getLogger("uvicorn.access")
    own = logging.StreamHandler(sys.stdout)
    logger.addHandler(own)
    logger.propagate = False
    with setup_logging(Folder(tmp_path), "DEBUG", lambda: [KEY]) as logs:
        assert own not in logger.handlers
        logger.info("GET /?token=%s", KEY)
        assert "GET /?token=[secret]" in written(logs)


def test_a_real_refused_request_leaves_no_key_in_the_log(logs: Logs) -> None:
    with pytest.raises(httpx.ConnectError):
        httpx.get("http://127.0.0.1:9/v1", headers={"Authorization": f"Bearer {KEY}"})
    logging.getLogger("httpcore").debug(
        "request headers %r", [(b"Authorization", b"Bearer " + KEY.encode())]
    )
    text = written(logs)
    assert KEY not in text
    assert "httpcore" in text


@pytest.mark.parametrize(
    "text",
    [
        "key sk-proj-abcdEFGH12345678",
        "Authorization: Bearer abcdef1234567890",
        "(b'authorization', b'Basic dXNlcjpwYXNzd29yZDE=')",
        '{"api_key": "0123456789abcdef"}',
        "api-key=0123456789abcdef&x=1",
        "https://user:hunter2x@example.com/",
        "GET /v1beta/models?key=AIzaSyA1234567890abcdefghijklmno",
        "Cookie: finchbot_session=abcdef.1234567890",
        "Sec-WebSocket-Protocol: finchbot.bearer.fb_0123456789abcdef",
        "gsk_abcdefgh12345678 and hf_abcdefghijkl1234",
        "token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0abc.s5Zf4eF2",
    ],
)
def test_the_shape_of_a_key_is_enough_to_hide_it(text: str) -> None:
    redacted = Redactor(tuple).redact(text)
    assert HIDDEN in redacted
    for secret in (
        "abcdEFGH",
        "1234567890",
        "hunter2x",
        "0123456789abcdef",
        "dXNlcjpw",
        "s5Zf4eF2",
    ):
        assert secret not in redacted


@pytest.mark.parametrize(
    "text",
    [
        "config.json, line 2, column 38: providers.openai.api_key: config.not_text",
        "max_tokens=8192 input_tokens: 1204",
        "the bearer of this message",
        "basic functionality",
        "https://example.com:8080/a@b",
        "run_018f00000000aabbccddeeff finished",
    ],
)
def test_ordinary_lines_stay_readable(text: str) -> None:
    assert Redactor(lambda: ["test"]).redact(text) == text


def test_a_short_secret_is_hidden_as_a_word_and_does_not_blot_out_others() -> None:
    assert (
        Redactor(lambda: ["test"]).redact("test: the latest test")
        == f"{HIDDEN}: the latest {HIDDEN}"
    )


@given(st.text(min_size=8, max_size=40).map(str.strip).filter(lambda text: len(text) >= 8))
def test_a_secret_is_hidden_however_it_is_written(secret: str) -> None:
    assume(secret not in f"before {HIDDEN} after")
    redact = Redactor(lambda: [secret]).redact
    for form in (secret, repr(secret), json.dumps(secret), quote(secret, safe="", errors="ignore")):
        assert secret not in redact(f"before {form} after")


@given(st.text(max_size=60), st.lists(st.text(max_size=12), max_size=4))
def test_redacting_never_raises(text: str, secrets: list[str]) -> None:
    assert isinstance(Redactor(lambda: secrets).redact(text), str)


def test_a_secret_that_begins_with_another_is_hidden_whole() -> None:
    redact = Redactor(lambda: ["abcdefgh", "abcdefgh-tail"]).redact
    assert redact("x abcdefgh-tail y") == f"x {HIDDEN} y"


@pytest.mark.skipif(os.name != "posix", reason="file modes are a POSIX matter")
def test_the_files_are_the_owners_alone_even_after_rotation(tmp_path: Path) -> None:
    (tmp_path / "finchbot.log").write_text("older")
    (tmp_path / "finchbot.log").chmod(0o644)
    before = os.umask(0)
    try:
        with setup_logging(Folder(tmp_path), "INFO"):
            for _ in range(3):
                logging.getLogger("finchbot").info("%s", "x" * (FILE_BYTES // 2))
    finally:
        os.umask(before)
    files = sorted(tmp_path.iterdir())
    assert len(files) > 1
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_logging_inside_the_loop_does_not_block_it(logs: Logs) -> None:
    async def talk() -> None:
        # The suite turns any file access of ours inside the loop into an error.
        logging.getLogger("finchbot").info("from the loop")

    asyncio.run(talk())
    assert "from the loop" in written(logs)


def test_people_at_the_terminal_get_one_short_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with setup_logging(Folder(tmp_path), "DEBUG", lambda: [KEY]):
        logging.getLogger("finchbot").info("nothing for people")
        try:
            raise_with(KEY)
        except RuntimeError:
            logging.getLogger("finchbot").exception("the call\nfailed")
    line = "error: the call failed (RuntimeError: cannot sign with [secret])\n"
    assert capsys.readouterr().err == line


def run_program(folder: Path, statement: str) -> str:
    program = (
        "import logging, pathlib, types; from finchbot.log import setup_logging;"
        f"setup_logging(types.SimpleNamespace(logs=pathlib.Path({str(folder)!r})));{statement}"
    )
    # The statement is the test's own.
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    return done.stderr


def test_a_line_that_cannot_be_formatted_is_named_without_its_arguments(tmp_path: Path) -> None:
    # In a program of its own: pytest's handler raises where ours does not.
    said = run_program(tmp_path, f"logging.getLogger('finchbot').info('%d', {KEY!r})")
    assert said == "a log line of finchbot (line 1) is lost\n"


def test_a_library_told_to_talk_by_a_variable_of_its_own_keeps_out_of_the_log(
    tmp_path: Path,
) -> None:
    client = logging.getLogger("openai")
    before = client.level
    with setup_logging(Folder(tmp_path), "INFO") as logs:
        # OPENAI_LOG=debug does this when the client is loaded.
        client.setLevel(logging.DEBUG)
        logging.getLogger("openai._base_client").debug("Request options: {'content': 'a secret'}")
        logging.getLogger("openai._base_client").info("HTTP Request: POST")
        logging.getLogger("openai_other").info("not of the family")
        logging.getLogger("anybody").debug("too fine")
        client.setLevel(before)
        text = written(logs)
    assert "a secret" not in text
    assert "HTTP Request" not in text
    assert "not of the family" in text
    assert "too fine" not in text


@pytest.mark.parametrize("library", ["httpx", "httpx2"])
def test_requests_of_libraries_are_told_at_debug_only(tmp_path: Path, library: str) -> None:
    with setup_logging(Folder(tmp_path), "INFO") as logs:
        logging.getLogger(library).info("HTTP Request: POST")
        logging.getLogger(library).warning("retrying")
        text = written(logs)
    assert "HTTP Request" not in text
    assert "retrying" in text


def test_a_library_that_turns_a_logger_up_is_turned_down_again(tmp_path: Path) -> None:
    with setup_logging(Folder(tmp_path), "INFO") as logs:
        # Streamlit does so with uvicorn's, whose lines hold what people search for.
        access = logging.getLogger("uvicorn.access")
        access.setLevel(logging.INFO)
        access.info("GET /api/v1/threads?q=divorce 200")
        claim_loggers()
        assert access.getEffectiveLevel() == logging.WARNING
        text = written(logs)
    assert "divorce" not in text


def test_closing_puts_levels_and_handlers_back(tmp_path: Path) -> None:
    root = logging.getLogger()
    before = (root.level, list(root.handlers), logging.getLogger("httpx").level)
    setup_logging(Folder(tmp_path), "INFO").close()
    assert (root.level, list(root.handlers), logging.getLogger("httpx").level) == before


def test_a_program_that_just_ends_has_written_its_last_line(tmp_path: Path) -> None:
    run_program(tmp_path, "logging.getLogger('finchbot').info('the last word')")
    assert "the last word" in (tmp_path / "finchbot.log").read_text()
