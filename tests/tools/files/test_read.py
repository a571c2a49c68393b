import os
import time
from pathlib import Path

import pytest

from tests.tools.conftest import Invoke


async def test_a_text_is_shown_with_line_numbers_and_its_encoding(
    workspace: Path, invoke: Invoke
) -> None:
    (workspace / "笔记.md").write_bytes("今天\r\ntwo\r\n\r\nfour".encode("gb18030"))
    outcome = await invoke("read_file", path="笔记.md")
    assert not outcome.is_error
    assert outcome.output.split("\n") == [
        "[tool_output.read path=笔记.md, size=17, encoding=GB18030, CRLF, first=1, last=4]",
        "     1\t今天",
        "     2\ttwo",
        "     3\t",
        "     4\tfour",
    ]


@pytest.mark.parametrize(
    ("raw", "header"),
    [
        (b"a\nb\n", "size=4, encoding=UTF-8, first=1, last=2]"),
        (b"\xef\xbb\xbfa\r\nb", "size=7, encoding=UTF-8 with BOM, CRLF, first=1, last=2]"),
        ("a\nb".encode("utf-16"), "size=8, encoding=UTF-16-LE with BOM, first=1, last=2]"),
        ("喜欢\n苹果".encode("gbk"), "size=9, encoding=GB18030, first=1, last=2]"),
    ],
)
async def test_the_header_says_how_the_text_is_stored(
    raw: bytes, header: str, workspace: Path, invoke: Invoke
) -> None:
    (workspace / "f").write_bytes(raw)
    first, one, two = (await invoke("read_file", path="f")).output.split("\n")
    assert first == f"[tool_output.read path=f, {header}"
    assert (one, two) in [("     1\ta", "     2\tb"), ("     1\t喜欢", "     2\t苹果")]


async def test_a_window_says_where_to_go_on(workspace: Path, invoke: Invoke) -> None:
    (workspace / "f").write_text("".join(f"line {number}\n" for number in range(1, 11)))
    outcome = await invoke("read_file", path="f", offset=4, limit=2)
    assert outcome.output.split("\n")[1:] == [
        "     4\tline 4",
        "     5\tline 5",
        "[tool_output.read_on offset=6]",
    ]
    assert "read_on" not in (await invoke("read_file", path="f", offset=9, limit=2)).output


async def test_reading_on_to_the_end_gives_every_line_once(workspace: Path, invoke: Invoke) -> None:
    (workspace / "f").write_text("".join(f"{number} {'x' * 70}\n" for number in range(1, 3001)))
    seen: list[str] = []
    offset = 1
    while True:
        _, *lines = (await invoke("read_file", path="f", offset=offset)).output.split("\n")
        more = lines[-1].startswith("[tool_output.read_on")
        assert sum(map(len, lines)) < 70_000
        seen += [line.split("\t")[1].split()[0] for line in (lines[:-1] if more else lines)]
        if not more:
            break
        offset = len(seen) + 1
    assert seen == [str(number) for number in range(1, 3001)]


async def test_an_offset_behind_the_end_is_told_with_the_count(
    workspace: Path, invoke: Invoke
) -> None:
    (workspace / "f").write_text("a\nb")
    outcome = await invoke("read_file", path="f", offset=3)
    assert outcome.output == "[tool.offset_past_end path=f, lines=2]"
    assert outcome.is_error


async def test_an_empty_file_is_called_empty(workspace: Path, invoke: Invoke) -> None:
    (workspace / "f").touch()
    assert (await invoke("read_file", path="f")).output == "[tool_output.empty_file path=f]"


async def test_a_missing_file_is_named(invoke: Invoke) -> None:
    outcome = await invoke("read_file", path="nothing.txt")
    assert outcome.output == "[tool.not_found path=nothing.txt]"
    assert outcome.is_error


async def test_binary_data_is_told_by_its_size(workspace: Path, invoke: Invoke) -> None:
    (workspace / "f").write_bytes(b"\x89PNG\0" * 1000)
    outcome = await invoke("read_file", path="f")
    assert outcome.output == "[tool_output.binary path=f, size=5000]"


async def test_the_first_window_of_a_huge_file_is_quick_and_small(
    workspace: Path, invoke: Invoke
) -> None:
    with (workspace / "f").open("wb") as file:
        file.write(b"some words of a log\n" * 10_000)
        file.truncate(500_000_000)
    started = time.monotonic()
    outcome = await invoke("read_file", path="f", limit=3)
    assert time.monotonic() - started < 1
    assert outcome.output.endswith("     3\tsome words of a log\n[tool_output.read_on offset=4]")


async def test_a_huge_hole_is_binary_at_once(workspace: Path, invoke: Invoke) -> None:
    with (workspace / "f").open("wb") as file:
        file.truncate(500_000_000)
    started = time.monotonic()
    outcome = await invoke("read_file", path="f")
    assert time.monotonic() - started < 1
    assert outcome.output == "[tool_output.binary path=f, size=500000000]"


async def test_a_file_without_line_breaks_is_cut(workspace: Path, invoke: Invoke) -> None:
    (workspace / "f").write_bytes(b"x" * 5_000_000)
    outcome = await invoke("read_file", path="f")
    assert len(outcome.output) < 10_000
    assert outcome.output.endswith("[tool_output.line_cut hidden=4992000]")


async def test_a_broken_byte_far_behind_is_shown_as_unknown(
    workspace: Path, invoke: Invoke
) -> None:
    (workspace / "f").write_bytes(b"word\n" * 20_000 + b"caf\xe9\n")
    outcome = await invoke("read_file", path="f", offset=20_001)
    assert outcome.output.endswith(" 20001\tcaf\ufffd")


async def test_reading_leaves_no_descriptor_open(workspace: Path, invoke: Invoke) -> None:
    (workspace / "f").write_text("x")
    await invoke("read_file", path="f")
    before = len(os.listdir("/dev/fd"))
    for path in ("f", "nothing", ".", "f/x"):
        await invoke("read_file", path=path)
    assert len(os.listdir("/dev/fd")) == before
