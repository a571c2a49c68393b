"""The real catalogue, and the model that speaks through it."""

from pathlib import Path

import pytest

from finchbot.i18n import Catalogue
from finchbot.providers.builtin import BuiltinChatModel
from tests.support.clock import CountedIds, FakeClock

LOCALES = Path(__file__).parents[3] / "locales"


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    return Catalogue.load(LOCALES)


@pytest.fixture
def model(catalogue: Catalogue, clock: FakeClock, ids: CountedIds) -> BuiltinChatModel:
    return BuiltinChatModel(say=catalogue.text, clock=clock, new_id=ids)
