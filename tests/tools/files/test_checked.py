"""What folders known by path refuse when the disk changes under them."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from finchbot.tools.files.checked import CheckedFolder
from finchbot.tools.files.descriptors import DescriptorFolder
from finchbot.tools.files.native import native
from tests.tools.conftest import OUTSIDE


def folder_swapped_after_entering(workspace: Path) -> CheckedFolder:
    """Return a folder whose name has become a link to the outside."""
    (workspace / "d").mkdir()
    folder = CheckedFolder.at(workspace).enter("d")
    (workspace / "d").rename(workspace / "moved")
    (workspace / "d").symlink_to("../ws-evil")
    return folder


@pytest.mark.parametrize(
    "use",
    [
        lambda folder: folder.names(),
        lambda folder: folder.open("secret"),
        lambda folder: folder.create("new", None),
        lambda folder: folder.make("new"),
        lambda folder: folder.replace("secret", "other"),
        lambda folder: folder.enter("inner"),
    ],
)
def test_nothing_is_done_in_a_folder_that_was_swapped(
    use: Callable[[CheckedFolder], object], workspace: Path
) -> None:
    (workspace.parent / "ws-evil" / "inner").mkdir()
    folder = folder_swapped_after_entering(workspace)
    before = len(os.listdir("/dev/fd"))
    with pytest.raises(NotADirectoryError):
        use(folder)
    assert sorted(os.listdir(workspace.parent / "ws-evil")) == ["inner", "secret"]
    assert (workspace.parent / "ws-evil" / "secret").read_text() == OUTSIDE
    assert len(os.listdir("/dev/fd")) == before


def test_another_folder_of_the_same_name_is_not_the_one_that_was_judged(workspace: Path) -> None:
    (workspace / "d").mkdir()
    folder = CheckedFolder.at(workspace).enter("d")
    (workspace / "d").rename(workspace / "moved")
    (workspace / "d").mkdir()
    with pytest.raises(NotADirectoryError):
        folder.names()


@pytest.mark.parametrize("name", ["link", "file"])
def test_only_a_real_folder_is_entered(name: str, workspace: Path) -> None:
    (workspace / "link").symlink_to(".")
    (workspace / "file").touch()
    with pytest.raises(NotADirectoryError):
        CheckedFolder.at(workspace).enter(name)


def test_a_link_is_not_opened_wherever_it_leads(workspace: Path) -> None:
    (workspace / "file").touch()
    for name, target in (("in", "file"), ("out", "../config.json")):
        (workspace / name).symlink_to(target)
        with pytest.raises(NotADirectoryError):
            CheckedFolder.at(workspace).open(name)


def test_a_folder_above_that_became_a_link_is_noticed(workspace: Path) -> None:
    (workspace / "a" / "ws-evil").mkdir(parents=True)
    folder = CheckedFolder.at(workspace).enter("a").enter("ws-evil")
    (workspace / "a").rename(workspace / "moved")
    (workspace / "moved" / "ws-evil").rename(workspace.parent / "there")
    (workspace / "a").symlink_to("..")
    (workspace.parent / "ws-evil").rename(workspace.parent / "old")
    (workspace.parent / "there").rename(workspace.parent / "ws-evil")
    # The very folder, by the very path, and yet outside.
    with pytest.raises(NotADirectoryError):
        folder.names()


def test_here_folders_are_held_open() -> None:
    assert native() == DescriptorFolder.at
