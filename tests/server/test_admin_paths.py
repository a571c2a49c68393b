"""A path of the admin that is no page says so by its status."""

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route

from finchbot.server.admin import AdminPaths


async def page_or_file(request: Request) -> Response:
    """Answer as Streamlit does: its page for every path, but files for files."""
    path = request.path_params["path"]
    return PlainTextResponse("file") if path.endswith(".js") else HTMLResponse("<p>page</p>")


@pytest.mark.parametrize("root", ["", "/finch"])
@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/admin/", 200),
        ("/admin/threads", 200),
        ("/admin/threads/", 200),
        ("/admin/static/app.js", 200),
        ("/admin/_stcore/host-config", 200),
        ("/admin/nope", 404),
        ("/admin/threads/nope", 404),
        ("/admin/etc/passwd", 404),
    ],
)
async def test_only_a_page_of_ours_is_served_as_one(root: str, path: str, status: int) -> None:
    inner = Starlette(routes=[Route("/{path:path}", page_or_file)])
    app = Starlette(routes=[Mount("/admin", AdminPaths(inner, "/admin", {"threads"}))])
    transport = httpx.ASGITransport(app, root_path=root)
    async with httpx.AsyncClient(transport=transport, base_url="http://finch") as client:
        answer = await client.get(root + path)
    assert answer.status_code == status
