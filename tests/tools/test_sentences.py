"""Every code and key the tools speak has a sentence in every complete language."""

import re
from pathlib import Path

import pytest

from finchbot import tools
from finchbot.i18n import Catalogue

SOURCES = sorted(Path(tools.__path__[0]).rglob("*.py"))
LOCALES = Path(tools.__path__[0]).parents[1] / "locales"
CODES = {
    code
    for source in SOURCES
    for code in re.findall(r'"(tool\.[a-z_]+)"', source.read_text(encoding="utf-8"))
} - {"tool.duplicate"}
KEYS = {
    key
    for source in SOURCES
    for key in re.findall(r'"(tool_output\.[a-z_]+)"', source.read_text(encoding="utf-8"))
}


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return Catalogue.load(LOCALES)


def test_the_tools_speak_in_codes() -> None:
    assert len(CODES) > 20
    assert len(KEYS) > 10


@pytest.mark.parametrize("language", ["en-US", "zh-CN"])
def test_every_code_and_key_has_a_sentence_of_its_own(language: str, catalogue: Catalogue) -> None:
    assert {code.removeprefix("tool.") for code in CODES} <= set(
        catalogue.section("error.tool", language)
    )
    said = set(catalogue.section("tool_output", language))
    assert {key.removeprefix("tool_output.") for key in KEYS} <= said


def test_the_languages_differ(catalogue: Catalogue) -> None:
    for prefix in ("error.tool", "tool_output"):
        english, chinese = (catalogue.section(prefix, tag) for tag in ("en-US", "zh-CN"))
        assert english.keys() == chinese.keys()
        assert [key for key in english if english[key] == chinese[key]] == []
