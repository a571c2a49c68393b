import logging
import os
from pathlib import Path

import pytest

from finchbot.agent.prompt_files import PromptFiles


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    defaults, home = tmp_path / "bootstrap", tmp_path / "home"
    for folder in (defaults, home):
        folder.mkdir()
    for name in ("SYSTEM.md", "SOUL.md"):
        (defaults / name).write_text(f"default {name}", encoding="utf-8")
    return defaults, home


def test_a_file_in_the_home_wins_over_the_default(folders: tuple[Path, Path]) -> None:
    defaults, home = folders
    (home / "SOUL.md").write_text("\ufeff我的灵魂", encoding="utf-8")
    assert PromptFiles(defaults, home).read() == {
        "SYSTEM.md": "default SYSTEM.md",
        "SOUL.md": "我的灵魂",
    }


def test_an_edit_and_a_removal_are_seen_at_the_next_reading(folders: tuple[Path, Path]) -> None:
    defaults, home = folders
    files = PromptFiles(defaults, home)
    soul = home / "SOUL.md"
    seen = [files.read()["SOUL.md"]]
    for text in ("one", "two"):
        soul.write_text(text, encoding="utf-8")
        os.utime(soul, ns=(0, len(seen)))
        seen.append(files.read()["SOUL.md"])
    soul.unlink()
    assert [*seen, files.read()["SOUL.md"]] == ["default SOUL.md", "one", "two", "default SOUL.md"]


def test_an_unchanged_file_is_not_read_again(folders: tuple[Path, Path]) -> None:
    defaults, home = folders
    files = PromptFiles(defaults, home)
    files.read()
    system = defaults / "SYSTEM.md"
    times = system.stat()
    system.write_text("DEFAULT SYSTEM.md", encoding="utf-8")
    os.utime(system, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert files.read()["SYSTEM.md"] == "default SYSTEM.md"


def test_a_file_that_cannot_be_read_is_told_in_the_log_and_the_default_stands(
    folders: tuple[Path, Path], caplog: pytest.LogCaptureFixture
) -> None:
    defaults, home = folders
    (home / "SOUL.md").mkdir()
    (home / "SYSTEM.md").write_bytes(b"caf\xe9")
    with caplog.at_level(logging.WARNING):
        assert PromptFiles(defaults, home).read() == {
            "SYSTEM.md": "caf\ufffd",
            "SOUL.md": "default SOUL.md",
        }
    assert "SOUL.md cannot be read" in caplog.text
