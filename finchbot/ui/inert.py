"""Text of users and models made harmless for the page's Markdown, without losing a character.

The page's own sanitizer stands behind this. Here raw HTML is shown instead of obeyed, and images
become links, so that no text of a model or a web page can make the browser call another host.
"""

import html
import re
from collections.abc import Callable

# The opening and closing rules are those of the page's Markdown parser (marked): where the two
# disagreed, text taken for code here would be live HTML there.
_FENCE = re.compile(r"^ {0,3}(`{3,}(?=[^`\n]*$)|~{3,})")
_CODE_SPAN = re.compile(r"(?<![\\`])(`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)\1(?!`)", re.DOTALL)
_LESS_THAN = re.compile(r"<(?!https?://[^\s<>]+>|br ?/?>)")
_IMAGE = re.compile(r"!\[(\]?)")
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
_LEADING = re.compile(r"^[ \t]+", re.MULTILINE)


def markdown(text: str) -> str:
    """Return Markdown of a model with raw HTML shown as text and images turned into links."""
    return _outside_fences(text, _safe_prose)


def spoken(text: str) -> str:
    """Return what a user typed so that it reads exactly as typed; fenced code stays code."""
    return _outside_fences(text, literal)


def literal(text: str) -> str:
    """Return `text` so that neither Markdown nor HTML finds anything to obey in it."""
    escaped = _PUNCTUATION.sub(lambda match: f"&#{ord(match[0])};", text)
    return _LEADING.sub(lambda match: "\u00a0" * len(match[0].expandtabs(4)), escaped)


def block(text: str) -> str:
    """Return `text` for the inside of a ``<pre>`` in a Markdown HTML block.

    Line breaks are written as references: a blank line would end the block and wake Markdown.
    """
    return html.escape(text).replace("\r\n", "\n").replace("\n", "&#10;").replace("\r", "&#10;")


def attribute(text: str) -> str:
    """Return `text` for a double-quoted attribute or the text of an element of our own HTML."""
    return html.escape(text).replace("\n", " ").replace("\r", " ")


def _outside_fences(text: str, change: Callable[[str], str]) -> str:
    done: list[str] = []
    prose: list[str] = []
    fence: str | None = None
    for line in text.split("\n"):
        if fence is not None:
            done.append(line)
            if re.match(rf"^ {{0,3}}{re.escape(fence)}[~`]* *$", line):
                fence = None
            continue
        opening = _FENCE.match(line)
        if opening is None:
            prose.append(line)
            continue
        if prose:
            done.append(change("\n".join(prose)))
            prose = []
        fence = opening[1]
        done.append(line)
    if prose:
        done.append(change("\n".join(prose)))
    return "\n".join(done)


def _safe_prose(text: str) -> str:
    done: list[str] = []
    at = 0
    for span in _CODE_SPAN.finditer(text):
        done += (_no_html(text[at : span.start()]), span[0])
        at = span.end()
    return "".join((*done, _no_html(text[at:])))


def _no_html(text: str) -> str:
    unseen = _IMAGE.sub(lambda match: "[…]" if match[1] else "[", text)
    return _LESS_THAN.sub("&lt;", unseen)
