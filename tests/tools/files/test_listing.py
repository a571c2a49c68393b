import os
import time
from pathlib import Path

from tests.tools.conftest import Invoke


async def test_a_folder_is_listed_in_order_with_sizes(workspace: Path, invoke: Invoke) -> None:
    (workspace / "b.txt").write_text("12345")
    (workspace / "A.txt").write_text("1")
    (workspace / "c" / "inner").mkdir(parents=True)
    (workspace / "c" / "deep.txt").touch()
    (workspace / "link").symlink_to("/etc")
    os.mkfifo(workspace / "pipe")
    flat = [
        "[tool_output.listed path=.]", "A.txt  1", "b.txt  5", "c/",
        "link  [tool_output.link ]", "pipe  [tool_output.special ]",
    ]  # fmt: skip
    assert (await invoke("list_dir")).output.split("\n") == flat
    two = [*flat[:4], "  deep.txt  0", "  inner/", *flat[4:]]
    assert (await invoke("list_dir", depth=2)).output.split("\n") == two
    assert (await invoke("list_dir", path="c", depth=1)).output.split("\n")[1:] == [
        "deep.txt  0",
        "inner/",
    ]


async def test_links_are_named_and_never_followed(workspace: Path, invoke: Invoke) -> None:
    (workspace / "out").symlink_to("..")
    (workspace / "round").symlink_to(".")
    outcome = await invoke("list_dir", depth=10)
    assert outcome.output.split("\n")[1:] == [
        "out  [tool_output.link ]",
        "round  [tool_output.link ]",
    ]


async def test_what_does_not_fit_is_counted(workspace: Path, invoke: Invoke) -> None:
    for number in range(450):
        (workspace / f"{number:03}").touch()
    lines = (await invoke("list_dir")).output.split("\n")
    assert lines[400] == "399  0"
    assert lines[401:] == ["[tool_output.more count=50]"]


async def test_a_tree_without_end_is_not_counted_to_its_end(
    workspace: Path, invoke: Invoke
) -> None:
    for folder in range(21):
        (workspace / f"{folder:02}").mkdir()
        for number in range(1000):
            (workspace / f"{folder:02}" / str(number)).symlink_to("nowhere")
    started = time.monotonic()
    outcome = await invoke("list_dir", depth=2)
    assert time.monotonic() - started < 2
    assert outcome.output.endswith("[tool_output.more_than count=20000]")


async def test_an_odd_name_stays_on_its_line(workspace: Path, invoke: Invoke) -> None:
    (workspace / "a\nb\x1b[31m").touch()
    (workspace / os.fsdecode(b"caf\xe9")).touch()
    assert (await invoke("list_dir")).output.split("\n")[1:] == [
        "a\\nb\\x1b[31m  0",
        "caf\\udce9  0",
    ]


async def test_an_empty_folder_is_called_empty(invoke: Invoke) -> None:
    assert (await invoke("list_dir")).output == "[tool_output.empty_folder path=.]"


async def test_a_file_is_no_folder(workspace: Path, invoke: Invoke) -> None:
    (workspace / "f").touch()
    assert (await invoke("list_dir", path="f")).output == "[tool.not_a_folder path=f]"
    assert (await invoke("list_dir", path="no")).output == "[tool.not_found path=no]"


async def test_listing_leaves_no_descriptor_open(workspace: Path, invoke: Invoke) -> None:
    for number in range(500):
        (workspace / "d" / str(number)).mkdir(parents=True)
    await invoke("list_dir")
    before = len(os.listdir("/dev/fd"))
    await invoke("list_dir", depth=5)
    assert len(os.listdir("/dev/fd")) == before
