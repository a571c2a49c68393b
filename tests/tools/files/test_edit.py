import asyncio
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finchbot.tools.files.replacing import find, line_numbers, nearest_lines
from tests.tools.conftest import Invoke


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\nb\nc", "b", "x", b"a\nx\nc"),
        (b"a\r\nb\r\nc", "a\nb", "x\ny", b"x\r\ny\r\nc"),
        (b"a\r\nb\r\nc", "a\r\nb", "x\ny", b"x\r\ny\r\nc"),
        (b"a\r\nb\r\n", "b", "x\ny", b"a\r\nx\r\ny\r\n"),
        (b"a\nb\n", "a\r\nb", "x\r\ny", b"x\ny\n"),
        (b"a\r\nb\r\nc\nd\n", "c\nd", "x\ny", b"a\r\nb\r\nx\ny\n"),
        (b"\xef\xbb\xbfa\nb", "a", "", b"\xef\xbb\xbf\nb"),
        (b"last", "last", "la\n", b"la\n"),
        (b"last\n", "last\n", "last", b"last"),
        ("喜欢苹果\n".encode("gbk"), "苹果", "香蕉", "喜欢香蕉\n".encode("gbk")),
        ("a\r\nb".encode("utf-16"), "a\nb", "b\na", "b\r\na".encode("utf-16")),
        (b"a\\1b", "\\1", "\\2", b"a\\2b"),
    ],
)
async def test_an_edit_changes_the_piece_and_not_a_byte_more(
    before: bytes, old: str, new: str, after: bytes, workspace: Path, invoke: Invoke
) -> None:
    (workspace / "f").write_bytes(before)
    (workspace / "f").chmod(0o640)
    outcome = await invoke("edit_file", path="f", old_text=old, new_text=new)
    assert outcome.output == "[tool_output.edited path=f, count=1]"
    assert (workspace / "f").read_bytes() == after
    assert stat.S_IMODE((workspace / "f").stat().st_mode) == 0o640
    assert outcome.diff is not None


@pytest.mark.parametrize(
    ("old", "new", "output"),
    [
        ("", "x", "[tool.edit_empty ]"),
        ("one", "one", "[tool.edit_equal ]"),
        ("one", "x", "[tool.edit_many_matches path=f, count=3, lines=1, 2, 4]"),
        ("onx tow", "x", "[tool.edit_no_match_near path=f, count=0, nearest=3: onx two]"),
        ("完全不同", "x", "[tool.edit_no_match path=f, count=0, nearest=]"),
        ("three", "快", "[tool.not_encodable path=f, encoding=CP1252, character=快]"),
    ],
)
async def test_an_edit_that_is_not_clear_changes_nothing(
    old: str, new: str, output: str, workspace: Path, invoke: Invoke
) -> None:
    raw = "one\nbone é\nonx two\none and three".encode("cp1252")
    (workspace / "f").write_bytes(raw)
    outcome = await invoke("edit_file", path="f", old_text=old, new_text=new)
    assert outcome.is_error
    assert outcome.output == output
    assert (workspace / "f").read_bytes() == raw
    assert os.listdir(workspace) == ["f"]


async def test_replace_all_replaces_all(workspace: Path, invoke: Invoke) -> None:
    (workspace / "f").write_text("one\none\ntwo")
    outcome = await invoke("edit_file", path="f", old_text="one", new_text="1", replace_all=True)
    assert outcome.output == "[tool_output.edited path=f, count=2]"
    assert (workspace / "f").read_text() == "1\n1\ntwo"


async def test_overlapping_places_are_not_one_place(workspace: Path, invoke: Invoke) -> None:
    (workspace / "f").write_text("aaa")
    outcome = await invoke("edit_file", path="f", old_text="aa", new_text="b")
    assert outcome.output == "[tool.edit_many_matches path=f, count=2, lines=1, 1]"


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"\0\1\2", "is_binary path=f, size_bytes=3"),
        (b"x" * 9_000_000, "file_too_large path=f, limit_bytes=8388608"),
        (b"word\n" * 20_000 + b"caf\xe9", "not_decodable path=f, encoding=UTF-8"),
    ],
)
async def test_what_cannot_be_kept_byte_for_byte_is_not_edited(
    raw: bytes, code: str, workspace: Path, invoke: Invoke
) -> None:
    (workspace / "f").write_bytes(raw)
    outcome = await invoke("edit_file", path="f", old_text="word", new_text="x", replace_all=True)
    assert outcome.output == f"[tool.{code}]"
    assert (workspace / "f").read_bytes() == raw


async def test_edits_side_by_side_do_not_lose_each_other(workspace: Path, invoke: Invoke) -> None:
    names = [f"word{number:02}" for number in range(20)]
    (workspace / "f").write_text("\n".join(names))
    await asyncio.gather(
        *(invoke("edit_file", path="f", old_text=name, new_text=name.upper()) for name in names)
    )
    assert (workspace / "f").read_text() == "\n".join(names).upper()


TEXT = st.text(st.sampled_from("ab\n名"), max_size=30)


@given(before=TEXT, old=TEXT.filter(bool), after=TEXT, crlf=st.booleans())
def test_what_is_there_is_found_whatever_its_line_breaks(
    before: str, old: str, after: str, crlf: bool
) -> None:
    text = f"{before}{old}{after}"
    stored = text.replace("\n", "\r\n") if crlf else text
    found = find(stored, old, "new\n")
    assert len(before.replace("\n", "\r\n") if crlf else before) in found.places
    changed, count = found.applied(stored)
    assert count >= 1
    assert found.new in changed
    assert "\r" not in changed.replace("\r\n", "")
    if "\n" in stored:
        assert ("\r\n" in found.new) is crlf


def test_line_numbers_count_from_one() -> None:
    assert line_numbers("a\nb\na", (0, 4)) == [1, 3]


def test_the_nearest_lines_come_with_their_numbers() -> None:
    text = "def main():\n    retrun 1\n\nprint(main())\n"
    assert nearest_lines(text, "\n  return 1\n")[0] == "2: retrun 1"
