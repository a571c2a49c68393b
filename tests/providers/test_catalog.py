"""The catalogue agrees with the specification's table and with the settings."""

import pytest

from finchbot.providers.catalog import CATALOG, ModelRef, find
from finchbot.providers.connection import normalised
from finchbot.settings import PROVIDER_ENV


def test_every_row_has_a_name_of_its_own() -> None:
    assert len({spec.name for spec in CATALOG}) == len(CATALOG)


def test_the_settings_read_the_key_variables_that_the_rows_name() -> None:
    assert {spec.name: spec.key_names for spec in CATALOG} == dict(PROVIDER_ENV)


def test_every_row_with_a_key_has_an_address_and_a_default_model() -> None:
    for spec in CATALOG:
        if spec.needs_key:
            assert spec.default_model, spec.name
            assert spec.base_url.startswith("https://"), spec.name
            assert normalised(spec.base_url) == spec.base_url


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        ("gpt-5.4", "openai"),
        ("o3-mini", "openai"),
        ("claude-sonnet-5-5", "anthropic"),
        ("deepseek-v4-pro", "deepseek"),
        ("kimi-k2.5", "moonshot"),
        ("moonshot-v1-8k", "moonshot"),
        ("Qwen3-max", "dashscope"),
        ("qwq-32b", "dashscope"),
        ("tongyi-x", "dashscope"),
        ("llama-3.3-70b-versatile", "groq"),
        ("mixtral-8x7b", "groq"),
        ("gemini-flash-latest", "gemini"),
    ],
)
def test_a_model_name_implies_its_family(model: str, provider: str) -> None:
    assert [spec.name for spec in CATALOG if spec.implies(model)] == [provider]


def test_a_row_is_found_in_any_case_of_letters() -> None:
    found = find("OpenAI")
    assert found is not None
    assert found.name == "openai"
    assert find("nobody") is None


def test_a_reference_reads_provider_slash_model() -> None:
    assert str(ModelRef("groq", "openai/gpt-oss-120b")) == "groq/openai/gpt-oss-120b"
    assert str(ModelRef("builtin")) == "builtin"


@pytest.mark.parametrize(
    ("pasted", "used"),
    [
        ("https://api.deepseek.com/v1", "https://api.deepseek.com/v1"),
        (" https://api.deepseek.com/v1/ ", "https://api.deepseek.com/v1"),
        ("https://api.deepseek.com/v1/chat/completions", "https://api.deepseek.com/v1"),
        ("http://127.0.0.1:11434", "http://127.0.0.1:11434/v1"),
        ("http://127.0.0.1:11434/", "http://127.0.0.1:11434/v1"),
        ("https://x.example/api/paas/v4", "https://x.example/api/paas/v4"),
    ],
)
def test_a_base_url_is_understood_however_much_was_pasted(pasted: str, used: str) -> None:
    assert normalised(pasted) == used
    assert normalised(used) == used
