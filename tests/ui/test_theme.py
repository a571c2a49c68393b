"""The tokens: readable everywhere, and the same for both faces."""

import re
from dataclasses import asdict
from itertools import product
from pathlib import Path

import pytest

from finchbot.ui import theme
from finchbot.ui.theme import DARK, LIGHT, Palette, contrast, css_variables, streamlit_options

PAIRS = (
    *product(("text", "quiet", "accent", "error"), ("page", "surface", "hover")),
    *product(("ok", "warn"), ("page", "surface")),
    ("text", "tint"),
    ("on_accent", "accent"),
    ("page", "text"),
    ("page", "error"),
)
"""What is written in which colour on which."""
AA = 4.5


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_everything_written_reaches_aa(palette: Palette) -> None:
    colours = asdict(palette)
    weak = {
        f"{ink} on {paper}": contrast(colours[ink], colours[paper])
        for ink, paper in PAIRS
        if contrast(colours[ink], colours[paper]) < AA
    }
    assert not weak


def test_contrast_is_that_of_the_guidelines() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)
    assert contrast("#123456", "#123456") == 1


def test_the_style_sheet_uses_no_colour_or_token_that_is_not_defined() -> None:
    folder = Path(theme.__file__).parent / "assets" / "style"
    sheet = "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.css")))
    defined = set(re.findall(r"--(finch-[a-z-]+):", css_variables()))
    assert set(re.findall(r"var\(--(finch-[a-z-]+)\)", sheet)) <= defined
    assert not re.findall(r":[^;{}]*#[0-9a-fA-F]{3,8}\b", sheet)


def test_the_admin_wears_the_same_colours() -> None:
    options = streamlit_options()
    for mode, palette in (("light", LIGHT), ("dark", DARK)):
        assert options[f"theme.{mode}.primaryColor"] == palette.accent
        assert options[f"theme.{mode}.backgroundColor"] == palette.page
        assert options[f"theme.{mode}.textColor"] == palette.text
        assert options[f"theme.{mode}.greenTextColor"] == palette.ok
        assert options[f"theme.{mode}.yellowTextColor"] == palette.warn
        assert options[f"theme.{mode}.redTextColor"] == palette.error
        assert options[f"theme.{mode}.grayTextColor"] == palette.quiet
