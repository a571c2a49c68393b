"""One browser for a module; every test has visitors of its own, who are checked when it ends."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.e2e.harness import Visitors, running_browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running_browser() as browser:
        yield browser


@pytest.fixture
def visitors(browser: Browser) -> Iterator[Visitors]:
    visitors = Visitors(browser)
    yield visitors
    visitors.close()
