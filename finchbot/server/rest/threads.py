"""Threads: list, make, read, change, delete, and their events."""

from typing import Annotated

from fastapi import APIRouter, Header, Query, Response
from pydantic import Field, StrictBool

from finchbot.ids import ThreadId
from finchbot.server.rest.request import Nothing, PageQuery, Strict, Who
from finchbot.server.services import Services
from finchbot.server.sse import EventStream
from finchbot.threads.records import Page, Thread

Title = Annotated[str, Field(max_length=500)]


class ThreadQuery(PageQuery):
    """Which threads."""

    q: Annotated[str, Field(max_length=1000)] = ""
    archived: bool = False


class EventQuery(Strict):
    """From where on."""

    after_seq: Annotated[int, Field(ge=0)] = 0


class NewThread(Strict):
    """A thread to be made."""

    title: Title = ""


class ThreadChanges(Strict):
    """What is to change."""

    title: Title | None = None
    pinned: StrictBool | None = None
    archived: StrictBool | None = None


def router(services: Services) -> APIRouter:
    """Return ``/api/v1/threads…``."""
    routes = APIRouter(prefix="/api/v1/threads", tags=["threads"])
    threads = services.bot.threads

    @routes.get("")
    async def list_threads(caller: Who, query: Annotated[ThreadQuery, Query()]) -> Page[Thread]:
        """Return threads, pinned first, then the last active; `q` searches titles and text."""
        return await threads.list(
            caller.user_id,
            q=query.q,
            archived=query.archived,
            limit=query.limit,
            cursor=query.cursor,
        )

    @routes.post("", status_code=201)
    async def make_thread(caller: Who, _: Nothing, body: NewThread | None = None) -> Thread:
        """Make an empty thread."""
        title = body.title if body else ""
        return await threads.create(caller.user_id, title=title, channel="api")

    @routes.get("/{thread_id}")
    async def get_thread(thread_id: str, caller: Who, _: Nothing) -> Thread:
        """Return one thread."""
        return await threads.get(caller.user_id, ThreadId(thread_id))

    @routes.patch("/{thread_id}")
    async def change_thread(thread_id: str, caller: Who, body: ThreadChanges, _: Nothing) -> Thread:
        """Change title, pin or archive; what is left out stays."""
        return await threads.update(
            caller.user_id,
            ThreadId(thread_id),
            title=body.title,
            pinned=body.pinned,
            archived=body.archived,
        )

    @routes.delete("/{thread_id}", status_code=204)
    async def delete_thread(thread_id: str, caller: Who, _: Nothing) -> Response:
        """Stop what runs in a thread and remove every trace of it."""
        await threads.delete(caller.user_id, ThreadId(thread_id))
        return Response(status_code=204)

    @routes.get("/{thread_id}/events", response_class=EventStream, status_code=200)
    async def thread_events(
        thread_id: str,
        caller: Who,
        query: Annotated[EventQuery, Query()],
        last_event_id: Annotated[int | None, Header(ge=0)] = None,
    ) -> Response:
        """Stream a thread's events: those after `after_seq`, then live ones.

        ``Last-Event-ID``, which a browser sends when it comes back, wins over `after_seq`.
        """
        thread = await threads.get(caller.user_id, ThreadId(thread_id))
        after = query.after_seq if last_event_id is None else last_event_id
        events = services.bot.events(caller.user_id, thread.id, after_seq=after)
        return EventStream(events, services.streams)

    return routes
