"""The guard: one pure-ASGI gate in front of chat page, admin, API, sockets and documents.

In this order: spelling of the path, Host, Origin, credential, size of the body. What passes
carries a `Caller` in ``scope["state"]["caller"]``; what comes back carries the headers that
keep pages from talking to anybody but this server.
"""

from collections.abc import Callable, MutableMapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from finchbot.errors import FinchError, NotAllowed, NotAuthenticated, NotServed
from finchbot.server.arrival import Arrival, TrustedProxies, arrive, inner_headers
from finchbot.server.body_limit import limit_for, run_limited
from finchbot.server.caller import Caller
from finchbot.server.cookies import LANGUAGE, SESSION, VISITOR, read_cookies, set_cookie
from finchbot.server.headers import protected
from finchbot.server.hosts import HostRule, own_origin
from finchbot.server.identity import Credentials, Identities, Identity
from finchbot.server.paths import below, is_tricky, route_path
from finchbot.server.problems import Problems
from finchbot.server.visits import Visits

_OPEN = frozenset({"/healthz", "/login", "/login/page.css", "/login/mark.svg", "/logout"})
"""Answered without a credential."""
_BEARER_PROTOCOL = "finchbot.bearer."

ChooseLanguage = Callable[[str | None, str | None], str]
"""Returns the language tag for what a person picked and for an ``Accept-Language`` header."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """What the guard goes by."""

    hosts: HostRule
    proxies: TrustedProxies
    identities: Identities
    root_path: str = ""
    """The path a reverse proxy serves FinchBot under; begins with a slash, ends without."""
    in_space: bool = False
    """Whether huggingface.co may frame the pages."""
    visits: Visits | None = None
    """Told of every visitor of a demo who is here."""


class Guard:
    """Lets through who may pass.

    Args:
        app: Everything that is served.
        door: The rules.
        problems: Says no.
        language: Chooses a language tag by what the person picked and by ``Accept-Language``.
    """

    def __init__(
        self, app: ASGIApp, door: Door, problems: Problems, language: ChooseLanguage
    ) -> None:
        self._app = app
        self._door = door
        self._problems = problems
        self._language = language

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or socket."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        visit = _Visit(scope, self._door, self._language)
        send = _Outgoing(visit, send).send
        try:
            visit.enter()
        except FinchError as error:
            await self._refuse(visit, error, receive, send)
            return
        with visit.presence():
            await self._serve(visit, receive, send)

    async def _serve(self, visit: "_Visit", receive: Receive, send: Send) -> None:
        if visit.scope["type"] == "websocket":
            await self._app(visit.scope, receive, send)
            return
        try:
            await run_limited(self._app, visit.scope, receive, send, limit_for(visit.path))
        except FinchError as error:
            await self._refuse(visit, error, receive, send)

    async def _refuse(
        self, visit: "_Visit", error: FinchError, receive: Receive, send: Send
    ) -> None:
        response = self._no(visit, error)
        scope = visit.scope
        bare = "websocket.http.response" not in scope.get("extensions", {})
        if scope["type"] == "websocket" and bare:
            await send({"type": "websocket.close", "code": 1008})
            return
        await response(scope, receive, send)

    def _no(self, visit: "_Visit", error: FinchError) -> Response:
        has_login = self._door.identities.has_login
        if isinstance(error, NotAuthenticated) and visit.is_page and has_login:
            return RedirectResponse(visit.login_url, 303)
        return self._problems.response(error, visit.language)


class _Visit:
    """One request or socket on its way in."""

    def __init__(self, scope: Scope, door: Door, language: ChooseLanguage) -> None:
        self._door = door
        self.arrival: Arrival = arrive(scope, door.proxies)
        self.headers = Headers(scope=scope)
        picked = read_cookies(scope["headers"]).get(LANGUAGE)
        self.language = language(picked, self.headers.get("accept-language"))
        self.new_visitor: str | None = None
        self.protocol: str | None = None
        self._outer = scope
        self.scope: MutableMapping[str, Any] = self._inner(scope)
        self.path = route_path(self.scope)

    def enter(self) -> None:
        """Check everything and leave the caller in the scope.

        Raises:
            FinchError: The visit ends here.
        """
        if is_tricky(self._outer["path"], self._outer.get("raw_path") or b""):
            raise NotServed
        if not self._door.hosts.accepts(self.arrival.host, self._outer.get("server")):
            raise NotAllowed("access.bad_host")
        origin = self.headers.get("origin")
        if origin is not None and not self._door.hosts.accepts_origin(origin, self.arrival.host):
            raise NotAllowed("access.bad_origin")
        if self.path not in _OPEN:
            self._admit(self._door.identities.identify(self._credentials()))

    def presence(self) -> AbstractContextManager[None]:
        """Return what to enter while this is served: it keeps a visitor's things from going."""
        caller = self.scope["state"].get("caller")
        if self._door.visits is None or caller is None or caller.kind != "visitor":
            return nullcontext()
        return self._door.visits.here(caller.user_id)

    @property
    def in_space(self) -> bool:
        """Whether the page may stand in a frame of huggingface.co."""
        return self._door.in_space

    @property
    def is_page(self) -> bool:
        """Whether a person's browser asks for a page to show."""
        readable = self.scope["type"] == "http" and self.scope["method"] in {"GET", "HEAD"}
        return readable and "text/html" in self.headers.get("accept", "")

    @property
    def login_url(self) -> str:
        """The login page, which leads back here."""
        query: str = self._outer["query_string"].decode("latin-1")
        target = f"{self.scope['root_path']}{self.path}" + (f"?{query}" if query else "")
        return f"{self.scope['root_path']}/login?next={quote(target, safe='/')}"

    def _inner(self, scope: Scope) -> MutableMapping[str, Any]:
        """Return the scope as what lies behind the guard sees it."""
        root, path = self._door.root_path, scope["path"]
        scheme = self.arrival.scheme
        if scope["type"] == "websocket":
            scheme = "wss" if scheme == "https" else "ws"
        headers = inner_headers(scope["headers"], self.arrival)
        inner_path = path if below(path, root) else f"{root}{path}"
        if below(route_path({"path": inner_path, "root_path": root}), "/admin"):
            headers += _origin_header(scope)
        state = {**scope.get("state", {}), "language": self.language}
        port = (scope.get("client") or ("", 0))[1]
        return {
            **scope,
            "scheme": scheme,
            "root_path": root,
            "path": inner_path,
            "client": (self.arrival.client, port),
            "headers": headers,
            "state": state,
        }

    def _admit(self, identity: Identity) -> None:
        self.new_visitor = identity.new_visitor
        caller = Caller(identity.user_id, identity.kind, self.language)
        self.scope["state"]["caller"] = caller

    def _credentials(self) -> Credentials:
        cookies = read_cookies(self._outer["headers"])
        return Credentials(
            bearer=self._bearer(),
            session=cookies.get(SESSION),
            visitor=cookies.get(VISITOR),
            acting_for=self.headers.get("x-finchbot-user"),
            from_loopback=self.arrival.from_loopback,
        )

    def _bearer(self) -> str | None:
        offered: list[str] = list(self.scope.get("subprotocols", ()))
        for protocol in offered:
            if protocol.startswith(_BEARER_PROTOCOL):
                offered.remove(protocol)
                self.scope["subprotocols"] = offered
                self.protocol = offered[0] if offered else protocol
                return protocol.removeprefix(_BEARER_PROTOCOL)
        scheme, _, token = self.headers.get("authorization", "").partition(" ")
        return token.strip() if scheme.lower() == "bearer" else None


class _Outgoing:
    """What a visit sends back, with our headers on it."""

    def __init__(self, visit: _Visit, send: Send) -> None:
        self._visit = visit
        self._send = send
        self._in_space = visit.in_space

    async def send(self, message: Message) -> None:
        match message["type"]:
            case "http.response.start" | "websocket.http.response.start":
                message = {**message, "headers": self._headers(message.get("headers", ()))}
            case "websocket.accept":
                message = self._accepted(message)
        await self._send(message)

    def _headers(self, headers: Any) -> list[tuple[bytes, bytes]]:
        ours = protected(headers, self._visit.path, framed_by_space=self._in_space)
        return [*ours, *self._visitor_cookie()]

    def _accepted(self, message: Message) -> Message:
        headers = [*message.get("headers", ()), *self._visitor_cookie()]
        protocol = message.get("subprotocol") or self._visit.protocol
        return {**message, "headers": headers, "subprotocol": protocol}

    def _visitor_cookie(self) -> list[tuple[bytes, bytes]]:
        visit = self._visit
        if visit.new_visitor is None:
            return []
        cookie = set_cookie(
            VISITOR,
            visit.new_visitor,
            path=f"{visit.scope['root_path']}/",
            secure=visit.arrival.secure,
            cross_site=self._in_space,
        )
        return [(b"set-cookie", cookie.encode())]


def _origin_header(scope: Scope) -> list[tuple[bytes, bytes]]:
    """Return the header that tells the admin's pages where this server is."""
    origin = own_origin(scope)
    return [(b"x-finchbot-origin", origin.encode())] if origin else []
