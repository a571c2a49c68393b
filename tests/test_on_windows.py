"""FinchBot where only the half of the system is there that Windows has."""

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

Run = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(60)]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run the program as on Windows, with a fresh home."""
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
    environ = kept | {
        "FINCHBOT_HOME": str(tmp_path / "home"),
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(ROOT),
    }

    def to_its_end(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-m", "tests.support.like_windows", *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            env=environ,
            timeout=55,
            check=False,
        )

    return to_its_end


def test_every_module_can_be_imported_but_the_one_that_is_chosen_elsewhere(run: Run) -> None:
    done = run("--import")
    failed = [line for line in done.stdout.splitlines() if line.startswith("finchbot.")]
    assert failed == ["finchbot.tools.files.descriptors"], done.stdout
    assert done.stderr == ""


def test_files_are_written_listed_and_read_and_stay_inside(run: Run, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("what lies outside")
    assert run("chat", "-m", "write file notes/a.txt: hello there").returncode == 0
    assert (tmp_path / "home/workspace/notes/a.txt").read_text() == "hello there"
    listed = run("chat", "-m", "list files")
    assert listed.returncode == 0
    assert "notes/" in listed.stdout
    assert "hello there" in run("chat", "-m", "read file notes/a.txt").stdout
    outside = run("chat", "--json", "-m", "read file ../../secret")
    assert "what lies outside" not in outside.stdout
    assert "is outside the folders" in outside.stdout


def test_the_lock_of_a_home_names_its_holder(run: Run, tmp_path: Path) -> None:
    run("chat", "-m", "help")
    lock = tmp_path / "home/data/home.lock"
    assert lock.read_text().isdecimal()
    with lock.open("r+b") as file:
        file.truncate(0)
        file.write(b"4242")
        file.flush()
        # The byte that is locked on Windows.
        fcntl.lockf(file, fcntl.LOCK_EX, 1, 1 << 20)
        done = run("chat", "--json", "-m", "help")
    assert done.returncode == 2
    assert json.loads(done.stdout)["code"] == "home.in_use"
    assert "4242" in done.stderr
