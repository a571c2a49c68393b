"""The border around Gradio's server: what the page needs passes, each tab to its own user.

Gradio serves much more than this page asks for: uploads that stay, files, proxies, a log of runs.
And whoever knows the session of a tab may listen to it.
"""

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from finchbot.errors import NotServed
from finchbot.ui.caller import known_in
from finchbot.ui.page import OpenPages

_NEEDED = frozenset(
    {
        ("GET", "/"),
        ("HEAD", "/"),
        ("GET", "/config"),
        ("GET", "/favicon.ico"),
        ("GET", "/manifest.json"),
        ("GET", "/robots.txt"),
        ("GET", "/theme.css"),
        ("GET", "/gradio_api/app_id"),
        ("GET", "/gradio_api/queue/data"),
        ("GET", "/gradio_api/startup-events"),
        ("POST", "/gradio_api/queue/join"),
        ("POST", "/gradio_api/run/predict"),
    }
)
_NEEDED_BELOW = ("/assets/", "/static/")
"""Files of Gradio's own package."""


class Border:
    """Lets through to Gradio what the chat page asks for.

    Args:
        gradio: Gradio's server.
        pages: Knows whose tab a session is.
    """

    def __init__(self, gradio: ASGIApp, pages: OpenPages) -> None:
        self._gradio = gradio
        self._pages = pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request.

        Raises:
            NotServed: It asks for something else.
        """
        if scope["type"] == "lifespan":
            await self._gradio(scope, receive, send)
            return
        if scope["type"] != "http" or not _is_needed(scope["method"], _path(scope)):
            raise NotServed
        session = HTTPConnection(scope).query_params.get("session_hash", "")
        user_id = known_in(scope).user_id

        async def send_own(message: Message) -> None:
            # Asked every time: a listener may have been here before the tab was opened.
            foreign = self._pages.is_of_another(user_id, session)
            await send({**message, "body": b""} if foreign and "body" in message else message)

        await self._gradio(scope, receive, send_own)


def _path(scope: Scope) -> str:
    root: str = scope.get("root_path", "")
    path: str = scope["path"]
    return path.removeprefix(root) or "/"


def _is_needed(method: str, path: str) -> bool:
    if (method, path) in _NEEDED:
        return True
    return method == "GET" and path.startswith(_NEEDED_BELOW)
