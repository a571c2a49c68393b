"""A page on the echoing core, without a browser."""

from collections.abc import AsyncIterator
from datetime import UTC
from pathlib import Path

import pytest

from finchbot.bot import FinchBot
from finchbot.i18n import Catalogue
from finchbot.ids import OWNER
from finchbot.ui.caller import Visitor
from finchbot.ui.page import OpenPage
from finchbot.ui.words import Words, prepare
from tests.support.echo_core import EchoCore, echo_bot


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    catalogue = Catalogue.load(Path(__file__).resolve().parents[2] / "locales")
    prepare(catalogue)
    return catalogue


@pytest.fixture
def words(catalogue: Catalogue) -> Words:
    return Words(catalogue, "en-US")


@pytest.fixture
def page() -> OpenPage:
    return OpenPage(Visitor(OWNER, "tab", "en-US", UTC), "en-US")


@pytest.fixture
async def core() -> AsyncIterator[EchoCore]:
    async with EchoCore() as core:
        yield core


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def bot(core: EchoCore, home: Path) -> FinchBot:
    return echo_bot(core, home, {})
