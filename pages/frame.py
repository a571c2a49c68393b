"""The one template of every admin page: who asks, in which language, what to say on failure."""

import string
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import environ
from pathlib import Path

import streamlit as st

from finchbot.client import ApiError, FinchClient, Info, Unreachable
from finchbot.i18n import Catalogue

Scalar = str | int | float | bool | None
LOCALES = Path(__file__).resolve().parents[1] / "locales"
FORWARDED = ("cookie", "authorization", "accept-language", "user-agent")
"""What a page passes on of its visitor, so that it has the visitor's power and no other."""
MARKDOWN_SIGNS = {ord(sign): f"\\{sign}" for sign in string.punctuation}


@dataclass(frozen=True, slots=True)
class Visit:
    """One run of a page for one visitor."""

    client: FinchClient
    info: Info
    catalogue: Catalogue

    def say(self, key: str, **params: Scalar) -> str:
        """Return the sentence `admin.<key>` in the visitor's language."""
        return self.catalogue.text(f"admin.{key}", self.info.language, **params)


@contextmanager
def page(name: str) -> Iterator[Visit | None]:
    """Draw title and purpose, hand over the visit, and show a failure as a person can use it.

    Yields:
        The visit, or None when the server could not be asked: the failure is on the page already.
    """
    with FinchClient(base_url(), headers=forwarded_headers()) as client:
        try:
            visit = Visit(client, client.info(), catalogue())
        except (ApiError, Unreachable) as error:
            show_failure(error, speaker())
            yield None
            return
        st.title(visit.say(f"{name}.title"), anchor=False)
        st.caption(visit.say(f"{name}.purpose"))
        try:
            yield visit
        except (ApiError, Unreachable) as error:
            show_failure(error, visit.say)


def plain(text: str) -> str:
    """Return `text` as Markdown that shows it letter by letter, on one line."""
    return " ".join(text.split()).translate(MARKDOWN_SIGNS)


def base_url() -> str:
    """Return where this page's own server answers, without a slash at the end."""
    told = st.context.headers.get("x-finchbot-origin")
    port = environ.get("FINCHBOT_SERVER__PORT") or "7860"
    return told or f"http://127.0.0.1:{port}"


def forwarded_headers() -> dict[str, str]:
    """Return the visitor's credential and language, as the API wants them."""
    headers = st.context.headers
    return {name: value for name in FORWARDED if (value := headers.get(name))}


@st.cache_resource
def catalogue() -> Catalogue:
    """Return the sentences, loaded once a process."""
    return Catalogue.load(LOCALES)


def speaker() -> Callable[..., str]:
    """Return `say` by the browser's language alone, for when the server cannot be asked."""
    words = catalogue()
    language = words.negotiate(environ.get("FINCHBOT_LANG"), st.context.locale)

    def say(key: str, **params: Scalar) -> str:
        return words.text(f"admin.{key}", language, **params)

    return say


def show_failure(error: ApiError | Unreachable, say: Callable[..., str]) -> None:
    """Say what happened, what it means, the one thing to do, and a reference to copy."""
    if isinstance(error, ApiError):
        detail, reference = error.detail, f"{error.code} · HTTP {error.status_code}"
    else:
        detail, reference = say("failure.unknown"), error.code
    st.error(f"**{plain(say('failure.title'))}** {plain(detail)}")
    st.write(say("failure.next"))
    st.code(reference, language=None)
    st.button(say("failure.retry"), type="primary")
