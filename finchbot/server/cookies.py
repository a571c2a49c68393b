"""Cookies: signed values, the key that signs them, and the header that sets them."""

import base64
import binascii
import contextlib
import hmac
import os
import secrets
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Literal

SESSION = "finchbot_session"
VISITOR = "finchbot_visitor"
LANGUAGE = "finchbot_language"
"""What a person picked on the chat page; unsigned, it is theirs to change."""

_KEY_BYTES = 32
_BINARY: int = getattr(os, "O_BINARY", 0)
"""Windows writes two bytes for a line feed without it."""


class Signer:
    """Signs short texts so that nobody without the key can make or change one."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def sign(self, purpose: str, text: str) -> str:
        """Return a cookie-safe value; it is readable, not secret."""
        payload = base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()
        return f"{payload}.{self.digest(purpose, payload)}"

    def read(self, purpose: str, value: str) -> str | None:
        """Return the text of a value made by `sign` for the same purpose, else None."""
        payload, _, digest = value.partition(".")
        if not hmac.compare_digest(digest.encode(), self.digest(purpose, payload).encode()):
            return None
        try:
            padded = payload + "=" * (-len(payload) % 4)
            return base64.urlsafe_b64decode(padded).decode()
        except (binascii.Error, UnicodeDecodeError):
            return None

    def digest(self, purpose: str, text: str) -> str:
        """Return the keyed hash of a text, 43 URL-safe characters."""
        mac = hmac.new(self._key, f"{purpose}\0{text}".encode(), sha256).digest()
        return base64.urlsafe_b64encode(mac).rstrip(b"=").decode()


def load_key(file: Path) -> bytes:
    """Return the signing key kept in `file`, which is made once with mode 0600.

    Raises:
        OSError: The file can be neither read nor made.
    """
    with contextlib.suppress(FileNotFoundError):
        key = file.read_bytes()
        if len(key) == _KEY_BYTES:
            return key
    made = file.with_name(f"{file.name}.{secrets.token_hex(4)}")
    descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(secrets.token_bytes(_KEY_BYTES))
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(made, file)
    return file.read_bytes()


def read_cookies(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return the cookies of a request by name; of doubles the first, as browsers order them."""
    found: dict[str, str] = {}
    for name, value in headers:
        if name == b"cookie":
            for pair in value.decode("latin-1").split(";"):
                key, _, text = pair.strip().partition("=")
                found.setdefault(key, text)
    return found


def set_cookie(
    name: str,
    value: str,
    *,
    path: str = "/",
    secure: bool,
    max_age_s: int | None = None,
    cross_site: bool = False,
) -> str:
    """Return a ``Set-Cookie`` header.

    Args:
        name: The cookie's name.
        value: Cookie-safe text.
        path: Where the browser sends it.
        secure: Whether the page came by https.
        max_age_s: Seconds until it expires; None ends it with the browser's session.
        cross_site: The page may stand in a frame of another site: ``SameSite=None`` and
            ``Partitioned``, which a browser takes by https alone.
    """
    same_site: Literal["None", "Lax"] = "None" if cross_site and secure else "Lax"
    parts = [f"{name}={value}", f"Path={path}", "HttpOnly", f"SameSite={same_site}"]
    if max_age_s is not None:
        parts.append(f"Max-Age={max_age_s}")
    if secure:
        parts.append("Secure")
    if same_site == "None":
        parts.append("Partitioned")
    return "; ".join(parts)
