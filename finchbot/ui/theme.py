"""The tokens of the look, as data: colours, type, space, for the chat page and the admin alike.

Nothing here imports a web library. The chat page's style sheet is written in terms of the CSS
variables made here; the admin takes `streamlit_options`.
"""

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours of one mode, ``#RRGGBB``."""

    page: str
    surface: str
    line: str
    text: str
    quiet: str
    accent: str
    on_accent: str
    ok: str
    warn: str
    error: str
    tint: str
    """Behind the user's own words: the accent, laid thinly on the page."""
    hover: str
    """Under the pointer, and the thread that is open."""


LIGHT = Palette(
    page="#FBFAF7",
    surface="#FFFFFF",
    line="#E6E3DC",
    text="#1F2328",
    quiet="#5B6470",
    accent="#C2410C",
    on_accent="#FFFFFF",
    ok="#15803D",
    warn="#A16207",
    error="#B91C1C",
    tint="#F6EBE3",
    hover="#F3F0EA",
)
DARK = Palette(
    page="#15171A",
    surface="#1D2024",
    line="#2C3036",
    text="#E8E6E1",
    quiet="#9AA3AE",
    accent="#FB923C",
    on_accent="#15171A",
    ok="#4ADE80",
    warn="#FACC15",
    error="#F87171",
    tint="#2A2521",
    hover="#23272C",
)

_LATIN = ("system-ui", "Segoe UI")
_SIMPLIFIED = ("PingFang SC", "Noto Sans CJK SC", "Microsoft YaHei")
_HONG_KONG = ("PingFang HK", "Noto Sans CJK HK", "Microsoft JhengHei")
_MONO = ("ui-monospace", "SF Mono", "Cascadia Mono", "Consolas", "DejaVu Sans Mono", "monospace")

StreamlitOption = str | int | list[str] | list[int]

SIZES_PX = {"small": 13, "base": 15, "large": 17, "title": 22, "display": 28}
SPACE_PX = 4
"""One step; every distance is a multiple of it."""
RADIUS_PX = 10
READING_WIDTH_PX = 760
SIDE_WIDTH_PX = 272
_HEADINGS_PX = (28, 17, 17, 15, 15, 15)
"""Of the admin's titles, from the page's own to the smallest."""
LINE_HEIGHT = 1.6
LINE_HEIGHT_CHINESE = 1.75
MOTION_MS = 140


def font_stack(language: str = "en-US") -> str:
    """Return the CSS font list for `language`: Hong Kong's faces first for ``zh-HK``."""
    chinese = _HONG_KONG + _SIMPLIFIED if language == "zh-HK" else _SIMPLIFIED + _HONG_KONG[:1]
    return _families((*_LATIN, *chinese, "sans-serif"))


def mono_stack() -> str:
    """Return the CSS font list for code, arguments and paths."""
    return _families(_MONO)


def css_variables() -> str:
    """Return the tokens as CSS custom properties ``--finch-*``, light and dark.

    Dark follows the system, except inside Gradio, which says by the body's class what it shows.
    """
    light = {
        "font": font_stack(),
        "mono": mono_stack(),
        "radius": f"{RADIUS_PX}px",
        "reading": f"{READING_WIDTH_PX}px",
        "side": f"{SIDE_WIDTH_PX}px",
        "line-height": str(LINE_HEIGHT),
        "motion": f"{MOTION_MS}ms",
        **{f"size-{name}": f"{px}px" for name, px in SIZES_PX.items()},
        **_colours(LIGHT),
        "shadow": "0 1px 2px rgb(31 35 40 / 4%), 0 8px 24px rgb(31 35 40 / 6%)",
    }
    dark = {
        **_colours(DARK),
        "shadow": "0 1px 2px rgb(0 0 0 / 30%), 0 8px 24px rgb(0 0 0 / 28%)",
    }
    still = {"motion": "0ms"}
    return "\n".join(
        (
            _rule(":root", light, scheme="light"),
            f"@media (prefers-color-scheme: dark) {{ {_rule(':root', dark, scheme='dark')} }}",
            _rule(":root:has(gradio-app):not(:has(body.dark))", _colours(LIGHT), scheme="light"),
            _rule(":root:has(body.dark)", dark, scheme="dark"),
            _rule(":root:lang(zh)", {"line-height": str(LINE_HEIGHT_CHINESE)}),
            _rule(":root:lang(zh-HK)", {"font": font_stack("zh-HK")}),
            f"@media (prefers-reduced-motion: reduce) {{ {_rule(':root', still)} }}",
        )
    )


def streamlit_options() -> dict[str, StreamlitOption]:
    """Return the admin's theme as Streamlit options by dotted name."""
    shared: dict[str, StreamlitOption] = {
        "theme.font": font_stack(),
        "theme.codeFont": mono_stack(),
        "theme.baseRadius": f"{RADIUS_PX}px",
        "theme.buttonRadius": f"{RADIUS_PX}px",
        "theme.baseFontSize": SIZES_PX["base"],
        "theme.codeFontSize": f"{SIZES_PX['small']}px",
        "theme.headingFontSizes": [f"{px}px" for px in _HEADINGS_PX],
        "theme.headingFontWeights": [600] * len(_HEADINGS_PX),
        "theme.paddingTop": f"{8 * SPACE_PX}px",
        "theme.showWidgetBorder": True,
        "theme.showSidebarBorder": True,
    }
    return {**shared, **_streamlit("light", LIGHT), **_streamlit("dark", DARK)}


def contrast(one: str, other: str) -> float:
    """Return the WCAG contrast of two ``#RRGGBB`` colours, 1 to 21."""
    brighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def _families(names: tuple[str, ...]) -> str:
    return ", ".join(f'"{name}"' if " " in name else name for name in names)


def _colours(palette: Palette) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in asdict(palette).items()}


def _rule(selector: str, values: dict[str, str], scheme: str | None = None) -> str:
    lines = [f"  --finch-{name}: {value};" for name, value in values.items()]
    if scheme is not None:
        lines.append(f"  color-scheme: {scheme};")
    return "\n".join((f"{selector} {{", *lines, "}"))


def _streamlit(mode: str, palette: Palette) -> dict[str, str]:
    base, side = f"theme.{mode}", f"theme.{mode}.sidebar"
    return {
        f"{base}.primaryColor": palette.accent,
        f"{base}.backgroundColor": palette.page,
        f"{base}.secondaryBackgroundColor": palette.surface,
        f"{base}.textColor": palette.text,
        f"{base}.linkColor": palette.accent,
        f"{base}.borderColor": palette.line,
        f"{base}.codeBackgroundColor": palette.surface,
        f"{base}.codeTextColor": palette.text,
        **_named_colours(base, palette),
        f"{side}.backgroundColor": palette.page,
        f"{side}.secondaryBackgroundColor": palette.surface,
        f"{side}.borderColor": palette.line,
    }


def _named_colours(base: str, palette: Palette) -> dict[str, str]:
    """Return the colours Streamlit's own words and notices go by: states from the tokens alone."""
    meant = {
        "green": palette.ok,
        "yellow": palette.warn,
        "orange": palette.accent,
        "red": palette.error,
        "blue": palette.quiet,
        "gray": palette.quiet,
    }
    return {
        f"{base}.{name}{place}": palette.surface if place == "BackgroundColor" else colour
        for name, colour in meant.items()
        for place in ("Color", "TextColor", "BackgroundColor")
    }


def _luminance(colour: str) -> float:
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (red, green, blue)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
