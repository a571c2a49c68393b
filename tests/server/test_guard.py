import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import websockets

from tests.support.gateway import Gateway, served

PASSWORD = {"FINCHBOT_SERVER__PASSWORD": "open sesame", "FINCHBOT_SERVER__API_TOKEN": "tok-123"}
EVERYWHERE = [
    "/",
    "/config",
    "/gradio_api/info",
    "/gradio_api/file=/etc/passwd",
    "/admin",
    "/admin/",
    "/admin/_stcore/health",
    "/api/v1/info",
    "/api/v1/threads",
    "/api/v1/runs/run_1",
    "/api/v1/settings",
    "/api/docs",
    "/api/docs/swagger-ui.css",
    "/api/openapi.json",
    "/api/nothing",
    "/v1/models",
    "/channels/feishu/webhook",
    "/docs",
    "/openapi.json",
    "/static/x.js",
    "/ws",
]


@pytest.fixture
async def locked(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with served(tmp_path, PASSWORD) as gateway:
        yield gateway


@pytest.mark.parametrize("path", EVERYWHERE)
async def test_without_a_credential_nothing_is_served(locked: Gateway, path: str) -> None:
    async with locked.client() as client:
        for method in ("GET", "POST", "HEAD", "DELETE", "OPTIONS"):
            answer = await client.request(method, path)
            assert answer.status_code == 401, method
        problem = (await client.get(path)).json()
        assert problem["type"] == "urn:finchbot:error:access.unauthenticated"
        page = await client.get(f"{path}?a=1", headers={"accept": "text/html"})
        assert page.status_code == 303
        assert page.headers["location"] == f"/login?next={path}%3Fa%3D1".replace(
            path, path.replace("=", "%3D"), 1
        )


@pytest.mark.parametrize("path", ["/ws", "/admin/_stcore/stream"])
async def test_without_a_credential_no_socket_opens(locked: Gateway, path: str) -> None:
    with pytest.raises(websockets.InvalidStatus) as refused:
        async with locked.connect(path):
            pass
    assert refused.value.response.status_code == 401


async def test_a_refused_socket_is_no_error_of_the_program(
    locked: Gateway, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        with pytest.raises(websockets.InvalidStatus):
            async with locked.connect():
                pass
    async with locked.client() as client:
        await client.get("/healthz")
    assert [record.msg for record in caplog.records if record.levelname == "ERROR"] == []


async def test_health_and_login_are_open(locked: Gateway) -> None:
    async with locked.client() as client:
        assert (await client.get("/healthz")).json()["status"] == "ok"
        for path in ("/login", "/login/page.css", "/login/mark.svg"):
            assert (await client.get(path)).status_code == 200, path


async def test_a_token_opens_api_and_sockets_for_the_owner(locked: Gateway) -> None:
    async with locked.client(headers={"Authorization": "Bearer tok-123"}) as client:
        assert (await client.get("/api/v1/info")).json()["user_id"] == "owner"
        assert (await client.get("/admin/whoami")).json()["kind"] == "token"
    protocols = ["finchbot", "finchbot.bearer.tok-123"]
    async with locked.connect(subprotocols=protocols) as socket:
        assert socket.subprotocol == "finchbot"
        assert '"owner"' in await socket.recv()
    async with locked.connect(subprotocols=["finchbot.bearer.tok-123"]) as socket:
        assert socket.subprotocol == "finchbot.bearer.tok-123"


async def test_a_wrong_token_is_refused_even_where_none_is_needed(gateway: Gateway) -> None:
    async with gateway.client() as client:
        assert (await client.get("/api/v1/info")).status_code == 200
        wrong = await client.get("/api/v1/info", headers={"Authorization": "Bearer nope"})
    assert wrong.status_code == 401
    assert wrong.json()["code"] == "access.bad_token"
    with pytest.raises(websockets.InvalidStatus):
        async with gateway.connect(subprotocols=["finchbot.bearer.nope"]):
            pass


async def test_only_a_token_may_act_for_another_user(locked: Gateway) -> None:
    acting = {"X-FinchBot-User": "discord:1:2"}
    async with locked.client(headers={"Authorization": "Bearer tok-123"}) as client:
        assert (await client.get("/api/v1/info", headers=acting)).json()["user_id"] == "discord:1:2"
        assert (
            await client.get("/api/v1/info", headers={"X-FinchBot-User": ""})
        ).status_code == 422
    async with locked.client() as client:
        assert (await client.post("/login", json={"password": "open sesame"})).status_code == 200
        assert (await client.get("/api/v1/info", headers=acting)).json()["user_id"] == "owner"


async def test_a_client_cannot_name_itself(gateway: Gateway) -> None:
    async with gateway.client(headers={"X-FinchBot-User": "mallory"}) as client:
        assert (await client.get("/api/v1/info")).json()["user_id"] == "owner"
        thread = await client.post("/api/v1/threads", json={"user_id": "mallory"})
        assert thread.status_code == 422


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "http://127.0.0.1:1",
        "http://127.0.0.1.evil.example",
        "file://",
    ],
)
async def test_pages_of_other_sites_may_not_speak_to_it(gateway: Gateway, origin: str) -> None:
    headers = {"Origin": origin}
    async with gateway.client(headers=headers) as client:
        for method, path in (("POST", "/api/v1/threads"), ("GET", "/config"), ("OPTIONS", "/")):
            answer = await client.request(method, path)
            assert answer.status_code == 403
            assert answer.json()["code"] == "access.bad_origin"
    for path in ("/ws", "/admin/_stcore/stream"):
        with pytest.raises(websockets.InvalidStatus) as refused:
            async with gateway.connect(path, headers):
                pass
        assert refused.value.response.status_code == 403


async def test_its_own_pages_may_speak_to_it(gateway: Gateway) -> None:
    async with gateway.client(headers={"Origin": gateway.url}) as client:
        assert (await client.post("/api/v1/threads")).status_code == 201
    async with gateway.connect("/ws", {"Origin": gateway.url}) as socket:
        assert '"hello"' in await socket.recv()


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:7860",
        "localhost.evil.example",
        "10.0.0.1",
        "localhost:80@evil.example",
        "localhost:80:80",
        "[::1",
        "[::1]x",
    ],
)
async def test_a_rebound_name_reaches_nothing(gateway: Gateway, host: str) -> None:
    async with gateway.client(headers={"Host": host}) as client:
        for path in ("/", "/admin/", "/api/v1/info", "/healthz", "/login"):
            answer = await client.get(path)
            assert answer.status_code == 403, path
            assert answer.json()["code"] == "access.bad_host"


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:99", "127.0.0.1", "[::1]", "[::1]:8"])
async def test_names_of_loopback_are_answered(gateway: Gateway, host: str) -> None:
    async with gateway.client(headers={"Host": host}) as client:
        assert (await client.get("/api/v1/info")).status_code == 200


async def test_listed_names_are_answered(tmp_path: Path) -> None:
    async with (
        served(tmp_path, {"FINCHBOT_SERVER__ALLOWED_HOSTS": "chat.example"}) as gateway,
        gateway.client(headers={"Host": "chat.example"}) as client,
    ):
        assert (await client.get("/api/v1/info")).status_code == 200
        same = {"Origin": "https://chat.example"}
        assert (await client.post("/api/v1/threads", headers=same)).status_code == 201


@pytest.mark.parametrize("second", ["localhost", "evil.example"])
async def test_two_hosts_are_none(gateway: Gateway, second: str) -> None:
    status, _ = await raw_get(gateway, "/healthz", f"Host: {second}\r\n")
    assert status == 403


TRICKS = [
    "//etc/passwd",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/..%2f..%2fetc/passwd",
    "/%252e%252e/etc/passwd",
    "/static/..%5c..%5cboot.ini",
    "/static/../../etc/passwd",
    "/gradio_api/file=/tmp/../etc/passwd",
    "/admin//etc/passwd",
    "/admin/static/%2e%2e/x",
    "/a%00b",
    "/api/v1/../../etc/passwd",
]


@pytest.mark.parametrize("path", TRICKS)
async def test_tricky_paths_are_not_found(gateway: Gateway, path: str) -> None:
    status, body = await raw_get(gateway, path)
    assert status == 404
    assert b"root:" not in body
    assert b"page of" not in body


@pytest.mark.parametrize(
    "path",
    ["/api", "/api/", "/api/v1", "/api/v1/nothing", "/api/v2/info", "/v1/x", "/channels/x", "/ws"],
)
async def test_unknown_paths_of_the_api_are_problems_and_never_pages(
    gateway: Gateway, path: str
) -> None:
    async with gateway.client() as client:
        for accept in ("*/*", "text/html"):
            answer = await client.get(path, headers={"accept": accept})
            assert answer.status_code == 404
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.json()["code"] == "server.not_found"


@pytest.mark.parametrize("path", ["/healthz", "/login", "/login/page.css", "/logout"])
async def test_what_is_open_to_all_leads_to_nothing_else(locked: Gateway, path: str) -> None:
    async with locked.client() as client:
        for method in ("GET", "HEAD", "PUT", "OPTIONS", "TRACE"):
            answer = await client.request(method, path)
            assert "page of" not in answer.text
            if answer.status_code == 405:
                assert answer.headers["allow"]
                assert answer.headers["content-type"] == "application/problem+json"
        assert (await client.get(f"{path}/more")).status_code == 401
        assert (await client.head("/healthz")).status_code == 200


async def test_a_known_path_by_a_wrong_method_says_which_are_right(gateway: Gateway) -> None:
    async with gateway.client() as client:
        answer = await client.put("/api/v1/threads", json={})
    assert answer.status_code == 405
    assert set(answer.headers["allow"].split(", ")) >= {"GET", "POST"}
    assert answer.json()["status"] == 405


async def test_admin_without_a_slash_leads_to_the_admin(gateway: Gateway) -> None:
    async with gateway.client() as client:
        answer = await client.get("/admin?x=1")
    assert (answer.status_code, answer.headers["location"]) == (307, "/admin/?x=1")


async def test_every_answer_carries_the_headers_that_keep_pages_at_home(gateway: Gateway) -> None:
    async with gateway.client() as client:
        for path in ("/", "/admin/", "/api/v1/info", "/api/nothing", "/healthz", "/login"):
            headers = (await client.get(path)).headers
            policy = headers["content-security-policy"]
            assert "frame-ancestors 'self'" in policy
            assert "form-action 'self'" in policy
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "same-origin"
            assert "access-control-allow-origin" not in headers
        uploaded = await client.get("/gradio_api/file=/tmp/x.svg")
        assert uploaded.headers["content-security-policy"].startswith("sandbox;")


async def test_headers_only_the_guard_may_set_are_replaced(gateway: Gateway) -> None:
    lies = {
        "X-FinchBot-Origin": "http://evil.example",
        "X-Forwarded-Host": "evil.example",
        "X-Gradio-Server": "http://evil.example",
    }
    async with gateway.client() as client:
        honest = (await client.get("/admin/whoami")).json()["headers"]
        assert honest["x-finchbot-origin"] == gateway.url
        lies.pop("X-Forwarded-Host")
        for path in ("/admin/whoami", "/whoami"):
            seen = (await client.get(path, headers=lies)).json()["headers"]
            assert "evil.example" not in str(seen)
        assert "x-finchbot-origin" not in (await client.get("/whoami")).json()["headers"]
    async with gateway.connect("/admin/_stcore/stream", lies) as socket:
        assert f'"origin":"{gateway.url}"' in await socket.recv()


async def test_whoever_comes_through_an_unknown_proxy_is_not_the_owner(gateway: Gateway) -> None:
    async with gateway.client(headers={"X-Forwarded-For": "127.0.0.1"}) as client:
        assert (await client.get("/api/v1/info")).status_code == 401


async def test_a_trusted_proxy_tells_host_scheme_and_client(tmp_path: Path) -> None:
    environ = {
        **PASSWORD,
        "FINCHBOT_SERVER__TRUSTED_PROXIES": "127.0.0.0/8",
        "FINCHBOT_SERVER__ALLOWED_HOSTS": "chat.example",
    }
    forwarded = {
        "X-Forwarded-For": "127.0.0.1, 203.0.113.9",
        "X-Forwarded-Proto": "https",
        "X-Forwarded-Host": "chat.example",
        "Origin": "https://chat.example",
    }
    async with served(tmp_path, environ) as gateway, gateway.client(headers=forwarded) as client:
        login = await client.post("/login", json={"password": "open sesame"})
        assert "Secure" in login.headers["set-cookie"]
        session = login.headers["set-cookie"].split(";")[0]
        seen = (await client.get("/whoami", headers={"cookie": session})).json()
        assert seen["url"] == "https://chat.example/whoami"
        assert seen["client"] == "203.0.113.9"
        assert "x-forwarded-for" not in seen["headers"]


async def test_below_a_root_path_links_and_cookies_carry_it(tmp_path: Path) -> None:
    environ = {**PASSWORD, "FINCHBOT_SERVER__ROOT_PATH": "/finch/"}
    async with served(tmp_path, environ) as gateway, gateway.client() as client:
        for path in ("/admin/", "/finch/admin/"):
            page = await client.get(path, headers={"accept": "text/html"})
            assert page.headers["location"] == "/finch/login?next=/finch/admin/"
        login = await client.post("/login", json={"password": "open sesame"})
        assert "Path=/finch/" in login.headers["set-cookie"]
        session = {"cookie": login.headers["set-cookie"].split(";")[0]}
        for path in ("/api/v1/info", "/finch/api/v1/info"):
            assert (await client.get(path, headers=session)).status_code == 200
        admin = await client.get("/finch/admin", headers=session)
        assert admin.headers["location"] == "/finch/admin/"


async def test_too_large_a_body_is_refused_by_declaration_and_by_count(gateway: Gateway) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(21):
            yield b"x" * 50_000

    async with gateway.client() as client:
        for content in (b"x" * 1_000_001, chunks()):
            for path in ("/api/v1/threads", "/gradio_api/queue/join"):
                answer = await client.post(path, content=content)
                assert answer.status_code == 413, path
                assert answer.json()["params"] == {"limit_bytes": 1_000_000}
                content = b"x" * 1_000_001
        for path in ("/gradio_api/upload", "/admin/_stcore/upload_file/a/b"):
            assert (await client.post(path, content=b"x" * 2_000_000)).status_code == 200


async def test_a_body_that_is_announced_and_never_comes_is_refused(gateway: Gateway) -> None:
    host, _, port = gateway.url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    announced = "Expect: 100-continue\r\nContent-Length: 2000000\r\n\r\n"
    writer.write(f"POST /api/v1/threads HTTP/1.1\r\nHost: {host}\r\n{announced}".encode())
    answer = await reader.readuntil(b"input.too_large")
    assert b"HTTP/1.1 413" in answer
    writer.close()
    await writer.wait_closed()


async def test_an_upload_over_its_limit_is_refused_while_it_is_read(gateway: Gateway) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(1100):
            yield b"x" * 50_000

    async with gateway.client(timeout=20) as client:
        answer = await client.post("/gradio_api/upload", content=endless())
    assert answer.status_code == 413


async def test_refusals_speak_the_callers_language(gateway: Gateway) -> None:
    async with gateway.client(headers={"Accept-Language": "zh-CN,zh;q=0.9"}) as client:
        answer = (await client.get("/api/v1/threads/none")).json()
    assert answer["detail"].endswith("。")
    assert answer["title"] == "没有找到"


async def raw_get(gateway: Gateway, path: str, more: str = "") -> tuple[int, bytes]:
    """Send a path exactly as it is spelled; clients tidy it up."""
    host, _, port = gateway.url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    head = f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{more}Connection: close\r\n\r\n"
    writer.write(head.encode())
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    _, _, body = answer.partition(b"\r\n\r\n")
    return int(answer.split(b" ")[1]), body
