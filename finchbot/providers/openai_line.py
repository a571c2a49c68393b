"""The line to one OpenAI-protocol server: its client, its streams and what it refuses."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing, suppress
from typing import Any

import httpx2
import openai
from openai import AsyncAPIResponse
from openai.types.chat import ChatCompletionChunk

from finchbot import __version__
from finchbot.errors import ProviderError
from finchbot.ids import Clock
from finchbot.lazy import Lazy
from finchbot.providers.connection import CONNECT_TIMEOUT_S, Connection
from finchbot.providers.failures import FOREIGN, failure, told
from finchbot.providers.gathering import Gathered
from finchbot.providers.openai_request import Body, Dialect
from finchbot.providers.openai_stream import EventLines, Json

_DRAIN_TIMEOUT_S = 0.1

_READS_PER_S = 2000
"""How often all streams of a line together are read, about; one answer alone is never slowed.

Reading, decoding and passing on cost the same for one token as for several that came together,
so with many answers at once each is read less often and more at a time.
"""

_FEW = 8
"""Streams that are read as fast as they come."""

_NO_KEY = "none"
"""Sent where no key is needed; the client insists on one."""


class Line:
    """A client of one server.

    The openai client itself never tries again: a second attempt is a decision of the run,
    which tells the user, and not of a library that waits in silence.
    """

    def __init__(self, connection: Connection, tls: ssl.SSLContext, clock: Clock) -> None:
        self.provider = connection.provider
        self._clock = clock
        self._dialects: dict[str, Dialect] = {}
        self._streams = 0
        timeout = openai.Timeout(connection.idle_timeout_s, connect=CONNECT_TIMEOUT_S)
        self._client = openai.AsyncOpenAI(
            api_key=connection.api_key or _NO_KEY,
            base_url=connection.base_url,
            max_retries=0,
            timeout=timeout,
            default_headers={"User-Agent": f"FinchBot/{__version__}", **dict(connection.headers)},
            http_client=openai.DefaultAsyncHttpxClient(
                verify=tls,
                timeout=timeout,
                trust_env=not connection.local,
                # The talk and the user's own headers go nowhere but to the address they gave.
                follow_redirects=False,
            ),
        )
        # The client would send these from OPENAI_… variables to whatever server this is.
        self._client.organization = None
        self._client.project = None

    async def stream(self, model: str, body: Body) -> AsyncGenerator[list[Json], None]:
        """Yield the events of a streamed answer, together those that came together.

        Args:
            model: The model's name at this provider.
            body: The rest of the request.

        Raises:
            ProviderError: Also in the middle; what was yielded before stands.
        """
        self._streams += 1
        try:
            async with AsyncExitStack() as stack:
                response = await self._open(stack, model, body)
                async with aclosing(_events(response)) as events:
                    async for together in events:
                        yield together
        except FOREIGN as error:
            # Its text may quote the key or the talk, so it ends here.
            raise failure(error, self.provider, model, self._clock) from None
        finally:
            self._streams -= 1

    async def gather(self) -> None:
        """Wait a moment after a piece, so that the next read finds more than one token.

        The moment grows with the streams that are open: none for a few, 50 ms for a hundred.
        """
        if self._streams > _FEW:
            await asyncio.sleep(self._streams / _READS_PER_S)

    async def _open(
        self, stack: AsyncExitStack, model: str, body: Body
    ) -> AsyncAPIResponse[openai.AsyncStream[ChatCompletionChunk]]:
        """Send the request, in the words this model takes."""
        while True:
            dialect = self._dialects.get(model, Dialect())
            said = dialect.speak(body)
            sent = self._client.chat.completions.with_streaming_response.create(
                model=model,
                messages=[],  # typing a long history costs the client 0.3 ms a message
                stream=True,
                extra_body=said,
            )
            try:
                return await stack.enter_async_context(sent)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                learned = dialect.learn(said, told(error))
                if learned is None:
                    raise
                self._dialects[model] = learned

    async def close(self) -> None:
        """Close its connections."""
        await self._client.close()


class Lines:
    """All lines of the process, one per connection; safe to use from several threads."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        # Reading the machine's certificates takes 30 ms, so it is done once.
        self._tls = Lazy(httpx2.create_ssl_context)
        self._lines: dict[Connection, Lazy[Line]] = {}

    def to(self, connection: Connection) -> Line:
        """Return the line of this connection, opening it when it is new.

        Raises:
            ProviderError: Its address names no host there can be.
        """
        made = Lazy(lambda: Line(connection, self._tls.get(), self._clock))
        try:
            return self._lines.setdefault(connection, made).get()
        except httpx2.InvalidURL:
            raise ProviderError("provider.no_address", provider=connection.provider) from None

    async def close(self) -> None:
        """Close every line."""
        lines, self._lines = self._lines, {}
        for lazy in lines.values():
            if lazy.ready:
                await lazy.get().close()


async def _events(response: AsyncAPIResponse[Any]) -> AsyncGenerator[list[Json], None]:
    lines = EventLines()
    async with Gathered(response.iter_bytes()) as blocks:
        async for block in blocks:
            if events := lines.feed(block):
                yield events
            if lines.done:
                await _drain(blocks)
                break
    if events := lines.finish():
        yield events


async def _drain(blocks: AsyncIterator[bytes]) -> None:
    """Read what follows ``[DONE]``, so that the connection can be used again; not for long."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_DRAIN_TIMEOUT_S):
            async for _ in blocks:
                continue
