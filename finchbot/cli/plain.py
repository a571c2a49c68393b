"""Text made safe for a terminal: words come through, orders to the terminal do not; pure."""

import re

# All control characters but tab and line feed (carriage return goes with its line feed, or alone
# would let a line overwrite itself), and the marks that turn the direction of writing around.
_ORDERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def plain(text: str) -> str:
    """Return the text with every order to the terminal shown as a sign instead."""
    return _ORDERS.sub(_sign, text)


def plain_line(text: str, width: int = 80) -> str:
    """Return the text on one line, cut at `width` characters."""
    line = " ".join(plain(text).split())
    return line if len(line) <= width else f"{line[: width - 1]}…"


def plain_json(text: str) -> str:
    r"""Return JSON with the orders that may stand raw in its strings written as ``\uXXXX``."""
    return _ORDERS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code == 0x0D:
        return ""
    # U+2400 and on are pictures of the control characters.
    return chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else "\ufffd"
