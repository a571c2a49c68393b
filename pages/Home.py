"""The admin's entry: the menu, and the page that answers "is it well?" first."""

import sys
from pathlib import Path

import streamlit as st

ROOT = Path(__file__).resolve().parents[1]
# `streamlit run pages/Home.py` puts only this folder on the path.
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

# E402: this import needs the line above.
from pages.frame import speaker  # noqa: E402

PAGES = (
    ("overview", "overview.py", ":material/home:"),
    ("threads", "threads.py", ":material/forum:"),
    ("health", "health.py", ":material/monitor_heart:"),
)


def menu() -> list[st.Page]:
    """Return one entry per admin page; a new page is one row of `PAGES`."""
    say = speaker()
    here = Path(__file__).resolve().parent
    return [
        st.Page(
            here / file,
            title=say(f"{name}.menu"),
            icon=icon,
            url_path=name,
            default=name == "overview",
        )
        for name, file, icon in PAGES
    ]


st.set_page_config(page_title="FinchBot", layout="centered")
st.navigation(menu()).run()
