"""The browser side of a bench: pages that carry `in_page.js`."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

SCRIPT = Path(__file__).with_name("in_page.js").read_text(encoding="utf-8")

OUR_BOX = "#finch-foot textarea"
OUR_SIGN = ".finch-ready"
"""Stands in our page once it can be written to."""
BARE_BOX = "#box textarea"
TOLD = "bench-painted "
"""How a line on the page's console begins that says when something was painted: ms of the clock."""


def new_page(browser: Browser, *further_scripts: str) -> Page:
    """Return an empty page of a visitor who was never here; scripts run in whatever it opens."""
    page = browser.new_context(locale="en-US").new_page()
    page.set_default_timeout(60_000)
    for script in (SCRIPT, *further_scripts):
        page.add_init_script(script)
    return page


def wait_until_there(page: Page, *selectors: str) -> None:
    """Return when all of them are in the page."""
    page.evaluate("selectors => bench.there(...selectors)", list(selectors))


def ask_ms(page: Page, box: str, question: str, *, first: str, last: str) -> float:
    """Ask and return the time until the first words of the answer are painted.

    Args:
        page: A page that can be written to.
        box: Where the question goes.
        question: Its text.
        first: What the answer begins with.
        last: What the answer ends with; returns when that is painted, too.
    """
    asked: dict[str, Any] = {"box": box, "question": question, "first": first, "last": last}
    begun_ms, _ = page.evaluate("asked => bench.ask(asked)", asked)
    return float(begun_ms)
