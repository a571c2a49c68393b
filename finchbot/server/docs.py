"""The API's documents: a page that shows the schema, with every asset served from here.

The assets are those of ``fastapi-offline``, which ships Swagger UI as it is; its code is not
used. The page holds no inline script, and Swagger UI is told to ask nobody for validation.
"""

from importlib.resources import files

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse
from starlette.requests import Request

from finchbot.errors import NotServed
from finchbot.i18n import Catalogue
from finchbot.server.problems import language_of

_ASSETS = {"swagger-ui-bundle.js": "text/javascript", "swagger-ui.css": "text/css"}
_PAGE = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="{root}/login/mark.svg">
<link rel="stylesheet" href="{root}/api/docs/swagger-ui.css">
</head>
<body>
<div id="docs"></div>
<script src="{root}/api/docs/swagger-ui-bundle.js"></script>
<script src="{root}/api/docs/start.js"></script>
</body>
</html>
"""
_START = """
SwaggerUIBundle({
  url: new URL("../openapi.json", document.currentScript.src).href,
  dom_id: "#docs", deepLinking: true, validatorUrl: "none",
});
"""


def router(catalogue: Catalogue) -> APIRouter:
    """Return ``/api/docs`` and its assets."""
    routes = APIRouter(prefix="/api/docs", include_in_schema=False)

    @routes.get("")
    async def page(request: Request) -> HTMLResponse:
        language = language_of(request.scope)
        root = request.scope.get("root_path", "")
        title = catalogue.text("server.docs.title", language)
        return HTMLResponse(_PAGE.format(language=language, title=title, root=root))

    @routes.get("/start.js")
    async def start() -> Response:
        return Response(_START, media_type="text/javascript")

    @routes.get("/{name}")
    def asset(name: str) -> Response:
        kind = _ASSETS.get(name)
        if kind is None:
            raise NotServed
        content = (files("fastapi_offline") / "static" / name).read_bytes()
        return Response(content, media_type=kind, headers={"cache-control": "max-age=86400"})

    return routes
