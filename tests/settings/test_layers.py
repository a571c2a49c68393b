"""Command line over environment over file over default, each field by itself."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from finchbot.errors import ConfigError
from finchbot.settings import PROVIDER_ENV, Settings
from finchbot.settings.layers import Layer, Source, merge
from tests.support.settings_store import SettingsHome

KEY = "sk-test-0123456789abcdef"
PORTS: dict[Source, int] = {"cli": 1, "env": 2, "file": 3, "default": 7860}


@pytest.fixture
def at(tmp_path: Path) -> SettingsHome:
    return SettingsHome(tmp_path)


@pytest.mark.parametrize("winner", PORTS)
def test_the_strongest_layer_that_sets_a_field_wins_and_is_named(
    at: SettingsHome, winner: Source
) -> None:
    strength = list(PORTS).index(winner)
    present = list(PORTS)[strength:-1]
    at.write({"server": {"port": 3}} if "file" in present else {})
    environ = {"FINCHBOT_SERVER__PORT": "2"} if "env" in present else {}
    store = at.store({"server.port": 1} if "cli" in present else {}, **environ)
    assert store.current.server.port == PORTS[winner]
    assert store.fields()["server.port"].source == winner


def test_one_section_may_come_from_every_layer(at: SettingsHome) -> None:
    at.write({"agents": {"defaults": {"max_tokens": 5, "temperature": 0.1}}})
    store = at.store(
        {"agents.defaults.max_tool_iterations": 3}, FINCHBOT_AGENTS__DEFAULTS__TEMPERATURE="1.5"
    )
    defaults = store.current.agents.defaults
    assert (defaults.max_tokens, defaults.temperature, defaults.max_tool_iterations) == (5, 1.5, 3)
    sources = {
        name.rpartition(".")[2]: value.source
        for name, value in store.fields().items()
        if name.startswith("agents.defaults.")
    }
    assert sources == {
        "max_tokens": "file",
        "temperature": "env",
        "max_tool_iterations": "cli",
        "fallback_models": "default",
        "workspace": "default",
    }


@pytest.mark.parametrize("empty", ["", "  ", "\n"])
def test_an_empty_variable_counts_as_not_set(at: SettingsHome, empty: str) -> None:
    at.write({"providers": {"openai": {"api_key": KEY}}, "language": "zh-CN"})
    store = at.store(OPENAI_API_KEY=empty, FINCHBOT_LANG=empty, FINCHBOT_SERVER__PORT=empty)
    key = store.current.provider("openai").api_key
    assert key is not None
    assert key.get_secret_value() == KEY
    assert store.fields()["providers.openai.api_key"].source == "file"
    assert store.current.language == "zh-CN"


def test_an_empty_text_in_the_file_counts_as_not_set(at: SettingsHome) -> None:
    at.write({"providers": {"openai": {"api_key": " ", "api_base": ""}}, "language": None})
    store = at.store()
    assert store.safe_mode is None
    assert store.current.provider("openai").api_key is None
    assert store.current.provider("openai").api_base is None
    assert store.current.language is None


@pytest.mark.parametrize(
    ("provider", "variable"),
    [(name, variable) for name, variables in PROVIDER_ENV.items() for variable in variables],
)
def test_every_key_variable_reaches_its_provider(
    at: SettingsHome, provider: str, variable: str
) -> None:
    store = at.store(**{variable: KEY})
    key = store.current.provider(provider).api_key
    assert key is not None
    assert key.get_secret_value() == KEY
    assert store.fields()[f"providers.{provider}.api_key"].source == "env"


@pytest.mark.parametrize(
    ("provider", "strong", "weak"),
    [
        ("deepseek", "DEEPSEEK_API_KEY", "DS_API_KEY"),
        ("dashscope", "DASHSCOPE_API_KEY", "ALIBABA_API_KEY"),
        ("gemini", "GEMINI_API_KEY", "GOOGLE_API_KEY"),
        ("openai", "FINCHBOT_PROVIDERS__OPENAI__API_KEY", "OPENAI_API_KEY"),
    ],
)
def test_the_first_name_of_a_variable_wins_over_its_alias(
    at: SettingsHome, provider: str, strong: str, weak: str
) -> None:
    key = (
        at.store(**{weak: "weak-key-of-the-alias", strong: KEY}).current.provider(provider).api_key
    )
    assert key is not None
    assert key.get_secret_value() == KEY


@pytest.mark.parametrize("provider", PROVIDER_ENV)
@pytest.mark.parametrize("ending", ["API_BASE", "BASE_URL"])
def test_every_provider_reads_its_base_from_the_environment(
    at: SettingsHome, provider: str, ending: str
) -> None:
    store = at.store(**{f"{provider.upper()}_{ending}": "http://127.0.0.1:9/v1/"})
    assert store.current.provider(provider).api_base == "http://127.0.0.1:9/v1"


def test_a_key_in_the_environment_and_a_base_in_the_file_work_together(at: SettingsHome) -> None:
    at.write({"providers": {"openai": {"api_base": "http://127.0.0.1:9/v1", "models": ["m"]}}})
    store = at.store(OPENAI_API_KEY=KEY)
    provider = store.current.provider("openai")
    assert provider.api_key is not None
    assert provider.api_base == "http://127.0.0.1:9/v1"
    assert provider.models == ("m",)
    sources = store.fields()
    assert sources["providers.openai.api_key"].source == "env"
    assert sources["providers.openai.api_base"].source == "file"


@pytest.mark.parametrize("grouped", [True, False])
def test_names_of_custom_providers_and_headers_are_kept_letter_by_letter(
    at: SettingsHome, grouped: bool
) -> None:
    headers = {"X-Api-Key": "0123456789abcdefgh", "HTTP-Referer": "http://Here.example"}
    custom = {"My-Prov": {"api_base": "http://127.0.0.1:9/v1", "extra_headers": headers}}
    at.write({"providers": {"custom": custom} if grouped else custom})
    store = at.store(MY_PROV_API_KEY=KEY)
    provider = store.current.providers["My-Prov"]
    assert provider.extra_headers == headers
    assert provider.api_key is not None
    stem = "providers.custom.My-Prov" if grouped else "providers.My-Prov"
    shown = store.fields()[f"{stem}.extra_headers"].value
    assert shown == {"X-Api-Key": "012…efgh", "HTTP-Referer": "http://Here.example"}
    assert store.fields()[f"{stem}.api_key"].source == "env"


def test_a_provider_of_ours_is_known_in_any_case_of_letters(at: SettingsHome) -> None:
    at.write({"providers": {"OpenAI": {"api_base": "http://a.example"}, "custom": {"Groq": {}}}})
    store = at.store(OPENAI_API_KEY=KEY)
    given = store.current.provider("openai")
    assert given.api_base == "http://a.example"
    assert given.api_key is not None
    assert store.fields()["providers.OpenAI.api_base"].source == "file"
    store.patch(store.revision, {"providers.openai.models": ["m"], "providers.Groq.models": ["n"]})
    assert at.saved()["providers"] == {
        "OpenAI": {"api_base": "http://a.example", "models": ["m"]},
        "custom": {"Groq": {"models": ["n"]}},
    }


def test_of_two_spellings_of_a_provider_the_usual_one_wins_field_by_field(
    at: SettingsHome,
) -> None:
    at.write({"providers": {"openai": {"api_key": KEY}, "OpenAI": {"api_key": "k", "models": "m"}}})
    given = at.store().current.provider("openai")
    assert given.api_key is not None
    assert (given.api_key.get_secret_value(), given.models) == (KEY, ("m",))


@pytest.mark.parametrize("spoken", ["CUSTOM__MY_PROV", "MY_PROV", "custom__my_prov"])
def test_a_variable_finds_the_custom_provider_of_the_file(at: SettingsHome, spoken: str) -> None:
    at.write({"providers": {"custom": {"My-Prov": {"api_base": "http://127.0.0.1:9"}}}})
    store = at.store(**{f"FINCHBOT_PROVIDERS__{spoken}__API_BASE": "http://127.0.0.1:8"})
    assert {name: provider.api_base for name, provider in store.current.providers.items()} == {
        "My-Prov": "http://127.0.0.1:8"
    }


def test_nested_variables_reach_every_section(at: SettingsHome) -> None:
    store = at.store(
        FINCHBOT_DEFAULT_MODEL="builtin",
        FINCHBOT_LANG="zh_TW.UTF-8",
        FINCHBOT_TOOLS__WEB__SEARCH__DUCKDUCKGO_BASE_URL="http://127.0.0.1:9",
        FINCHBOT_TOOLS__EXEC__ALLOW="git status, ls",
        FINCHBOT_SERVER__ALLOWED_HOSTS='["a.example", "b.example"]',
        FINCHBOT_CHANNELS__WECOM__AGENT_ID="1000002",
        FINCHBOT_CHANNELS__WECOM__ALLOW_FROM=" zhang , 7",
        FINCHBOT_CHANNELS__MATRIX__BASE_URL="http://127.0.0.1:7",
        FINCHBOT_PROVIDERS__OPENAI__EXTRA_HEADERS='{"X-Title": "Finch"}',
        FINCHBOT_MEMORY__EMBEDDING__MODEL_PATH="/m",
        TAVILY_API_KEY="tvly-1",
        BRAVE_API_KEY="BSA-1",
    )
    current = store.current
    assert current.default_model == "builtin"
    assert current.language == "zh_TW.UTF-8"
    assert current.tools.web.search.duckduckgo_base_url == "http://127.0.0.1:9"
    assert current.tools.exec.allow == ("git status", "ls")
    assert current.server.allowed_hosts == ("a.example", "b.example")
    assert current.channels.wecom.agent_id == "1000002"
    assert current.channels.wecom.allow_from == ("zhang", "7")
    assert current.channels.named()["matrix"].model_extra == {"base_url": "http://127.0.0.1:7"}
    assert current.provider("openai").extra_headers == {"X-Title": "Finch"}
    assert current.memory.embedding.model_path == "/m"
    assert store.fields()["tools.web.search.tavily_api_key"].value == "…"


def test_a_variable_that_names_no_setting_is_told_and_harmless(
    at: SettingsHome, caplog: pytest.LogCaptureFixture
) -> None:
    at.store(FINCHBOT_SERVER__PROT=KEY, FINCHBOT_HOME="/x", FINCHBOT_SERVER="y", FINCHBOT_="z")
    assert "FINCHBOT_SERVER__PROT names no setting" in caplog.text
    assert "FINCHBOT_HOME" not in caplog.text
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    ("variable", "text", "code"),
    [
        ("FINCHBOT_SERVER__PORT", "many", "config.not_number"),
        ("FINCHBOT_SERVER__PORT", "70000", "config.too_large"),
        ("FINCHBOT_TOOLS__EXEC__ENABLED", "perhaps", "config.not_switch"),
        ("OPENAI_BASE_URL", "api.example", "config.not_url"),
        ("OPENAI_API_KEY", "two\nlines", "config.not_one_line"),
        ("FINCHBOT_PROVIDERS__OPENAI__EXTRA_HEADERS", "no json", "config.not_map"),
        ("FINCHBOT_LANG", "中文", "config.not_language"),
    ],
)
def test_a_wrong_variable_ends_the_start_with_its_own_name(
    at: SettingsHome, variable: str, text: str, code: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        at.store(**{variable: text})
    assert caught.value.code == code
    assert caught.value.params["field"] == variable
    assert text not in str(caught.value)


@pytest.mark.parametrize("locale", ["C", "C.UTF-8", "POSIX", "auto", "zh_TW:zh", "zh-Hant-HK"])
def test_no_locale_a_system_may_have_ends_the_start(at: SettingsHome, locale: str) -> None:
    assert at.store(FINCHBOT_LANG=locale).current.language in (locale, None)


def test_an_option_that_is_no_setting_is_refused(at: SettingsHome) -> None:
    with pytest.raises(ConfigError, match=r"config\.unknown_field.*server\.prot"):
        at.store({"server.prot": 1})


def test_lists_of_who_may_talk_are_texts_without_blanks(at: SettingsHome) -> None:
    at.write({"channels": {"discord": {"allow_from": [" a ", 7, ""], "allow_bots": True}}})
    store = at.store()
    assert store.safe_mode is None
    assert store.current.channels.discord.allow_from == ("a", "7")
    assert store.current.channels.discord.allow_bots == ("*",)
    assert store.current.channels.feishu.allow_from == ()


def test_a_wrong_option_ends_the_start_with_the_settings_name(at: SettingsHome) -> None:
    with pytest.raises(ConfigError) as caught:
        at.store({"server.port": -1})
    assert (caught.value.code, dict(caught.value.params)) == (
        "config.too_small",
        {"field": "server.port", "limit": 0},
    )


@pytest.mark.parametrize(
    ("environ", "demo", "host"),
    [
        ({}, False, "127.0.0.1"),
        ({"FINCHBOT_DEMO": "1"}, True, "0.0.0.0"),  # noqa: S104
        ({"SPACE_ID": "me/space"}, True, "0.0.0.0"),  # noqa: S104
        ({"SPACE_ID": "me/space", "FINCHBOT_DEMO": "0"}, False, "127.0.0.1"),
        ({"FINCHBOT_DEMO": "1", "FINCHBOT_SERVER__HOST": "127.0.0.1"}, True, "127.0.0.1"),
    ],
)
def test_the_environment_alone_makes_a_demo(
    at: SettingsHome, environ: dict[str, str], demo: bool, host: str
) -> None:
    at.write({"demo": not demo})
    current = at.store(**environ).current
    assert (current.demo, current.server.host) == (demo, host)


def test_a_reference_in_the_file_is_the_variable_and_unset_means_not_set(at: SettingsHome) -> None:
    at.write({"providers": {"openai": {"api_key": "${MINE}"}, "groq": {"api_key": "${NOT_SET}"}}})
    current = at.store(MINE=KEY).current
    key = current.provider("openai").api_key
    assert key is not None
    assert key.get_secret_value() == KEY
    assert current.provider("groq").api_key is None


def test_settings_made_directly_read_no_environment() -> None:
    program = "from finchbot.settings import Settings; print(Settings().server.port)"
    # The program is the test's own.
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", program],
        env={"SERVER": '{"port": 5}', "FINCHBOT_SERVER__PORT": "6", "PYTHONPATH": "."},
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == "7860"


def test_secrets_are_hidden_in_every_form_of_the_settings(at: SettingsHome) -> None:
    headers = {"Authorization": KEY}
    at.write({"providers": {"openai": {"api_key": KEY, "extra_headers": headers}}})
    store = at.store()
    assert KEY not in repr(store.current)
    assert KEY not in repr(store.fields())
    assert KEY in store.secrets()


numbers = st.one_of(st.none(), st.integers(1, 9))


@given(st.lists(st.fixed_dictionaries({"a": numbers, "b": numbers}), min_size=3, max_size=3))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_each_field_takes_the_first_layer_that_sets_it(rows: list[dict[str, int | None]]) -> None:
    names = {"a": "max_tokens", "b": "max_tool_iterations"}
    sources: list[Source] = ["cli", "env", "file"]
    layers = [
        Layer(source, {"agents": {"defaults": {names[key]: row[key] for key in names if row[key]}}})
        for source, row in zip(sources, rows, strict=True)
    ]
    merged = merge(layers)
    for key, name in names.items():
        first = next((at for at, row in enumerate(rows) if row[key]), None)
        value = getattr(merged.settings.agents.defaults, name)
        default = getattr(Settings().agents.defaults, name)
        assert value == (default if first is None else rows[first][key])
        expected = "default" if first is None else sources[first]
        assert merged.source_of(("agents", "defaults", name)) == expected
