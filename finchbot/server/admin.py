"""The admin's paths: Streamlit answers every path with its page, also one that is no page."""

from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from finchbot.server.paths import route_path

_INNER = "_stcore"
"""Streamlit's own endpoints."""


class AdminPaths:
    """Gives the page that says "not found" the status that says so.

    Args:
        streamlit: The admin's app, mounted here.
        mount: Where, such as ``/admin``.
        pages: The names of the pages.
    """

    def __init__(self, streamlit: ASGIApp, mount: str, pages: Collection[str]) -> None:
        self._streamlit = streamlit
        self._mount = mount
        self._known = {"", "index.html", *pages}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or socket."""
        if scope["type"] == "http" and not self._is_known(scope):
            send = _not_found(send)
        await self._streamlit(scope, receive, send)

    def _is_known(self, scope: Scope) -> bool:
        path = route_path(scope).removeprefix(self._mount).strip("/")
        return path in self._known or path.partition("/")[0] == _INNER


def _not_found(send: Send) -> Send:
    async def told(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == 200:
            kind = Headers(raw=message["headers"]).get("content-type", "")
            if kind.startswith("text/html"):
                message = {**message, "status": 404}
        await send(message)

    return told
