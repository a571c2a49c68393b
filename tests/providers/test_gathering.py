"""What a body brings while nobody takes it is taken as one."""

import asyncio
from collections.abc import AsyncIterator, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finchbot.providers.gathering import HELD_BYTES, Gathered


async def body(*blocks: bytes, held: Iterable[asyncio.Event] = ()) -> AsyncIterator[bytes]:
    """Give blocks at once, then one more for each event that is set."""
    for block in blocks:
        yield block
    for number, event in enumerate(held):
        await event.wait()
        yield b"%d" % number


async def taken(source: AsyncIterator[bytes]) -> list[bytes]:
    async with Gathered(source) as blocks:
        return [block async for block in blocks]


@given(st.lists(st.binary(min_size=1)))
def test_all_that_came_is_taken_once_and_in_order(blocks: list[bytes]) -> None:
    assert b"".join(asyncio.run(taken(body(*blocks)))) == b"".join(blocks)


async def test_blocks_that_came_together_are_one() -> None:
    assert await taken(body(b"a", b"b", b"c")) == [b"abc"]


async def test_what_comes_later_is_not_waited_for() -> None:
    later = asyncio.Event()
    async with Gathered(body(b"a", b"b", held=[later])) as blocks:
        assert await anext(blocks) == b"ab"
        later.set()
        assert await anext(blocks) == b"0"
        with pytest.raises(StopAsyncIteration):
            await anext(blocks)


async def test_an_error_comes_after_what_was_read_before_it() -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"half"
        raise ConnectionResetError

    async with Gathered(broken()) as blocks:
        assert await anext(blocks) == b"half"
        with pytest.raises(ConnectionResetError):
            await anext(blocks)


async def test_leaving_early_lets_the_body_go() -> None:
    ended = asyncio.Event()

    async def endless() -> AsyncIterator[bytes]:
        try:
            yield b"a"
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with Gathered(endless()) as blocks:
        assert await anext(blocks) == b"a"
    assert ended.is_set()


async def test_a_body_that_is_faster_than_its_taker_has_to_wait() -> None:
    size = HELD_BYTES // 4
    read = 0

    async def fast() -> AsyncIterator[bytes]:
        nonlocal read
        for _ in range(100):
            read += 1
            yield b"x" * size

    async with Gathered(fast()) as blocks:
        async for block in blocks:
            assert len(block) <= HELD_BYTES + size
            assert read <= 10
            break
        rest = sum([len(block) async for block in blocks])
    assert read == 100
    assert rest + len(block) == 100 * size
