"""The pure rules of the door: paths, hosts, origins, proxies, bind."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finchbot.errors import ConfigError
from finchbot.server.arrival import TrustedProxies, arrive
from finchbot.server.bind import check_bind, root_path
from finchbot.server.hosts import host_rule, own_origin, split_host
from finchbot.server.paths import is_tricky
from finchbot.settings import ServerSettings

segment = st.text(
    st.characters(codec="utf-8", min_codepoint=33, exclude_characters="/\\%"), min_size=1
).filter(lambda part: part not in {".", ".."})


@given(st.lists(segment, min_size=1, max_size=4))
def test_honest_paths_pass(segments: list[str]) -> None:
    path = "/" + "/".join(segments)
    assert not is_tricky(path, quote(path).encode())
    assert not is_tricky(f"{path}/")


@given(
    st.lists(segment, max_size=3),
    st.sampled_from(["..", ".", "", "%2e%2e", "%2E.", "%252e%252e", "a\\b", "a\0", "%5c", "%2f.."]),
    st.lists(segment, min_size=1, max_size=3),
)
def test_a_trick_anywhere_is_seen(before: list[str], trick: str, after: list[str]) -> None:
    assert is_tricky("/" + "/".join([*before, trick, *after]))


@given(st.lists(st.sampled_from(["..", ".", "a", "", "%2e%2e", "b/.."]), max_size=6))
def test_a_path_that_passes_stays_below_the_root(segments: list[str]) -> None:
    path = "/" + "/".join(segments)
    if not is_tricky(path):
        assert ".." not in PurePosixPath(path).parts


def test_hosts_are_taken_apart() -> None:
    assert split_host("[::1]:80") == ("::1", "80")
    assert split_host("Name.Example.:80") == ("name.example", "80")
    assert split_host("[::1]") == ("::1", "")


@given(st.from_regex(r"[a-z]{1,10}(\.[a-z]{1,10}){0,3}", fullmatch=True))
def test_a_loopback_bind_answers_no_name_but_its_own(name: str) -> None:
    rule = host_rule("127.0.0.1", ["chat.example"])
    assert rule.accepts(name) == (name in {"localhost", "chat.example"})
    assert host_rule("192.0.2.1", []).accepts(name)
    assert not host_rule("192.0.2.1", ["chat.example"]).accepts(f"x{name}.invalid")


def test_the_number_of_the_very_socket_is_always_right() -> None:
    rule = host_rule("192.0.2.1", ["chat.example"])
    assert rule.accepts("172.17.0.2:7860", ("172.17.0.2", 7860))
    assert not rule.accepts("172.17.0.3:7860", ("172.17.0.2", 7860))
    assert not rule.accepts("")


@pytest.mark.parametrize(
    ("origin", "host", "same"),
    [
        ("http://localhost:7860", "localhost:7860", True),
        ("https://chat.example", "chat.example", True),
        ("http://chat.example", "chat.example:80", True),
        ("https://listed.example", "localhost:7860", True),
        ("http://localhost:7861", "localhost:7860", False),
        ("http://localhost", "127.0.0.1", False),
        ("https://chat.example.evil.example", "chat.example", False),
        ("http://user@localhost:7860", "localhost:7860", False),
        ("null", "localhost", False),
        ("", "", False),
        ("chrome-extension://localhost", "localhost", False),
    ],
)
def test_only_the_servers_own_pages_have_its_origin(origin: str, host: str, same: bool) -> None:
    assert host_rule("127.0.0.1", ["listed.example"]).accepts_origin(origin, host) is same


def scope(peer: str, **headers: str) -> dict[str, object]:
    pairs = [(k.replace("_", "-").encode(), v.encode()) for k, v in headers.items()]
    return {"scheme": "http", "client": (peer, 1), "headers": pairs}


def test_forwarding_headers_of_strangers_change_nothing_but_trust() -> None:
    lies = scope("203.0.113.1", host="a", x_forwarded_host="b", x_forwarded_proto="https")
    arrival = arrive(lies, TrustedProxies(["10.0.0.0/8"]))
    assert (arrival.host, arrival.scheme, arrival.client) == ("a", "http", "203.0.113.1")
    spoofed = arrive(scope("127.0.0.1", x_forwarded_for="127.0.0.1"), TrustedProxies([]))
    assert not spoofed.from_loopback
    assert arrive(scope("127.0.0.1", host="a"), TrustedProxies([])).from_loopback


def test_the_client_is_the_last_one_no_trusted_proxy_stands_for() -> None:
    proxies = TrustedProxies(["10.0.0.0/8", "127.0.0.1"])
    chain = scope("127.0.0.1", x_forwarded_for="127.0.0.1, 203.0.113.9, 10.1.1.1")
    assert arrive(chain, proxies).client == "203.0.113.9"
    local = scope("127.0.0.1", x_forwarded_for="127.0.0.1")
    assert arrive(local, proxies).from_loopback
    unnamed = scope("127.0.0.1", x_forwarded_proto="https")
    assert not arrive(unnamed, proxies).from_loopback


def test_who_trusts_every_proxy_believes_what_the_nearest_one_saw() -> None:
    chain = scope("10.0.0.1", x_forwarded_for="127.0.0.1, 203.0.113.9")
    arrival = arrive(chain, TrustedProxies(["*"]))
    assert arrival.client == "203.0.113.9"
    assert not arrival.from_loopback


@pytest.mark.parametrize("name", ["via", "cf_connecting_ip", "x_real_ip", "forwarded"])
def test_every_trace_of_a_proxy_counts(name: str) -> None:
    assert not arrive(scope("127.0.0.1", **{name: "1.1 x"}), TrustedProxies([])).from_loopback


def test_the_servers_own_address_is_a_url() -> None:
    assert own_origin({"server": ("::1", 7860)}) == "http://[::1]:7860"
    assert own_origin({"server": ("127.0.0.1", 80)}) == "http://127.0.0.1:80"
    assert own_origin({"server": ("/run/finch.sock", None)}) is None


def server(values: Mapping[str, object]) -> ServerSettings:
    return ServerSettings.model_validate(values)


@pytest.mark.parametrize("host", ["192.0.2.1", "::", "example.com", "192.168.1.5"])
def test_an_open_door_is_refused(host: str) -> None:
    with pytest.raises(ConfigError) as refused:
        check_bind(server({"host": host}), demo=False)
    assert refused.value.code == "server.needs_password"
    check_bind(server({"host": host}), demo=True)
    check_bind(server({"host": host, "password": "p"}), demo=False)
    check_bind(server({"host": host, "api_token": "t"}), demo=False)
    with pytest.raises(ConfigError):
        check_bind(server({"host": host, "password": "  "}), demo=False)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.0.0.2"])
def test_loopback_needs_no_password(host: str) -> None:
    check_bind(server({"host": host}), demo=False)


def test_a_wrong_proxy_or_root_path_is_said_before_the_start() -> None:
    for wrong, code in (
        ({"trusted_proxies": ["nginx"]}, "server.bad_proxy"),
        ({"root_path": "http://x"}, "server.bad_root_path"),
        ({"root_path": "/a/../b"}, "server.bad_root_path"),
    ):
        with pytest.raises(ConfigError) as refused:
            check_bind(server(wrong), demo=False)
        assert refused.value.code == code
    assert [root_path(path) for path in ("", "/", "a", "/a/b/")] == ["", "", "/a", "/a/b"]
