"""What the admin's pages may reach, and how they may show what others wrote."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "pages"
PAGES = sorted(FOLDER.glob("*.py"))
OPEN = ("finchbot.client", "finchbot.i18n", "finchbot.ui.icons", "finchbot.ui.theme", "pages")


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "."


def may_be_imported(name: str) -> bool:
    top = name.partition(".")[0]
    own = any(name == module or name.startswith(f"{module}.") for module in OPEN)
    return own or top == "streamlit" or top in sys.stdlib_module_names


def test_there_are_pages() -> None:
    assert {"Home", "overview", "threads", "health"} <= {page.stem for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_reach_the_program_by_its_api_alone(page: Path) -> None:
    tree = ast.parse(page.read_text(encoding="utf-8"))
    assert [name for name in imported(tree) if not may_be_imported(name)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_html_is_written_by_the_look_alone(page: Path) -> None:
    tree = ast.parse(page.read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    named = {keyword.arg for call in calls for keyword in call.keywords}
    html = [
        call for call in calls if isinstance(call.func, ast.Attribute) if call.func.attr == "html"
    ]
    assert "unsafe_allow_html" not in named
    assert page.stem == "dress" or (not html and "unsafe_allow_javascript" not in named)
