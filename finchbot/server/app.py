"""The FastAPI app: the API, the socket, the login page and the documents.

The composition root mounts the admin at ``/admin`` and the chat page at ``/`` behind these
routes, and puts the guard in front of all of it.
"""

from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.responses import RedirectResponse
from starlette.requests import Request
from starlette.routing import BaseRoute, Match
from starlette.types import Lifespan

from finchbot import __version__
from finchbot.errors import NotServed
from finchbot.server import docs, login, ws
from finchbot.server.problems import MethodNotAllowed
from finchbot.server.rest import info, messages, runs, settings, threads
from finchbot.server.services import Services

_ANY_METHOD = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]
_CLAIMED = ("/api", "/v1", "/channels", "/ws", "/healthz", "/login", "/logout")
"""Paths of our own: what is unknown below them is a problem and never reaches a page."""


def create_app(services: Services, lifespan: Lifespan[FastAPI] | None = None) -> FastAPI:
    """Return the app with every route of the API.

    Args:
        services: What the routes work with.
        lifespan: Of the things mounted later.
    """
    app = FastAPI(
        title="FinchBot",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=lifespan,
        redirect_slashes=False,
    )
    services.problems.install(app)
    routers = [
        info.router(services),
        threads.router(services),
        messages.router(services),
        runs.router(services),
        settings.router(services),
        login.router(services),
        docs.router(services.catalogue),
        ws.router(services),
    ]
    for router in routers:
        app.include_router(router)
    app.include_router(_borders(routers))
    return app


def _borders(routers: list[APIRouter]) -> APIRouter:
    """Return the routes that keep unknown paths from reaching what is mounted at ``/``."""
    routes = APIRouter(include_in_schema=False)
    known: list[BaseRoute] = [route for router in routers for route in router.routes]

    @routes.get("/admin")
    async def admin(request: Request) -> RedirectResponse:
        query = f"?{request.url.query}" if request.url.query else ""
        return RedirectResponse(f"{request.scope.get('root_path', '')}/admin/{query}", 307)

    async def unknown(request: Request) -> None:
        allowed = _methods(known, request.scope)
        if allowed:
            raise MethodNotAllowed(allowed=", ".join(sorted(allowed)))
        raise NotServed

    for place in _CLAIMED:
        routes.add_api_route(place, unknown, methods=_ANY_METHOD)
        routes.add_api_route(f"{place}/{{rest:path}}", unknown, methods=_ANY_METHOD)
    return routes


def _methods(known: list[BaseRoute], scope: Any) -> set[str]:
    """Return the methods by which a path is served."""
    partly = [route for route in known if route.matches(scope)[0] is Match.PARTIAL]
    return {method for route in partly for method in getattr(route, "methods", None) or ()}
