"""A change is checked, saved whole or not at all, and never costs the user a byte."""

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from finchbot.errors import ConfigError, RevisionConflict
from finchbot.settings import SettingsStore
from tests.support.settings_store import SettingsHome

KEY = "sk-test-0123456789abcdef"
MASK = "sk-…cdef"
OTHER = "sk-else-fedcba9876543210"


@pytest.fixture
def at(tmp_path: Path) -> SettingsHome:
    return SettingsHome(tmp_path)


def patch(store: SettingsStore, **changes: JsonValue) -> str:
    return store.patch(store.revision, {name.replace("__", "."): v for name, v in changes.items()})


def refused(store: SettingsStore, changes: dict[str, JsonValue]) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        store.patch(store.revision, changes)
    return caught.value


def test_the_first_save_makes_a_file_for_the_owner_alone(at: SettingsHome) -> None:
    store = at.store()
    before = os.umask(0)
    try:
        revision = patch(store, language="zh-CN")
    finally:
        os.umask(before)
    assert at.saved() == {"language": "zh-CN"}
    assert stat.S_IMODE(at.file.stat().st_mode) == 0o600
    assert revision == store.revision
    assert store.current.language == "zh-CN"


def test_saving_tightens_a_file_others_could_read(at: SettingsHome) -> None:
    at.write({})
    at.file.chmod(0o644)
    patch(at.store(), language="zh-CN")
    assert stat.S_IMODE(at.file.stat().st_mode) == 0o600


def test_what_finchbot_does_not_know_survives_in_its_place(at: SettingsHome) -> None:
    before = {
        "zebra": {"b": [1, {"c": None}], "a": "雀"},
        "providers": {"custom": {"My-Prov": {"api_base": "http://127.0.0.1:9", "note": "mine"}}},
        "server": {"future": True, "port": 8000},
        "providerz": [],
    }
    at.write(before)
    patch(at.store(), server__port=8001)
    expected = json.loads(json.dumps(before))
    expected["server"]["port"] = 8001
    assert at.saved() == expected
    assert list(at.saved()) == list(before)
    assert "雀" in at.file.read_text(encoding="utf-8")


def test_a_key_saved_in_the_file_leaves_the_other_fields(at: SettingsHome) -> None:
    at.write({"providers": {"openai": {"api_base": "http://127.0.0.1:9", "models": ["m"]}}})
    patch(at.store(), providers__openai__api_key=KEY)
    assert at.saved()["providers"]["openai"] == {
        "api_base": "http://127.0.0.1:9",
        "models": ["m"],
        "api_key": KEY,
    }


def test_a_mask_sent_back_keeps_the_secret(at: SettingsHome) -> None:
    at.write({"providers": {"openai": {"api_key": KEY}}})
    store = at.store()
    assert store.fields()["providers.openai.api_key"].value == MASK
    patch(store, providers__openai__api_key=MASK, language="zh-CN")
    assert at.saved() == {"providers": {"openai": {"api_key": KEY}}, "language": "zh-CN"}


def test_a_whole_form_sent_back_unchanged_writes_nothing(at: SettingsHome) -> None:
    headers = {"X-Api-Key": OTHER, "HTTP-Referer": "http://Here.example"}
    at.write({"providers": {"openai": {"api_key": KEY, "extra_headers": headers}}})
    before = at.file.read_bytes()
    store = at.store(GROQ_API_KEY=OTHER)
    form = {
        name: field.value
        for name, field in store.fields().items()
        if name.startswith(
            ("providers.openai.api_key", "providers.openai.extra", "providers.groq.api_key")
        )
    }
    assert len(form) == 3
    assert store.patch(store.revision, form) == store.revision
    assert at.file.read_bytes() == before


@pytest.mark.parametrize("name", ["api_key", "extra_headers"])
def test_the_mask_of_another_secret_is_refused(at: SettingsHome, name: str) -> None:
    at.write({"providers": {"openai": {"api_key": KEY, "extra_headers": {"X-Api-Key": KEY}}}})
    value: JsonValue = "sk-…zzzz" if name == "api_key" else {"X-Api-Key": "sk-…zzzz"}
    assert refused(at.store(), {f"providers.openai.{name}": value}).code == "config.mask_stale"


def test_one_header_changes_and_a_masked_one_stays(at: SettingsHome) -> None:
    at.write({"providers": {"My-Prov": {"extra_headers": {"X-Api-Key": KEY, "X-Old": "1"}}}})
    store = at.store()
    store.patch(
        store.revision, {"providers.My-Prov.extra_headers": {"X-Api-Key": MASK, "X-New": "2"}}
    )
    assert at.saved()["providers"]["My-Prov"]["extra_headers"] == {"X-Api-Key": KEY, "X-New": "2"}


def test_secrets_of_an_installed_channel_are_hidden_and_kept_however_deep(
    at: SettingsHome,
) -> None:
    deep = {"login": {"token": KEY, "name": "finch"}, "keys": [OTHER, {"pin": 123456}]}
    at.write({"channels": {"matrix": {**deep, "token": KEY, "secret": 123456}}})
    before = at.file.read_bytes()
    store = at.store()
    form = {
        name: field.value
        for name, field in store.fields().items()
        if name.startswith("channels.matrix.") and field.source == "file"
    }
    shown = json.dumps(form)
    assert "finch" in shown
    for secret in (KEY, OTHER, "123456"):
        assert secret not in shown
        assert secret in store.secrets()
    assert store.patch(store.revision, form) == store.revision
    assert at.file.read_bytes() == before
    patch(store, channels__matrix__login={"token": MASK, "name": "wren"})
    assert at.saved()["channels"]["matrix"]["login"] == {"token": KEY, "name": "wren"}
    stale = refused(store, {"channels.matrix.login": {"token": "sk-…zzzz"}})
    assert stale.params["field"] == "channels.matrix.login.token"


def test_a_channel_that_nobody_knows_yet_takes_a_secret_and_a_list(at: SettingsHome) -> None:
    patch(at.store(), channels__matrix__token=KEY, channels__matrix__rooms=["a…", "b"])
    assert at.saved() == {"channels": {"matrix": {"token": KEY, "rooms": ["a…", "b"]}}}


def test_a_list_may_hold_the_mark_of_masks_where_nothing_is_secret(at: SettingsHome) -> None:
    patch(at.store(), tools__exec__allow=["echo …"])
    assert at.saved() == {"tools": {"exec": {"allow": ["echo …"]}}}


@pytest.mark.parametrize("sent", [MASK, KEY])
def test_a_secret_of_the_environment_is_never_written(at: SettingsHome, sent: str) -> None:
    store = at.store(
        OPENAI_API_KEY=KEY,
        FINCHBOT_PROVIDERS__OPENAI__EXTRA_HEADERS=json.dumps({"X-Api-Key": OTHER}),
    )
    shown = store.fields()["providers.openai.extra_headers"].value
    store.patch(
        store.revision,
        {
            "providers.openai.api_key": sent,
            "providers.openai.api_base": "http://127.0.0.1:9",
            "providers.openai.extra_headers": shown,
        },
    )
    text = at.file.read_text()
    assert KEY not in text
    assert OTHER not in text
    assert at.saved()["providers"]["openai"]["api_base"] == "http://127.0.0.1:9"


def test_null_takes_a_value_and_its_empty_section_out(at: SettingsHome) -> None:
    at.write({"providers": {"openai": {"api_key": KEY}}, "server": {"port": 8000, "future": 1}})
    patch(at.store(), providers__openai__api_key=None, server__port=None)
    assert at.saved() == {"server": {"future": 1}}


def test_a_custom_provider_is_added_and_removed_by_name(at: SettingsHome) -> None:
    store = at.store()
    name = "providers.custom.My.Prov-2"
    store.patch(
        store.revision, {f"{name}.api_base": "http://127.0.0.1:9/v1", f"{name}.api_key": KEY}
    )
    assert list(at.saved()["providers"]["custom"]) == ["My.Prov-2"]
    assert store.current.providers["My.Prov-2"].api_base == "http://127.0.0.1:9/v1"
    assert store.fields()[f"{name}.api_key"].value == MASK
    store.patch(store.revision, {name: None})
    assert at.saved() == {}


def test_a_provider_is_changed_where_it_stands(at: SettingsHome) -> None:
    at.write({"providers": {"custom": {"A-b": {"models": ["m"]}}, "C-d": {"models": ["m"]}}})
    store = at.store()
    store.patch(
        store.revision, {"providers.A-b.models": ["x"], "providers.custom.C-d.models": ["y"]}
    )
    assert at.saved() == {
        "providers": {"custom": {"A-b": {"models": ["x"]}}, "C-d": {"models": ["y"]}}
    }


def test_a_section_may_come_as_a_map(at: SettingsHome) -> None:
    store = at.store()
    store.patch(store.revision, {"agents": {"defaults": {"max_tokens": 5}}, "server": {"port": 1}})
    assert at.saved() == {"agents": {"defaults": {"max_tokens": 5}}, "server": {"port": 1}}


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("agents.defaults.max_tokens", "many", "config.not_number"),
        ("agents.defaults.max_tokens", 0, "config.too_small"),
        ("agents.defaults.max_tokens", True, "config.not_number"),
        ("agents.defaults.max_tokens", 1.5, "config.not_number"),
        ("agents.defaults.temperature", 2.5, "config.too_large"),
        ("tools.exec.timeout_s", -5, "config.not_above"),
        ("tools.exec.timeout_s", "soon", "config.not_number"),
        ("tools.exec.sandbox", "maybe", "config.not_one_of"),
        ("tools.exec.allow", 5, "config.not_list"),
        ("memory.auto_recall", "perhaps", "config.not_switch"),
        ("server.port", 70000, "config.too_large"),
        ("server.host", "", "config.empty"),
        ("default_model", 5, "config.not_text"),
        ("default_model", "", "config.empty"),
        ("language", "klingon!", "config.not_language"),
        ("providers.openai.api_base", "example.com", "config.not_url"),
        ("providers.openai.api_base", "file:///etc/passwd", "config.not_url"),
        ("providers.openai.extra_headers", "X: 1", "config.not_map"),
        ("providers.openai.extra_headers", {"X": "a\r\nY: b"}, "config.bad_header"),
        ("providers.openai.extra_headers", {"a b": "c"}, "config.bad_header"),
        ("providers.openai.extra_headers", {"X": "é"}, "config.bad_header"),
        ("providers.openai.extra_headers", {"Content-length": "5"}, "config.bad_header"),
        ("providers.openai.api_base", "http://[bad", "config.not_url"),
        ("providers.openai.api_base", "http://host:99999", "config.not_url"),
        ("providers.openai.api_base", "http://a\0b", "config.not_url"),
        ("providers.openai.api_base", "http:///v1", "config.not_url"),
        ("providers.openai.api_key", {"a": 1}, "config.not_text"),
        ("providers.openai.api_key", "two\nlines", "config.not_one_line"),
        ("providers.openai.api_key", "sk-\u200bzero", "config.not_a_key"),
        ("tools.web.search.brave_api_key", "密钥", "config.not_a_key"),
        ("channels.email.imap_port", "x", "config.not_number"),
        ("channels.feishu.mode", "pigeon", "config.not_one_of"),
        ("server.prot", 1, "config.unknown_field"),
        ("providers.openai", 1, "config.unknown_field"),
        ("providers.openai.colour", "red", "config.unknown_field"),
        ("channels.discord.colour", "red", "config.unknown_field"),
        ("agents", None, "config.unknown_field"),
        ("", 1, "config.unknown_field"),
        ("..", 1, "config.unknown_field"),
        ("demo", False, "config.environment_only"),
    ],
)
def test_a_wrong_change_is_refused_with_its_field_and_saves_nothing(
    at: SettingsHome, name: str, value: JsonValue, code: str
) -> None:
    at.write({"server": {"port": 8000}})
    before = at.file.read_bytes()
    error = refused(at.store(), {"language": "zh-CN", name: value})
    assert error.code == code
    assert error.params["field"] == name or code == "config.bad_header"
    assert at.file.read_bytes() == before


def test_what_is_allowed_instead_is_told_without_english_words(at: SettingsHome) -> None:
    error = refused(at.store(), {"tools.exec.sandbox": "maybe"})
    assert error.params["allowed"] == "auto, on, off"


def test_a_wrong_change_is_refused_also_where_the_environment_hides_it(at: SettingsHome) -> None:
    error = refused(at.store(FINCHBOT_SERVER__PORT="8000"), {"server.port": 99999})
    assert error.code == "config.too_large"


def test_a_stale_revision_is_refused_and_nothing_is_lost(at: SettingsHome) -> None:
    mine, theirs = at.store(), at.store()
    seen = mine.revision
    theirs.patch(theirs.revision, {"language": "zh-CN"})
    with pytest.raises(RevisionConflict):
        mine.patch(seen, {"server.port": 8000})
    mine.patch(mine.revision, {"server.port": 8000})
    assert at.saved() == {"language": "zh-CN", "server": {"port": 8000}}


def test_of_many_savers_with_one_revision_one_wins(at: SettingsHome) -> None:
    stores = [at.store() for _ in range(8)]
    revision = stores[0].revision

    def save(store: SettingsStore) -> int:
        try:
            store.patch(revision, {"server.port": 8000 + stores.index(store)})
        except RevisionConflict:
            return 0
        return 1

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(save, stores)) == 1
    assert at.saved()["server"]["port"] in range(8000, 8008)


def test_savers_who_try_again_lose_nothing(at: SettingsHome) -> None:
    def save(name: str) -> None:
        store = at.store()
        while True:
            try:
                store.patch(store.revision, {f"providers.{name}.api_base": "http://127.0.0.1:9"})
            except RevisionConflict:
                continue
            return

    names = [f"P{number}" for number in range(12)]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(save, names))
    assert sorted(at.saved()["providers"]) == sorted(names)
    leftovers = [path.name for path in at.home.root.iterdir() if path.name.endswith(".tmp")]
    assert leftovers == []


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_a_saver_killed_at_any_moment_leaves_the_old_file_or_the_new(at: SettingsHome) -> None:
    at.write({"server": {"port": 1}, "keep": "x" * 20_000})
    program = (
        "import pathlib; from finchbot.home import open_home; from finchbot.settings import *\n"
        f"home = open_home(pathlib.Path({str(at.home.root)!r}), {{}})\n"
        "store = SettingsStore(home, environ={})\n"
        "print('ready', flush=True)\n"
        "for port in range(1, 60000): store.patch(store.revision, {'server.port': port})\n"
    )
    for delay_ms in range(0, 30, 3):
        # The program is the test's own.
        with subprocess.Popen(  # noqa: S603
            [sys.executable, "-c", program], stdout=subprocess.PIPE
        ) as saver:
            assert saver.stdout is not None
            saver.stdout.readline()
            # The moment of death is what varies; nothing is waited for.
            time.sleep(delay_ms / 1000)
            saver.send_signal(signal.SIGKILL)
        assert at.saved()["keep"] == "x" * 20_000
        patch(at.store(), language="zh-CN")
        patch(at.store(), language=None)
        assert [path.name for path in at.home.root.glob(".*.tmp")] == []


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('{\n  "language": "zh-CN",\n}', 3, 1),
        ('{"a": 1\n "b": 2}', 2, 2),
        ("", 1, 1),
        ("\n\n  [1, 2]", 3, 3),
        ('{"a": NaN}', 1, 1),
        ('{"a": 1e999}', 1, 1),
        ("[" * 100_000, 1, 1),
        ('{"a": "\ud83d"', 1, 1),
    ],
)
def test_a_broken_file_is_told_with_its_place_and_never_overwritten(
    at: SettingsHome, text: str, line: int, column: int
) -> None:
    at.file.write_bytes(text.encode("utf-8", "surrogatepass"))
    before = at.file.read_bytes()
    store = at.store(OPENAI_API_KEY=KEY)
    assert store.safe_mode is not None
    assert store.safe_mode.file == str(at.file)
    if column != 1 or line != 1:
        assert (store.safe_mode.line, store.safe_mode.column) == (line, column)
    assert store.current.provider("openai").api_key is not None
    error = refused(store, {"language": "zh-CN"})
    assert error.code == "config.file_broken"
    assert error.params["file"] == str(at.file)
    assert error.params["line"] == store.safe_mode.line
    assert at.file.read_bytes() == before


def test_a_mended_file_ends_safe_mode_without_a_restart(at: SettingsHome) -> None:
    at.write("{")
    store = at.store()
    assert store.safe_mode is not None
    at.write({"language": "zh-CN"})
    assert store.safe_mode is None
    assert store.current.language == "zh-CN"
    patch(store, server__port=8000)


def test_a_file_that_is_not_utf8_is_told_with_its_place(at: SettingsHome) -> None:
    at.file.write_bytes('{\n "language": "中文"}'.encode("gbk"))
    mode = at.store().safe_mode
    assert mode is not None
    assert (mode.line, mode.column) == (2, 15)


def test_a_byte_order_mark_is_read_over(at: SettingsHome) -> None:
    at.file.write_bytes(b"\xef\xbb\xbf" + b'{"language": "zh-CN"}')
    store = at.store()
    assert (store.current.language, store.safe_mode) == ("zh-CN", None)


@pytest.mark.parametrize("levels", [51, 400, 100_000])
def test_a_file_nested_without_end_is_told_and_stops_nothing(at: SettingsHome, levels: int) -> None:
    at.write('{"x":' * levels + "1" + "}" * levels)
    store = at.store()
    assert store.safe_mode is not None
    assert refused(store, {"language": "zh-CN"}).code == "config.file_broken"


@pytest.mark.parametrize("kind", ["folder", "huge", "dangling"])
def test_strange_files_never_stop_the_start(at: SettingsHome, kind: str) -> None:
    if kind == "folder":
        at.file.mkdir()
    elif kind == "huge":
        at.file.write_bytes(b" " * 50_000_000)
    else:
        at.file.symlink_to(at.home.root / "nowhere.json")
    store = at.store()
    assert store.current.server.port == 7860
    if kind == "dangling":
        patch(store, language="zh-CN")
        assert at.file.is_symlink()
    else:
        assert refused(store, {"language": "zh-CN"}).code == "config.file_broken"


def test_a_link_stays_a_link_when_saved(at: SettingsHome, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles.json"
    target.write_text('{"mine": 1}')
    at.file.symlink_to(target)
    patch(at.store(), language="zh-CN")
    assert at.file.is_symlink()
    assert json.loads(target.read_text()) == {"mine": 1, "language": "zh-CN"}


def test_a_folder_that_cannot_be_written_is_told_and_the_file_untouched(at: SettingsHome) -> None:
    at.write({"server": {"port": 8000}})
    store = at.store()
    (at.home.data / "config.lock").mkdir()
    error = refused(store, {"language": "zh-CN"})
    assert error.code == "config.not_saved"
    assert error.params["file"] == str(at.file)
    assert at.saved() == {"server": {"port": 8000}}


def test_one_wrong_value_falls_back_alone_and_is_told_with_its_place(at: SettingsHome) -> None:
    at.write(
        '{\n  "server": {"port": 8000},\n  "agents": {"defaults": {"max_tokens": "many",\n'
        '    "temperature": 0.2}}\n}'
    )
    store = at.store()
    assert store.current.agents.defaults.max_tokens == 8192
    assert store.current.agents.defaults.temperature == 0.2
    assert store.current.server.port == 8000
    mode = store.safe_mode
    assert mode is not None
    assert (mode.line, mode.column) == (3, 41)
    assert mode.error.code == "config.not_number"
    assert "agents.defaults.max_tokens" in mode.detail
    patch(store, agents__defaults__max_tokens=5)
    assert store.safe_mode is None


@pytest.mark.parametrize("value", [[], "x", 5, {"agents": []}, {"agents": {"defaults": 3}}])
def test_wrong_kinds_of_sections_fall_back(at: SettingsHome, value: Any) -> None:
    at.write(
        value
        if isinstance(value, dict)
        else {"server": value, "providers": value, "channels": value}
    )
    store = at.store(OPENAI_API_KEY=KEY)
    assert store.current.server.port == 7860
    assert store.current.agents.defaults.max_tokens == 8192
    assert store.current.provider("openai").api_key is not None
    assert store.safe_mode is not None


def test_a_change_of_the_file_is_seen_at_the_next_look(at: SettingsHome) -> None:
    at.write({"providers": {"openai": {"api_key": KEY}}})
    store = at.store()
    first = store.current
    assert store.current is first
    revision = store.revision
    at.write({"providers": {"openai": {"api_key": OTHER}}, "language": "zh-CN"})
    key = store.current.provider("openai").api_key
    assert key is not None
    assert key.get_secret_value() == OTHER
    assert store.revision != revision
    assert {KEY, OTHER} <= set(store.secrets())
    at.file.unlink()
    assert store.current.language is None


def test_the_settings_can_be_looked_at_inside_the_loop(at: SettingsHome) -> None:
    store = at.store()
    at.write({"language": "zh-CN"})

    async def look() -> str | None:
        return store.current.language

    assert asyncio.run(look()) == "zh-CN"
