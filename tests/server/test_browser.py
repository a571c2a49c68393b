"""Both faces behind the guard in a real browser: they work, and nothing leaves the machine."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.async_api import ConsoleMessage, FilePayload, Page, async_playwright, expect

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(60)]
# Presses a button and says which rule of the page's policy that broke.
REFUSED = """button => new Promise(resolve => {
  document.addEventListener("securitypolicyviolation", event => resolve(event.effectiveDirective));
  button.click();
})"""
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
async def base(request: pytest.FixtureRequest) -> AsyncIterator[str]:
    """Run the program with both faces; yields its address."""
    environ = {**os.environ, "GRADIO_ANALYTICS_ENABLED": "False", "PYTHONPATH": str(ROOT)}
    arguments = [request.param] if hasattr(request, "param") else []
    program = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.support.guarded_faces",
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=ROOT,
        env=environ,
    )
    assert program.stdout is not None
    port = int(await program.stdout.readline())
    yield f"http://127.0.0.1:{port}"
    program.terminate()
    await program.wait()
    # The pipe's transport closes itself in the next turn of the loop.
    await program.stdout.read()


@pytest.fixture
async def page() -> AsyncIterator[Page]:
    """Give a tab that remembers where it sent requests."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        page = await browser.new_page()
        yield page
        await browser.close()


def hosts_of(page: Page) -> set[str]:
    """Return a set that fills with the hosts whose answer the page got."""
    hosts: set[str] = set()
    page.on("response", lambda response: hosts.add(urlsplit(response.url).netloc))
    return hosts


def errors_of(page: Page) -> list[str]:
    """Return a list that fills with what the page's console calls an error."""
    errors: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type == "error":
            errors.append(message.text)

    page.on("console", note)
    return errors


async def test_both_faces_work_and_talk_to_nobody_else(base: str, page: Page) -> None:
    hosts, dropped = hosts_of(page), list[str]()
    page.on("requestfailed", lambda request: dropped.append(f"{request.url} {request.failure}"))
    await page.goto(base)
    box = page.locator("#box textarea")
    await box.wait_for(timeout=45_000)
    await box.fill("hi")
    await box.press("Enter")
    await expect(page.locator("#chat").get_by_text("hello")).to_be_visible(timeout=10_000)
    await _uploads(page, "#file input[type=file]")
    await expect(page.locator("#file").get_by_text("a.txt")).to_be_visible()
    images = await page.locator("#chat img").evaluate_all("all => all.map(i => i.naturalWidth)")
    assert images
    assert not any(images)

    await page.goto(f"{base}/admin")
    assert page.url == f"{base}/admin/"
    await expect(page.get_by_text("Admin page")).to_be_visible(timeout=20_000)
    await expect(page.get_by_text(f"origin {base}")).to_be_visible()
    await page.get_by_role("button", name="Press").click()
    await expect(page.get_by_text("pressed")).to_be_visible()
    await expect(page.locator("[data-testid=stVegaLiteChart] canvas, svg.marks")).to_be_visible()
    await _uploads(page, "input[type=file]")
    await expect(page.get_by_text("a.txt")).to_be_visible()
    assert await page.locator("form #steal").evaluate(REFUSED) == "form-action"
    assert all("csp" in failure for failure in dropped if "evil" in failure)
    assert {host for host in hosts if host} == {urlsplit(base).netloc}


async def _uploads(page: Page, selector: str) -> None:
    content = FilePayload(name="a.txt", mimeType="text/plain", buffer=b"content")
    await page.locator(selector).first.set_input_files(content)


@pytest.mark.parametrize("base", ["locked"], indirect=True)
async def test_a_person_logs_in_and_lands_where_they_wanted_to_go(base: str, page: Page) -> None:
    errors = errors_of(page)
    await page.goto(f"{base}/api/docs")
    # The start-up page opens the real one by itself.
    await page.get_by_label("Password").wait_for(timeout=45_000)
    assert urlsplit(page.url).path == "/login"
    assert errors == []
    await page.get_by_label("Password").fill("open sesame")
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.locator("#docs").get_by_text("/api/v1/info")).to_be_visible(timeout=10_000)
    assert page.url == f"{base}/api/docs"
    assert [error for error in errors if "favicon" not in error] == []
