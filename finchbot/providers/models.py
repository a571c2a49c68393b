"""Models: from the settings of this moment to a chat model that answers."""

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from finchbot.errors import ProviderError
from finchbot.ids import Clock, NewId
from finchbot.lazy import Lazy, load
from finchbot.providers import choice
from finchbot.providers.catalog import ModelRef, ProviderSpec
from finchbot.providers.connection import Connection, normalised
from finchbot.providers.openai_request import thinking_fields
from finchbot.settings.model import ProviderSettings, Settings

if TYPE_CHECKING:
    from langchain_core.language_models.chat_models import BaseChatModel

    from finchbot.providers.openai_line import Lines


class Models:
    """All models there are. Nothing of a setting is kept: a changed key counts at once.

    Clients are shared by equal connections and closed by `close`.

    Args:
        builtin: Makes the model that needs neither key nor network.
        clock: For waits that a provider gives as a date.
        new_id: For tool calls that come without an id.
    """

    def __init__(self, builtin: "Callable[[], BaseChatModel]", clock: Clock, new_id: NewId) -> None:
        self._builtin = Lazy(builtin)
        self._new_id = new_id
        self._lines: Lazy[Lines] = Lazy(
            lambda: cast("Lines", load("finchbot.providers.openai_line").Lines(clock))
        )

    def resolve(self, settings: Settings, wanted: str | None = None) -> ModelRef:
        """Return the model that `wanted`, or the default, means; see `choice.resolve`."""
        return choice.resolve(settings, wanted)

    def available(self, settings: Settings) -> tuple[ModelRef, ...]:
        """Return each provider's models, of those that have a key, in the catalogue's order."""
        return tuple(choice.available(settings))

    def chat_model(self, ref: ModelRef, settings: Settings) -> "BaseChatModel":
        """Return a model ready to answer; no request leaves before it is asked.

        Blocks while it loads libraries and certificates for the first time: call it in a thread.

        Raises:
            AuthFailed: The provider has no key.
            ProviderError: Its protocol is not there yet, or it has no address.
        """
        spec = choice.spec_of(settings, ref.provider)
        if spec is None:
            raise ProviderError("provider.unknown", provider=ref.provider, model=str(ref))
        match spec.protocol:
            case "builtin":
                return self._builtin.get()
            case "openai":
                return self._openai(spec, ref, settings)
            case _:
                raise ProviderError(
                    "provider.protocol_missing", provider=spec.name, protocol=spec.protocol
                )

    def warm(self, settings: Settings) -> None:
        """Load what the default model needs; blocks, so call it in a thread at the start.

        Raises:
            ProviderError: As `resolve` and `chat_model` do.
        """
        self.chat_model(self.resolve(settings), settings)

    async def close(self) -> None:
        """Close every connection."""
        if self._lines.ready:
            await self._lines.get().close()

    def _openai(self, spec: ProviderSpec, ref: ModelRef, settings: Settings) -> "BaseChatModel":
        given = settings.provider(spec.name)
        defaults = settings.agents.defaults
        model: BaseChatModel = load("finchbot.providers.openai_compat").OpenAICompatChat(
            model_name=ref.model,
            max_tokens=defaults.max_tokens,
            temperature=defaults.temperature,
            extra_fields=thinking_fields(spec.thinking, given.thinking),
            echo="nothing" if given.thinking == "off" else choice.echo_of(spec, ref.model),
            line=self._lines.get().to(_connection(spec, given)),
            new_id=self._new_id,
        )
        return model


class CurrentModels:
    """The models as a run sees them: by name, under the settings of the moment.

    Args:
        models: All there are.
        settings: Returns the settings of the moment.
    """

    def __init__(self, models: Models, settings: Callable[[], Settings]) -> None:
        self._models = models
        self._settings = settings

    def resolve(self, wanted: str | None = None) -> str:
        """Return ``provider/model``; see `Models.resolve`."""
        return str(self._models.resolve(self._settings(), wanted))

    def chat_model(self, ref: str) -> "BaseChatModel":
        """Return the model that `resolve` named; see `Models.chat_model`."""
        settings = self._settings()
        return self._models.chat_model(self._models.resolve(settings, ref), settings)


def _connection(spec: ProviderSpec, given: ProviderSettings) -> Connection:
    """Return how to reach a provider.

    Raises:
        AuthFailed: It needs a key and has none; an address of the user's own may need none.
        ProviderError: It has no address.
    """
    if spec.needs_key and given.api_key is None and given.api_base is None:
        raise choice.key_missing(spec)
    base_url = given.api_base or spec.base_url
    if not base_url:
        raise ProviderError("provider.no_address", provider=spec.name)
    return Connection(
        provider=spec.name,
        base_url=normalised(base_url),
        api_key=given.api_key.get_secret_value() if given.api_key else "",
        headers=tuple(given.extra_headers.items()),
        idle_timeout_s=spec.idle_timeout_s,
    )
