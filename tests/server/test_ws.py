import asyncio
import gc
import json
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import websockets
from websockets.asyncio.client import ClientConnection

from finchbot.events import RunEvent, event_adapter
from tests.support.event_laws import check_laws
from tests.support.gateway import Gateway, served

TOKEN = {"FINCHBOT_SERVER__API_TOKEN": "tok"}


class Talker:
    """One client of ``/ws``."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.frames: list[dict[str, Any]] = []

    async def say(self, **frame: object) -> None:
        await self.connection.send(json.dumps(frame))

    async def hear(self, kind: str) -> dict[str, Any]:
        """Return the next frame of this type; what comes before is kept in `frames`."""
        while True:
            frame: dict[str, Any] = json.loads(await self.connection.recv())
            self.frames.append(frame)
            if frame["type"] == kind:
                return frame

    def events(self) -> list[RunEvent]:
        return [event_adapter.validate_python(f) for f in self.frames if "seq" in f]


@pytest.fixture
async def talker(gateway: Gateway) -> AsyncIterator[Talker]:
    async with gateway.connect() as connection:
        talker = Talker(connection)
        await talker.hear("hello")
        yield talker


async def test_a_message_without_a_thread_makes_one_and_is_answered(talker: Talker) -> None:
    assert talker.frames[0]["user_id"] == "owner"
    await talker.say(type="message.send", text="one two three", client_id="c1")
    accepted = await talker.hear("accepted")
    assert set(accepted) == {"type", "client_id", "thread_id", "run_id", "queued"}
    assert (accepted["client_id"], accepted["queued"]) == ("c1", False)
    await talker.hear("run.finished")
    check_laws(talker.events())
    said = "".join(frame["text"] for frame in talker.frames if frame["type"] == "text.delta")
    assert said == "one two three"


async def test_a_second_message_waits_and_both_are_answered_in_order(
    gateway: Gateway, talker: Talker
) -> None:
    await talker.say(type="message.send", text="hold first")
    first = await talker.hear("accepted")
    await talker.hear("text.delta")
    await talker.say(type="message.send", text="second", thread_id=first["thread_id"])
    second = await talker.hear("accepted")
    assert second["queued"]
    gateway.core.go.set()
    assert (await talker.hear("run.finished"))["run_id"] == first["run_id"]
    assert (await talker.hear("run.finished"))["run_id"] == second["run_id"]
    check_laws(talker.events())


async def test_a_run_is_stopped_by_its_id(talker: Talker) -> None:
    await talker.say(type="message.send", text="hold on")
    accepted = await talker.hear("accepted")
    await talker.hear("text.delta")
    await talker.say(type="run.cancel", run_id=accepted["run_id"])
    await talker.hear("run.cancelled")
    check_laws(talker.events())


async def test_a_client_comes_back_after_a_drop_and_misses_nothing(gateway: Gateway) -> None:
    async with gateway.connect() as connection:
        first = Talker(connection)
        await first.say(type="message.send", text="hold the line please")
        accepted = await first.hear("accepted")
        await first.hear("text.delta")
    gateway.core.go.set()
    async with gateway.connect() as connection:
        second = Talker(connection)
        last = first.events()[-1].seq
        await second.say(type="thread.subscribe", thread_id=accepted["thread_id"], after_seq=last)
        await second.hear("run.finished")
    check_laws([*first.events(), *second.events()])


async def test_subscribing_again_begins_anew(talker: Talker) -> None:
    await talker.say(type="message.send", text="one two")
    thread_id = (await talker.hear("accepted"))["thread_id"]
    await talker.hear("run.finished")
    before = talker.events()
    talker.frames.clear()
    await talker.say(type="thread.subscribe", thread_id=thread_id, after_seq=0)
    await talker.hear("run.finished")
    assert talker.events() == before


async def test_a_deleted_thread_is_said_to_be_gone(gateway: Gateway, talker: Talker) -> None:
    async with gateway.client() as client:
        thread_id = (await client.post("/api/v1/threads")).json()["id"]
        await talker.say(type="thread.subscribe", thread_id=thread_id, after_seq=0)
        await talker.say(type="ping")
        await talker.hear("pong")
        await client.delete(f"/api/v1/threads/{thread_id}")
    await talker.hear("thread.deleted")
    await gateway.core.until_nobody_listens()


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ("{", "input.not_json"),
        ("[" * 100_000, "input.not_json"),
        ("[]", "input.not_object"),
        ("null", "input.not_object"),
        ('{"type": "ping", "\\u0007": 1}', "input.unknown_field"),
        ('{"type": "ping", "\\ud800": 1}', "input.bad_field"),
        ('{"type": "message.send", "text": "\\ud800", "client_id": "\\ud800"}', "input.bad_field"),
        ('{"type": "sing"}', "input.unknown_type"),
        ('{"text": "no type"}', "input.unknown_type"),
        ('{"type": "message.send"}', "input.missing_field"),
        ('{"type": "message.send", "text": "x", "user_id": "root"}', "input.unknown_field"),
        ('{"type": "message.send", "text": "  "}', "input.empty"),
        ('{"type": "message.send", "text": "x", "thread_id": "none"}', "thread.not_found"),
        ('{"type": "message.send", "text": "x", "thread_id": ""}', "input.bad_field"),
        ('{"type": "thread.subscribe", "thread_id": "none"}', "thread.not_found"),
        ('{"type": "thread.subscribe", "thread_id": "x", "after_seq": -1}', "input.bad_field"),
        ('{"type": "run.cancel", "run_id": "none"}', "run.not_found"),
        (b"\x00\x01", "input.not_json"),
        (json.dumps({"type": "message.send", "text": "x" * 1_000_000}), "input.too_large"),
    ],
)
async def test_a_bad_frame_gets_an_error_and_the_socket_lives(
    talker: Talker, frame: str | bytes, code: str
) -> None:
    await talker.connection.send(frame)
    error = await talker.hear("error")
    assert error["code"] == code
    assert error["detail"]
    assert set(error) == {"type", "code", "detail", "params"}
    await talker.say(type="ping")
    await talker.hear("pong")


async def test_a_frame_of_an_unknown_type_is_told_which_field_is_wrong(talker: Talker) -> None:
    await talker.connection.send('{"type": "sing"}')
    assert (await talker.hear("error"))["params"]["field"] == "type"


async def test_an_error_names_the_message_it_is_about(talker: Talker) -> None:
    for text in ("", 5):
        await talker.say(type="message.send", text=text, client_id="mine")
        assert (await talker.hear("error"))["client_id"] == "mine"


async def test_errors_speak_the_callers_language(gateway: Gateway) -> None:
    async with gateway.connect(headers={"Accept-Language": "zh-CN"}) as connection:
        talker = Talker(connection)
        await talker.say(type="sing")
        assert (await talker.hear("error"))["detail"] == "没有这种类型的帧。"


async def test_somebody_elses_client_id_and_threads_are_out_of_reach(tmp_path: Path) -> None:
    async with served(tmp_path, TOKEN) as gateway, AsyncExitStack() as stack:
        talkers = []
        for user in ("anna", "bert"):
            headers = {"Authorization": "Bearer tok", "X-FinchBot-User": user}
            connection = await stack.enter_async_context(gateway.connect(headers=headers))
            talkers.append(Talker(connection))
        anna, bert = talkers
        for talker in talkers:
            await talker.say(type="message.send", text="hold on", client_id="same")
        hers, his = await anna.hear("accepted"), await bert.hear("accepted")
        assert hers["run_id"] != his["run_id"]
        await bert.say(type="thread.subscribe", thread_id=hers["thread_id"], after_seq=0)
        assert (await bert.hear("error"))["code"] == "thread.not_found"
        await bert.say(type="run.cancel", run_id=hers["run_id"])
        assert (await bert.hear("error"))["code"] == "run.not_found"
        gateway.core.go.set()
        await anna.hear("run.finished")
        await bert.hear("run.finished")
        assert {f.get("thread_id") for f in bert.frames if "seq" in f} == {his["thread_id"]}


async def test_a_second_socket_with_the_same_client_id_loses_nothing_when_the_first_closes(
    gateway: Gateway,
) -> None:
    async with gateway.connect() as one, gateway.connect() as other:
        old, new = Talker(one), Talker(other)
        await old.say(type="message.send", text="hold on", client_id="same")
        first = await old.hear("accepted")
        await new.say(
            type="message.send", text="hold on", client_id="same", thread_id=first["thread_id"]
        )
        assert (await new.hear("accepted"))["run_id"] == first["run_id"]
        await one.close()
        gateway.core.go.set()
        await new.hear("run.finished")
        check_laws(new.events())


async def test_a_client_that_does_not_read_costs_no_memory(gateway: Gateway) -> None:
    text = " ".join(["word" * 50] * 4000)
    lazy = gateway.connect(max_queue=1, compression=None)
    async with lazy as slow, gateway.connect(max_queue=None) as other:
        await slow.send(json.dumps({"type": "message.send", "text": text}))
        reader = Talker(other)
        await reader.hear("hello")
        accepted = json.loads(await slow.recv())
        while accepted["type"] != "accepted":
            accepted = json.loads(await slow.recv())
        await reader.say(type="thread.subscribe", thread_id=accepted["thread_id"], after_seq=0)
        await reader.hear("run.finished")
        unsent = sum(c.transport.get_write_buffer_size() for c in _connections(gateway))
        assert unsent < 500_000
        last = accepted
        while last["type"] != "run.finished":
            last = json.loads(await slow.recv())


def _connections(gateway: Gateway) -> list[Any]:
    return list(gateway.server.server_state.connections)


async def test_the_end_of_the_program_is_heard_before_the_socket_closes(
    gateway: Gateway, talker: Talker
) -> None:
    await talker.say(type="message.send", text="hold on")
    await talker.hear("text.delta")
    gateway.server.should_exit = True
    assert (await talker.hear("run.interrupted"))["reason"] == "shutdown"
    with pytest.raises(websockets.ConnectionClosed) as closed:
        await talker.hear("never")
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1012
    check_laws(talker.events())


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_two_hundred_clients_come_chat_and_leave_nothing_behind(gateway: Gateway) -> None:
    async def visit(number: int) -> None:
        async with gateway.connect() as connection:
            talker = Talker(connection)
            await talker.say(type="message.send", text=f"hello {number}")
            await talker.hear("run.finished")

    await visit(0)
    before = await _resources(gateway)
    for start in range(0, 200, 50):
        await asyncio.gather(*(visit(number) for number in range(start, start + 50)))
    after = await _resources(gateway)
    assert after["streams"] == after["subscribers"] == 0
    assert after["descriptors"] <= before["descriptors"]
    assert after["tasks"] <= before["tasks"]


async def _resources(gateway: Gateway) -> dict[str, int]:
    await gateway.core.until_nobody_listens()
    # The server's own bookkeeping tells nobody when it changes.
    while gateway.server.server_state.connections or gateway.server.server_state.tasks:  # noqa: ASYNC110
        await asyncio.sleep(0)
    gc.collect()
    return {
        "streams": len(gateway.streams),
        "subscribers": gateway.core.subscribers,
        "descriptors": len(os.listdir("/proc/self/fd")),
        "tasks": len(asyncio.all_tasks()),
    }
