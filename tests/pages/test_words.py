"""The admin's words are shown as Markdown in titles and buttons, so they hold none."""

import re
from pathlib import Path

import pytest

from finchbot.i18n.catalogue import read_language
from finchbot.i18n.template import Template

FOLDER = Path(__file__).parents[2] / "locales"
MARKDOWN = re.compile(r"[*`<>\[\]$~#|\\]|(?<!\w)_|_(?!\w)|:\w")


@pytest.mark.parametrize("tag", ["en-US", "zh-CN", "zh-HK"])
def test_the_admins_texts_mean_the_same_as_markdown(tag: str) -> None:
    found = {}
    for key, entry in read_language(FOLDER / f"{tag}.toml").texts.items():
        forms = [entry] if isinstance(entry, Template) else list(entry.values())
        texts = [re.sub(r"\{[a-z_]+(:n)?\}", "0", form.source) for form in forms]
        if key.startswith("admin.") and any(map(MARKDOWN.search, texts)):
            found[key] = texts
    assert found == {}
