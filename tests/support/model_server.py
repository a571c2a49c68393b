"""A scripted model server that speaks the OpenAI protocol on loopback.

In a test it runs in a thread (fixture `model_server`); ``python -m tests.support.model_server
--port 0 --tokens-per-second 50`` runs it as a process of its own and prints its URL. Every
request is recorded and held against `check_history`.
"""

import argparse
import asyncio
import itertools
import json
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from tests.support import replies
from tests.support.openai_wire import Body, Reader, error, play, send_json
from tests.support.replies import Refuse, Reply
from tests.support.strict_history import check_history

Answering = Callable[[Body], Reply]


@dataclass(slots=True)
class Recorded:
    """A request as it came in."""

    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: Body
    peer: str = ""
    """Address of the client's end; the same for requests of one connection."""
    at: float = field(default_factory=time.monotonic)
    ended: threading.Event = field(default_factory=threading.Event)
    """Set when the answer is over, whoever ended it."""
    client_left: bool = False
    """Whether the client closed the connection before the answer was whole."""

    @property
    def messages(self) -> list[Body]:
        return list(self.body.get("messages", ()))

    @property
    def last_user_text(self) -> str:
        for message in reversed(self.messages):
            if message["role"] == "user":
                return str(message["content"])
        return ""


@dataclass(slots=True)
class Manners:
    """How the server treats every request, beside its script."""

    api_key: str | None = None
    """Any other key is answered with 401."""
    rejects_stream_options: bool = False
    """400 when `stream_options` is sent, as older servers do."""
    needs_reasoning: bool = False
    """400 when an assistant message with tool calls lacks `reasoning_content`."""
    context_chars: int | None = None
    """400 when the messages are longer."""


class ModelServer:
    """A model that says what it was told to say.

    Replies of `script` go out in order; then `respond` decides; then it echoes the user.
    """

    def __init__(self, manners: Manners | None = None, *, port: int = 0) -> None:
        self.manners = manners or Manners()
        self.requests: list[Recorded] = []
        self.violations: list[str] = []
        self.url = ""
        """Base URL for a provider, ending in ``/v1``."""
        self._port = port
        self._replies: deque[Reply] = deque()
        self._rules: list[tuple[str, Reply]] = []
        self._answering: Answering = _echo
        self._arrived = threading.Condition()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run_thread, name="model-server")
        self._writers: set[asyncio.StreamWriter] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._done: asyncio.Event | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(5), "the model server did not start"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._loop is not None
        assert self._done is not None
        self._loop.call_soon_threadsafe(self._done.set)
        self._thread.join(5)

    def script(self, *answers: Reply | str) -> None:
        """Queue replies; each answers one request."""
        self._replies.extend(replies.answer(a) if isinstance(a, str) else a for a in answers)

    def on(self, text: str, reply: Reply | str) -> None:
        """Answer so whenever the last user message contains `text`; goes before the script."""
        ready = replies.answer(reply) if isinstance(reply, str) else reply
        self._rules.append((text, ready))

    def respond(self, answering: Answering) -> None:
        """Let a function of the request's body decide once the script is used up."""
        self._answering = answering

    def wait_for_requests(self, count: int, timeout_s: float = 5.0) -> list[Recorded]:
        """Block until `count` chat requests have come in, and return them all."""
        with self._arrived:
            met = self._arrived.wait_for(lambda: len(self.requests) >= count, timeout_s)
        assert met, f"{len(self.requests)} requests came, {count} were expected"
        return list(self.requests)

    @property
    def open_connections(self) -> int:
        return len(self._writers)

    def wait_until_closed(self, timeout_s: float = 5.0) -> bool:
        """Block until no connection is open; return whether it came to that."""
        with self._arrived:
            return self._arrived.wait_for(lambda: not self._writers, timeout_s)

    def raise_violations(self) -> None:
        """Fail when any request broke the rules of a history."""
        assert not self.violations, "\n".join(self.violations)

    async def serve(self) -> None:
        """Serve until `stop`; the loop it runs on is its own."""
        self._loop = asyncio.get_running_loop()
        self._done = asyncio.Event()
        server = await self._loop.create_server(
            lambda: asyncio.StreamReaderProtocol(Reader(), self._connection),
            "127.0.0.1",
            self._port,
        )
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        self._ready.set()
        await self._done.wait()
        server.close()
        for writer in self._writers:
            writer.transport.abort()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*others, return_exceptions=True)

    def _run_thread(self) -> None:
        asyncio.run(self.serve())

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert isinstance(reader, Reader)
        self._writers.add(writer)
        try:
            while request := await _read_request(reader):
                request.peer = str(writer.get_extra_info("peername"))
                if not await self._answer(request, reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client has gone, which is its right
        finally:
            with self._arrived:
                self._writers.discard(writer)
                self._arrived.notify_all()
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _answer(
        self,
        request: Recorded,
        reader: Reader,
        writer: asyncio.StreamWriter,
    ) -> bool:
        """Answer one request; return whether the connection may be used again."""
        if request.path == "/v1/models":
            await send_json(writer, 200, {"object": "list", "data": [{"id": "scripted"}]})
            return True
        if request.path != "/v1/chat/completions":
            await send_json(writer, 404, error("no such path", None))
            return True
        with self._arrived:
            self.requests.append(request)
            self._arrived.notify_all()
        reply = self._judge(request) or self._next_reply(request)
        leaving = asyncio.create_task(reader.gone.wait())
        playing = asyncio.create_task(play(request.body, reply, writer))
        try:
            await asyncio.wait({leaving, playing}, return_when=asyncio.FIRST_COMPLETED)
            if not playing.done():
                request.client_left = True
                return False
            return await playing and not leaving.done()
        except ConnectionError:
            request.client_left = True
            return False
        finally:
            for task in (leaving, playing):
                task.cancel()
            await asyncio.gather(leaving, playing, return_exceptions=True)
            request.ended.set()

    def _judge(self, request: Recorded) -> Reply | None:
        """Return the refusal that the request deserves, if any."""
        body, manners = request.body, self.manners
        if manners.api_key and request.headers.get("authorization") != f"Bearer {manners.api_key}":
            return replies.unauthorized()
        if manners.rejects_stream_options and "stream_options" in body:
            return _refusal("Unrecognized request argument supplied: stream_options")
        try:
            check_history(body.get("messages", []))
        except AssertionError as broken:
            self.violations.append(str(broken))
            return _refusal(str(broken))
        if manners.needs_reasoning and any(_lacks_reasoning(m) for m in request.messages):
            return _refusal("Missing `reasoning_content` field in the assistant message")
        size = len(json.dumps(request.messages, ensure_ascii=False))
        if manners.context_chars is not None and size > manners.context_chars:
            return replies.context_too_long()
        return None

    def _next_reply(self, request: Recorded) -> Reply:
        for text, reply in self._rules:
            if text in request.last_user_text:
                return reply
        if self._replies:
            return self._replies.popleft()
        return self._answering(request.body)


def _echo(body: Body) -> Reply:
    texts = [m["content"] for m in body["messages"] if m["role"] == "user"]
    return replies.answer(f"You said: {texts[-1]}")


def _refusal(message: str) -> Reply:
    return Reply.of(Refuse(400, message, "invalid_request_error"))


def _lacks_reasoning(message: Body) -> bool:
    return bool(message.get("tool_calls")) and not message.get("reasoning_content")


async def _read_request(reader: asyncio.StreamReader) -> Recorded | None:
    """Return the next request of the connection; None when the client has closed it."""
    line = await reader.readline()
    if not line:
        return None
    _, path, _ = line.decode().split(" ", 2)
    headers: dict[str, str] = {}
    while (line := await reader.readline()).strip():
        name, _, value = line.decode().partition(":")
        headers[name.strip().lower()] = value.strip()
    raw = await reader.readexactly(int(headers.get("content-length", "0")))
    return Recorded(path, headers, json.loads(raw) if raw else {})


def steady(tokens: int, tokens_per_second: float, tool_every: int = 0) -> Answering:
    """Return answers of `tokens` numbered words at a steady rate, as benches want them.

    Args:
        tokens: Words per answer.
        tokens_per_second: 0 is as fast as it goes.
        tool_every: Every so many turns the model first calls `list_dir` twice; 0 never.
    """
    text = " ".join(f"word{n}" for n in range(tokens))
    delay_s = 1 / tokens_per_second if tokens_per_second else 0.0
    numbers = itertools.count(1)

    def answering(body: Body) -> Reply:
        turns = sum(message["role"] == "user" for message in body["messages"])
        asked = body["messages"][-1]["role"] == "user"
        if tool_every and asked and turns % tool_every == 0:
            both = [
                replies.call("list_dir", {"path": "."}, call_id=f"call_{next(numbers)}", index=n)
                for n in range(2)
            ]
            return replies.answer(*both)
        return replies.answer(text, token_delay_s=delay_s)

    return answering


def main() -> None:
    """Serve until interrupted; the first line of the output is the base URL."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.model_server")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--tokens-per-second", type=float, default=0.0)
    parser.add_argument("--tool-every", type=int, default=0)
    options = parser.parse_args()
    server = ModelServer(port=options.port)
    server.respond(steady(options.tokens, options.tokens_per_second, options.tool_every))
    with server, suppress(KeyboardInterrupt):
        # T201: who started this process reads the URL from its output.
        print(server.url, flush=True)  # noqa: T201
        threading.Event().wait()


if __name__ == "__main__":
    main()
