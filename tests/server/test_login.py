from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from finchbot.errors import Busy, NotAuthenticated
from finchbot.server.cookies import Signer, load_key, read_cookies, set_cookie
from finchbot.server.identity import SESSION_DAYS, Credentials, Identities
from finchbot.server.login_limit import LoginLimit
from finchbot.server.paths import local_target
from tests.support.clock import CountedIds, FakeClock
from tests.support.gateway import Gateway, served

PASSWORD = {"FINCHBOT_SERVER__PASSWORD": "open sesame"}
PAGE = {"accept": "text/html"}


@pytest.fixture
async def locked(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with served(tmp_path, PASSWORD) as gateway:
        yield gateway


async def test_the_password_opens_a_session_that_leads_back(locked: Gateway) -> None:
    async with locked.client() as client:
        page = await client.get("/login?next=/admin/memory", headers=PAGE)
        assert 'name="next" value="/admin/memory"' in page.text
        assert "<script" not in page.text
        form = {"password": "open sesame", "next": "/admin/memory"}
        answer = await client.post("/login", data=form, headers={"Origin": locked.url})
        assert (answer.status_code, answer.headers["location"]) == (303, "/admin/memory")
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith("finchbot_session=")
        for attribute in ("HttpOnly", "SameSite=Lax", "Path=/"):
            assert attribute in cookie
        assert "Secure" not in cookie
        assert (await client.get("/whoami")).json()["kind"] == "session"
        assert (await client.get("/login")).headers["location"] == "/"
        out = await client.post("/logout")
        assert out.status_code == 204
        assert (await client.get("/whoami")).status_code == 401


async def test_a_wrong_password_is_said_clearly(locked: Gateway) -> None:
    async with locked.client() as client:
        form = {"password": "<b>nope</b>", "next": '/"><script>'}
        page = await client.post("/login", data=form, headers={"Accept-Language": "zh-CN"})
        assert page.status_code == 401
        assert "密码不对" in page.text
        assert "nope" not in page.text
        assert "<script>" not in page.text
        assert "set-cookie" not in page.headers
        api = await client.post("/login", json={"password": "nope"})
        assert (api.status_code, api.json()["code"]) == (401, "access.wrong_password")
        for content in (b'{"password": 5}', b'{"password": "x", "a": ' + b"[" * 50_000, b"\xff"):
            headers = {"content-type": "application/json"}
            odd = await client.post("/login", content=content, headers=headers)
            assert (odd.status_code, odd.json()["code"]) == (422, "input.bad_login")


async def test_too_many_wrong_passwords_must_wait_even_for_the_right_one(locked: Gateway) -> None:
    async with locked.client() as client:
        for _ in range(8):
            assert (await client.post("/login", json={"password": "x"})).status_code == 401
        answer = await client.post("/login", json={"password": "open sesame"})
        assert answer.status_code == 429
        assert 0 < int(answer.headers["retry-after"]) <= 300
        page = await client.post("/login", data={"password": "open sesame"})
        assert page.status_code == 429
        assert 'role="alert"' in page.text


async def test_without_a_password_there_is_nothing_to_log_in_to(gateway: Gateway) -> None:
    async with gateway.client() as client:
        assert (await client.get("/login")).headers["location"] == "/"
        assert (await client.post("/login", json={"password": ""})).status_code == 401


async def test_another_site_cannot_log_somebody_in_or_out(locked: Gateway) -> None:
    async with locked.client(headers={"Origin": "http://evil.example"}) as client:
        for path in ("/login", "/logout"):
            answer = await client.post(path, data={"password": "open sesame"})
            assert answer.status_code == 403


async def test_demo_visitors_are_users_of_their_own(tmp_path: Path) -> None:
    async with served(tmp_path, {"FINCHBOT_DEMO": "1"}) as gateway:
        async with gateway.client() as anna, gateway.client() as bert:
            first = await anna.get("/whoami")
            assert "SameSite=Lax" in first.headers["set-cookie"]
            again = await anna.get("/whoami")
            assert "set-cookie" not in again.headers
            assert again.json()["user_id"] == first.json()["user_id"]
            assert again.json()["kind"] == "visitor"
            other = (await bert.get("/whoami")).json()["user_id"]
            assert other != first.json()["user_id"] != "owner"
            thread = (await anna.post("/api/v1/threads")).json()["id"]
            assert (await bert.get(f"/api/v1/threads/{thread}")).status_code == 404
            for method in ("GET", "PATCH"):
                answer = await bert.request(
                    method, "/api/v1/settings", json={"revision": "", "changes": {}}
                )
                assert (answer.status_code, answer.json()["code"]) == (403, "access.owner_only")
        forged = {"cookie": "finchbot_visitor=b3duZXI.AAAA"}
        async with gateway.client(headers=forged) as client:
            assert (await client.get("/whoami")).json()["user_id"] not in {"owner", ""}
        async with gateway.connect() as socket:
            assert socket.response is not None
            assert "set-cookie" in socket.response.headers


async def test_a_space_may_be_framed_and_keeps_its_visitor_there(tmp_path: Path) -> None:
    forwarded = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "me-finch.hf.space"}
    environ = {"SPACE_ID": "me/finch"}
    async with served(tmp_path, environ) as gateway, gateway.client(headers=forwarded) as client:
        page = await client.get("/", headers={"Origin": "https://me-finch.hf.space"})
        assert page.status_code == 200
        policy = page.headers["content-security-policy"]
        assert "frame-ancestors 'self' https://huggingface.co" in policy
        cookie = page.headers["set-cookie"]
        for attribute in ("SameSite=None", "Secure", "Partitioned", "HttpOnly"):
            assert attribute in cookie
        framed = {"Origin": "https://huggingface.co"}
        assert (await client.post("/api/v1/threads", headers=framed)).status_code == 403


def identities(
    clock: FakeClock, word: str | None = "pass", key: bytes = b"k", **options: bool
) -> Identities:
    return Identities(
        password=SecretStr(word) if word else None,
        token=None,
        loopback_bind=options.get("loopback_bind", True),
        demo=options.get("demo", False),
        signer=Signer(key),
        clock=clock,
        new_id=CountedIds(),
    )


def test_a_session_ends_with_time_with_its_password_and_with_its_key(clock: FakeClock) -> None:
    session = Credentials(session=identities(clock).log_in("pass"))
    assert identities(clock).identify(session).user_id == "owner"
    for others in (identities(clock, "new"), identities(clock, key=b"other")):
        with pytest.raises(NotAuthenticated):
            others.identify(session)
    clock.advance(timedelta(days=SESSION_DAYS).total_seconds())
    with pytest.raises(NotAuthenticated):
        identities(clock).identify(session)


def test_the_owner_needs_no_password_only_from_here_and_only_without_one(clock: FakeClock) -> None:
    here, away = Credentials(from_loopback=True), Credentials(from_loopback=False)
    assert identities(clock, None).identify(here).kind == "loopback"
    for door, shown in (
        (identities(clock, None), away),
        (identities(clock, "pass"), here),
        (identities(clock, None, loopback_bind=False), here),
    ):
        with pytest.raises(NotAuthenticated):
            door.identify(shown)
    assert identities(clock, None, demo=True).identify(here).kind == "visitor"


def test_tries_are_counted_per_address_and_forgotten_in_time() -> None:
    now = [0.0]
    limit = LoginLimit(lambda: now[0])
    for _ in range(8):
        limit.check("a")
        limit.failed("a")
    with pytest.raises(Busy):
        limit.check("a")
    limit.check("b")
    now[0] = 301
    limit.check("a")


def test_tries_from_one_network_are_one_persons() -> None:
    limit = LoginLimit(lambda: 0.0)
    for host in range(8):
        limit.failed(f"2001:db8::{host:x}")
    with pytest.raises(Busy):
        limit.check("2001:db8::ffff")
    for address in ("2001:db8:0:1::1", "::ffff:192.0.2.1", "192.0.2.1", ""):
        limit.check(address)


@given(st.text(max_size=50), st.text(max_size=10))
def test_a_signed_text_is_read_back_for_its_purpose_alone(text: str, purpose: str) -> None:
    signer = Signer(b"key")
    value = signer.sign(purpose, text)
    assert signer.read(purpose, value) == text
    assert signer.read(purpose + "x", value) is None
    assert Signer(b"other").read(purpose, value) is None
    assert set(value) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.")


@given(st.text(max_size=60))
def test_no_made_up_cookie_is_believed_and_none_raises(value: str) -> None:
    assert Signer(b"key").read("session", value) is None


@given(st.text(max_size=60))
def test_a_target_after_login_never_leaves_this_server(wanted: str) -> None:
    for target in (wanted, f"/{wanted}", f"//{wanted}", f"/\\{wanted}"):
        kept = local_target(target, "/")
        assert kept.startswith("/")
        assert local_target(target, "/finch/").startswith("/finch/")
        assert not kept.startswith(("//", "/\\"))
        assert "\\" not in kept


def test_the_key_is_made_once_and_is_its_owners_alone(tmp_path: Path) -> None:
    file = tmp_path / "server.key"
    key = load_key(file)
    assert len(key) == 32
    assert load_key(file) == key
    assert file.stat().st_mode & 0o777 == 0o600
    file.write_bytes(b"cut")
    assert len(load_key(file)) == 32
    assert list(tmp_path.iterdir()) == [file]


def test_cookies_are_written_and_read() -> None:
    assert set_cookie("a", "1", secure=False, cross_site=True).endswith("HttpOnly; SameSite=Lax")
    assert read_cookies([(b"cookie", b"a=1; b=x=y"), (b"cookie", b"a=2")]) == {"a": "1", "b": "x=y"}
