import asyncio
import os
import socket
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from finchbot.errors import FinchError, ToolDenied, ToolError
from finchbot.tools.files.border import printable, standing
from finchbot.tools.files.descriptors import DescriptorFolder
from finchbot.tools.files.folder import OpenRoot
from finchbot.tools.files.opening import Border, opened
from finchbot.tools.registry import ToolRegistry
from tests.tools.conftest import OUTSIDE, Invoke, make_context

NAMES = st.sampled_from(
    ["..", ".", "", "~", "a", "b", "file", "in", "out", "abs", "up", "loop", "secret", "ws",
     "ws-evil", "config.json", "outfile", "infile", "dangling", "new", "C:", "..\\", "%2e%2e"]
) | st.text(max_size=8)  # fmt: skip
SPELLINGS = st.builds(
    lambda lead, names: lead + "/".join(names),
    st.sampled_from(["", "", "", "/", "//", "ROOT/", "ROOT/ws/", "ROOT/alias/"]),
    st.lists(NAMES, max_size=7),
)


@pytest.fixture(scope="module")
def maze(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a workspace full of links, some of which lead out."""
    root = tmp_path_factory.mktemp("maze").resolve()
    ws = root / "ws"
    (ws / "a" / "b").mkdir(parents=True)
    (ws / "a" / "b" / "file").write_text("inside")
    (ws / "file").write_text("inside")
    (root / "ws-evil").mkdir()
    for outside in (root / "ws-evil" / "secret", root / "config.json", root / "ws-evil" / "file"):
        outside.write_text(OUTSIDE)
    links = {
        "in": "a", "infile": "a/b/../b/file", "out": "../ws-evil", "abs": str(root / "ws-evil"),
        "up": "..", "loop": "loop", "outfile": "../config.json", "dangling": "nowhere",
        "a/up": "../..", "a/b/back": str(ws / "a"), "a/roundabout": "../../ws/file",
    }  # fmt: skip
    for name, target in links.items():
        (ws / name).symlink_to(target)
    (root / "alias").symlink_to("ws")
    return root


@settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(spelling=SPELLINGS)
def test_no_spelling_leaves_the_workspace(maze: Path, open_root: OpenRoot, spelling: str) -> None:
    path = spelling.replace("ROOT", str(maze))
    workspace = maze / "ws"
    try:
        with Border(workspace, (workspace,), open_root).spot(path) as spot:
            real = Path(os.path.realpath(workspace / path))
            folder = real if spot.name == "." else real.parent
            assert os.path.samestat(spot.folder.look("."), folder.stat())
            assert spot.name in (".", real.name)
            assert real.is_relative_to(workspace)
            assert (spot.status is None) is not os.path.lexists(real)
    except ToolError:
        pass


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(spelling=SPELLINGS)
def test_no_tool_shows_or_changes_what_lies_outside(
    maze: Path, registry: ToolRegistry, spelling: str
) -> None:
    path = spelling.replace("ROOT", str(maze))
    context = make_context(maze / "ws")

    async def try_all() -> str:
        shown = await registry.invoke("read_file", {"path": path}, context)
        listed = await registry.invoke("list_dir", {"path": path, "depth": 3}, context)
        edit = {"path": path, "old_text": "lies", "new_text": "gone"}
        edited = await registry.invoke("edit_file", {**edit}, context)
        return shown.output + listed.output + str(edited.diff)

    assert OUTSIDE not in asyncio.run(try_all())
    assert (maze / "config.json").read_text() == OUTSIDE
    assert (maze / "ws-evil" / "secret").read_text() == OUTSIDE


@given(parts=st.lists(st.text(st.characters(exclude_characters="/\0"), min_size=1), max_size=4))
def test_a_folder_whose_name_only_begins_alike_is_outside(parts: list[str]) -> None:
    root = PurePosixPath("/home/ws")
    assert standing(root.joinpath(*parts), [root]) == "inside"
    assert standing(PurePosixPath("/home/ws-evil", *parts), [root]) == "outside"
    assert standing(PurePosixPath("/home"), [root]) == "above"


@given(name=st.text(st.characters()))
def test_a_shown_name_is_one_printable_line(name: str) -> None:
    assert printable(name).isprintable()


@pytest.mark.parametrize(
    "path",
    ["../config.json", "/etc/passwd", "~/.finchbot/config.json", "~", "a/../../config.json",
     "../ws-evil/secret", "..", "/", "link/passwd", "link", "config", "self/../../config.json",
     "chain/passwd"],
)  # fmt: skip
@pytest.mark.parametrize("tool", ["read_file", "write_file", "edit_file", "list_dir"])
async def test_every_tool_refuses_a_place_outside(
    tool: str, path: str, workspace: Path, invoke: Invoke
) -> None:
    (workspace / "a").mkdir()
    (workspace / "link").symlink_to("/etc")
    (workspace / "self").symlink_to(".")
    (workspace / "config").symlink_to("../config.json")
    (workspace / "chain").symlink_to("self/link")
    more = {"write_file": {"content": "x"}, "edit_file": {"old_text": "a", "new_text": "b"}}
    outcome = await invoke(tool, path=path, **more.get(tool, {}))
    assert outcome.is_error
    assert outcome.output == f"[tool.outside path={path}]"
    assert (workspace.parent / "config.json").read_text() == OUTSIDE


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a\0b", "tool.path_invalid"),
        ("x" * 300, "tool.name_too_long"),
        ("名" * 100, "tool.name_too_long"),
        ("d/" * 3000 + "f", "tool.name_too_long"),
        ("", "tool.input_invalid"),
        ("loop/x", "tool.outside"),
        ("nowhere/x", "tool.not_found"),
        ("file/x", "tool.not_a_folder"),
    ],
)
async def test_a_path_that_can_name_no_file_is_told_so(
    path: str, code: str, workspace: Path, invoke: Invoke
) -> None:
    (workspace / "loop").symlink_to("loop")
    (workspace / "file").write_text("")
    outcome = await invoke("read_file", path=path)
    assert outcome.is_error
    assert outcome.output.startswith(f"[{code} ")


async def test_links_that_stay_inside_are_followed(workspace: Path, invoke: Invoke) -> None:
    (workspace / "notes").mkdir()
    (workspace / "notes" / "a.txt").write_text("hello")
    (workspace / "latest").symlink_to("notes/a.txt")
    (workspace / "absolute").symlink_to(workspace / "notes")
    assert "hello" in (await invoke("read_file", path="latest")).output
    assert "hello" in (await invoke("read_file", path="absolute/a.txt")).output
    await invoke("write_file", path="latest", content="bye")
    assert (workspace / "latest").is_symlink()
    assert (workspace / "notes" / "a.txt").read_text() == "bye"


async def test_a_further_root_is_read_and_not_written(
    workspace: Path, registry: ToolRegistry
) -> None:
    skills = workspace.parent / "skills"
    skills.mkdir()
    (skills / "SKILL.md").write_text("how to")
    context = make_context(workspace, skills)
    path = str(skills / "SKILL.md")
    read = await registry.invoke("read_file", {"path": path}, context)
    assert "how to" in read.output
    by_dots = await registry.invoke("read_file", {"path": "../skills/SKILL.md"}, context)
    assert by_dots == read
    written = await registry.invoke("write_file", {"path": path, "content": "x"}, context)
    assert written.output == f"[tool.outside path={path}]"
    assert (skills / "SKILL.md").read_text() == "how to"


async def test_an_absolute_path_by_another_spelling_of_the_root_is_understood(
    workspace: Path, invoke: Invoke
) -> None:
    (workspace.parent / "alias").symlink_to(workspace)
    (workspace / "a.txt").write_text("hello")
    path = str(workspace.parent / "alias" / "a.txt")
    assert "hello" in (await invoke("read_file", path=path)).output


def test_the_root_of_the_disk_may_be_a_root(tmp_path: Path, open_root: OpenRoot) -> None:
    (tmp_path / "a.txt").write_text("hello")
    border = Border(tmp_path.resolve(), (Path("/"),), open_root)
    for path in ("a.txt", str(tmp_path / "a.txt"), "/../.." + str(tmp_path / "a.txt")):
        with border.spot(path) as spot, opened(spot) as descriptor:
            assert os.read(descriptor, 10) == b"hello"
    with border.spot("/") as spot:
        assert spot.status is not None
        assert stat.S_ISDIR(spot.status.st_mode)


def test_a_file_swapped_for_a_link_after_the_check_is_not_opened(
    workspace: Path, border: Border
) -> None:
    (workspace / "a").write_text("inside")
    with border.spot("a") as spot:
        (workspace / "a").unlink()
        (workspace / "a").symlink_to("../config.json")
        with pytest.raises(ToolDenied, match=r"tool\.path_changed"), opened(spot):
            pass


def test_a_folder_swapped_for_a_link_after_the_check_never_leads_outside(
    workspace: Path, border: Border, open_root: OpenRoot
) -> None:
    (workspace / "d").mkdir()
    (workspace / "d" / "secret").write_text("inside")
    with border.spot("d/secret") as spot:
        (workspace / "d").rename(workspace / "moved")
        (workspace / "d").symlink_to("../ws-evil")
        if open_root == DescriptorFolder.at:
            with opened(spot) as descriptor:
                assert os.read(descriptor, 100) == b"inside"
        else:
            with pytest.raises(ToolDenied, match=r"tool\.path_changed"), opened(spot):
                pass


@contextmanager
def repeating(action: Callable[[], None]) -> Iterator[None]:
    """Do something as fast as a thread can, until the block ends."""
    ending = threading.Event()

    def work() -> None:
        while not ending.is_set():
            action()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        ending.set()
        thread.join()


async def test_a_folder_that_keeps_being_swapped_for_a_link_never_shows_the_outside(
    workspace: Path, invoke: Invoke, open_root: OpenRoot
) -> None:
    (workspace / "d").mkdir()
    (workspace / "d" / "secret").write_text("inside")
    (workspace.parent / "ws-evil" / "beyond").touch()
    (workspace / "lure").symlink_to("../ws-evil")

    def swap() -> None:
        (workspace / "d").rename(workspace / "kept")
        (workspace / "lure").rename(workspace / "d")
        (workspace / "d").rename(workspace / "lure")
        (workspace / "kept").rename(workspace / "d")

    with repeating(swap):
        for _ in range(150):
            shown = await invoke("read_file", path="d/secret")
            assert OUTSIDE not in shown.output
            if open_root == DescriptorFolder.at:
                assert "beyond" not in (await invoke("list_dir", path=".", depth=3)).output


@pytest.mark.parametrize("open_root", [DescriptorFolder.at])
async def test_a_link_that_keeps_being_turned_outside_never_lets_a_write_through(
    workspace: Path, invoke: Invoke
) -> None:
    (workspace / "real").mkdir()
    (workspace / "d").symlink_to("real")

    def turn() -> None:
        for target in ("../ws-evil", "real"):
            (workspace / "next").symlink_to(target)
            (workspace / "next").replace(workspace / "d")

    with repeating(turn):
        for number in range(150):
            await invoke("write_file", path="d/secret", content=f"inside {number}")
            await invoke("edit_file", path="d/secret", old_text="inside", new_text="still inside")
    assert (workspace.parent / "ws-evil" / "secret").read_text() == OUTSIDE
    assert [path.name for path in (workspace.parent / "ws-evil").iterdir()] == ["secret"]
    assert "inside" in (workspace / "real" / "secret").read_text()


@pytest.fixture
def odd_things(workspace: Path) -> Iterator[None]:
    os.mkfifo(workspace / "pipe")
    (workspace / "folder").mkdir()
    here = Path.cwd()
    os.chdir(workspace)  # a socket's path may be 100 bytes long
    try:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind("socket")
            yield
    finally:
        os.chdir(here)


@pytest.mark.usefixtures("odd_things")
@pytest.mark.parametrize("path", ["pipe", "folder", "socket"])
@pytest.mark.parametrize("tool", ["read_file", "write_file", "edit_file"])
async def test_what_is_no_plain_file_is_refused_at_once(
    tool: str, path: str, workspace: Path, invoke: Invoke
) -> None:
    more = {"write_file": {"content": "x"}, "edit_file": {"old_text": "a", "new_text": "b"}}
    outcome = await asyncio.wait_for(invoke(tool, path=path, **more.get(tool, {})), 2)
    code = "tool.is_folder" if path == "folder" else "tool.not_regular"
    assert outcome.output == f"[{code} path={path}]"
    assert sorted(os.listdir(workspace)) == ["folder", "pipe", "socket"]


async def test_a_device_is_refused(registry: ToolRegistry) -> None:
    context = make_context(Path("/dev"))
    outcome = await registry.invoke("read_file", {"path": "zero"}, context)
    assert outcome.output == "[tool.not_regular path=zero]"


def open_descriptors() -> int:
    return len(os.listdir("/dev/fd"))


def test_the_walk_leaves_no_descriptor_open(maze: Path, open_root: OpenRoot) -> None:
    border = Border(maze / "ws", (maze / "ws",), open_root)
    before = open_descriptors()
    for path in ("in/../in/../a/b/back/../a/b/file", "out/secret", "loop", "a/b", "up/ws/abs"):
        with suppress(FinchError), border.spot(path):
            pass
        assert open_descriptors() == before


def test_a_long_way_back_and_forth_needs_few_descriptors(workspace: Path, border: Border) -> None:
    (workspace / "a").mkdir()
    before = open_descriptors()
    with border.spot("a/../" * 700 + "a"):
        assert open_descriptors() - before < 10


@given(st.lists(st.sampled_from(["a", "b", "data"]), max_size=3))
def test_what_is_closed_stays_shut_inside_a_root_and_a_root_inside_it_is_open(
    parts: list[str],
) -> None:
    top, home, workspace = (PurePosixPath(path) for path in ("/", "/home/f", "/home/f/ws"))
    roots = [workspace, top]
    assert standing(home.joinpath("data", *parts), roots, [home / "data"]) == "outside"
    assert standing(workspace.joinpath(*parts), roots, [home]) == "inside"
    assert standing(PurePosixPath("/etc").joinpath(*parts), roots, [home]) == "inside"
    assert standing(home / "config.json", [home], [home / "config.json"]) == "outside"


def test_a_closed_file_is_refused_under_every_name_it_has(
    tmp_path: Path, open_root: OpenRoot
) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "link").symlink_to("config.json")
    (tmp_path / "open.txt").write_text("open")
    root = tmp_path.resolve()
    border = Border(root, (root, Path("/")), open_root, (root / "config.json",))
    with border.spot("open.txt") as spot:
        assert spot.status is not None
    for spelling in ("config.json", "./config.json", "link", str(root / "config.json")):
        with pytest.raises(ToolDenied), border.spot(spelling):
            pass
