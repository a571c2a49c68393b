"""The home is made for its owner alone, and one program at a time serves it."""

import contextlib
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from finchbot.errors import ConfigError
from finchbot.home import Home, lock_home, open_home


def modes(*folders: Path) -> set[int]:
    return {stat.S_IMODE(folder.stat().st_mode) for folder in folders}


def test_the_flag_wins_over_the_variable(tmp_path: Path) -> None:
    home = open_home(tmp_path / "flag", {"FINCHBOT_HOME": str(tmp_path / "variable")})
    assert home.root == tmp_path / "flag"
    assert not (tmp_path / "variable").exists()


def test_the_variable_wins_over_the_default(tmp_path: Path) -> None:
    home = open_home(None, {"FINCHBOT_HOME": f" {tmp_path}/variable ", "HOME": str(tmp_path)})
    assert home == Home(tmp_path / "variable")


def test_an_empty_variable_means_the_default(tmp_path: Path) -> None:
    home = open_home(None, {"FINCHBOT_HOME": "", "HOME": str(tmp_path)})
    assert home == Home(tmp_path / ".finchbot")


def test_a_tilde_is_the_home_of_the_environment(tmp_path: Path) -> None:
    assert open_home(Path("~/x"), {"HOME": str(tmp_path)}).root == tmp_path / "x"


def test_a_relative_home_becomes_absolute(tmp_path: Path) -> None:
    with contextlib.chdir(tmp_path):
        assert open_home(Path("here"), {}).root == tmp_path / "here"


@pytest.mark.skipif(os.name != "posix", reason="folder modes are a POSIX matter")
def test_every_folder_is_the_owners_alone(tmp_path: Path) -> None:
    home = open_home(tmp_path / "home", {})
    assert modes(home.root, home.workspace, home.skills_dir, home.data, home.logs) == {0o700}
    assert home.skills_dir == home.workspace / "skills"


def test_opening_twice_changes_nothing(tmp_path: Path) -> None:
    first = open_home(tmp_path, {})
    first.config_file.write_text("{}")
    assert open_home(tmp_path, {}) == first
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "config.json",
        "data",
        "logs",
        "workspace",
    ]


@pytest.mark.parametrize("named", ["file/home", "file", "a\0b"])
def test_a_named_home_that_cannot_be_made_is_an_error(tmp_path: Path, named: str) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ConfigError) as caught:
        open_home(tmp_path / named, {"SPACE_ID": "me/space"})
    assert caught.value.code == "home.unwritable"
    assert caught.value.params["path"] == str(tmp_path / named)
    assert caught.value.params["reason"]


def test_a_default_that_cannot_be_made_becomes_a_temporary_home(tmp_path: Path) -> None:
    (tmp_path / ".finchbot").write_text("in the way")
    home = open_home(None, {"HOME": str(tmp_path)})
    assert home.temporary
    assert home.data.is_dir()
    assert tmp_path not in home.root.parents


def test_a_space_without_a_named_home_gets_a_temporary_one(tmp_path: Path) -> None:
    home = open_home(None, {"HOME": str(tmp_path), "SPACE_ID": "me/space"})
    assert home.temporary
    assert not (tmp_path / ".finchbot").exists()


def test_a_space_with_a_named_home_keeps_it(tmp_path: Path) -> None:
    home = open_home(None, {"FINCHBOT_HOME": str(tmp_path / "kept"), "SPACE_ID": "me/space"})
    assert home == Home(tmp_path / "kept")


def test_a_second_program_on_the_home_is_told_who_holds_it(tmp_path: Path) -> None:
    home = open_home(tmp_path, {})
    program = (
        "import pathlib; from finchbot.home import *\n"
        "try:\n"
        f"    with lock_home(open_home(pathlib.Path({str(tmp_path)!r}), {{}})): print('mine')\n"
        "except Exception as error: print(error.code, error.params['pid'])\n"
    )

    def second() -> str:
        # The program is the test's own.
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-c", program], check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    with lock_home(home):
        assert second() == f"home.in_use {os.getpid()}"
    assert second() == "mine"


def test_a_killed_program_leaves_no_lock_behind(tmp_path: Path) -> None:
    home = open_home(tmp_path, {})
    program = (
        "import os, pathlib, signal; from finchbot.home import *\n"
        f"lock = lock_home(open_home(pathlib.Path({str(tmp_path)!r}), {{}})); lock.__enter__()\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    # The program is the test's own; it ends by killing itself.
    subprocess.run([sys.executable, "-c", program], check=False)  # noqa: S603
    with lock_home(home):
        assert home.lock_file.read_text() == str(os.getpid())


def test_the_lock_is_given_back_when_the_block_fails(tmp_path: Path) -> None:
    home = open_home(tmp_path, {})
    with pytest.raises(ZeroDivisionError), lock_home(home):
        raise ZeroDivisionError
    with lock_home(home):
        pass
