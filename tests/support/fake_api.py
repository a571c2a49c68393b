"""A server that answers the admin's questions as a test wants them answered."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

INFO = {
    "name": "FinchBot",
    "version": "9.9",
    "language": "en-US",
    "model": "builtin",
    "user_id": "owner",
    "demo": False,
    "limits": {},
}
THREAD = {
    "id": "thr_1",
    "user_id": "owner",
    "title": "Birds",
    "title_source": "user",
    "channel": "chat",
    "created_at": "2026-12-01T08:00:00Z",
    "last_active_at": "2026-12-01T08:00:00Z",
    "message_count": 2,
    "turn_count": 1,
}


def problem(status: int, code: str, detail: str) -> tuple[int, Any]:
    """Return an answer that says no."""
    return status, {"code": code, "detail": detail, "params": {}}


class FakeApi:
    """Serves on a free port of loopback; `answers` gives status and body by path."""

    def __init__(self) -> None:
        self.answers: dict[str, tuple[int, Any]] = {}
        self.reset()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def reset(self) -> None:
        """Answer as a server that is well."""
        parts = dict.fromkeys(("model", "memory", "vectors", "channels"), "ok")
        self.answers = {
            "/healthz": (200, {"status": "ok", "version": "9.9", "parts": parts}),
            "/api/v1/info": (200, INFO),
            "/api/v1/settings": (200, {"revision": "1", "safe_mode": None, "fields": {}}),
            "/api/v1/threads": (200, {"items": [THREAD], "next": None}),
        }

    @property
    def port(self) -> int:
        return self._server.server_address[1]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        api = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = self.path.partition("?")[0]
                status, body = api.answers.get(path, problem(404, "server.not_found", "Nothing."))
                content = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        return Handler
