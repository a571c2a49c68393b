"""A gateway on loopback for every test here."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.gateway import Gateway, served


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    """Serve loopback without a password: whoever calls is the owner."""
    async with served(tmp_path) as gateway:
        yield gateway
