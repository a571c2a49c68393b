"""Which model answers: explicit names, guesses among keys, the first key, else builtin."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finchbot.errors import AuthFailed, ProviderError
from finchbot.providers.catalog import CATALOG
from finchbot.providers.choice import available, resolve
from finchbot.settings.model import Settings

KEYED = [spec.name for spec in CATALOG if spec.needs_key]


def settings(*keyed: str, default: str = "auto", **providers: dict[str, Any]) -> Settings:
    given = {name: {"api_key": f"key-of-{name}"} for name in keyed}
    return Settings.model_validate({"default_model": default, "providers": {**given, **providers}})


def chosen(settings: Settings, wanted: str | None = None) -> str:
    return str(resolve(settings, wanted))


def test_without_any_key_builtin_answers() -> None:
    assert chosen(settings()) == "builtin"
    assert chosen(settings("groq"), "builtin") == "builtin"


def test_an_address_without_a_key_does_not_make_a_default() -> None:
    assert chosen(settings(openai={"api_base": "http://127.0.0.1:1/v1"})) == "builtin"


@given(st.sets(st.sampled_from(KEYED), min_size=1))
def test_auto_is_the_first_row_with_a_key(keyed: set[str]) -> None:
    first = next(spec for spec in CATALOG if spec.name in keyed)
    assert chosen(settings(*sorted(keyed))) == f"{first.name}/{first.default_model}"


def test_the_first_listed_model_is_the_providers_default() -> None:
    listed = settings(groq={"api_key": "k", "models": ["a", "b"]})
    assert chosen(listed) == "groq/a"
    assert [str(ref) for ref in available(listed)] == ["groq/a", "groq/b"]


@given(st.sets(st.sampled_from(KEYED)), st.sampled_from(KEYED))
def test_a_named_provider_wins_over_every_guess(keyed: set[str], named: str) -> None:
    assert chosen(settings(*sorted(keyed)), f"{named}/gpt-4o") == f"{named}/gpt-4o"


@pytest.mark.parametrize(
    ("keyed", "wanted", "expected"),
    [
        (("openai", "moonshot"), "kimi-k2.5", "moonshot/kimi-k2.5"),
        (("openai",), "openrouter/gpt-4o", "openrouter/gpt-4o"),
        (("openai", "groq"), "ollama/llama3", "ollama/llama3"),
        (("openai",), "OpenAI/gpt-4o", "openai/gpt-4o"),
        (("huggingface",), "huggingface/Qwen/Qwen3-8B", "huggingface/Qwen/Qwen3-8B"),
        (("groq",), "llama-3.3-70b-versatile", "groq/llama-3.3-70b-versatile"),
        ((), "ollama", "ollama/llama3.2"),
        (("deepseek",), "deepseek", "deepseek/deepseek-v4-flash"),
    ],
)
def test_names_find_their_provider(keyed: tuple[str, ...], wanted: str, expected: str) -> None:
    assert chosen(settings(*keyed), wanted) == expected
    assert chosen(settings(*keyed, default=wanted)) == expected


def test_a_guess_needs_a_key_and_the_error_names_the_variable() -> None:
    with pytest.raises(AuthFailed) as raised:
        chosen(settings("groq"), "gpt-4o")
    assert raised.value.code == "provider.key_missing"
    assert raised.value.params == {"provider": "openai", "variable": "OPENAI_API_KEY"}


@pytest.mark.parametrize(
    ("wanted", "code"),
    [("frobnicate-7b", "provider.no_match"), ("nobody/frobnicate", "provider.unknown")],
)
def test_a_name_nobody_knows_is_an_error(wanted: str, code: str) -> None:
    with pytest.raises(ProviderError) as raised:
        chosen(settings("openai"), wanted)
    assert raised.value.code == code


def test_a_provider_of_ones_own_is_named_with_and_without_custom() -> None:
    own = settings(custom={"My-Prov": {"api_base": "http://127.0.0.1:1", "models": ["m1"]}})
    assert chosen(own, "custom.My-Prov/m2") == "My-Prov/m2"
    assert chosen(own, "My-Prov/org/m2") == "My-Prov/org/m2"
    assert chosen(own, "My-Prov") == "My-Prov/m1"
    assert chosen(own, "m1") == "My-Prov/m1"


def test_a_keyed_provider_of_ones_own_stands_after_openrouter() -> None:
    mine = {"api_key": "k", "api_base": "http://127.0.0.1:1", "models": ["m1"]}
    assert chosen(settings("huggingface", mine=mine)) == "mine/m1"
    assert chosen(settings("openrouter", mine=mine)) == "openrouter/openrouter/auto"
