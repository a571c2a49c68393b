"""Who looks at the page, in which language and time zone, from a request of Gradio's."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any, Protocol, cast
from urllib.parse import unquote

import gradio as gr

from finchbot.errors import NotAuthenticated
from finchbot.i18n import Catalogue
from finchbot.ids import UserId
from finchbot.ui.words import Words, zone_of

ZONE_COOKIE = "finchbot_zone"


class Known(Protocol):
    """What the guard leaves in the scope of every request."""

    @property
    def user_id(self) -> UserId:
        """Whose threads these are."""

    @property
    def language(self) -> str:
        """Of what is said to them: what they picked, the settings', or the browser's."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """One open page's reader; `session` is a word the page made up for its tab."""

    user_id: UserId
    session: str
    language: str
    zone: tzinfo

    def words(self, catalogue: Catalogue, language: str | None = None) -> Words:
        """Return what is said to this reader."""
        return Words(catalogue, language or self.language, self.zone)


def caller_of(request: gr.Request) -> Known:
    """Return the caller the guard found for this request.

    Gradio keeps the request a page joined its queue with, so this holds for streams too.

    Raises:
        NotAuthenticated: The request did not come through the guard.
    """
    inner = request.request
    if inner is None:
        raise NotAuthenticated
    return known_in(inner.scope)


def known_in(scope: Mapping[str, Any]) -> Known:
    """Return the caller the guard left in an ASGI scope.

    Raises:
        NotAuthenticated: It did not come through the guard.
    """
    caller = scope.get("state", {}).get("caller")
    if caller is None:
        raise NotAuthenticated
    return cast(Known, caller)


async def visitor_of(request: gr.Request) -> Visitor:
    """Return who looks at the page.

    Raises:
        NotAuthenticated: The request did not come through the guard.
    """
    caller = caller_of(request)
    inner = request.request
    zone = "UTC" if inner is None else inner.cookies.get(ZONE_COOKIE, "UTC")
    return Visitor(
        user_id=caller.user_id,
        session=request.session_hash or "",
        language=caller.language,
        zone=await asyncio.to_thread(zone_of, unquote(zone)),
    )
