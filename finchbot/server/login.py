"""The login page: a password for a session."""

import json
import time
from html import escape
from string import Template
from typing import Annotated
from urllib.parse import parse_qs

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request

from finchbot.errors import Busy, FinchError, InputInvalid, NotAuthenticated
from finchbot.ids import OWNER
from finchbot.server.cookies import SESSION, read_cookies, set_cookie
from finchbot.server.identity import SESSION_DAYS, Credentials
from finchbot.server.login_limit import LoginLimit
from finchbot.server.paths import local_target
from finchbot.server.problems import language_of
from finchbot.server.services import Services

_PAGE = Template("""<!doctype html>
<html lang="$language">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title · FinchBot</title>
<link rel="icon" href="$root/login/mark.svg">
<link rel="stylesheet" href="$root/login/page.css">
</head>
<body>
<main>
$mark
<h1>$title</h1>
<p>$text</p>
<form method="post" action="$root/login">
<input type="hidden" name="next" value="$next">
<label for="password">$label</label>
<input id="password" name="password" type="password" autocomplete="current-password"
  required autofocus$described>
$wrong
<button type="submit">$button</button>
</form>
</main>
</body>
</html>
""")
_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; "
    "base-uri 'none'"
)


class LoginForm(BaseModel):
    """What the login page sends."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    password: Annotated[str, Field(max_length=1000)]
    next: str | None = None


def router(services: Services) -> APIRouter:
    """Return ``/login``, ``/logout`` and the page's assets."""
    routes = APIRouter(tags=["login"])
    limit = LoginLimit(time.monotonic)
    identities = services.door.identities

    @routes.get("/login", include_in_schema=False)
    async def page(
        request: Request, wanted: Annotated[str | None, Query(alias="next")] = None
    ) -> Response:
        target = local_target(wanted, _home(request))
        if not identities.has_login or _has_session(request, services):
            return RedirectResponse(target, 303)
        return _page(request, services, target)

    @routes.post("/login")
    async def log_in(request: Request) -> Response:
        """Open a session: JSON or a form with `password`; the cookie is `finchbot_session`."""
        from_form = "application/json" not in request.headers.get("content-type", "")
        form = await _form(request, from_form)
        target = local_target(form.next, _home(request))
        address = request.client.host if request.client else ""
        try:
            limit.check(address)
            session = identities.log_in(form.password)
        except (NotAuthenticated, Busy) as error:
            if isinstance(error, NotAuthenticated):
                limit.failed(address)
            if not from_form:
                raise
            return _page(request, services, target, error)
        limit.succeeded(address)
        answer = RedirectResponse(target, 303) if from_form else JSONResponse({"user_id": OWNER})
        answer.headers["set-cookie"] = _session_cookie(request, session, SESSION_DAYS * 86_400)
        return answer

    @routes.post("/logout")
    async def log_out(request: Request) -> Response:
        """End the session of this browser."""
        is_page = "text/html" in request.headers.get("accept", "")
        answer = RedirectResponse(_home(request), 303) if is_page else Response(status_code=204)
        answer.headers["set-cookie"] = _session_cookie(request, "", 0)
        return answer

    @routes.get("/login/page.css", include_in_schema=False)
    async def style() -> Response:
        return Response(services.look.style, media_type="text/css")

    @routes.get("/login/mark.svg", include_in_schema=False)
    async def mark() -> Response:
        return Response(services.look.icon, media_type="image/svg+xml")

    return routes


async def _form(request: Request, from_form: bool) -> LoginForm:
    """Return what was sent.

    Raises:
        InputInvalid: ``input.bad_login``; it quotes nothing, since a password may be in it.
    """
    try:
        text = (await request.body()).decode()
        if from_form:
            fields = {name: values[0] for name, values in parse_qs(text).items()}
            return LoginForm.model_validate(fields)
        return LoginForm.model_validate(json.loads(text))
    except (ValidationError, ValueError, RecursionError) as error:
        raise InputInvalid("input.bad_login") from error


def _page(
    request: Request, services: Services, target: str, error: FinchError | None = None
) -> Response:
    language = language_of(request.scope)
    say = services.catalogue.text
    wrong = described = ""
    if error is not None:
        detail = escape(services.catalogue.describe(error, language))
        wrong = f'<p class="wrong" id="wrong" role="alert">{detail}</p>'
        described = ' aria-invalid="true" aria-describedby="wrong"'
    page = _PAGE.substitute(
        language=language,
        root=request.scope.get("root_path", ""),
        mark=services.look.mark,
        next=escape(target),
        title=escape(say("server.login.title", language)),
        text=escape(say("server.login.text", language)),
        label=escape(say("server.login.password", language)),
        button=escape(say("server.login.button", language)),
        wrong=wrong,
        described=described,
    )
    headers = {"content-security-policy": _POLICY, "cache-control": "no-store"}
    return HTMLResponse(page, error.status if error else 200, headers)


def _has_session(request: Request, services: Services) -> bool:
    session = read_cookies(request.scope["headers"]).get(SESSION)
    try:
        identity = services.door.identities.identify(Credentials(session=session))
    except NotAuthenticated:
        return False
    return identity.kind == "session"


def _home(request: Request) -> str:
    return f"{request.scope.get('root_path', '')}/"


def _session_cookie(request: Request, value: str, max_age_s: int) -> str:
    return set_cookie(
        SESSION,
        value,
        path=_home(request),
        secure=request.url.scheme == "https",
        max_age_s=max_age_s,
    )
