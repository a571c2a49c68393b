"""The unified diff of a change; pure."""

import difflib

from finchbot.tools.files.encoding import SAMPLE_BYTES, detect

COMPARED_CHARS = 512 * 1024
COMPARED_LINES = 4000
"""Beyond these a comparison would take seconds; the change is made and told without one."""
DIFF_CHARS = 64 * 1024


def unified(path: str, old: str, new: str) -> str | None:
    """Return the diff of two texts, or None when they are equal or too long to compare."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    too_long = max(len(old), len(new)) > COMPARED_CHARS
    if old == new or too_long or max(len(before), len(after)) > COMPARED_LINES:
        return None
    lines = difflib.unified_diff(before, after, f"a/{path}", f"b/{path}")
    text = "".join(line if line.endswith("\n") else f"{line}\n{_NO_BREAK}" for line in lines)
    return text if len(text) <= DIFF_CHARS else f"{text[:DIFF_CHARS]}\n…\n"


def comparable(raw: bytes) -> str | None:
    """Return the text of a file that is to be replaced, or None when it is binary."""
    encoding = detect(raw[:SAMPLE_BYTES], whole=len(raw) <= SAMPLE_BYTES)
    if encoding is None:
        return None
    return raw[len(encoding.mark) :].decode(encoding.codec, "replace")


# What diff and git write, so that the result can be applied.
_NO_BREAK = "\\ No newline at end of file\n"
