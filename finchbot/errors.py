"""Errors: a stable dotted code and plain parameters; a surface turns them into a sentence.

The code is at once the locale key (``error.<code>``), the anchor in the documents and the
HTTP problem type (``urn:finchbot:error:<code>``, RFC 9457).
"""

from collections.abc import Mapping
from typing import ClassVar

Scalar = str | int | float | bool | None


class FinchError(Exception):
    """Something a person can be told about, with what to do next.

    Args:
        code: Dotted code such as ``"thread.not_found"``; the class's own when left out.
        params: Plain values for the sentence. Never a secret, never message text.
    """

    default_code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500
    """The HTTP status a server answers with."""

    def __init__(self, code: str | None = None, **params: Scalar) -> None:
        self.code = code or self.default_code
        self.params: Mapping[str, Scalar] = params
        detail = ", ".join(f"{name}={value!r}" for name, value in params.items())
        super().__init__(f"{self.code}({detail})")


class ConfigError(FinchError):
    """A setting, option or file of the user's is wrong."""

    default_code = "config.invalid"
    status = 422


class RevisionConflict(ConfigError):
    """Somebody else saved in between."""

    default_code = "config.revision_conflict"
    status = 409


class InputInvalid(FinchError):
    """What the caller sent cannot be used: empty text, unknown field, wrong type."""

    default_code = "input.invalid"
    status = 422


class TooLarge(FinchError):
    """What the caller sent is over a limit."""

    default_code = "input.too_large"
    status = 413


class NotAllowed(FinchError):
    """The caller is known and may not do this."""

    default_code = "access.denied"
    status = 403


class NotAuthenticated(FinchError):
    """The caller showed no credential or a wrong one."""

    default_code = "access.unauthenticated"
    status = 401


class Busy(FinchError):
    """A queue or a rate is full; try again after ``retry_after_s``."""

    default_code = "queue.full"
    status = 429


class NotReady(FinchError):
    """The program is starting or draining."""

    default_code = "server.not_ready"
    status = 503


class NotServed(FinchError):
    """Nothing is at this address, or not for this caller."""

    default_code = "server.not_found"
    status = 404


class ThreadError(FinchError):
    """A thread cannot be read or changed."""

    default_code = "thread.failed"


class ThreadNotFound(ThreadError):
    """No such thread, or it belongs to somebody else; the answer is the same."""

    default_code = "thread.not_found"
    status = 404


class RunNotFound(ThreadError):
    """No such run, or it belongs to somebody else."""

    default_code = "run.not_found"
    status = 404


class NothingToDecide(ThreadError):
    """The run is not waiting, or not running any more."""

    default_code = "run.nothing_to_decide"
    status = 409


class StoreTooNew(ThreadError):
    """A database was written by a newer program; params: ``file``, ``found``, ``known``."""

    default_code = "store.too_new"


class ProviderError(FinchError):
    """The model cannot be reached or answers with an error."""

    default_code = "provider.failed"
    status = 502


class AuthFailed(ProviderError):
    """The key is missing or refused; params: ``provider``."""

    default_code = "provider.auth_failed"


class RateLimited(ProviderError):
    """The provider asks to slow down; params: ``provider``, ``retry_after_s``."""

    default_code = "provider.rate_limited"


class Unavailable(ProviderError):
    """No connection, 5xx, or the stream broke off; params: ``provider``, ``reason``."""

    default_code = "provider.unavailable"


class ContextTooLong(ProviderError):
    """The conversation does not fit the model; params: ``provider``."""

    default_code = "provider.context_too_long"


class ToolError(FinchError):
    """A tool could not do its work; the model reads the sentence, the run goes on."""

    default_code = "tool.failed"


class ToolNotFound(ToolError):
    """The file or thing named is not there, or the tool is unknown."""

    default_code = "tool.not_found"


class ToolInputInvalid(ToolError):
    """The arguments do not fit the tool's schema, or make no sense."""

    default_code = "tool.input_invalid"


class ToolDenied(ToolError):
    """The border of a tool, or a person, said no."""

    default_code = "tool.denied"


class ToolTimeout(ToolError):
    """The tool took longer than it may; params: ``tool``, ``timeout_s``."""

    default_code = "tool.timeout"


class ToolRetry(ToolError):
    """Asks the model to try again with other arguments."""

    default_code = "tool.retry"


class ToolFailed(ToolError):
    """Tells the model to move on."""

    default_code = "tool.failed"


class MemoryStoreError(FinchError):
    """The memory cannot be read or written."""

    default_code = "memory.failed"


class ChannelError(FinchError):
    """A channel cannot send or receive."""

    default_code = "channel.failed"


class SkillError(FinchError):
    """A skill cannot be read or written."""

    default_code = "skill.failed"


class LocaleError(FinchError):
    """A locale file is broken."""

    default_code = "locale.failed"
