"""Models that talk to the scripted server."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import FakeListChatModel

from finchbot.providers.models import Models
from finchbot.settings.model import Settings
from tests.support.clock import CountedIds, FakeClock
from tests.support.model_server import ModelServer

Ask = Callable[..., BaseChatModel]


@pytest.fixture
async def models(clock: FakeClock, ids: CountedIds) -> AsyncIterator[Models]:
    opened = Models(lambda: FakeListChatModel(responses=["builtin"]), clock, ids)
    settings = Settings.model_validate({"providers": {"openai": {"api_key": "k"}}})
    # Loading libraries and certificates blocks, so the program does it in a thread too.
    await asyncio.to_thread(opened.warm, settings)
    yield opened
    await opened.close()


@pytest.fixture
def chat(models: Models, model_server: ModelServer) -> Ask:
    """Return a function that makes a model of the scripted server, as a provider of its own.

    Keywords are settings of the provider; `provider` and `model` name what is asked for, and
    `defaults` are `agents.defaults`.
    """

    def make(
        *,
        provider: str = "mine",
        model: str = "scripted",
        defaults: dict[str, Any] | None = None,
        **given: Any,
    ) -> BaseChatModel:
        settings = Settings.model_validate(
            {
                "default_model": f"{provider}/{model}",
                "agents": {"defaults": defaults or {}},
                "providers": {provider: {"api_base": model_server.url, **given}},
            }
        )
        return models.chat_model(models.resolve(settings), settings)

    return make
