"""Problems: an error as the API shows it (RFC 9457), in the caller's language."""

import logging
import secrets
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from finchbot.errors import FinchError, InputInvalid, NotServed
from finchbot.i18n import Catalogue

_log = logging.getLogger(__name__)

_INPUT_CODES = {
    "extra_forbidden": "input.unknown_field",
    "missing": "input.missing_field",
    "json_invalid": "input.not_json",
    "model_attributes_type": "input.not_object",
    "union_tag_invalid": "input.unknown_type",
    "union_tag_not_found": "input.unknown_type",
}
_PLACES = frozenset({"body", "header", "path", "query"})
"""Where in a request a field stands; nobody needs to be told."""


class MethodNotAllowed(FinchError):
    """Something is served at this path, but not by this method; params: ``allowed``."""

    default_code = "server.method_not_allowed"
    status = 405


class Problems:
    """Turns errors into problem documents.

    Args:
        catalogue: Holds the sentences.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def body(self, error: FinchError, language: str) -> dict[str, Any]:
        """Return the members of ``application/problem+json``."""
        return {
            "type": f"urn:finchbot:error:{error.code}",
            "title": self._catalogue.text(f"server.status.{error.status}", language),
            "status": error.status,
            **self.frame(error, language),
        }

    def frame(self, error: FinchError, language: str) -> dict[str, Any]:
        """Return code, detail and params, as a socket's error frame carries them."""
        return {
            "code": error.code,
            "detail": self._catalogue.describe(error, language),
            "params": dict(error.params),
        }

    def response(self, error: FinchError, language: str) -> Response:
        """Return the problem as an HTTP response."""
        headers: dict[str, str] = {}
        if error.status == HTTPStatus.UNAUTHORIZED:
            headers["www-authenticate"] = "Bearer"
        if error.status == HTTPStatus.METHOD_NOT_ALLOWED:
            headers["allow"] = str(error.params.get("allowed", ""))
        if error.status in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}:
            headers["retry-after"] = str(error.params.get("retry_after_s", 1))
        return JSONResponse(
            self.body(error, language),
            error.status,
            headers,
            media_type="application/problem+json",
        )

    def install(self, app: FastAPI) -> None:
        """Answer every error of this app's routes with a problem."""

        async def known(request: Request, error: Exception) -> Response:
            return self.response(_as_finch_error(error), language_of(request.scope))

        async def unexpected(request: Request, error: Exception) -> Response:
            reference = log_unexpected(error, where=request.scope["path"])
            internal = FinchError(reference=reference)
            return self.response(internal, language_of(request.scope))

        for kind in (FinchError, RequestValidationError, HTTPException):
            app.add_exception_handler(kind, known)
        app.add_exception_handler(Exception, unexpected)


def language_of(scope: Mapping[str, Any]) -> str:
    """Return the language the guard chose for the caller of an ASGI scope."""
    language: str = scope.get("state", {}).get("language", "en-US")
    return language


def input_error(problems: Sequence[Any]) -> InputInvalid:
    """Return what pydantic found wrong with an input, as one error that quotes none of it."""
    first: Mapping[str, Any] = problems[0] if problems else {}
    kind = str(first.get("type", ""))
    places = [str(part) for part in first.get("loc", ()) if part not in _PLACES]
    code = _INPUT_CODES.get(kind, "input.bad_field")
    whole = "type" if code == "input.unknown_type" else "body"
    return InputInvalid(code, field=_shown(".".join(places)) or whole, reason=kind)


def _shown(name: str) -> str:
    """Return a name somebody sent in a form that can be sent back."""
    return "".join(char if char.isprintable() else "?" for char in name[:100])


def log_unexpected(error: BaseException, *, where: str) -> str:
    """Log an error nobody foresaw, without what it says, and return a reference to it."""
    reference = secrets.token_hex(4)
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else "?"
    _log.error("unexpected %s at %s in %s [%s]", type(error).__name__, place, where, reference)
    return reference


def _as_finch_error(error: Exception) -> FinchError:
    if isinstance(error, FinchError):
        return error
    if isinstance(error, RequestValidationError):
        return input_error(error.errors())
    if isinstance(error, HTTPException):
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            allowed = (error.headers or {}).get("Allow", "")
            return MethodNotAllowed(allowed=allowed)
        if error.status_code == HTTPStatus.NOT_FOUND:
            return NotServed()
    return InputInvalid("input.unreadable")
