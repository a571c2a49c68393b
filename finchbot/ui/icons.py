"""The one set of line icons, 1.5 px, and the mark: a small finch on a twig. All drawn here."""

_PATHS = {
    "plus": '<path d="M8 3.25v9.5M3.25 8h9.5"/>',
    "search": '<circle cx="7" cy="7" r="4.25"/><path d="m10.25 10.25 3 3"/>',
    "menu": '<path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h7"/>',
    "close": '<path d="m4 4 8 8M12 4l-8 8"/>',
    "back": '<path d="M7 3.5 2.5 8 7 12.5M2.75 8h10.75"/>',
    "rename": '<path d="M3 13l.6-2.7 6.9-6.9a1.4 1.4 0 0 1 2 2l-6.9 6.9L3 13zM9.5 4.5l2 2"/>',
    "delete": (
        '<path d="M2.75 4.5h10.5M6.25 4.5V3.25c0-.4.35-.75.75-.75h2c.4 0 .75.35.75.75V4.5'
        "M4.25 4.5l.5 8.1c.05.5.45.9.95.9h4.6c.5 0 .9-.4.95-.9l.5-8.1"
        'M6.75 7.25v3.5M9.25 7.25v3.5"/>'
    ),
    "send": '<path d="M8 13V3.25M3.75 7.25 8 3l4.25 4.25"/>',
    "stop": '<rect x="4.25" y="4.25" width="7.5" height="7.5" rx="1.25"/>',
    "admin": (
        '<path d="M2.5 5h6M11.5 5h2M2.5 11h2M7.5 11h6"/>'
        '<circle cx="10" cy="5" r="1.5"/><circle cx="6" cy="11" r="1.5"/>'
    ),
    "language": (
        '<circle cx="8" cy="8" r="5.5"/>'
        '<path d="M2.5 8h11M8 2.5c3.2 3.3 3.2 7.7 0 11M8 2.5c-3.2 3.3-3.2 7.7 0 11"/>'
    ),
}

_FINCH = (
    '<path d="M35.9 12.4C34.2 9.3 31 7.5 27.6 7.5c-5.2 0-8.9 3.5-10 8.4-1.2 5.1-3.6 8.4-8 13'
    'L3.9 35l-.9 4.4 8.6-3.2c3 2 6.6 2.9 10.2 2.4 8-1 13.9-7.7 13.9-15.7v-2.6L43 17.1l-7.1-4.7z"/>'
    '<path d="M35.7 20.3c-1-2.6-1-5.4.2-7.9"/>'
    '<path d="M18.6 20.2c-.3 5.9 3.2 9.6 8.2 8.9 2-.3 3.6-1.2 4.8-2.6"/>'
    '<path d="M12.4 29.3c2.4 3.3 6.7 4.3 10.5 2.9"/>'
    '<path d="M19.5 38.7 18.7 44M25.4 37.6l.6 6.4M12.5 44h21"/>'
    '<circle class="eye" cx="29.6" cy="14.6" r="1.15"/>'
)


def icon(name: str) -> str:
    """Return one icon as inline SVG, 16 by 16, in the colour of the text around it."""
    return _svg(_PATHS[name], box=16, stroke=1.5, classes="icon")


def finch(size_px: int) -> str:
    """Return the mark as inline SVG; the line stays near 1.5 px at every size."""
    return _svg(_FINCH, box=48, stroke=round(1.5 * 48 / size_px, 2), classes="finch")


def finch_file(colour: str) -> str:
    """Return the mark as an SVG document of its own, for the tab of the browser."""
    drawing = _FINCH.replace('class="eye"', f'fill="{colour}"')
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48" fill="none" '
        f'stroke="{colour}" stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round">'
        f"{drawing}</svg>"
    )


def _svg(drawing: str, *, box: int, stroke: float, classes: str) -> str:
    return (
        f'<svg class="{classes}" viewBox="0 0 {box} {box}" fill="none" stroke="currentColor" '
        f'stroke-width="{stroke}" stroke-linecap="round" stroke-linejoin="round" '
        f'aria-hidden="true" focusable="false">{drawing}</svg>'
    )
