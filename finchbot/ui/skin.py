"""The house's look as Gradio takes it: theme, style sheet, head, and the page's own script."""

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote

import gradio as gr

from finchbot.ui.icons import finch_file
from finchbot.ui.theme import DARK, LIGHT, RADIUS_PX, SIZES_PX, css_variables

ASSETS = Path(__file__).parent / "assets"
STYLE = (
    "frame",
    "threads",
    "empty",
    "conversation",
    "steps",
    "composer",
    "floating",
    "narrow",
)
"""Files under ``assets/style``; later ones win."""
SCRIPT = (
    "state",
    "composer",
    "threads",
    "conversation",
    "events",
    "pulse",
    "labels",
    "connection",
)
"""Files under ``assets/script``, one function body in this order; the last starts the page."""

# Runs before anything is drawn: the server formats times in the zone of the reader.
_ZONE_SCRIPT = (
    "<script>try{document.cookie='finchbot_zone='+encodeURIComponent("
    "Intl.DateTimeFormat().resolvedOptions().timeZone)+';path=/;max-age=31536000;samesite=lax'"
    "}catch(error){}</script>"
)


def theme() -> gr.themes.Base:
    """Return the tokens as a Gradio theme, for what Gradio draws itself."""
    look = gr.themes.Base(font=["system-ui", "sans-serif"], font_mono=["ui-monospace", "monospace"])
    return look.set(
        body_background_fill=LIGHT.page,
        body_background_fill_dark=DARK.page,
        background_fill_primary=LIGHT.page,
        background_fill_primary_dark=DARK.page,
        background_fill_secondary=LIGHT.surface,
        background_fill_secondary_dark=DARK.surface,
        block_background_fill=LIGHT.page,
        block_background_fill_dark=DARK.page,
        body_text_color=LIGHT.text,
        body_text_color_dark=DARK.text,
        body_text_color_subdued=LIGHT.quiet,
        body_text_color_subdued_dark=DARK.quiet,
        border_color_primary=LIGHT.line,
        border_color_primary_dark=DARK.line,
        color_accent=LIGHT.accent,
        link_text_color=LIGHT.accent,
        link_text_color_dark=DARK.accent,
        block_border_width="0px",
        block_padding="0px",
        block_shadow="none",
        block_radius="0px",
        chatbot_text_size=f"{SIZES_PX['base']}px",
        layout_gap="0px",
        button_large_radius=f"{RADIUS_PX}px",
    )


def style() -> str:
    """Return the whole style sheet of the page."""
    return "\n".join((css_variables(), *_read("style", STYLE, "css")))


def script() -> str:
    """Return the script of the page; it runs once, with `trigger` to reach the handlers."""
    return "\n".join(_read("script", SCRIPT, "js"))


def head() -> str:
    """Return what goes into the page's head: the finch for the tab, the style, the zone.

    The style is here because Gradio rewrites every selector of a style given as such to lie
    inside its own container.
    """
    finch = quote(finch_file(LIGHT.accent))
    icon = f'<link rel="icon" type="image/svg+xml" href="data:image/svg+xml,{finch}">'
    return f"{icon}<style>{style()}</style>{_ZONE_SCRIPT}"


def _read(folder: str, names: Iterable[str], ending: str) -> list[str]:
    return [(ASSETS / folder / f"{name}.{ending}").read_text(encoding="utf-8") for name in names]
