"""The look of every admin page: the house's tokens, the mark, and what Streamlit says itself."""

import json
from base64 import b64encode
from pathlib import Path
from string import Template

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from finchbot.ui.icons import finch_file, icon
from finchbot.ui.theme import (
    LINE_HEIGHT,
    LINE_HEIGHT_CHINESE,
    css_variables,
    font_stack,
)
from pages.visitor import Say, outer_path

ASSETS = Path(__file__).resolve().parent / "assets"
STREAMLIT_SAYS = {
    "Close": "close",
    "Collapse sidebar": "menu_close",
    "Expand sidebar": "menu_open",
    "Sidebar": "menu",
    "Copy to clipboard": "copy",
    "Notifications": "notifications",
    "Skip to main content": "skip",
    "Connection error": "connection_lost",
    "Is Streamlit still running? If you accid": "connection_next",
    "Streamlit server is not responding. Are ": "connection_next",
    "Page not found": "page_missing",
    "The page that you have requested does no": "page_missing_next",
}
"""What Streamlit's own parts say, its first 40 letters, and how we call it."""
SVG = "http://www.w3.org/2000/svg"
ICONS = ("menu", "close", "search", "back")


def dress(language: str, say: Say) -> None:
    """Give the page its look and the language it is read in; nothing of it comes from a user."""
    st.html(f"<style>{css_variables()}\n{_own_variables(language)}\n{_sheet()}</style>")
    words = {theirs: say(f"parts.{ours}") for theirs, ours in STREAMLIT_SAYS.items()}
    script = Template((ASSETS / "admin.js").read_text(encoding="utf-8")).substitute(
        language=json.dumps(language), words=json.dumps(words, ensure_ascii=False)
    )
    with st.container(key="script"):
        st.html(f"<script>{script}</script>", unsafe_allow_javascript=True)


def show_sidebar(menu: list[StreamlitPage], here: StreamlitPage, say: Say) -> None:
    """Draw the mark, the pages, and the way back to the chat."""
    with st.sidebar:
        with st.container(key="brand"):
            st.html("<span>FinchBot</span>")
        with st.container(key="menu", gap=None):
            for entry in menu:
                with st.container(key="here" if entry == here else f"to-{entry.url_path}"):
                    st.page_link(entry, width="stretch")
        with st.container(key="foot"):
            st.link_button(say("parts.back"), outer_path("/"), type="tertiary", key="back")


@st.cache_data(show_spinner=False)
def _sheet() -> str:
    return (ASSETS / "admin.css").read_text(encoding="utf-8")


def _own_variables(language: str) -> str:
    chinese = language.startswith("zh")
    values = {
        "line-height": str(LINE_HEIGHT_CHINESE if chinese else LINE_HEIGHT),
        "font": font_stack(language),
        "mark": _as_mask(finch_file("black")),
        **{f"icon-{name}": _as_mask(icon(name)) for name in ICONS},
    }
    lines = [f"--finch-{name}: {value};" for name, value in values.items()]
    return f":root:root {{ {' '.join(lines)} }}"


def _as_mask(svg: str) -> str:
    """Return an icon as a CSS image; only its shape counts, not its colour."""
    named = svg if "xmlns" in svg else svg.replace("<svg", f'<svg xmlns="{SVG}"', 1)
    return f'url("data:image/svg+xml;base64,{b64encode(named.encode()).decode()}")'
