"""From settings to a model: what is shared, what is refused, what is loaded."""

import subprocess
import sys
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from finchbot.errors import AuthFailed, ProviderError
from finchbot.providers.catalog import BUILTIN, ModelRef
from finchbot.providers.models import CurrentModels, Models
from finchbot.settings.model import Settings
from tests.support.model_server import ModelServer

HI = [HumanMessage("hi")]


def settings(**providers: dict[str, Any]) -> Settings:
    return Settings.model_validate({"providers": providers})


async def test_without_a_key_builtin_answers(models: Models) -> None:
    ref = models.resolve(settings())
    assert ref == BUILTIN
    assert (await models.chat_model(ref, settings()).ainvoke(HI)).content == "builtin"


async def test_a_key_in_the_environment_and_an_address_in_the_file_meet(
    models: Models, model_server: ModelServer
) -> None:
    both = settings(deepseek={"api_key": "k", "api_base": model_server.url})
    ref = models.resolve(both)
    assert str(ref) == "deepseek/deepseek-v4-flash"
    assert (await models.chat_model(ref, both).ainvoke(HI)).content == "You said: hi"
    assert model_server.requests[0].body["model"] == "deepseek-v4-flash"


def test_an_address_that_no_host_can_have_is_refused(models: Models) -> None:
    odd = settings(mine={"api_base": "http://😀"})
    with pytest.raises(ProviderError) as raised:
        models.chat_model(ModelRef("mine", "m"), odd)
    assert raised.value.code == "provider.no_address"


async def test_an_address_of_ones_own_needs_no_key(
    models: Models, model_server: ModelServer
) -> None:
    local = settings(openai={"api_base": model_server.url})
    reply = await models.chat_model(ModelRef("openai", "m"), local).ainvoke(HI)
    assert reply.content == "You said: hi"


@pytest.mark.parametrize(
    ("ref", "code"),
    [
        (ModelRef("openai", "gpt-4o"), "provider.key_missing"),
        (ModelRef("llamacpp", "/models/x.gguf"), "provider.protocol_missing"),
        (ModelRef("nobody", "m"), "provider.unknown"),
        (ModelRef("mine", "m"), "provider.no_address"),
    ],
)
def test_what_cannot_answer_is_refused_before_anything_leaves(
    models: Models, ref: ModelRef, code: str
) -> None:
    with pytest.raises(ProviderError) as raised:
        models.chat_model(ref, settings(mine={"api_key": "k"}))
    assert raised.value.code == code
    assert isinstance(raised.value, AuthFailed) is (code == "provider.key_missing")


def test_equal_connections_share_a_client_and_a_new_key_makes_a_new_one(models: Models) -> None:
    def line(**given: Any) -> Any:
        own = settings(mine={"api_base": "http://127.0.0.1:9", **given})
        return vars(models.chat_model(ModelRef("mine", "m"), own))["line"]

    first = line(api_key="one")
    assert line(api_key="one") is first
    assert line(api_key="one", models=["x"]) is first
    assert line(api_key="two") is not first
    assert line(api_key="one", extra_headers={"A": "b"}) is not first


async def test_a_run_names_its_model_and_gets_it_under_the_settings_of_the_moment(
    models: Models, model_server: ModelServer
) -> None:
    moment = settings()
    current = CurrentModels(models, lambda: moment)
    assert current.resolve() == "builtin"
    moment = settings(deepseek={"api_key": "k", "api_base": model_server.url})
    ref = current.resolve()
    assert ref == "deepseek/deepseek-v4-flash"
    assert (await current.chat_model(ref).ainvoke(HI)).content == "You said: hi"


async def test_closing_ends_every_connection(models: Models, model_server: ModelServer) -> None:
    own = settings(mine={"api_base": model_server.url})
    await models.chat_model(ModelRef("mine", "m"), own).ainvoke(HI)
    assert model_server.open_connections == 1
    await models.close()
    assert model_server.wait_until_closed()


def test_the_openai_variables_of_the_environment_reach_no_other_server() -> None:
    code = """
import asyncio, os
os.environ |= {"OPENAI_ORG_ID": "org-secret", "OPENAI_PROJECT_ID": "proj-secret",
               "OPENAI_API_KEY": "sk-secret", "OPENAI_BASE_URL": "http://192.0.2.1"}
from langchain_core.messages import HumanMessage
from finchbot.ids import new_id, utc_now
from finchbot.providers.catalog import ModelRef
from finchbot.providers.models import CurrentModels, Models
from finchbot.settings.model import Settings
from tests.support.model_server import ModelServer
async def main():
    with ModelServer() as server:
        own = Settings.model_validate({"providers": {"mine": {"api_base": server.url}}})
        models = Models(lambda: None, utc_now, new_id)
        await models.chat_model(ModelRef("mine", "m"), own).ainvoke([HumanMessage("hi")])
        await models.close()
        assert "secret" not in str(server.requests), server.requests
asyncio.run(main())
"""
    # S603: the code is the text above.
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)  # noqa: S603


def test_choosing_a_model_loads_no_heavy_library() -> None:
    code = """
import sys
from finchbot.ids import new_id, utc_now
from finchbot.providers.models import CurrentModels, Models
from finchbot.settings.model import Settings
models = Models(lambda: None, utc_now, new_id)
settings = Settings.model_validate({"providers": {"openai": {"api_key": "k"}}})
assert str(models.resolve(settings)).startswith("openai/")
heavy = {"openai", "langchain_core", "httpx2", "httpx", "langgraph"} & set(sys.modules)
assert not heavy, heavy
"""
    # S603: the code is the text above.
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)  # noqa: S603
