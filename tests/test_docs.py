"""The README tells the truth: its front matter, its map, its settings and its commands."""

import json
import re
from pathlib import Path

import pytest
import yaml

from finchbot.settings import Settings

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def front_matter() -> dict[str, object]:
    _, matter, _ = README.split("---\n", 2)
    loaded = yaml.safe_load(matter)
    assert isinstance(loaded, dict)
    return loaded


def requirements(file: str) -> list[str]:
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith(("#", "-r"))]


def test_the_front_matter_makes_the_tree_a_space() -> None:
    matter = front_matter()
    assert matter["sdk"] == "gradio"
    assert matter["license"] == "mit"
    assert (ROOT / str(matter["app_file"])).is_file()
    assert len(str(matter["short_description"])) <= 60


def test_a_space_installs_the_gradio_that_is_pinned() -> None:
    [pinned] = [line for line in requirements("requirements.txt") if line.startswith("gradio")]
    wanted = pinned.partition("~=")[2]
    assert str(front_matter()["sdk_version"]).startswith(wanted)


@pytest.mark.parametrize("file", ["requirements.txt", "tests/requirements.txt"])
def test_every_direct_dependency_is_pinned_to_compatible_releases(file: str) -> None:
    loose = [line for line in requirements(file) if not re.search(r"(~=|==)\d", line)]
    assert loose == []


def test_the_map_names_every_module_of_the_program() -> None:
    there = {path for path in (ROOT / "finchbot").iterdir() if not path.name.startswith(("_", "."))}
    names = {f"`finchbot/{path.name}{'/' if path.is_dir() else ''}`" for path in there}
    assert {name for name in names if name not in README} == set()


def test_the_map_names_nothing_that_is_gone() -> None:
    named = re.findall(r"`((?:finchbot|pages|locales|bootstrap|tests)/[\w/.]*)`", README)
    assert named
    gone = [name for name in named if not (ROOT / name).exists()]
    assert gone == []


def test_the_example_of_a_settings_file_is_valid() -> None:
    [example] = re.findall(r"```json\n(.*?)```", README, re.DOTALL)
    settings = Settings(**json.loads(example))
    assert settings.default_model == "deepseek/deepseek-chat"
    assert settings.agents.defaults.max_tool_iterations == 20


def test_every_picture_of_the_readme_is_there() -> None:
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert pictures
    assert all((ROOT / picture).stat().st_size > 10_000 for picture in pictures)
