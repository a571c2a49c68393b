"""Markdown that holds whatever is put into it."""

import re

_LANGUAGES = {
    "bash": "bash", "c": "c", "cfg": "ini", "cpp": "cpp", "cs": "csharp", "css": "css",
    "go": "go", "h": "c", "htm": "html", "html": "html", "ini": "ini", "java": "java",
    "js": "javascript", "json": "json", "jsonl": "json", "jsx": "jsx", "kt": "kotlin",
    "lua": "lua", "markdown": "markdown", "md": "markdown", "php": "php", "pl": "perl",
    "py": "python", "r": "r", "rb": "ruby", "rs": "rust", "sh": "bash", "sql": "sql",
    "svg": "xml", "swift": "swift", "tex": "latex", "toml": "toml", "ts": "typescript",
    "tsx": "tsx", "xml": "xml", "yaml": "yaml", "yml": "yaml",
}  # fmt: skip
PLAIN = "text"


def fenced(text: str, language: str = PLAIN) -> str:
    """Return a code block whose fence is longer than any run of backticks in the text."""
    marks = "`" * max(3, _longest_run(text) + 1)
    return f"{marks}{language}\n{text.removesuffix(chr(10))}\n{marks}"


def code(text: str) -> str:
    """Return a few words as code on one line; what cannot be shown is written as an escape."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    shown = shown.strip() or " "
    marks = "`" * (_longest_run(shown) + 1)
    space = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{marks}{space}{shown}{space}{marks}"


def language_of_file(path: str) -> str:
    """Return the name highlighters know for a file, by its extension; `PLAIN` when unknown."""
    return _LANGUAGES.get(path.rpartition(".")[2].lower(), PLAIN)


def _longest_run(text: str) -> int:
    return max(map(len, re.findall(r"`+", text)), default=0)
