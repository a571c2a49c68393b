"""Windows paths, judged on any system: on a drive in memory that has Windows' traps."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import PureWindowsPath
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finchbot.errors import ToolDenied, ToolError, ToolInputInvalid
from finchbot.tools.files.folder import is_link
from finchbot.tools.files.opening import Border
from finchbot.tools.files.windows import windows_link_way, windows_way
from tests.tools.files.drive import Drive, DriveFolder, Link, Tree

WS = PureWindowsPath(r"C:\Users\finch\ws")
SKILLS = PureWindowsPath(r"D:\skills")

SECRETS: Tree = {"secret": "out", "ws": {"secret": "out"}}
TREES: Mapping[str, Tree] = {
    "C:\\": {
        "Users": {
            "finch": {
                "ws": {
                    "Notes": {"a.txt": "in", "up": Link(r"..\..")},
                    "in": Link("Notes"),
                    "real": Link(r"\\?\C:\Users\finch\ws\Notes"),
                    "skills": Link(r"\??\D:\skills"),
                    "out": Link(r"\\?\C:\Users\finch\ws-evil"),
                    "rooted": Link(r"\Users\finch\ws-evil"),
                    "share": Link(r"\\?\UNC\evil\share"),
                    "volume": Link(r"\\?\Volume{0}\ws"),
                    "drive": Link("C:"),
                    "device": Link(r"\\.\NUL"),
                    "loop": Link("loop"),
                },
                "ws-evil": SECRETS,
                "config.json": "out",
            }
        }
    },
    "D:\\": {"skills": {"SKILL.md": "in"}, "private": SECRETS},
}

WORDS = st.sampled_from(
    ["..", ".", "", "~", "C:", "D:", "c:", "?", "??", "Users", "finch", "ws", "WS", "ws-evil",
     "secret", "config.json", "Notes", "NOTES", "in", "real", "skills", "out", "rooted", "share",
     "volume", "drive", "device", "up", "a.txt", "NUL", "con.txt", "LPT1", "a.txt:s",
     "a.txt::$DATA", ".. ", "...", "ws.", "ws ", ". .", "evil", "private", "UNC"]
) | st.text(max_size=6)  # fmt: skip
SEPARATORS = st.sampled_from(["\\", "\\", "/", "\\\\"])
SPELLINGS = st.builds(
    lambda lead, words: lead + "".join(part for pair in words for part in pair),
    st.sampled_from(
        ["", "", "\\", "/", "\\\\", "//", "\\\\?\\", "\\\\.\\", "\\??\\", "C:", "c:\\", "D:/",
         f"{WS}\\", "c:/users/FINCH/ws/", f"{SKILLS}\\", f"\\\\?\\{WS}\\", "\\\\evil\\share\\"]
    ),
    st.lists(st.tuples(WORDS, SEPARATORS), max_size=6),
)  # fmt: skip


@pytest.fixture
def drive() -> Drive:
    return Drive(TREES)


def walked(spelling: str, drive: Drive) -> tuple[PureWindowsPath, str]:
    """Return where a spelling leads, and how it is shown."""
    with Border(WS, (WS, SKILLS), drive.open_root).spot(spelling) as spot:
        assert isinstance(spot.folder, DriveFolder)
        return spot.folder.place / spot.name, spot.shown


@given(SPELLINGS | st.text(max_size=12))
def test_no_windows_spelling_leaves_the_roots_springs_a_trap_or_calls_another_machine(
    spelling: str,
) -> None:
    drive = Drive(TREES)
    with suppress(ToolError):
        place, _ = walked(spelling, drive)
        assert place.is_relative_to(WS) or place.is_relative_to(SKILLS)
    assert drive.touched <= {"c:\\", "d:\\"}


@pytest.mark.parametrize(
    ("spelling", "shown"),
    [
        (".", "."),
        ("Notes/a.txt", "Notes/a.txt"),
        ("notes\\A.TXT", "notes/A.TXT"),
        ("in\\..\\NOTES\\.\\a.txt", "NOTES/a.txt"),
        ("c:/users/finch/WS/notes", "notes"),
        (r"\Users\finch\ws\Notes", "Notes"),
        (r"..\ws\Notes", "Notes"),
        ("real/a.txt", "Notes/a.txt"),
        ("skills/SKILL.md", "D:/skills/SKILL.md"),
        (r"D:\skills\..\skills\SKILL.md", "D:/skills/SKILL.md"),
        ("new.file", "new.file"),
        ("COM.txt", "COM.txt"),
        ("null", "null"),
        ("~x", "~x"),
    ],
)
def test_what_lies_inside_is_found_however_it_is_spelled(
    spelling: str, shown: str, drive: Drive
) -> None:
    assert walked(spelling, drive)[1] == shown


@pytest.mark.parametrize(
    "spelling",
    [
        r"..\config.json", "../ws-evil/secret", r"C:\Users\finch\ws-evil", "C:", "C:secret", "c:..",
        "d:skills", r"D:\private\secret", r"E:\x", "\\", "/etc/passwd", r"\\evil\share\x",
        "//evil/share/x", "~", r"~\x", r"Notes\up\config.json", "out/secret", "rooted/secret",
        "share/x", "volume/x", "drive/x", "loop",
    ],
)  # fmt: skip
def test_what_lies_outside_is_refused_however_it_is_spelled(spelling: str, drive: Drive) -> None:
    with pytest.raises(ToolDenied, match=r"tool\.outside"):
        walked(spelling, drive)


@pytest.mark.parametrize(
    "name",
    ["CON", "con", "Nul.txt", "nul .txt", "aux.tar.gz", "PRN", "COM1", "com¹.log", "LPT9", "CONIN$",
     "conout$", "a.txt:stream", "a.txt::$DATA", ":x", "a.txt.", "a.txt ", "...", ".. ", ". .",
     "a\tb", "a*b", 'a"b', "what?", "a|b", "<a>", "a\0b", "\ud800"],
)  # fmt: skip
@pytest.mark.parametrize("around", ["{}", "Notes\\{}", "{}/a.txt", "c:\\users\\finch\\ws\\{}"])
def test_a_name_that_windows_takes_for_something_else_is_none(
    around: str, name: str, drive: Drive
) -> None:
    with pytest.raises(ToolInputInvalid, match=r"tool\.path_invalid"):
        walked(around.format(name), drive)


@pytest.mark.parametrize(
    "spelling",
    [rf"\\?\{WS}\Notes", rf"\\.\{WS}\Notes", rf"\??\{WS}", r"\\.\PhysicalDrive0", "//./NUL",
     r"\\?\UNC\evil\share", "\\\\", "\\\\evil", "\\\\evil\\", "///etc", "device"],
)  # fmt: skip
def test_a_device_is_no_path_even_where_it_would_lead_inside(spelling: str, drive: Drive) -> None:
    with pytest.raises(ToolInputInvalid, match=r"tool\.path_invalid"):
        walked(spelling, drive)


def test_a_long_name_is_counted_as_windows_counts() -> None:
    windows_way("名" * 255, WS)
    for name in ("名" * 256, "😀" * 128):
        with pytest.raises(ToolInputInvalid, match=r"tool\.name_too_long"):
            windows_way(f"Notes\\{name}", WS)


def test_a_home_on_a_share_is_reached_by_the_shares_name_alone() -> None:
    home = PureWindowsPath(r"\\box\home\ws")
    drive = Drive({"\\\\box\\home\\": {"ws": {"a.txt": "in"}, "b.txt": "out"}})
    border = Border(home, (home,), drive.open_root)
    for spelling in ("a.txt", r"\\BOX\home\ws\a.txt", r"\ws\a.txt"):
        with border.spot(spelling) as spot:
            assert spot.shown == "a.txt"
    for spelling in (r"\\box\home\b.txt", r"\\box\other\ws\a.txt", r"C:\ws\a.txt"):
        with pytest.raises(ToolDenied), border.spot(spelling):
            pass


@given(st.text(max_size=20))
def test_a_link_of_any_spelling_is_judged_or_refused(target: str) -> None:
    with suppress(ToolError):
        way = windows_link_way(target, WS)
        assert not any({"\\", "/", ":"} & set(name) for name in way.names)


@pytest.mark.parametrize(
    ("tag", "linked"), [(0xA0000003, True), (0xA000000C, True), (0x9000001A, False), (0, False)]
)
def test_a_junction_is_a_link_and_a_file_kept_in_the_cloud_is_none(tag: int, linked: bool) -> None:
    status = cast(os.stat_result, SimpleNamespace(st_mode=0o040777, st_reparse_tag=tag))
    assert is_link(status) is linked
