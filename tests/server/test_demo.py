"""What a demo refuses, and what it says of itself."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.gateway import Gateway, served

OWNER = {"authorization": "Bearer a-token-of-the-owner"}


@pytest.fixture
async def demo(tmp_path: Path) -> AsyncIterator[Gateway]:
    variables = {"FINCHBOT_DEMO": "1", "FINCHBOT_SERVER__API_TOKEN": "a-token-of-the-owner"}
    async with served(tmp_path, variables) as gateway:
        yield gateway


async def test_not_even_the_owner_stores_a_key_in_a_demo(demo: Gateway, tmp_path: Path) -> None:
    async with demo.client(OWNER) as client:
        revision = (await client.get("/api/v1/settings")).json()["revision"]
        changes = {"providers.openai.api_key": "sk-never-to-be-kept"}
        body = {"revision": revision, "changes": changes}
        refused = await client.patch("/api/v1/settings", json=body)
    assert (refused.status_code, refused.json()["code"]) == (403, "access.demo")
    assert not (tmp_path / "config.json").exists()


async def test_a_visitor_sees_no_settings_and_is_the_same_visitor_next_time(demo: Gateway) -> None:
    async with demo.client() as client:
        info = (await client.get("/api/v1/info")).json()
        assert info["demo"] is True
        assert info["user_id"].startswith("visitor_")
        assert (await client.get("/api/v1/settings")).status_code == 403
        assert (await client.get("/api/v1/info")).json()["user_id"] == info["user_id"]
    async with demo.client() as other:
        assert (await other.get("/api/v1/info")).json()["user_id"] != info["user_id"]
