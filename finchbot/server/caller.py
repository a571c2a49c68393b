"""Who is calling: what the guard found out, as every surface behind it reads it."""

from dataclasses import dataclass
from typing import Any, Literal

from finchbot.ids import UserId

CallerKind = Literal["loopback", "session", "token", "visitor"]


@dataclass(frozen=True, slots=True)
class Caller:
    """The authenticated caller of one request or socket."""

    user_id: UserId
    kind: CallerKind
    """Loopback without a password, the login page's cookie, a token, or a demo visitor."""
    language: str = "en-US"
    """Of the sentences the program says to this caller."""

    @property
    def may_administer(self) -> bool:
        """Whether settings of the whole installation may be seen and changed."""
        return self.kind != "visitor"


def caller_of(scope: Any) -> Caller:
    """Return the caller the guard put into an ASGI scope.

    Raises:
        LookupError: The scope did not pass the guard; nothing is served then.
    """
    caller = scope.get("state", {}).get("caller")
    if not isinstance(caller, Caller):
        raise LookupError("this scope did not pass the guard")
    return caller
