"""Messages of a thread: the transcript, and sending."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Header, Response
from fastapi.responses import JSONResponse
from pydantic import Field

from finchbot.bot import FinchBot
from finchbot.errors import InputInvalid
from finchbot.events import InRun, RunEvent, Terminal
from finchbot.ids import ThreadId, UserId
from finchbot.messages import Accepted, InboundMessage, Message
from finchbot.server.caller import Caller
from finchbot.server.rest.request import Nothing, Paging, Strict, Who
from finchbot.server.services import Services
from finchbot.server.sse import EventStream
from finchbot.server.streams import close_iterator
from finchbot.threads.records import Page


class NewMessage(Strict):
    """A message to be sent."""

    text: str
    attachments: tuple[str, ...] = ()
    """Ids of uploads."""
    client_id: Annotated[str | None, Field(min_length=1, max_length=200)] = None
    """The caller's own id; the same again within 24 h is the same message."""


class Started(Strict):
    """The message was taken in."""

    run_id: str
    thread_id: str
    seq: int
    """Of its ``message.received``."""


def router(services: Services) -> APIRouter:
    """Return ``/api/v1/threads/{id}/messages``."""
    routes = APIRouter(prefix="/api/v1/threads/{thread_id}/messages", tags=["messages"])
    bot = services.bot

    @routes.get("")
    async def list_messages(thread_id: str, caller: Who, page: Paging) -> Page[Message]:
        """Return the transcript, oldest first."""
        return await bot.threads.messages(
            caller.user_id, ThreadId(thread_id), limit=page.limit, cursor=page.cursor
        )

    @routes.post("", status_code=202, response_model=Started)
    async def send_message(
        thread_id: str,
        body: NewMessage,
        caller: Who,
        _: Nothing,
        accept: Annotated[str, Header()] = "",
    ) -> Response:
        """Send a message; with ``Accept: text/event-stream`` its run's events are streamed."""
        accepted = await bot.send(inbound(caller, ThreadId(thread_id), body, channel="api"))
        if "text/event-stream" in accept:
            return EventStream(run_events(bot, caller.user_id, accepted), services.streams)
        started = Started(run_id=accepted.run_id, thread_id=accepted.thread_id, seq=accepted.seq)
        return JSONResponse(started.model_dump(), 202)

    return routes


def inbound(
    caller: Caller, thread_id: ThreadId | None, message: NewMessage, *, channel: str
) -> InboundMessage:
    """Return what the bot is handed.

    Raises:
        InputInvalid: ``upload.not_found``: an attachment names no upload.
    """
    if message.attachments:
        raise InputInvalid("upload.not_found", upload_id=message.attachments[0][:64])
    return InboundMessage(
        user_id=caller.user_id,
        text=message.text,
        thread_id=thread_id,
        channel=channel,
        client_id=message.client_id,
        language=caller.language,
    )


async def run_events(bot: FinchBot, user_id: UserId, accepted: Accepted) -> AsyncIterator[RunEvent]:
    """Yield the events of one run, from its message to its end."""
    events = bot.events(user_id, accepted.thread_id, after_seq=max(0, accepted.seq - 1))
    try:
        async for event in events:
            if isinstance(event, InRun) and event.run_id == accepted.run_id:
                yield event
                if isinstance(event, Terminal):
                    return
    finally:
        await close_iterator(events)
