"""What can be set: one frozen class per section, its docstrings the documentation."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self, TypeGuard

from pydantic import BeforeValidator, Field, field_validator, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError
from pydantic_settings import BaseSettings, SettingsConfigDict
from pydantic_settings import PydanticBaseSettingsSource as Source

from finchbot.settings.channels import ChannelsSettings
from finchbot.settings.providers import usual_name
from finchbot.settings.values import (
    RESTART,
    Count,
    Headers,
    Key,
    Port,
    Seconds,
    Secret,
    Section,
    Text,
    Texts,
    Url,
)


def _switch(value: object) -> object:
    if isinstance(value, bool):
        return "on" if value else "off"
    return value


Level = Annotated[
    Literal["DEBUG", "INFO", "WARNING", "ERROR"],
    BeforeValidator(lambda value: value.upper() if isinstance(value, str) else value),
]
Thinking = Annotated[
    Literal["auto", "on", "off", "low", "medium", "high"], BeforeValidator(_switch)
]


class AgentDefaults(Section):
    """How the agent works when nothing else is said."""

    max_tokens: Count = 8192
    """Upper bound on the tokens of one answer."""
    temperature: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] = 0.7
    """0 is sober, 2 is wild."""
    max_tool_iterations: Annotated[Count, Field(le=1000)] = 20
    """How many times a run may go from the model to the tools."""
    fallback_models: Texts = ()
    """Models tried in this order when the default one fails."""
    workspace: Text = None
    """The folder the tools work in; the home's own when not set."""


class AgentsSettings(Section):
    """The agents."""

    defaults: AgentDefaults = AgentDefaults()


class ProviderSettings(Section):
    """One provider of language models."""

    api_key: Key = None
    api_base: Url = None
    """The base URL; the provider's own when not set."""
    extra_headers: Headers = Field(default_factory=dict, repr=False)
    """Sent with every request."""
    models: Texts = ()
    """Model names offered for choice; the first is the default."""
    thinking: Thinking = "auto"
    """Whether, or how hard, the model may think before it answers."""


class ExecSettings(Section):
    """The tool that runs commands."""

    enabled: bool = True
    timeout_s: Seconds = 60.0
    """The time after which a command and its children are ended."""
    allow: Texts = ()
    """Commands that run unasked."""
    deny: Texts = ()
    """Commands that never run."""
    sandbox: Literal["auto", "on", "off"] = "auto"
    """``auto`` uses the system's sandbox when there is one; ``on`` refuses to run without."""


class SearchSettings(Section):
    """The web search."""

    tavily_api_key: Key = None
    brave_api_key: Key = None
    tavily_base_url: Url = None
    brave_base_url: Url = None
    duckduckgo_base_url: Url = None
    max_results: Annotated[Count, Field(le=50)] = 5


class WebSettings(Section):
    """The tools that reach into the web."""

    allow_hosts: Texts = ()
    """Private hosts opened on purpose."""
    search: SearchSettings = SearchSettings()


class ToolsSettings(Section):
    """The tools."""

    restrict_to_workspace: bool = True
    """Whether the file tools stay inside the workspace and the skills folders."""
    exec: ExecSettings = ExecSettings()
    web: WebSettings = WebSettings()


class EmbeddingSettings(Section):
    """The local model that makes vectors of text."""

    provider: Annotated[Text, Field(json_schema_extra=RESTART)] = None
    """The best one at hand when not set."""
    model: Annotated[Text, Field(json_schema_extra=RESTART)] = None
    model_path: Annotated[Text, Field(json_schema_extra=RESTART)] = None


class MemorySettings(Section):
    """The memory."""

    auto_recall: bool = True
    """Whether memories are looked up before every model call."""
    strategy: Text = None
    """The name of the recall strategy; the best measured one when not set."""
    embedding: EmbeddingSettings = EmbeddingSettings()


class ServerSettings(Section):
    """The door."""

    host: Annotated[str, Field(min_length=1, json_schema_extra=RESTART)] = "127.0.0.1"
    port: Annotated[Port, Field(json_schema_extra=RESTART)] = 7860
    password: Annotated[Secret, Field(json_schema_extra=RESTART)] = None
    """The owner's password for the login page."""
    api_token: Annotated[Secret, Field(json_schema_extra=RESTART)] = None
    """A bearer token that stands for the owner."""
    root_path: Annotated[str, Field(json_schema_extra=RESTART)] = ""
    """The path a reverse proxy serves FinchBot under."""
    allowed_hosts: Annotated[Texts, Field(json_schema_extra=RESTART)] = ()
    """Host names answered besides those of loopback."""
    trusted_proxies: Annotated[Texts, Field(json_schema_extra=RESTART)] = ()
    """Addresses whose forwarded headers are believed."""


class LogSettings(Section):
    """The log file."""

    level: Annotated[Level, Field(json_schema_extra=RESTART)] = "INFO"
    """The least that is written; ``DEBUG`` tells of requests too, never of their text."""


class Settings(BaseSettings):
    """Everything that can be set, checked; where each value came from is the store's to say.

    Made directly it takes what it is given and reads no environment; `layered` stacks sources.
    """

    model_config = SettingsConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    language: Text = None
    """A language tag or a POSIX locale; not set, each person's browser or system decides."""
    default_model: Annotated[str, Field(min_length=1)] = "auto"
    """``provider/model`` or a model name; ``auto`` takes the first provider that has a key."""
    agents: AgentsSettings = AgentsSettings()
    providers: dict[str, ProviderSettings] = Field(default_factory=dict)
    """By name, letter by letter; those under ``custom`` in the file stand beside the others."""
    tools: ToolsSettings = ToolsSettings()
    memory: MemorySettings = MemorySettings()
    channels: ChannelsSettings = ChannelsSettings()
    server: ServerSettings = ServerSettings()
    log: LogSettings = LogSettings()
    demo: Annotated[bool, Field(json_schema_extra=RESTART)] = False
    """Strangers may come in and nothing is kept; set by the environment alone."""

    @field_validator("language")
    @classmethod
    def _tag(cls, value: str | None) -> str | None:
        if value is None or value == "auto":
            return None
        if not re.fullmatch(r"[A-Za-z]{1,8}(?:[-_.@:][A-Za-z0-9-]{1,16})*", value):
            raise PydanticCustomError("not_language", "Input should be a language tag")
        return value

    @model_validator(mode="before")
    @classmethod
    def _flat_providers(cls, value: Any) -> Any:
        if isinstance(value, dict) and isinstance(value.get("providers"), dict):
            return value | {"providers": flat_providers(value["providers"])}
        return value

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: Source,
        env_settings: Source,
        dotenv_settings: Source,
        file_secret_settings: Source,
    ) -> tuple[Source, ...]:
        """Leave out the sources that look at the process by themselves."""
        return (init_settings,)

    @classmethod
    def layered(cls, layers: Sequence[Mapping[str, Any]]) -> Self:
        """Return the settings of these layers, the strongest first, merged field by field.

        Raises:
            ValidationError: A value is wrong; ``loc`` names the field in the merged settings.
        """
        sources = tuple(_Layer(cls, layer) for layer in layers)
        # An argument of BaseSettings that type checkers do not see in subclasses.
        options: dict[str, Any] = {"_build_sources": (sources, {})}
        return cls(**options)

    def provider(self, name: str) -> ProviderSettings:
        """Return the settings of one provider, all defaults when nothing was set."""
        return self.providers.get(name, ProviderSettings())


class _Layer(Source):
    """One layer as pydantic-settings sees it."""

    def __init__(self, settings_cls: type[BaseSettings], values: Mapping[str, Any]) -> None:
        super().__init__(settings_cls)
        self._values = dict(values)

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        return self._values.get(field_name), field_name, False

    def __call__(self) -> dict[str, Any]:
        return self._values


def is_group(value: object, name: str = "custom") -> TypeGuard[dict[str, Any]]:
    """Tell whether this entry of ``providers`` holds custom providers instead of being one."""
    return (
        name == "custom"
        and isinstance(value, dict)
        and not value.keys() & ProviderSettings.model_fields.keys()
    )


def flat_providers(providers: dict[str, Any]) -> dict[str, Any]:
    """Return the providers by their usual names, those of the ``custom`` group beside them.

    Of two that come to one name, what is spelled so wins, field by field.
    """
    flat = {name: value for name, value in providers.items() if not is_group(value, name)}
    for name, value in providers.items():
        if is_group(value, name):
            flat = value | flat
    usual: dict[str, Any] = {}
    for name, value in sorted(flat.items(), key=lambda item: usual_name(item[0]) == item[0]):
        before = usual.get(usual_name(name))
        both = isinstance(before, dict) and isinstance(value, dict)
        usual[usual_name(name)] = before | value if both else value
    return {usual_name(name): usual[usual_name(name)] for name in flat}
