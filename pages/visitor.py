"""The visitor of a page: what they may do, which language they read, what time it is there."""

from collections.abc import Callable
from dataclasses import dataclass
from os import environ
from pathlib import Path
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from finchbot.client import ApiError, FinchClient, Info, SettingsView, Unreachable
from finchbot.i18n import Catalogue

Scalar = str | int | float | bool | None
Say = Callable[..., str]
LOCALES = Path(__file__).resolve().parents[1] / "locales"
FORWARDED = ("cookie", "authorization", "accept-language", "user-agent")
"""What a page passes on of its visitor, so that it has the visitor's power and no other."""
OWNER_ONLY = "access.owner_only"


@dataclass(frozen=True, slots=True)
class Meeting:
    """What the server says about itself and the visitor, or why it says nothing."""

    language: str
    info: Info | None = None
    settings: SettingsView | None = None
    """None for a visitor who may not see them."""
    failure: ApiError | Unreachable | None = None

    @property
    def say(self) -> Say:
        """Returns the sentence ``admin.<key>`` in the visitor's language."""
        return speaker(self.language)


def meet() -> Meeting:
    """Ask the server who is here; never raises what the client raises."""
    with open_client() as client:
        try:
            info = client.info()
            return Meeting(info.language, info, _settings(client))
        except (ApiError, Unreachable) as failure:
            return Meeting(browser_language(), failure=failure)


def open_client() -> FinchClient:
    """Return a client with the visitor's own credential and language."""
    headers = st.context.headers
    forwarded = {name: value for name in FORWARDED if (value := headers.get(name))}
    return FinchClient(base_url(), headers=forwarded)


def base_url() -> str:
    """Return where this page's own server answers, without a slash at the end."""
    told = st.context.headers.get("x-finchbot-origin")
    port = environ.get("FINCHBOT_SERVER__PORT") or "7860"
    return told or f"http://127.0.0.1:{port}"


def outer_path(path: str) -> str:
    """Return a path outside the admin as the visitor's browser reaches it, behind a proxy too."""
    here = urlsplit(st.context.url or "").path
    return here.rpartition("/admin")[0] + path


def browser_language() -> str:
    """Return the language for when the server cannot be asked."""
    return catalogue().negotiate(environ.get("FINCHBOT_LANG"), st.context.locale)


def zone() -> ZoneInfo | None:
    """Return the browser's time zone, or None where it names none that is known here."""
    try:
        return ZoneInfo(st.context.timezone or "")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


@st.cache_resource(show_spinner=False)
def catalogue() -> Catalogue:
    """Return the sentences, loaded once a process."""
    return Catalogue.load(LOCALES)


def speaker(language: str) -> Say:
    """Return the function that says ``admin.<key>`` in a language."""
    words = catalogue()

    def say(key: str, **params: Scalar) -> str:
        return words.text(f"admin.{key}", language, **params)

    return say


def _settings(client: FinchClient) -> SettingsView | None:
    try:
        return client.settings()
    except ApiError as refused:
        if refused.code != OWNER_ONLY:
            raise
        return None
