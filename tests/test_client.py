import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import TypeVar

import pytest

from finchbot.client import ApiError, FinchClient, Unreachable
from finchbot.ids import CallId, RunId, ThreadId
from tests.support.gateway import Gateway, served

T = TypeVar("T")


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with served(tmp_path) as gateway:
        yield gateway


async def asked(
    gateway: Gateway, ask: Callable[[FinchClient], T], language: str | None = None
) -> T:
    """Ask from another thread, as a page does: the client blocks."""

    def work() -> T:
        with FinchClient(gateway.url, language=language) as client:
            return ask(client)

    return await asyncio.to_thread(work)


async def test_a_thread_is_made_read_changed_and_deleted(gateway: Gateway) -> None:
    def work(client: FinchClient) -> None:
        thread = client.make_thread(title="Birds")
        assert client.thread(thread.id) == thread
        assert client.update_thread(thread.id, title="Finches", pinned=True).title == "Finches"
        assert [found.title for found in client.threads(q="Finch").items] == ["Finches"]
        client.delete_thread(thread.id)
        assert client.threads().items == ()

    await asked(gateway, work)


async def test_lists_come_in_pages(gateway: Gateway) -> None:
    def work(client: FinchClient) -> None:
        for number in range(3):
            client.make_thread(title=str(number))
        first = client.threads(limit=2)
        rest = client.threads(limit=2, cursor=first.next)
        assert [t.title for t in (*first.items, *rest.items)] == ["0", "1", "2"]
        assert rest.next is None

    await asked(gateway, work)


async def test_a_message_is_sent_once_and_its_run_stopped(gateway: Gateway) -> None:
    def work(client: FinchClient) -> None:
        thread = client.make_thread()
        sent = client.send(thread.id, "hold on", client_id="a")
        assert client.send(thread.id, "hold on", client_id="a") == sent
        assert client.messages(thread.id).items[0].text == "hold on"
        assert client.run(sent.run_id).status == "running"
        assert client.cancel_run(sent.run_id).status == "cancelled"
        with pytest.raises(ApiError) as refused:
            client.approve(sent.run_id, CallId("c"), "once")
        assert refused.value.code == "run.nothing_to_decide"

    await asked(gateway, work)


async def test_facts_tools_and_settings_are_read_and_changed(gateway: Gateway) -> None:
    def work(client: FinchClient) -> None:
        assert client.health().status == "ok"
        assert client.info().user_id == "owner"
        assert "read_file" in {tool.name for tool in client.tools()}
        settings = client.settings()
        changed = client.change_settings(settings.revision, {"memory.auto_recall": False})
        assert changed.fields["memory.auto_recall"].value is False
        with pytest.raises(ApiError) as stale:
            client.change_settings(settings.revision, {"memory.auto_recall": True})
        assert (stale.value.code, stale.value.status_code) == ("config.revision_conflict", 409)

    await asked(gateway, work)


async def test_errors_carry_the_servers_sentence_in_the_callers_language(gateway: Gateway) -> None:
    def work(client: FinchClient) -> None:
        with pytest.raises(ApiError) as refused:
            client.run(RunId("none"))
        assert refused.value.code == "run.not_found"
        assert refused.value.status_code == 404
        assert refused.value.detail.endswith("。")

    await asked(gateway, work, language="zh-CN")


async def test_an_id_never_leads_to_another_path(gateway: Gateway) -> None:
    def work(client: FinchClient) -> None:
        for name in ("../settings", "..", "a/messages", "a?q=1", "%2e%2e"):
            with pytest.raises(ApiError) as refused:
                client.thread(ThreadId(name))
            assert refused.value.status_code == 404

    await asked(gateway, work)


async def test_it_sees_what_its_visitors_cookie_may_see(tmp_path: Path) -> None:
    async with served(tmp_path, {"FINCHBOT_DEMO": "1"}) as gateway:
        async with gateway.client() as http:
            await http.get("/")
            cookies = dict(http.cookies)
            mine = (await http.get("/api/v1/info")).json()["user_id"]

        def user(shown: Mapping[str, str]) -> str:
            with FinchClient(gateway.url, cookies=shown) as client:
                return client.info().user_id

        assert await asyncio.to_thread(user, cookies) == mine
        assert await asyncio.to_thread(user, {}) != mine


def test_a_server_that_is_not_there_is_said() -> None:
    with FinchClient("http://127.0.0.1:1") as client, pytest.raises(Unreachable):
        client.thread(ThreadId("t"))
