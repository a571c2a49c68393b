"""The admin's entry: the menu around every page."""

import sys
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

ROOT = Path(__file__).resolve().parents[1]
# `streamlit run pages/Home.py` puts only this folder on the path.
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

# E402: these imports need the line above.
from finchbot.ui.icons import finch_file  # noqa: E402
from finchbot.ui.theme import LIGHT  # noqa: E402
from pages.dress import dress, show_sidebar  # noqa: E402
from pages.frame import MEETING  # noqa: E402
from pages.visitor import Say, meet  # noqa: E402

PAGES = (
    "overview",
    "threads",
    "health",
)


def menu(say: Say) -> list[StreamlitPage]:
    """Return one entry per admin page; a new page is one row of `PAGES`."""
    here = Path(__file__).resolve().parent
    return [
        st.Page(
            here / f"{name}.py",
            title=say(f"{name}.menu"),
            url_path=name,
            default=name == PAGES[0],
        )
        for name in PAGES
    ]


# Without icons of their own: Streamlit would ask another host for the tab's picture.
st.set_page_config(
    page_title="FinchBot",
    page_icon=finch_file(LIGHT.accent),
    layout="centered",
    initial_sidebar_state="locked",
)
meeting = meet()
st.session_state[MEETING] = meeting
dress(meeting.language, meeting.say)
entries = menu(meeting.say)
chosen = st.navigation(entries, position="hidden")
show_sidebar(entries, chosen, meeting.say)
chosen.run()
