"""The socket ``/ws``: frames in, events out."""

import asyncio
from typing import Any, assert_never

from fastapi import APIRouter, WebSocket
from starlette.websockets import WebSocketDisconnect

from finchbot import __version__
from finchbot.errors import FinchError
from finchbot.events import ThreadDeleted
from finchbot.ids import CallId, RunId, ThreadId
from finchbot.server.caller import caller_of
from finchbot.server.frames import (
    ClientFrame,
    FrameRefused,
    MessageSend,
    Ping,
    RunApprove,
    RunCancel,
    ThreadSubscribe,
    parse_frame,
)
from finchbot.server.rest.messages import inbound
from finchbot.server.services import Services
from finchbot.server.streams import close_iterator

_RESTARTING = 1012


def router(services: Services) -> APIRouter:
    """Return ``/ws``."""
    routes = APIRouter()

    @routes.websocket("/ws")
    async def socket(websocket: WebSocket) -> None:
        await _Connection(websocket, services).serve()

    return routes


class _Connection:
    """One client. What it subscribed to ends with it; its runs do not.

    Nothing is queued for a client that reads slowly: its subscriptions stand still in the
    thread's log until the socket takes more.
    """

    def __init__(self, websocket: WebSocket, services: Services) -> None:
        self._socket = websocket
        self._services = services
        self._bot = services.bot
        self._caller = caller_of(websocket.scope)
        self._subscriptions: dict[ThreadId, asyncio.Task[None]] = {}
        self._broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def serve(self) -> None:
        """Serve the client until it leaves or the program ends."""
        await self._socket.accept()
        with self._services.streams.opened():
            reader = asyncio.create_task(self._read())
            ending = asyncio.create_task(self._services.streams.time_to_end())
            ends = [reader, ending, self._broken]
            try:
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            finally:
                await _stop(*ends, *self._subscriptions.values())
            for end in (self._broken, reader):
                if not end.cancelled():
                    end.result()
            if reader.cancelled():
                await self._say_goodbye()

    async def _read(self) -> None:
        try:
            await self._send(
                {"type": "hello", "user_id": self._caller.user_id, "version": __version__}
            )
            while True:
                message = await self._socket.receive()
                if message["type"] == "websocket.disconnect":
                    return
                await self._take(message.get("text"))
        except WebSocketDisconnect:
            return

    async def _take(self, text: str | None) -> None:
        try:
            frame = parse_frame(text)
        except FrameRefused as refused:
            await self._fail(refused.error, refused.client_id)
            return
        try:
            await self._act(frame)
        except FinchError as error:
            client_id = frame.client_id if isinstance(frame, MessageSend) else None
            await self._fail(error, client_id)

    async def _act(self, frame: ClientFrame) -> None:
        user_id = self._caller.user_id
        match frame:
            case MessageSend():
                await self._send_message(frame)
            case RunCancel(run_id=run_id):
                await self._bot.cancel(user_id, RunId(run_id))
            case RunApprove():
                await self._bot.approve(
                    user_id, RunId(frame.run_id), CallId(frame.call_id), frame.decision
                )
            case ThreadSubscribe():
                thread = await self._bot.threads.get(user_id, ThreadId(frame.thread_id))
                await self._subscribe(thread.id, frame.after_seq)
            case Ping():
                await self._send({"type": "pong"})
            case _:
                assert_never(frame)

    async def _send_message(self, frame: MessageSend) -> None:
        thread_id = ThreadId(frame.thread_id) if frame.thread_id is not None else None
        accepted = await self._bot.send(inbound(self._caller, thread_id, frame, channel="ws"))
        await self._send(
            {
                "type": "accepted",
                "client_id": frame.client_id,
                "thread_id": accepted.thread_id,
                "run_id": accepted.run_id,
                "queued": accepted.queued,
            }
        )
        current = self._subscriptions.get(accepted.thread_id)
        if current is None or current.done():
            await self._subscribe(accepted.thread_id, max(0, accepted.seq - 1))

    async def _subscribe(self, thread_id: ThreadId, after_seq: int | None) -> None:
        """Begin to pass on a thread's events; an older subscription to it ends."""
        before = self._subscriptions.pop(thread_id, None)
        if before is not None:
            await _stop(before)
        subscription = asyncio.create_task(self._pass_on(thread_id, after_seq))
        subscription.add_done_callback(self._subscription_ended)
        self._subscriptions[thread_id] = subscription

    def _subscription_ended(self, subscription: "asyncio.Task[None]") -> None:
        """End the connection when a subscription broke, or its client would wait for ever."""
        error = None if subscription.cancelled() else subscription.exception()
        if error is not None and not self._broken.done():
            self._broken.set_exception(error)

    async def _pass_on(self, thread_id: ThreadId, after_seq: int | None) -> None:
        events = self._bot.events(self._caller.user_id, thread_id, after_seq=after_seq)
        try:
            async for event in events:
                await self._socket.send_text(event.model_dump_json())
                if isinstance(event, ThreadDeleted):
                    return
        except FinchError as error:
            await self._fail(error, None)
        except WebSocketDisconnect:
            return
        finally:
            await close_iterator(events)

    async def _fail(self, error: FinchError, client_id: str | None) -> None:
        frame = {"type": "error", **self._services.problems.frame(error, self._caller.language)}
        await self._send(frame if client_id is None else {**frame, "client_id": client_id})

    async def _send(self, frame: dict[str, Any]) -> None:
        await self._socket.send_json(frame)

    async def _say_goodbye(self) -> None:
        try:
            await self._socket.close(_RESTARTING)
        except (WebSocketDisconnect, RuntimeError):
            # The client was quicker.
            return


async def _stop(*tasks: "asyncio.Future[None]") -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
