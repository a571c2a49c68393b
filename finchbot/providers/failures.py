"""Turning what the OpenAI client raises into errors a person can be told about.

What a provider writes about an error may quote the request or the key, so none of its text
goes on; the kind of error, the status and the provider's name do.
"""

import math
import re
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime

import httpx2
import openai

from finchbot.errors import (
    AuthFailed,
    ContextTooLong,
    ProviderError,
    RateLimited,
    Unavailable,
)
from finchbot.ids import Clock
from finchbot.messages import is_plain
from finchbot.providers.openai_stream import BadStream, StreamRefused

Foreign = openai.OpenAIError | httpx2.HTTPError | httpx2.StreamError | BadStream | StreamRefused
FOREIGN: tuple[type[Exception], ...] = (
    openai.OpenAIError,
    httpx2.HTTPError,
    httpx2.StreamError,
    BadStream,
    StreamRefused,
)
"""What can come out of a request; `failure` maps each of them."""

_CONTEXT = re.compile(
    r"context[_ ](length|window|size)|maximum context|too many (input )?tokens|prompt is too long"
    r"|reduce the length|input (length|token count) .*exceed|exceeds? .*(context|token limit)",
    re.IGNORECASE,
)
_NO_TOOLS = re.compile(r"(does|do) not support (tools|function)|tools? .*not supported", re.I)
_QUOTA = frozenset({"insufficient_quota", "insufficient_balance", "exceeded_current_quota_error"})


def failure(error: Exception, provider: str, model: str, clock: Clock) -> ProviderError:
    """Return the error to raise in place of `error`, one of `FOREIGN`."""
    match error:
        case openai.APITimeoutError() | httpx2.TimeoutException():
            return Unavailable("provider.silent", provider=provider, reason="timeout")
        case openai.APIStatusError():
            told = _Told.of(error.body, error.message)
            wait_s = retry_after_s(error.response.headers, clock)
            return _refused(error.status_code, told, provider, model, wait_s)
        case StreamRefused():
            told = _Told.of(error.error, "")
            return _refused(told.status, told, provider, model, None)
        case BadStream():
            return Unavailable("provider.bad_answer", provider=provider, reason="bad_answer")
        case openai.APIConnectionError() | httpx2.ConnectError():
            return Unavailable(provider=provider, reason="no_connection")
        case httpx2.HTTPError() | httpx2.StreamError():
            return _broken_off(provider)
        case _:
            return ProviderError(provider=provider, model=model)


def told(error: openai.APIStatusError) -> str:
    """Return what the provider wrote about its refusal, to look for words in; never to show."""
    return _Told.of(error.body, error.message).text


def retry_after_s(headers: Mapping[str, str], clock: Clock) -> float | None:
    """Return how long the provider asks to wait; None when it does not say.

    Reads ``retry-after-ms`` and ``Retry-After`` in seconds or as a date.
    """
    for name, per_second in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            wait_s = float(headers.get(name, "")) / per_second
        except ValueError:
            continue
        return max(0.0, wait_s) if math.isfinite(wait_s) else None
    try:
        until: datetime = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    return max(0.0, (until - clock()).total_seconds()) if until.tzinfo else None


class _Told:
    """What a provider wrote about an error, as far as it can be read."""

    def __init__(self, codes: frozenset[str], text: str, status: int) -> None:
        self.codes = codes
        self.text = text
        self.status = status

    @classmethod
    def of(cls, body: object, message: str) -> "_Told":
        if isinstance(body, dict) and isinstance(body.get("error"), dict):
            body = body["error"]
        if not isinstance(body, dict):
            return cls(frozenset(), f"{message} {_plain(body)}", 0)
        codes = frozenset(_plain(body.get(name)).lower() for name in ("code", "type"))
        code = _plain(body.get("code"))
        status = int(code) if re.fullmatch("[1-5][0-9]{2}", code) else 0
        words = _plain(body.get("message"))
        return cls(codes, f"{message} {words} {' '.join(codes)}", status)


def _plain(value: object) -> str:
    return str(value) if isinstance(value, str | int) and is_plain(value) else ""


def _refused(
    status: int, told: _Told, provider: str, model: str, wait_s: float | None
) -> ProviderError:
    """Return the error for an HTTP status, or for the same inside a stream (0: not said)."""
    if status in {401, 403}:
        return AuthFailed(provider=provider)
    if status == 402 or told.codes & _QUOTA:
        return ProviderError("provider.quota_exhausted", provider=provider)
    if status == 429 or "rate_limit_exceeded" in told.codes:
        return RateLimited(provider=provider, retry_after_s=wait_s)
    if status in {0, 400, 413, 422} and _CONTEXT.search(told.text):
        return ContextTooLong(provider=provider)
    if status == 400 and _NO_TOOLS.search(told.text):
        return ProviderError("provider.tools_unsupported", provider=provider, model=model)
    if status == 404:
        return ProviderError("provider.model_not_found", provider=provider, model=model)
    if status == 0:
        return _broken_off(provider)
    if status in {408, 409} or status >= 500:
        return Unavailable("provider.server_error", provider=provider, reason=f"http_{status}")
    return ProviderError("provider.rejected", provider=provider, model=model, status=status)


def _broken_off(provider: str) -> Unavailable:
    return Unavailable("provider.broken_off", provider=provider, reason="broken_off")
