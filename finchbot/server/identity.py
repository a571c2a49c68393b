"""Identities: which credential makes which caller."""

import hmac
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from pydantic import SecretStr

from finchbot.errors import InputInvalid, NotAuthenticated
from finchbot.ids import OWNER, UserId
from finchbot.server.caller import CallerKind
from finchbot.server.cookies import Signer

SESSION_DAYS = 30
_SESSION_S = SESSION_DAYS * 86_400
_VISITOR = "visitor"
_MAX_USER_ID = 200


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a request shows."""

    bearer: str | None = None
    """Of ``Authorization`` or of a socket's subprotocol."""
    session: str | None = None
    visitor: str | None = None
    acting_for: str | None = None
    """``X-FinchBot-User``."""
    from_loopback: bool = False


@dataclass(frozen=True, slots=True)
class Identity:
    """Who that is."""

    user_id: UserId
    kind: CallerKind
    new_visitor: str | None = None
    """The cookie a visitor who came without one must be given."""


class Identities:
    """Turns credentials into identities.

    Args:
        password: Of the login page.
        token: The bearer token that stands for the owner.
        loopback_bind: Whether only this machine reaches the server.
        demo: Whether strangers may come in, each as a user of their own.
        signer: Signs sessions and visitors.
        clock: Tells when a session has expired.
        new_id: Makes the visitors' ids.
    """

    def __init__(
        self,
        *,
        password: SecretStr | None,
        token: SecretStr | None,
        loopback_bind: bool,
        demo: bool,
        signer: Signer,
        clock: Callable[[], datetime],
        new_id: Callable[[str], str],
    ) -> None:
        self._secret = password or token
        self._token = token
        self._owner_is_here = loopback_bind and password is None and not demo
        self._demo = demo
        self._signer = signer
        self._clock = clock
        self._new_id = new_id

    @property
    def has_login(self) -> bool:
        """Whether there is a secret the login page can ask for."""
        return self._secret is not None

    def identify(self, shown: Credentials) -> Identity:
        """Return who shows these credentials.

        A wrong bearer token is never overlooked in favour of something weaker. An old cookie
        is: browsers send them unasked.

        Raises:
            NotAuthenticated: Nobody, or ``access.bad_token``.
            InputInvalid: A token's owner acts for a user with an impossible id.
        """
        if shown.bearer is not None:
            return self._by_token(shown.bearer, shown.acting_for)
        if shown.session is not None and self._session_holds(shown.session):
            return Identity(OWNER, "session")
        if self._demo:
            return self._visitor(shown.visitor)
        if self._owner_is_here and shown.from_loopback:
            return Identity(OWNER, "loopback")
        raise NotAuthenticated

    def log_in(self, password: str) -> str:
        """Return the value of a new session cookie.

        Raises:
            NotAuthenticated: ``access.wrong_password``.
        """
        if self._secret is None or not _same(password, self._secret.get_secret_value()):
            raise NotAuthenticated("access.wrong_password")
        expires = int(self._clock().timestamp()) + _SESSION_S
        return self._signer.sign("session", f"{expires}.{self._fingerprint()}")

    def _by_token(self, bearer: str, acting_for: str | None) -> Identity:
        if self._token is None or not _same(bearer, self._token.get_secret_value()):
            raise NotAuthenticated("access.bad_token")
        if acting_for is None:
            return Identity(OWNER, "token")
        if not 0 < len(acting_for) <= _MAX_USER_ID or not acting_for.isprintable():
            raise InputInvalid("input.bad_user", field="X-FinchBot-User")
        return Identity(UserId(acting_for), "token")

    def _session_holds(self, cookie: str) -> bool:
        text = self._signer.read("session", cookie)
        if text is None or self._secret is None:
            return False
        expires, _, fingerprint = text.partition(".")
        current = hmac.compare_digest(fingerprint.encode(), self._fingerprint().encode())
        return current and self._clock().timestamp() < int(expires)

    def _fingerprint(self) -> str:
        """Return what ties a session to the password it was opened with."""
        secret = self._secret.get_secret_value() if self._secret else ""
        return self._signer.digest("password", secret)

    def _visitor(self, cookie: str | None) -> Identity:
        known = self._signer.read(_VISITOR, cookie) if cookie else None
        if known:
            return Identity(UserId(known), "visitor")
        made = self._new_id(_VISITOR)
        return Identity(UserId(made), "visitor", self._signer.sign(_VISITOR, made))


def is_visitor(user_id: str) -> bool:
    """Whether this user is, or was, a visitor of a demo."""
    return user_id.startswith(f"{_VISITOR}_")


def _same(one: str, other: str) -> bool:
    """Compare in a time that tells nothing about either, their lengths included."""
    return hmac.compare_digest(sha256(one.encode()).digest(), sha256(other.encode()).digest())
