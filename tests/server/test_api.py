from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from finchbot.events import RunEvent, event_adapter
from tests.support.event_laws import check_laws
from tests.support.gateway import Gateway, served


@pytest.fixture
async def client(gateway: Gateway) -> AsyncIterator[httpx.AsyncClient]:
    async with gateway.client() as client:
        yield client


async def new_thread(client: httpx.AsyncClient) -> str:
    thread_id: str = (await client.post("/api/v1/threads")).json()["id"]
    return thread_id


def events_of(stream: str) -> list[RunEvent]:
    """Read a finished stream, and check that `id` and `event` say what the data says."""
    events = []
    for block in stream.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if line[:1] != ":")
        if fields:
            event = event_adapter.validate_json(fields["data"])
            assert fields["id"] == str(event.seq)
            assert fields["event"] == event.type
            events.append(event)
    return events


async def test_info_and_health_say_what_this_is(
    gateway: Gateway, client: httpx.AsyncClient
) -> None:
    info = (await client.get("/api/v1/info")).json()
    assert info["name"] == "FinchBot"
    assert (info["model"], info["user_id"], info["demo"]) == ("echo/echo", "owner", False)
    assert info["limits"] == {"json_bytes": 1_000_000, "upload_bytes": 50_000_000}
    gateway.parts["model"] = "ok"
    assert (await client.get("/healthz")).json()["status"] == "ok"
    gateway.parts["vectors"] = "degraded"
    health = (await client.get("/healthz")).json()
    assert (health["status"], health["parts"]["vectors"]) == ("degraded", "degraded")


async def test_the_language_follows_the_caller(client: httpx.AsyncClient) -> None:
    for wanted, got in (("zh-CN", "zh-CN"), ("fr-FR", "en-US"), ("", "en-US")):
        info = await client.get("/api/v1/info", headers={"Accept-Language": wanted})
        assert info.json()["language"] == got


async def test_what_a_person_picked_goes_before_the_browsers_language(
    client: httpx.AsyncClient,
) -> None:
    for picked, got in (("zh-HK", "zh-HK"), ("klingon", "zh-CN"), ("<b>", "zh-CN")):
        headers = {"Accept-Language": "zh-CN", "Cookie": f"finchbot_language={picked}"}
        info = await client.get("/api/v1/info", headers=headers)
        assert info.json()["language"] == got


async def test_where_things_are_is_told_to_the_owner_alone(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    machine = (await client.get("/api/v1/info")).json()["machine"]
    assert machine["log_file"].startswith(machine["home"])
    environ = {"FINCHBOT_DEMO": "1"}
    async with served(tmp_path / "demo", environ) as demo, demo.client() as stranger:
        assert (await stranger.get("/api/v1/info")).json()["machine"] is None


async def test_a_thread_is_made_listed_changed_and_deleted(client: httpx.AsyncClient) -> None:
    made = await client.post("/api/v1/threads", json={"title": "Birds"})
    assert made.status_code == 201
    path = f"/api/v1/threads/{made.json()['id']}"
    assert (await client.get(path)).json() == made.json()
    changed = await client.patch(path, json={"title": "Finches", "pinned": True})
    assert (changed.json()["title"], changed.json()["pinned"]) == ("Finches", True)
    assert (await client.patch(path, json={"pinned": "no"})).status_code == 422
    page = (await client.get("/api/v1/threads", params={"q": "Finch", "limit": 1})).json()
    assert [thread["title"] for thread in page["items"]] == ["Finches"]
    assert page["next"] is None
    assert (await client.delete(path)).status_code == 204
    assert (await client.get(path)).status_code == 404


async def test_times_are_rfc_3339_with_milliseconds(client: httpx.AsyncClient) -> None:
    created = (await client.post("/api/v1/threads")).json()["created_at"]
    assert len(created) == len("2026-12-01T08:00:00.000Z")
    assert created.endswith("Z")


@pytest.mark.parametrize(
    ("method", "path", "body", "code"),
    [
        ("GET", "/api/v1/threads?limit=0", None, "input.bad_field"),
        ("GET", "/api/v1/threads?limit=201", None, "input.bad_field"),
        ("GET", "/api/v1/threads?colour=red", None, "input.unknown_field"),
        ("GET", "/api/v1/info?x=1", None, "input.unknown_field"),
        ("POST", "/api/v1/threads?x=1", None, "input.unknown_field"),
        ("POST", "/api/v1/threads", {"colour": "red"}, "input.unknown_field"),
        ("POST", "/api/v1/threads/none/messages", {}, "input.missing_field"),
        ("POST", "/api/v1/threads/none/messages", {"text": 5}, "input.bad_field"),
        ("POST", "/api/v1/threads/none/messages", {"text": "a", "x": 1}, "input.unknown_field"),
        (
            "POST",
            "/api/v1/runs/none/approve",
            {"call_id": "c", "decision": "expired"},
            "input.bad_field",
        ),
    ],
)
async def test_fields_nobody_knows_are_refused(
    client: httpx.AsyncClient, method: str, path: str, body: object, code: str
) -> None:
    answer = await client.request(method, path, json=body)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["code"] == code
    assert problem["type"] == f"urn:finchbot:error:{code}"
    assert problem["detail"]
    assert problem["params"]["field"]


async def test_what_is_no_json_is_refused_and_not_quoted(client: httpx.AsyncClient) -> None:
    path = f"/api/v1/threads/{await new_thread(client)}/messages"
    for body in ("{secret", "[]", '"secret"', ""):
        answer = await client.post(path, content=body, headers={"content-type": "application/json"})
        assert answer.status_code == 422
        assert "secret" not in answer.text


async def test_empty_text_and_unknown_uploads_are_refused(client: httpx.AsyncClient) -> None:
    path = f"/api/v1/threads/{await new_thread(client)}/messages"
    empty = await client.post(path, json={"text": "  "})
    assert (empty.status_code, empty.json()["code"]) == (422, "input.empty")
    upload = await client.post(path, json={"text": "look", "attachments": ["upl_1"]})
    assert (upload.status_code, upload.json()["code"]) == (422, "upload.not_found")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/v1/threads/none"),
        ("PATCH", "/api/v1/threads/none"),
        ("DELETE", "/api/v1/threads/none"),
        ("GET", "/api/v1/threads/none/messages"),
        ("GET", "/api/v1/threads/none/events"),
        ("GET", "/api/v1/runs/none"),
        ("POST", "/api/v1/runs/none/cancel"),
    ],
)
async def test_unknown_things_are_not_found(
    client: httpx.AsyncClient, method: str, path: str
) -> None:
    answer = await client.request(method, path, json={} if method == "PATCH" else None)
    assert answer.status_code == 404
    assert answer.json()["code"].endswith(".not_found")


async def test_things_of_another_user_are_not_found(tmp_path: Path) -> None:
    environ = {"FINCHBOT_SERVER__API_TOKEN": "tok"}
    async with served(tmp_path, environ) as gateway:
        token = {"Authorization": "Bearer tok"}
        async with gateway.client(headers=token) as client:
            other = {"X-FinchBot-User": "other"}
            path = f"/api/v1/threads/{await new_thread(client)}"
            sent = await client.post(f"{path}/messages", json={"text": "mine"})
            run = f"/api/v1/runs/{sent.json()['run_id']}"
            for method, place in (
                ("GET", path),
                ("DELETE", path),
                ("GET", f"{path}/events"),
                ("GET", f"{path}/messages"),
                ("GET", run),
                ("POST", f"{run}/cancel"),
            ):
                answer = await client.request(method, place, headers=other)
                assert answer.status_code == 404, place
            assert (await client.get("/api/v1/threads", headers=other)).json()["items"] == []
            assert (await client.get(path)).status_code == 200


async def test_a_message_is_taken_in_and_its_run_can_be_read(client: httpx.AsyncClient) -> None:
    thread_id = await new_thread(client)
    path = f"/api/v1/threads/{thread_id}/messages"
    sent = await client.post(path, json={"text": "one two", "client_id": "a"})
    assert sent.status_code == 202
    assert set(sent.json()) == {"run_id", "thread_id", "seq"}
    again = await client.post(path, json={"text": "one two", "client_id": "a"})
    assert again.json() == sent.json()
    transcript = (await client.get(path)).json()
    assert transcript["items"][0]["parts"] == [{"type": "text", "text": "one two"}]
    run = (await client.get(f"/api/v1/runs/{sent.json()['run_id']}")).json()
    assert run["thread_id"] == thread_id


async def test_a_message_can_answer_with_the_events_of_its_run(client: httpx.AsyncClient) -> None:
    path = f"/api/v1/threads/{await new_thread(client)}/messages"
    await client.post(path, json={"text": "before"})
    answer = await client.post(
        path, json={"text": "one two"}, headers={"accept": "text/event-stream"}
    )
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = events_of(answer.text)
    assert events[0].type == "message.received"
    assert events[-1].type == "run.finished"
    assert len({getattr(event, "run_id", None) for event in events}) == 1
    check_laws(events, stamped=False)


async def test_events_are_replayed_then_live_and_resume_after_the_last_seen(
    gateway: Gateway, client: httpx.AsyncClient
) -> None:
    thread_id = await new_thread(client)
    path = f"/api/v1/threads/{thread_id}"
    sent = (await client.post(f"{path}/messages", json={"text": "hold on"})).json()
    seen = []
    async with client.stream("GET", f"{path}/events") as stream:
        async for line in stream.aiter_lines():
            if line.startswith("id: "):
                seen.append(int(line[4:]))
            if line == "event: text.delta":
                break
    gateway.core.go.set()
    events = await finished(client, f"{path}/events", headers={"Last-Event-ID": str(seen[-1])})
    assert events[0].seq == seen[-1] + 1
    everything = await finished(client, f"{path}/events?after_seq=0")
    check_laws(everything)
    assert everything[seen[-1] :] == events
    assert sent["seq"] == everything[0].seq


async def finished(
    client: httpx.AsyncClient, path: str, headers: dict[str, str] | None = None
) -> list[RunEvent]:
    """Read a stream up to the end of a run, then leave."""
    text = ""
    async with client.stream("GET", path, headers=headers) as stream:
        async for chunk in stream.aiter_text():
            text += chunk
            if "event: run.finished" in text and text.endswith("\n\n"):
                break
    return events_of(text)


async def test_leaving_a_stream_ends_the_subscription_and_not_the_run(
    gateway: Gateway, client: httpx.AsyncClient
) -> None:
    thread_id = await new_thread(client)
    request = client.stream(
        "POST",
        f"/api/v1/threads/{thread_id}/messages",
        json={"text": "hold on"},
        headers={"accept": "text/event-stream"},
    )
    async with request as stream:
        async for line in stream.aiter_lines():
            if line == "event: text.delta":
                break
    await gateway.core.until_nobody_listens()
    gateway.core.go.set()
    events = await finished(client, f"/api/v1/threads/{thread_id}/events")
    assert events[-1].type == "run.finished"


async def test_a_run_is_stopped(client: httpx.AsyncClient) -> None:
    path = f"/api/v1/threads/{await new_thread(client)}/messages"
    sent = (await client.post(path, json={"text": "hold on"})).json()
    run = f"/api/v1/runs/{sent['run_id']}"
    odd = await client.post(f"{run}/cancel", json={"soon": True})
    assert (odd.status_code, odd.json()["code"]) == (422, "input.unknown_field")
    stopped = await client.post(f"{run}/cancel")
    assert (stopped.status_code, stopped.json()["status"]) == (200, "cancelled")
    nothing = await client.post(f"{run}/approve", json={"call_id": "c", "decision": "once"})
    assert nothing.status_code == 409


async def test_settings_are_shown_masked_and_changed_once(tmp_path: Path) -> None:
    environ = {"OPENAI_API_KEY": "sk-very-secret-key-1234"}
    async with served(tmp_path, environ) as gateway, gateway.client() as client:
        shown = await client.get("/api/v1/settings")
        assert "very-secret" not in shown.text
        assert shown.json()["fields"]["agents.defaults.temperature"] == {
            "value": 0.7,
            "source": "default",
            "restart": False,
        }
        assert shown.json()["safe_mode"] is None
        change = {
            "revision": shown.json()["revision"],
            "changes": {"agents.defaults.temperature": 0.1},
        }
        changed = await client.patch("/api/v1/settings", json=change)
        assert changed.json()["fields"]["agents.defaults.temperature"]["source"] == "file"
        stale = await client.patch("/api/v1/settings", json=change)
        assert (stale.status_code, stale.json()["code"]) == (409, "config.revision_conflict")
        wrong = {
            "revision": changed.json()["revision"],
            "changes": {"agents.defaults.temperature": "hot"},
        }
        assert (await client.patch("/api/v1/settings", json=wrong)).status_code == 422


async def test_tools_are_listed_with_their_schema(client: httpx.AsyncClient) -> None:
    tools = (await client.get("/api/v1/tools")).json()["items"]
    read_file = next(tool for tool in tools if tool["name"] == "read_file")
    assert "path" in read_file["parameters"]["properties"]


async def test_the_list_of_tools_has_pages_as_every_list(client: httpx.AsyncClient) -> None:
    every = [tool["name"] for tool in (await client.get("/api/v1/tools")).json()["items"]]
    seen, query = list[str](), dict[str, str]()
    while True:
        page = (await client.get("/api/v1/tools", params={"limit": "3", **query})).json()
        seen += [tool["name"] for tool in page["items"]]
        if page["next"] is None:
            break
        query = {"cursor": page["next"]}
    assert seen == every
    for wrong in ({"cursor": "nothing"}, {"limit": "201"}, {"q": "x"}):
        assert (await client.get("/api/v1/tools", params=wrong)).status_code == 422


async def test_the_documents_need_nothing_from_elsewhere(client: httpx.AsyncClient) -> None:
    page = (await client.get("/api/docs")).text
    assert "http://" not in page
    assert "https://" not in page
    for name in ("swagger-ui-bundle.js", "swagger-ui.css", "start.js"):
        assert f"/api/docs/{name}" in page or name == "start.js"
        assert (await client.get(f"/api/docs/{name}")).status_code == 200
    assert (await client.get("/api/docs/other.js")).status_code == 404
    schema = (await client.get("/api/openapi.json")).json()
    assert "/api/v1/threads/{thread_id}/messages" in schema["paths"]
    assert (await client.get("/docs")).text.startswith("chat page")
