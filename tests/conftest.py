"""What every test gets: a sealed process, no blocking of the loop, and its own clock and ids."""

from collections.abc import Iterator

import pytest
from blockbuster import BlockBuster
from hypothesis import HealthCheck, settings

from tests.support.clock import CountedIds, FakeClock
from tests.support.golden import Golden
from tests.support.model_server import ModelServer
from tests.support.real_model import real_model
from tests.support.seal import Seal

SEAL = Seal()

# The time of one example says more about the machine than about the code; a test has its own.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden/")


def pytest_configure() -> None:
    SEAL.install()


@pytest.fixture(autouse=True)
def seal() -> Iterator[Seal]:
    """Fail a test that leaves the machine, even when the code under test swallows the refusal."""
    with SEAL.around():
        yield SEAL


@pytest.fixture(autouse=True, scope="session")
def _no_blocking_in_the_loop() -> Iterator[None]:
    """Make a blocking call of FinchBot's own code inside a running loop an error."""
    guard = BlockBuster("finchbot")
    for function in guard.functions.values():
        # A look at the settings asks once whether a small local file has changed, so that an edit
        # holds from the next run on; handing that to a thread would cost more than it takes.
        function.can_block_in("finchbot/settings/store.py", {"_refreshed"})
    guard.activate()
    yield
    guard.deactivate()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def ids() -> CountedIds:
    return CountedIds()


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    return Golden(update=bool(request.config.getoption("--update-golden")))


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    """Give a scripted model on loopback; a history no provider accepts fails the test."""
    with ModelServer() as server:
        yield server
        server.raise_violations()


@pytest.fixture(scope="session")
def real_model_url() -> Iterator[str]:
    """Give the base URL of a real, small language model; skip where it is not installed."""
    with real_model() as url:
        yield url
