"""One browser for a module; every test has visitors of its own, who are checked when it ends."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.harness import Visitors, running_browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    # A busy machine is slow, not wrong; a test that fails waits a little longer for it.
    expect.set_options(timeout=15_000)
    with running_browser() as browser:
        yield browser


@pytest.fixture
def visitors(browser: Browser) -> Iterator[Visitors]:
    visitors = Visitors(browser)
    yield visitors
    visitors.close()
