"""Which model answers: what was asked for, what the settings offer, and what a name implies."""

from collections.abc import Iterator

from finchbot.errors import AuthFailed, ProviderError
from finchbot.providers.catalog import (
    BUILTIN,
    CATALOG,
    CUSTOM,
    Echo,
    ModelRef,
    ProviderSpec,
    custom_spec,
    find,
)
from finchbot.settings.model import ProviderSettings, Settings

AUTO = "auto"


def resolve(settings: Settings, wanted: str | None = None) -> ModelRef:
    """Return the model that `wanted` means.

    Args:
        settings: The settings of this moment; `default_model` stands in for no wish.
        wanted: ``provider/model``, a bare model name, or ``auto``. A named provider wins over
            every guess; a guess only picks among providers that have a key.

    Raises:
        AuthFailed: A bare name belongs to a provider that has no key.
        ProviderError: No provider is called so, or none is known to serve the name.
    """
    name = (wanted or settings.default_model).strip()
    if name.lower() == AUTO:
        return next(available(settings), BUILTIN)
    return _named(settings, name) or _listed(settings, name) or _guessed(settings, name)


def available(settings: Settings) -> Iterator[ModelRef]:
    """Yield the models of each provider that has a key, in the order of the catalogue.

    The first of a provider is its default.
    """
    for spec in rows(settings):
        given = settings.provider(spec.name)
        if given.api_key is not None:
            for model in models_of(spec, given):
                yield ModelRef(spec.name, model)


def models_of(spec: ProviderSpec, given: ProviderSettings) -> tuple[str, ...]:
    """Return the model names a provider offers, its default first."""
    return given.models or ((spec.default_model,) if spec.default_model else ())


def rows(settings: Settings) -> Iterator[ProviderSpec]:
    """Yield the catalogue with the user's own providers in their place, after openrouter."""
    for spec in CATALOG:
        yield spec
        if spec.name == "openrouter":
            yield from map(custom_spec, (n for n in settings.providers if find(n) is None))


def echo_of(spec: ProviderSpec, model: str) -> Echo:
    """Return what must go back with tool calls; a user's own server is known by its models."""
    if find(spec.name) is not None:
        return spec.echo
    family = model.rpartition("/")[2]
    return next((row.echo for row in CATALOG if row.implies(family)), "nothing")


def spec_of(settings: Settings, name: str) -> ProviderSpec | None:
    """Return the row of a provider, the user's own included; None when nobody knows it."""
    if name in settings.providers and find(name) is None:
        return custom_spec(name)
    return find(name)


def _named(settings: Settings, name: str) -> ModelRef | None:
    """Return the model of an explicit ``provider/model``; None when no provider is named."""
    head, slash, model = name.partition("/")
    head = head.removeprefix(f"{CUSTOM}.")
    spec = spec_of(settings, head)
    if spec is None:
        return None
    if spec.protocol == "builtin":
        return BUILTIN
    if slash and model:
        return ModelRef(spec.name, model)
    offered = models_of(spec, settings.provider(spec.name))
    return ModelRef(spec.name, offered[0]) if offered else None


def _listed(settings: Settings, name: str) -> ModelRef | None:
    """Return the model that the user listed under a provider by this very name."""
    for spec in rows(settings):
        if name in settings.provider(spec.name).models:
            return ModelRef(spec.name, name)
    return None


def _guessed(settings: Settings, name: str) -> ModelRef:
    if "/" in name:
        raise ProviderError("provider.unknown", provider=name.partition("/")[0], model=name)
    implied = [spec for spec in CATALOG if spec.implies(name)]
    for spec in implied:
        if settings.provider(spec.name).api_key is not None:
            return ModelRef(spec.name, name)
    if implied:
        raise key_missing(implied[0])
    raise ProviderError("provider.no_match", model=name)


def key_missing(spec: ProviderSpec) -> AuthFailed:
    """Return the error of a provider that was chosen and has no key."""
    variable = spec.key_names[0] if spec.key_names else f"{spec.name.upper()}_API_KEY"
    return AuthFailed("provider.key_missing", provider=spec.name, variable=variable)
