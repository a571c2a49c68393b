"""A person always reads a sentence: the next language's before none, never a key."""

import logging
import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finchbot.errors import ConfigError, LocaleError
from finchbot.i18n import Catalogue

ENGLISH = """
[generic]
missing = "No text."
[error]
unknown = "Something went wrong ({code})."
"config.invalid" = "{field} is wrong."
[talk]
hello = "Hello {name}"
only_english = "Only English"
braces = "{{}} {name}"
files = { one = "{count:n} file", other = "{count:n} files" }
"""
FILES = {
    "en-US": ENGLISH,
    "zh": '[talk]\nshared = "共用"\n[error]\n"shared.code" = "共用的错误"\n',
    "zh-CN": """
[talk]
hello = "你好，{name}"
odd = "{unheard_of}"
files = { other = "{count:n} 个文件" }
""",
    "zh-HK": '[talk]\nodd = "{unheard_of}"\n',
}


def load(folder: Path, **files: str) -> Catalogue:
    for tag, text in (FILES | files).items():
        (folder / f"{tag}.toml").write_text(text, encoding="utf-8")
    return Catalogue.load(folder)


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    return load(tmp_path)


@pytest.fixture
def hong_kong() -> Iterator[None]:
    """Let the machine stand in Hong Kong."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "Asia/Hong_Kong"
    time.tzset()
    yield
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()


def test_partial_files_are_no_choice_and_the_default_comes_first(catalogue: Catalogue) -> None:
    assert catalogue.languages == ("en-US", "zh-CN", "zh-HK")


@pytest.mark.parametrize(
    ("key", "language", "text"),
    [
        ("talk.hello", "zh-CN", "你好，雀"),
        ("talk.hello", "zh-HK", "Hello 雀"),
        ("talk.hello", "fr-FR", "Hello 雀"),
        ("talk.hello", None, "Hello 雀"),
        ("talk.shared", "zh-HK", "共用"),
        ("talk.shared", "zh_TW.UTF-8", "共用"),
        ("talk.shared", "en-US", "No text."),
        ("talk.only_english", "zh-CN", "Only English"),
        ("talk.nowhere", "zh-CN", "No text."),
        ("talk", "zh-CN", "No text."),
        ("talk.braces", "en-US", "{} 雀"),
    ],
)
def test_a_missing_text_comes_from_the_next_language(
    catalogue: Catalogue, key: str, language: str | None, text: str
) -> None:
    assert catalogue.text(key, language, name="雀") == text


def test_a_text_that_wants_a_value_nobody_gave_gives_way(catalogue: Catalogue) -> None:
    assert catalogue.text("talk.hello", "zh-CN") == "你好，…"
    assert catalogue.text("talk.odd", "zh-CN", name="x") == "…"


def test_values_are_put_in_as_they_are(catalogue: Catalogue) -> None:
    assert catalogue.text("talk.hello", "en-US", name="{name} {0} %s") == "Hello {name} {0} %s"
    assert catalogue.text("talk.hello", "en-US", name=2.0) == "Hello 2"
    assert catalogue.text("talk.hello", "en-US", name=None) == "Hello "


@pytest.mark.parametrize(
    ("language", "count", "text"),
    [
        ("en-US", 1, "1 file"),
        ("en-US", 0, "0 files"),
        ("en-US", 12345, "12,345 files"),
        ("zh-CN", 1, "1 个文件"),
        ("zh-HK", 1, "1 file"),
    ],
)
def test_the_form_goes_with_the_count_in_the_texts_own_language(
    catalogue: Catalogue, language: str, count: int, text: str
) -> None:
    assert catalogue.text("talk.files", language, count=count) == text


def test_an_error_is_described_and_an_unknown_one_keeps_its_code(catalogue: Catalogue) -> None:
    wrong = ConfigError("config.invalid", field="server.port")
    assert catalogue.describe(wrong, "zh-CN") == "server.port is wrong."
    assert catalogue.describe(ConfigError("no.such"), "zh-CN") == "Something went wrong (no.such)."
    assert catalogue.describe(ConfigError("shared.code"), "zh-HK") == "共用的错误"
    assert "shared.code" in catalogue.describe(ConfigError("shared.code"), "en-US")


def test_parameters_may_have_any_name(catalogue: Catalogue) -> None:
    error = ConfigError("config.invalid", field="x", key="k", language="l")
    assert catalogue.describe(error, "en-US") == "x is wrong."


def test_a_section_has_every_text_in_the_best_language(catalogue: Catalogue) -> None:
    assert catalogue.section("talk", "zh-CN") == {
        "hello": "你好，{name}",
        "only_english": "Only English",
        "braces": "{{}} {name}",
        "files": "{count:n} 个文件",
        "shared": "共用",
        "odd": "{unheard_of}",
    }


def test_a_gap_is_logged_once(catalogue: Catalogue, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(3):
        catalogue.text("talk.only_english", "zh-CN")
    assert caplog.text.count("zh-CN has no fitting text for talk.only_english") == 1
    assert "locale zh has" not in caplog.text


@pytest.mark.parametrize(
    "broken", ["[", 'a = "{"', 'a = "{0}"', 'a = "{b.c}"', 'a = "{b!r}"', "a = 1", "a = []"]
)
def test_a_broken_language_is_left_out_and_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, broken: str
) -> None:
    catalogue = load(tmp_path, **{"zh-CN": broken})
    assert "zh-CN" not in catalogue.languages
    assert "zh-CN.toml" in caplog.text
    with pytest.raises(LocaleError):
        load(tmp_path, **{"en-US": ENGLISH + broken})


def test_without_the_sentences_for_what_is_missing_nothing_starts(tmp_path: Path) -> None:
    with pytest.raises(LocaleError) as caught:
        load(tmp_path, **{"en-US": '[talk]\nhello = "Hello"\n'})
    assert caught.value.code == "locale.missing"


def test_a_new_language_is_a_new_file(tmp_path: Path) -> None:
    catalogue = load(tmp_path, **{"pt-BR": '[talk]\nhello = "Olá {name}"\n'})
    assert catalogue.negotiate("pt-PT") == "pt-BR"
    assert catalogue.text("talk.hello", "pt_PT.UTF-8", name="x") == "Olá x"


def test_a_file_that_names_no_language_is_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert load(tmp_path, **{"not a tag": 'a = "b"'}).languages == ("en-US", "zh-CN", "zh-HK")
    assert caplog.records[0].levelno == logging.ERROR


def test_times_are_written_the_local_way(catalogue: Catalogue) -> None:
    when = datetime(2026, 3, 5, 22, 4, tzinfo=UTC)
    east = timezone(timedelta(hours=8))
    assert catalogue.format_datetime(when, "zh-CN", east) == "2026年3月6日 06:04"
    assert catalogue.format_date(when, "zh-HK", east) == "2026年3月6日"
    # The narrow space is how Unicode writes it.
    assert catalogue.format_datetime(when, "en-US", UTC) == "Mar 5, 2026 10:04\u202fPM"
    assert catalogue.format_ago(timedelta(hours=3), "en-US") == "3 hours ago"
    assert catalogue.format_ago(timedelta(hours=3), "zh-CN") == "3小时前"
    assert catalogue.format_number(1234567.5, "zh-CN") == "1,234,567.5"


@pytest.mark.usefixtures("hong_kong")
def test_times_are_the_machines_when_nobody_says_where(catalogue: Catalogue) -> None:
    when = datetime(2026, 3, 5, 22, 4, tzinfo=UTC)
    assert catalogue.format_datetime(when, "zh-CN") == "2026年3月6日 06:04"


@given(st.text(max_size=30), st.text(max_size=20), st.dictionaries(st.text(max_size=8), st.text()))
def test_no_key_language_or_value_can_raise(
    tmp_path_factory: pytest.TempPathFactory, key: str, language: str, params: dict[str, str]
) -> None:
    catalogue = load(tmp_path_factory.getbasetemp())
    assert catalogue.text(key, language, **params)
