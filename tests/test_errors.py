"""Every error a person can meet has a sentence in each language, with values that are given."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from finchbot import errors
from finchbot.errors import FinchError
from finchbot.i18n import Catalogue
from finchbot.i18n.catalogue import Language, read_language
from finchbot.i18n.template import Template

ROOT = Path(__file__).parents[1]
LANGUAGES = ["en-US", "zh-CN", "zh-HK"]
CLASSES: dict[str, type[FinchError]] = {
    name: value
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, FinchError)
}


@dataclass(frozen=True)
class Raised:
    """One place where an error is made."""

    code: str
    params: frozenset[str] | None
    """None when they are computed."""
    place: str


def raised() -> Iterator[Raised]:
    for file in sorted([*(ROOT / "finchbot").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                yield from _made_by(node, f"{file.relative_to(ROOT)}:{node.lineno}")


def _made_by(call: ast.Call, place: str) -> Iterator[Raised]:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    made = CLASSES.get(name)
    if made is None:
        return
    keywords = {keyword.arg for keyword in call.keywords}
    params = None if None in keywords else frozenset(word for word in keywords if word)
    if not call.args:
        yield Raised(made.default_code, params, place)
    elif not isinstance(call.args[0], ast.Call):
        for part in ast.walk(call.args[0]):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                yield Raised(part.value, params, place)


def sentence(language: Language, code: str) -> Template | None:
    entry = language.texts.get(f"error.{code}")
    return entry if isinstance(entry, Template) or entry is None else entry["other"]


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> Language:
    return read_language(ROOT / "locales" / f"{request.param}.toml")


def test_the_search_finds_the_places_where_errors_are_made() -> None:
    found = {error.code: error.params for error in raised()}
    assert found["home.in_use"] == frozenset({"path", "pid"})
    assert len(found) > 20


def test_every_kind_of_error_has_a_sentence(language: Language) -> None:
    codes = {kind.default_code for kind in CLASSES.values()}
    assert sorted(code for code in codes if sentence(language, code) is None) == []


def test_every_error_that_is_made_has_a_sentence(language: Language) -> None:
    places = {error.code: error.place for error in raised()}
    assert {code: at for code, at in places.items() if sentence(language, code) is None} == {}


def test_every_sentence_gets_the_values_it_names(language: Language) -> None:
    lacking = {}
    for error in raised():
        template = sentence(language, error.code)
        if template is not None and error.params is not None:
            missing = template.names - error.params - {"code"}
            if missing:
                lacking[error.place] = (error.code, sorted(missing))
    assert lacking == {}


@pytest.mark.parametrize("kind", CLASSES.values(), ids=CLASSES)
def test_every_kind_has_a_status_and_a_dotted_code(kind: type[FinchError]) -> None:
    assert 400 <= kind.status < 600
    assert kind.default_code == "internal" or "." in kind.default_code


def test_an_error_carries_its_code_and_values_for_a_log() -> None:
    error = errors.ToolTimeout(tool="exec", timeout_s=1.5)
    assert str(error) == "tool.timeout(tool='exec', timeout_s=1.5)"
    said = Catalogue.load(ROOT / "locales").describe(error, "en-US")
    assert said == "exec took longer than 1.5 seconds and was stopped."
