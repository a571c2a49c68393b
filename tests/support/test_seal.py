"""A test cannot leave the machine, nor hide that it tried."""

import asyncio
import contextlib
import socket

import pytest

from tests.support.seal import Seal, SealBroken, is_local


# S104: nothing is bound here.
@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost", "0.0.0.0", ""])  # noqa: S104
def test_this_machine_may_be_reached(host: str) -> None:
    assert is_local(host)


@pytest.mark.parametrize("host", ["example.org", "8.8.8.8", "10.0.0.1", "fe80::1%eth0", "::2"])
def test_another_machine_may_not(host: str) -> None:
    assert not is_local(host)


def test_an_attempt_that_the_code_swallows_still_fails(seal: Seal) -> None:
    def attempt() -> None:
        with contextlib.suppress(Exception), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.connect(("192.0.2.1", 9))

    with pytest.raises(SealBroken, match=r"192\.0\.2\.1"), seal.around():
        attempt()


def test_a_name_is_not_even_looked_up(seal: Seal) -> None:
    with pytest.raises(SealBroken), seal.around():
        socket.getaddrinfo("example.org", 443)


async def test_a_connection_of_the_event_loop_is_seen_too(seal: Seal) -> None:
    with pytest.raises(SealBroken), seal.around():
        await asyncio.open_connection("192.0.2.1", 9)
