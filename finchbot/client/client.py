"""The client: calls the API of one server as one caller."""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote

import httpx
from pydantic import JsonValue, TypeAdapter, ValidationError

from finchbot.client.views import Health, Info, Sent, SettingsView, ToolView
from finchbot.errors import FinchError
from finchbot.ids import CallId, RunId, ThreadId
from finchbot.messages import Message
from finchbot.threads.records import Page, Run, Thread

_T = TypeVar("_T")
_TIMEOUT_S = 15.0


class ApiError(FinchError):
    """The server said no; `detail` is its sentence in the caller's language."""

    def __init__(self, status: int, code: str, detail: str, params: Mapping[str, Any]) -> None:
        super().__init__(code, **params)
        self.status_code = status
        self.detail = detail


class Unreachable(FinchError):
    """The server does not answer, or not in a way this client understands."""

    default_code = "server.unreachable"
    status = 503


class FinchClient:
    """Calls the API of one server as one caller. Use it as a context manager.

    Every call raises `ApiError` when the server says no and `Unreachable` when there is none.

    Args:
        base_url: Such as ``http://127.0.0.1:7860``, with the root path if there is one.
        headers: Sent with every request, such as ``Authorization``.
        cookies: Of the visitor.
        language: What errors are said in.
    """

    def __init__(
        self,
        base_url: str,
        *,
        headers: Mapping[str, str] | None = None,
        cookies: Mapping[str, str] | None = None,
        language: str | None = None,
    ) -> None:
        wanted = {"accept-language": language} if language else {}
        self._http = httpx.Client(
            base_url=base_url,
            headers={**(headers or {}), **wanted},
            cookies=dict(cookies or {}),
            timeout=_TIMEOUT_S,
            # A proxy meant for the internet must not see what stays on this machine.
            trust_env=False,
        )

    def __enter__(self) -> Self:
        """Open the client."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close its connections."""
        self.close()

    def close(self) -> None:
        """Close its connections."""
        self._http.close()

    def health(self) -> Health:
        """Return how the server is, also while it starts or stops."""
        response = self._send("GET", "/healthz")
        return _parse(Health, response)

    def info(self) -> Info:
        """Return facts about the installation and the caller."""
        return self._get(Info, "/api/v1/info")

    def tools(self) -> Sequence[ToolView]:
        """Return the tools."""
        return self._get(Page[ToolView], "/api/v1/tools").items

    def threads(
        self, *, q: str = "", archived: bool = False, limit: int = 50, cursor: str | None = None
    ) -> Page[Thread]:
        """Return threads, pinned first, then the last active; `q` searches titles and text."""
        query = _given(q=q or None, archived=archived or None, limit=limit, cursor=cursor)
        return self._get(Page[Thread], "/api/v1/threads", query)

    def make_thread(self, *, title: str = "") -> Thread:
        """Make an empty thread."""
        return self._call(Thread, "POST", "/api/v1/threads", {"title": title})

    def thread(self, thread_id: ThreadId) -> Thread:
        """Return one thread."""
        return self._get(Thread, f"/api/v1/threads/{_part(thread_id)}")

    def update_thread(
        self,
        thread_id: ThreadId,
        *,
        title: str | None = None,
        pinned: bool | None = None,
        archived: bool | None = None,
    ) -> Thread:
        """Change what is given."""
        changes = _given(title=title, pinned=pinned, archived=archived)
        return self._call(Thread, "PATCH", f"/api/v1/threads/{_part(thread_id)}", changes)

    def delete_thread(self, thread_id: ThreadId) -> None:
        """Stop what runs in a thread and remove every trace of it."""
        _checked(self._send("DELETE", f"/api/v1/threads/{_part(thread_id)}"))

    def messages(
        self, thread_id: ThreadId, *, limit: int = 50, cursor: str | None = None
    ) -> Page[Message]:
        """Return the transcript, oldest first."""
        query = _given(limit=limit, cursor=cursor)
        return self._get(Page[Message], f"/api/v1/threads/{_part(thread_id)}/messages", query)

    def send(self, thread_id: ThreadId, text: str, *, client_id: str | None = None) -> Sent:
        """Send a message; its run goes on by itself."""
        body = _given(text=text, client_id=client_id)
        return self._call(Sent, "POST", f"/api/v1/threads/{_part(thread_id)}/messages", body)

    def run(self, run_id: RunId) -> Run:
        """Return one run."""
        return self._get(Run, f"/api/v1/runs/{_part(run_id)}")

    def cancel_run(self, run_id: RunId) -> Run:
        """Stop a run."""
        return self._call(Run, "POST", f"/api/v1/runs/{_part(run_id)}/cancel")

    def approve(self, run_id: RunId, call_id: CallId, decision: str) -> Run:
        """Decide the open question of a tool call: ``once``, ``thread``, ``always``, ``deny``."""
        body = {"call_id": call_id, "decision": decision}
        return self._call(Run, "POST", f"/api/v1/runs/{_part(run_id)}/approve", body)

    def settings(self) -> SettingsView:
        """Return every setting."""
        return self._get(SettingsView, "/api/v1/settings")

    def change_settings(self, revision: str, changes: Mapping[str, JsonValue]) -> SettingsView:
        """Save all changes, or none."""
        body = {"revision": revision, "changes": dict(changes)}
        return self._call(SettingsView, "PATCH", "/api/v1/settings", body)

    def _get(self, kind: type[_T], path: str, query: Mapping[str, Any] | None = None) -> _T:
        return _parse(kind, _checked(self._send("GET", path, query=query)))

    def _call(self, kind: type[_T], method: str, path: str, body: Any = None) -> _T:
        return _parse(kind, _checked(self._send(method, path, body=body)))

    def _send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
    ) -> httpx.Response:
        try:
            return self._http.request(method, path, params=query, json=body)
        except httpx.HTTPError as error:
            raise Unreachable(reason=type(error).__name__) from error


def _part(name: str) -> str:
    """Return an id as one part of a path, whatever it holds."""
    return quote(name, safe="")


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _checked(response: httpx.Response) -> httpx.Response:
    """Return an answer that says yes.

    Raises:
        ApiError: What the server's problem says.
        Unreachable: The answer is neither.
    """
    if response.is_success:
        return response
    try:
        problem = response.json()
        raise ApiError(response.status_code, problem["code"], problem["detail"], problem["params"])
    except (ValueError, KeyError, TypeError) as error:
        raise Unreachable(reason=f"HTTP {response.status_code}") from error


def _parse(kind: type[_T], response: httpx.Response) -> _T:
    try:
        return TypeAdapter(kind).validate_json(response.content)
    except ValidationError as error:
        raise Unreachable(reason=f"no {kind.__name__}") from error
