"""The admin's style sheet speaks in the tokens of the house, and its script in our words."""

import re
from pathlib import Path

import streamlit

from finchbot.i18n import Catalogue
from finchbot.ui.theme import css_variables
from pages.dress import ASSETS, ICONS, STREAMLIT_SAYS

LOCALES = Path(__file__).parents[2] / "locales"
SHEET = (ASSETS / "admin.css").read_text(encoding="utf-8")
STREAMLIT = Path(streamlit.__file__).parent


def test_every_token_is_defined_and_no_colour_stands_beside_them() -> None:
    defined = set(re.findall(r"--(finch-[a-z-]+):", css_variables()))
    defined |= {"finch-mark", *(f"finch-icon-{name}" for name in ICONS)}
    assert set(re.findall(r"var\(--(finch-[a-z-]+)\)", SHEET)) <= defined
    assert not re.findall(r":[^;{}]*#[0-9a-fA-F]{3,8}\b", SHEET)


def test_the_sheet_can_stand_in_a_page() -> None:
    assert "<" not in SHEET


def test_what_streamlit_says_is_said_in_ours() -> None:
    catalogue = Catalogue.load(LOCALES)
    for tag in catalogue.languages:
        ours = catalogue.section("admin.parts", tag)
        assert set(STREAMLIT_SAYS.values()) <= ours.keys()


def test_streamlit_still_says_what_is_replaced() -> None:
    scripts = "".join(
        path.read_text(encoding="utf-8") for path in (STREAMLIT / "static/static/js").glob("*.js")
    )
    # The sentence about a missing page is sent by the server, and not part of the scripts.
    sent = {"The page that you have requested does no"}
    assert [
        theirs for theirs in STREAMLIT_SAYS if theirs not in scripts and theirs not in sent
    ] == []
