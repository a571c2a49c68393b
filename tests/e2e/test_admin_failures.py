"""What the admin shows when the server says no, says nothing, or says what nobody foresaw."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.harness import ROOT, Visitors, picture
from tests.support.fake_api import INFO, THREAD, FakeApi, problem

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(60)]

PROBES = r"404 \(Not Found\) \(.*/_stcore/(health|host-config)\)"
STREAMLITS_OWN = re.compile("encountered an error|Traceback|Ask Google|Error:|redacted")


@pytest.fixture(scope="module")
def api() -> Iterator[FakeApi]:
    with FakeApi() as api:
        yield api


@dataclass
class Admin:
    """The admin's process."""

    url: str
    log: Path


@pytest.fixture(scope="module")
def admin(api: FakeApi, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Admin]:
    environ = {
        **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
        "FINCHBOT_SERVER__PORT": str(api.port),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    log = tmp_path_factory.mktemp("admin") / "log"
    command = [sys.executable, "-m", "tests.support.admin_alone"]
    with (
        log.open("wb") as errors,
        # S603: runs a program of the tests.
        subprocess.Popen(  # noqa: S603
            command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, stderr=errors
        ) as process,
    ):
        assert process.stdout is not None
        port = int(process.stdout.readline())
        try:
            yield Admin(f"http://127.0.0.1:{port}", log)
        finally:
            process.terminate()


@pytest.fixture(autouse=True)
def _well(api: FakeApi) -> None:
    api.reset()


def opened(visitors: Visitors, admin: Admin, path: str = "", language: str = "en-US") -> Page:
    page = visitors.open(f"{admin.url}/{path}", locale=language)
    visitors.expect_errors(page, PROBES)
    expect(page.locator("h1")).to_be_visible()
    return page


def failure(page: Page) -> Locator:
    """Return what the page says of a failure; nothing of it is Streamlit's."""
    box = page.locator(".st-key-failure")
    expect(box).to_be_visible()
    expect(page.locator("body")).not_to_contain_text(STREAMLITS_OWN)
    return box


def test_a_server_that_says_no_is_quoted_and_asked_again(
    visitors: Visitors, admin: Admin, api: FakeApi
) -> None:
    api.answers["/api/v1/threads"] = problem(503, "server.draining", "FinchBot is stopping.")
    page = opened(visitors, admin, "threads")
    expect(failure(page)).to_contain_text("FinchBot is stopping.")
    expect(failure(page)).to_contain_text("server.draining · HTTP 503")
    picture(page, "admin-failure")
    api.reset()
    failure(page).get_by_role("button", name="Try again").click()
    expect(page.get_by_text("Birds", exact=True)).to_be_visible()
    expect(page.locator(".st-key-failure")).to_have_count(0)


def test_who_was_signed_out_is_led_to_the_login(
    visitors: Visitors, admin: Admin, api: FakeApi
) -> None:
    api.answers["/api/v1/info"] = problem(401, "access.not_authenticated", "Sign in first.")
    page = opened(visitors, admin, "threads")
    expect(failure(page)).to_contain_text("Sign in first.")
    link = failure(page).get_by_role("link", name="Sign in")
    expect(link).to_have_attribute("href", re.compile("/login$"))


@pytest.mark.parametrize("answer", [(500, b"<b>Oops</b>"), (200, b"[]"), (200, b"")])
def test_an_answer_that_makes_no_sense_is_a_server_that_does_not_answer(
    visitors: Visitors, admin: Admin, api: FakeApi, answer: tuple[int, bytes]
) -> None:
    api.answers["/api/v1/info"] = answer
    page = opened(visitors, admin)
    expect(failure(page)).to_contain_text("The server did not answer.")
    expect(failure(page)).to_contain_text("server.unreachable")


def test_an_error_nobody_foresaw_gets_a_reference_that_the_log_has_too(
    visitors: Visitors, admin: Admin, api: FakeApi
) -> None:
    # Nobody's calendar has a moment before the year one, which this is in the west.
    first = {**THREAD, "title": "secret words", "last_active_at": "0001-01-01T00:00:00Z"}
    api.answers["/api/v1/threads"] = 200, {"items": [first], "next": None}
    page = visitors.open(f"{admin.url}/threads", timezone_id="America/New_York")
    visitors.expect_errors(page, PROBES)
    expect(failure(page)).to_contain_text("Something went wrong in this page.")
    reference = failure(page).locator("code").inner_text()
    assert re.fullmatch("[0-9a-f]{8}", reference)
    [line] = [line for line in admin.log.read_text().splitlines() if reference in line]
    assert "unexpected OverflowError at" in line
    assert "secret words" not in admin.log.read_text()


def test_failures_speak_the_language_of_the_browser(
    visitors: Visitors, admin: Admin, api: FakeApi
) -> None:
    api.answers["/api/v1/info"] = 500, b""
    page = opened(visitors, admin, "health", language="zh-CN")
    expect(failure(page)).to_contain_text("服务器没有回应。")
    expect(page.locator("h1")).to_have_text("运行状态")


def test_a_visitor_of_a_demo_sees_every_page_and_nothing_of_the_machine(
    visitors: Visitors, admin: Admin, api: FakeApi
) -> None:
    notice = {"code": "demo", "detail": "This is a demo.", "params": {}}
    api.answers["/api/v1/info"] = 200, {**INFO, "demo": True, "notices": [notice]}
    api.answers["/api/v1/settings"] = problem(403, "access.owner_only", "For the owner.")
    for path in ("", "threads", "health"):
        page = opened(visitors, admin, path)
        expect(page.locator("[class*=st-key-banner-warn]")).to_have_text("This is a demo.")
        expect(page.locator(".st-key-failure")).to_have_count(0)
    expect(page.get_by_text("FinchBot 9.9")).to_be_visible()
    expect(page.get_by_text("Log file")).to_have_count(0)


def test_a_part_that_fails_is_named_with_what_it_means(
    visitors: Visitors, admin: Admin, api: FakeApi
) -> None:
    parts = {"model": "degraded", "memory": "failed", "vectors": "?", "channels": "starting"}
    body = {"status": "degraded", "version": "9.9", "parts": parts}
    api.answers["/healthz"] = 200, body
    page = opened(visitors, admin, "health")
    expect(page.locator(".st-key-state-warn")).to_contain_text("less than it should have")
    expect(page.locator(".st-key-row-model")).to_contain_text("Your messages cannot be answered.")
    expect(page.locator(".st-key-row-memory")).to_contain_text("Does not work")
    expect(page.locator(".st-key-row-vectors")).to_contain_text("Cannot be told")
    expect(page.locator(".st-key-row-channels")).to_contain_text("is connecting")
