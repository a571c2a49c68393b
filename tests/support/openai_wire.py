"""How a reply looks on the wire of the OpenAI protocol, streamed or whole."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from tests.support import replies
from tests.support.replies import (
    Call,
    Chunk,
    Drop,
    Garbage,
    Hang,
    Pause,
    Refuse,
    Reply,
    Say,
    Step,
    Think,
    Wait,
)

Body = dict[str, Any]

REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found"}


class Reader(asyncio.StreamReader):
    """A stream reader that says when the client has gone, without reading ahead."""

    def __init__(self) -> None:
        super().__init__(loop=asyncio.get_running_loop())
        self.gone = asyncio.Event()

    def feed_eof(self) -> None:
        super().feed_eof()
        self.gone.set()

    def set_exception(self, exc: Exception) -> None:
        super().set_exception(exc)
        self.gone.set()


async def play(body: Body, reply: Reply, writer: asyncio.StreamWriter) -> bool:
    """Send the reply; return whether the connection may be used again."""
    for step in reply.steps:
        if isinstance(step, Refuse):
            body = error(step.message, step.code)
            await send_json(writer, step.status, body, step.headers)
            return True
    if not body.get("stream"):
        return await _send_whole(body, reply, writer)
    writer.write(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    async for chunk in _chunks(body, reply):
        if chunk is None:
            writer.transport.abort()
            return False
        plain = chunk if isinstance(chunk, str) else json.dumps(chunk, ensure_ascii=False)
        _send_event(writer, plain)
        await writer.drain()
    _send_event(writer, "[DONE]")
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True


async def _chunks(body: Body, reply: Reply) -> AsyncIterator[Body | str | None]:
    """Yield the chunks of a streamed answer; None breaks the connection."""
    frame = _frame(body)
    yield frame([{"index": 0, "delta": {"role": "assistant", "content": ""}}])
    for step in reply.steps:
        if isinstance(step, Drop):
            yield None
            return
        if await _stand_still(step):
            continue
        if isinstance(step, Chunk):
            yield {**frame([]), **step.body}
            continue
        if isinstance(step, Garbage):
            yield step.data
            continue
        for delta in _deltas(step):
            if reply.token_delay_s:
                await asyncio.sleep(reply.token_delay_s)
            yield frame([{"index": 0, "delta": delta}])
    yield frame([{"index": 0, "delta": {}, "finish_reason": _finish(reply)}])
    if (body.get("stream_options") or {}).get("include_usage"):
        yield {**frame([]), "usage": dict(reply.usage)}


async def _stand_still(step: Step) -> bool:
    """Wait as the step says; return whether it was a step that only waits."""
    match step:
        case Wait(gate=gate):
            await gate.stand()
        case Pause(seconds=seconds):
            await asyncio.sleep(seconds)
        case Hang():
            await asyncio.Event().wait()
        case _:
            return False
    return True


def _frame(body: Body) -> Callable[[list[Body]], Body]:
    answer_id = f"chatcmpl-{time.time_ns():x}"

    def build(choices: list[Body]) -> Body:
        return {
            "id": answer_id,
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": body.get("model", "scripted"),
            "choices": [{"finish_reason": None, **choice} for choice in choices],
        }

    return build


def _deltas(step: Step) -> list[Body]:
    match step:
        case Say(pieces=pieces):
            return [{"content": piece} for piece in pieces]
        case Think(pieces=pieces):
            return [{"reasoning_content": piece} for piece in pieces]
        case Call():
            return _call_deltas(step)
        case _:
            return []


def _call_deltas(step: Call) -> list[Body]:
    place = {} if step.index is None else {"index": step.index}
    named: Body = {**place, "type": "function", "function": {"name": step.name, "arguments": ""}}
    if step.call_id is not None:
        named["id"] = step.call_id
    parts = replies.cut(step.arguments, step.cuts)
    if step.index is None:  # a server without indexes sends each call whole
        named["function"]["arguments"] = step.arguments
        return [{"tool_calls": [named]}]
    rest = [{"tool_calls": [{**place, "function": {"arguments": part}}]} for part in parts]
    return [{"tool_calls": [named]}, *rest]


def _finish(reply: Reply) -> str:
    called = any(isinstance(step, Call) for step in reply.steps)
    return reply.finish or ("tool_calls" if called else "stop")


async def _send_whole(body: Body, reply: Reply, writer: asyncio.StreamWriter) -> bool:
    """Send the answer in one piece, for a request without `stream`."""
    for step in reply.steps:
        if isinstance(step, Drop):
            writer.transport.abort()
            return False
        await _stand_still(step)
    said = "".join(p for s in reply.steps if isinstance(s, Say) for p in s.pieces)
    thought = "".join(p for s in reply.steps if isinstance(s, Think) for p in s.pieces)
    message: Body = {"role": "assistant", "content": said or None}
    if thought:
        message["reasoning_content"] = thought
    calls = [
        {
            "id": step.call_id,
            "type": "function",
            "function": {"name": step.name, "arguments": step.arguments},
        }
        for step in reply.steps
        if isinstance(step, Call)
    ]
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": _finish(reply)}
    whole = {**_frame(body)([choice]), "object": "chat.completion", "usage": dict(reply.usage)}
    await send_json(writer, 200, whole)
    return True


def error(message: str, code: str | None) -> Body:
    return {"error": {"message": message, "type": "invalid_request_error", "code": code}}


async def send_json(
    writer: asyncio.StreamWriter,
    status: int,
    body: Mapping[str, Any],
    headers: Mapping[str, str] | None = None,
) -> None:
    raw = json.dumps(body, ensure_ascii=False).encode()
    lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Error')}", "Content-Type: application/json"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    lines += [f"Content-Length: {len(raw)}", "", ""]
    writer.write("\r\n".join(lines).encode() + raw)
    await writer.drain()


def _send_event(writer: asyncio.StreamWriter, data: str) -> None:
    raw = f"data: {data}\n\n".encode()
    writer.write(b"%x\r\n%b\r\n" % (len(raw), raw))
