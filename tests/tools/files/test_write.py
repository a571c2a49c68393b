import asyncio
import os
import stat
import subprocess
import threading
from pathlib import Path

import pytest

from finchbot.errors import ToolDenied
from finchbot.tools.files.offload import Stopped, StopSign, offload
from finchbot.tools.files.opening import Border
from finchbot.tools.files.saving import save
from tests.tools.conftest import Invoke


async def test_a_file_is_made_with_its_folders(workspace: Path, invoke: Invoke) -> None:
    outcome = await invoke("write_file", path="notes/2026/计划.md", content="一\r\n二")
    assert outcome.output == "[tool_output.created path=notes/2026/计划.md, size=8]"
    assert (workspace / "notes/2026/计划.md").read_bytes() == "一\r\n二".encode()
    assert outcome.diff is not None
    assert outcome.diff.startswith("--- a/notes/2026/计划.md\n+++ b/notes/2026/计划.md\n")


async def test_a_new_file_has_the_mode_of_any_new_file(workspace: Path, invoke: Invoke) -> None:
    (workspace / "usual").touch()
    await invoke("write_file", path="f", content="x")
    assert (workspace / "f").stat().st_mode == (workspace / "usual").stat().st_mode


async def test_replacing_keeps_the_mode_and_shows_the_diff(workspace: Path, invoke: Invoke) -> None:
    (workspace / "run.sh").write_text("echo a\necho b\n")
    (workspace / "run.sh").chmod(0o750)
    outcome = await invoke("write_file", path="run.sh", content="echo a\necho c\n")
    assert outcome.output == "[tool_output.replaced path=run.sh, size=14]"
    assert stat.S_IMODE((workspace / "run.sh").stat().st_mode) == 0o750
    assert outcome.diff is not None
    assert outcome.diff.endswith(" echo a\n-echo b\n+echo c\n")


@pytest.mark.parametrize(("old", "new"), [("a\nb", "a\nc"), ("a", "a\n"), ("", "x"), ("x\n", "")])
async def test_the_diff_can_be_applied(
    old: str, new: str, workspace: Path, tmp_path: Path, invoke: Invoke
) -> None:
    (workspace / "f").write_text(old)
    diff = (await invoke("write_file", path="f", content=new)).diff
    assert diff is not None
    (tmp_path / "f").write_text(old)

    def apply() -> None:
        git = ["/usr/bin/env", "git", "apply", "--unidiff-zero"]
        subprocess.run(git, input=diff.encode(), cwd=tmp_path, check=True)  # noqa: S603

    await asyncio.to_thread(apply)
    assert (tmp_path / "f").read_text() == new


async def test_nothing_but_the_file_is_left_in_its_folder(workspace: Path, invoke: Invoke) -> None:
    for _ in range(2):
        await invoke("write_file", path="f", content="x")
    assert os.listdir(workspace) == ["f"]


@pytest.mark.parametrize(
    ("path", "code"),
    [("folder", "is_folder"), ("new/", "is_folder"), (".", "is_folder"), ("file/x", "not_a_folder"),
     ("nowhere/../x", "not_found"), ("locked", "read_only")],
)  # fmt: skip
async def test_a_place_that_takes_no_file_is_refused_and_left_alone(
    path: str, code: str, workspace: Path, invoke: Invoke
) -> None:
    (workspace / "folder").mkdir()
    for name in ("file", "locked"):
        (workspace / name).write_text("old")
    (workspace / "locked").chmod(0o444)
    outcome = await invoke("write_file", path=path, content="x")
    assert outcome.is_error
    assert outcome.output.startswith(f"[tool.{code} path=")
    assert sorted(os.listdir(workspace)) == ["file", "folder", "locked"]
    assert (workspace / "locked").read_text() == "old"


async def test_replacing_binary_data_shows_no_diff(workspace: Path, invoke: Invoke) -> None:
    (workspace / "f").write_bytes(b"\0\1\2")
    outcome = await invoke("write_file", path="f", content="x")
    assert not outcome.is_error
    assert outcome.diff is None


async def test_more_than_the_limit_is_refused(workspace: Path, invoke: Invoke) -> None:
    outcome = await invoke("write_file", path="f", content="x" * (8 * 1024 * 1024 + 1))
    assert outcome.output == "[tool.file_too_large path=f, limit_bytes=8388608]"
    assert os.listdir(workspace) == []


def test_a_stopped_write_leaves_the_old_file_and_nothing_else(
    workspace: Path, border: Border
) -> None:
    (workspace / "f").write_text("old")
    sign = StopSign()
    sign.put_up()
    with border.spot("f") as spot, pytest.raises(Stopped):
        save(spot, b"new" * 1000, sign)
    assert (workspace / "f").read_text() == "old"
    assert os.listdir(workspace) == ["f"]


def test_a_refused_write_leaves_nothing_behind(workspace: Path, border: Border) -> None:
    with border.spot("f") as spot:
        (workspace / "f").mkdir()
        with pytest.raises(IsADirectoryError):
            save(spot, b"new", StopSign())
    assert os.listdir(workspace) == ["f"]


def test_a_read_only_file_is_refused_even_to_a_user_who_could(
    workspace: Path, border: Border
) -> None:
    (workspace / "f").touch(0o444)
    with border.spot("f") as spot, pytest.raises(ToolDenied):
        save(spot, b"new", StopSign())


async def test_a_cancelled_call_returns_when_its_thread_has_ended() -> None:
    begun, seen = threading.Event(), list[str]()

    def work(sign: StopSign) -> None:
        begun.set()
        while True:
            try:
                sign.check()
            except Stopped:
                seen.append("ended")
                raise

    call = asyncio.create_task(offload(work))
    assert await asyncio.to_thread(begun.wait, 3)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert seen == ["ended"]
