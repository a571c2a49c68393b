"""The terminal's words: all there, in every complete language."""

import re
from pathlib import Path

import pytest

from finchbot import cli
from finchbot.cli.voice import LOCALES, Voice
from finchbot.i18n import Catalogue

SOURCES = [path.read_text(encoding="utf-8") for path in Path(cli.__path__[0]).glob("*.py")]
KEYS = {
    key
    for source in SOURCES
    for key in re.findall(r'"((?:cli|chat|error)\.[a-z_.]+)"', source)
}  # fmt: skip
RAISED = {
    code for source in SOURCES for code in re.findall(r'ConfigError\("(cli\.[a-z_]+)"', source)
} | {"cli.unknown_command"}


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return Catalogue.load(LOCALES)


@pytest.mark.parametrize("language", ["en-US", "zh-CN"])
def test_every_key_the_terminal_uses_has_its_words(language: str, catalogue: Catalogue) -> None:
    codes = RAISED | {"cli.unknown_option"}
    wanted = (KEYS - codes) | {f"error.{code}" for code in codes}
    there = {
        f"{prefix}.{key}"
        for prefix in ("cli", "chat", "error")
        for key in catalogue.section(prefix, language)
    }
    assert len(wanted) > 30
    assert wanted <= there


def test_the_languages_say_the_same_things(catalogue: Catalogue) -> None:
    for prefix in ("cli", "error.cli", "tool"):
        english, chinese = (catalogue.section(prefix, tag) for tag in ("en-US", "zh-CN"))
        assert english.keys() == chinese.keys()
        assert [key for key in english if english[key] == chinese[key]] == []


@pytest.mark.parametrize(
    ("environ", "wish", "language"),
    [
        ({}, None, "en-US"),
        ({"LANG": "zh_CN.UTF-8"}, None, "zh-CN"),
        ({"LANG": "zh_CN.UTF-8", "FINCHBOT_LANG": "en-US"}, None, "en-US"),
        ({"FINCHBOT_LANG": "en-US"}, "zh-CN", "zh-CN"),
        ({"LANG": "fr_FR.UTF-8"}, "nonsense", "en-US"),
    ],
)
def test_the_strongest_wish_wins(environ: dict[str, str], wish: str | None, language: str) -> None:
    assert Voice.of(environ, wish).language == language


def test_a_tool_nobody_has_words_for_goes_by_its_name() -> None:
    voice = Voice.of({}, "zh-CN")
    assert voice.tool("read_file") == "读取文件"
    assert voice.tool("their_tool") == "their_tool"
