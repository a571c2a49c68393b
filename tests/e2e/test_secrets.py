"""What the program knows of keys and talks stays where it belongs, whatever goes wrong."""

import json
import stat
from collections.abc import Iterator

import httpx
import pytest

from tests.e2e.harness import ServerProcess
from tests.support.deaf_ear import DeafEar
from tests.support.model_server import ModelServer
from tests.support.replies import Drop, Garbage, Refuse, Reply, answer

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(60)]

KEY_OF_ENVIRONMENT = "sk-env-Zq8vTn2LkR4wXy6B"
KEY_OF_FILE = "file-key-mJ7pWs3RtE9uKd1H"
KEYS = (KEY_OF_ENVIRONMENT, KEY_OF_FILE)
WISH = "a private wish nobody logs"
ELSEWHERE = ("TRACING", "TRACING_V2", "OTEL_ENABLED")
"""Variables, below two names, by which a library would tell its makers of every run."""


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer() as model:
        for status in (400, 401, 403, 404, 429, 500):
            said = f"Incorrect API key provided: {KEY_OF_ENVIRONMENT} {KEY_OF_FILE}"
            model.on(f"refuse with {status}", Reply.of(Refuse(status, said, "invalid_api_key")))
        model.on("talk nonsense", answer("I begin", Garbage(f"{{{KEY_OF_ENVIRONMENT}")))
        model.on("break off", answer("I begin", Drop()))
        yield model
        model.raise_violations()


@pytest.fixture(scope="module")
def ear() -> Iterator[DeafEar]:
    with DeafEar() as ear:
        yield ear


@pytest.fixture(scope="module")
def server(
    model: ModelServer, ear: DeafEar, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    home = tmp_path_factory.mktemp("secrets") / "home"
    home.mkdir()
    provider = {"api_key": KEY_OF_FILE, "api_base": "http://127.0.0.1:9/v1"}
    (home / "config.json").write_text(json.dumps({"providers": {"deepseek": provider}}))
    (home / "config.json").chmod(0o600)
    environ = {
        "OPENAI_API_KEY": KEY_OF_ENVIRONMENT,
        "OPENAI_API_BASE": model.url,
        "OPENAI_LOG": "debug",
        "FINCHBOT_LOG__LEVEL": "DEBUG",
        "LANGSMITH_API_KEY": "lsv2_pt_0123456789abcdef",
        "LANGSMITH_ENDPOINT": ear.url,
        "LANGCHAIN_ENDPOINT": ear.url,
        **{f"{name}_{what}": "true" for name in ("LANGSMITH", "LANGCHAIN") for what in ELSEWHERE},
    }
    with ServerProcess(home, environ) as server:
        yield server


@pytest.fixture
def http(server: ServerProcess) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, trust_env=False, timeout=20) as http:
        yield http


def said_about(http: httpx.Client, text: str) -> str:
    """Send a message in a thread of its own; return all that the API tells of it."""
    thread = http.post("/api/v1/threads").json()["id"]
    stream = {"accept": "text/event-stream"}
    path = f"/api/v1/threads/{thread}"
    told = http.post(f"{path}/messages", json={"text": text}, headers=stream).text
    run = json.loads(told.rsplit("data: ", 1)[1])["run_id"]
    rest = (f"{path}/messages", path, f"/api/v1/runs/{run}")
    return told + "".join(http.get(each).text for each in rest)


@pytest.mark.parametrize(
    "trouble",
    [
        *(f"refuse with {status}" for status in (400, 401, 403, 404, 429, 500)),
        "talk nonsense",
        "break off",
    ],
)
def test_a_run_that_fails_tells_why_and_tells_no_key(http: httpx.Client, trouble: str) -> None:
    told = said_about(http, trouble)
    assert "event: run.failed" in told
    assert not [key for key in KEYS if key in told]
    failed = next(line for line in told.splitlines() if '"type":"run.failed"' in line)
    error = json.loads(failed.removeprefix("data: "))["error"]
    assert error["code"].startswith("provider.")
    assert error["detail"]


def test_a_provider_nobody_can_reach_tells_no_key_either(http: httpx.Client) -> None:
    revision = http.get("/api/v1/settings").json()["revision"]
    for model in ("deepseek/deepseek-chat", None):
        changes = {"revision": revision, "changes": {"default_model": model}}
        changed = http.patch("/api/v1/settings", json=changes)
        assert changed.status_code == 200
        revision = changed.json()["revision"]
        told = said_about(http, WISH)
        assert ("event: run.failed" in told) is (model is not None)
        assert not [key for key in KEYS if key in told]
    field = http.get("/api/v1/settings").json()["fields"]["providers.deepseek.api_key"]
    assert field["source"] == "file"
    assert "…" in field["value"]


def test_no_page_and_no_answer_shows_a_key(http: httpx.Client) -> None:
    page = {"accept": "text/html"}
    for path in ("/", "/config", "/admin/", "/admin/health", "/api/docs"):
        shown = http.get(path, headers=page, follow_redirects=True)
        assert shown.status_code == 200, path
        assert not [key for key in KEYS if key in shown.text], path
    for path in ("/api/v1/info", "/api/v1/settings", "/api/v1/threads", "/healthz"):
        shown = http.get(path)
        assert shown.status_code == 200, path
        assert not [key for key in KEYS if key in shown.text], path


def test_no_file_but_the_settings_holds_a_key_and_the_log_no_talk(
    server: ServerProcess, ear: DeafEar
) -> None:
    """The last test here: the process ends in it, so all is written."""
    server.stop()
    assert server.exit_code == 0
    files = [path for path in server.home.rglob("*") if path.is_file()]
    holding = [
        path.name for path in files if any(key.encode() in path.read_bytes() for key in KEYS)
    ]
    assert holding == ["config.json"]
    assert KEY_OF_ENVIRONMENT not in (server.home / "config.json").read_text()
    assert not [key for key in KEYS if key in server.output]

    log = server.home / "logs" / "finchbot.log"
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    text = log.read_text()
    assert WISH not in text
    assert "refuse with" not in text
    assert "provider.auth_failed" in text
    assert WISH not in server.output
    private = [path for path in files if path.parent.name in ("data", "logs")]
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in [*private, log]} == {0}
    # Runs are told to nobody, whatever the environment asks of the libraries.
    assert ear.heard == []
