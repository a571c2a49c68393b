"""The one template of every admin page: what it is for, what one must know, and what went wrong.

What a person or a model wrote is shown with `st.text`, which knows no Markdown and no HTML.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

import streamlit as st

from finchbot.client import ApiError, FinchClient, Info, SettingsView, Unreachable
from pages.failure import LANGUAGE, show_failure
from pages.visitor import Meeting, Say, catalogue, meet, open_client, zone

MEETING = "meeting"
"""Where the entry leaves for the page what it asked the server already."""
TOLD = "told"
"""Where an action leaves what is to be said when the page is drawn anew."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One run of a page for one visitor."""

    client: FinchClient
    info: Info
    settings: SettingsView | None
    """None for a visitor who may not see them."""
    say: Say

    def when(self, moment: datetime) -> str:
        """Return a moment as the visitor writes it."""
        return catalogue().format_datetime(moment, self.info.language, zone())


@contextmanager
def page(name: str) -> Iterator[Visit | None]:
    """Draw title and purpose, hand over the visit, and show a failure as a person can use it.

    Yields:
        The visit, or None when the server could not be asked: the failure is on the page already.
    """
    meeting = st.session_state.pop(MEETING, None) or meet()
    st.session_state[LANGUAGE] = meeting.language
    title = meeting.say(f"{name}.title")
    st.set_page_config(page_title=f"{title} · FinchBot")
    st.title(title, anchor=False)
    st.caption(meeting.say(f"{name}.purpose"))
    _show_told()
    if meeting.info is None:
        if meeting.failure is not None:
            show_failure(meeting.failure, meeting.say)
        yield None
        return
    _show_banners(meeting, meeting.info)
    with open_client() as client:
        try:
            yield Visit(client, meeting.info, meeting.settings, meeting.say)
        except (ApiError, Unreachable) as error:
            show_failure(error, meeting.say)


def tell(sentence: str) -> None:
    """Draw the page anew and say `sentence` on it once."""
    st.session_state[TOLD] = sentence
    st.rerun()


def _show_told() -> None:
    told = st.session_state.pop(TOLD, None)
    if told is not None:
        st.toast(told)


def _show_banners(meeting: Meeting, info: Info) -> None:
    """Say what holds for every page: broken settings, a home that will not last."""
    broken = meeting.settings and meeting.settings.safe_mode
    if broken:
        with st.container(key="banner-error"):
            st.text(meeting.say("banner.safe_mode"))
            st.text(broken.detail)
    for number, notice in enumerate(info.notices):
        with st.container(key=f"banner-warn-{number}"):
            st.text(notice.detail)
