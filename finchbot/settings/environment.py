"""What the environment says: `FINCHBOT_…` names and the variables of the providers."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from finchbot.settings.channels import ChannelsSettings
from finchbot.settings.model import ProviderSettings, Settings
from finchbot.settings.providers import PROVIDER_ENV
from finchbot.settings.values import FieldPath, section_of

_PREFIX = "FINCHBOT_"
_NOT_SETTINGS = frozenset({"HOME", "LANG"})
_PLAIN: Mapping[str, FieldPath] = {
    "FINCHBOT_LANG": ("language",),
    "TAVILY_API_KEY": ("tools", "web", "search", "tavily_api_key"),
    "BRAVE_API_KEY": ("tools", "web", "search", "brave_api_key"),
}


@dataclass(frozen=True, slots=True)
class Environment:
    """The settings found in the environment."""

    values: dict[str, Any] = field(default_factory=dict)
    """Nested as the settings are; the text of the variables, unchecked."""
    variables: dict[FieldPath, str] = field(default_factory=dict)
    """Which variable set a field."""
    unknown: tuple[str, ...] = ()
    """Names that begin with ``FINCHBOT_`` and name no setting."""

    def set(self, path: FieldPath, variable: str, text: str) -> None:
        """Note one value, unless a stronger name has set the field already."""
        if path in self.variables:
            return
        section = self.values
        for name in path[:-1]:
            section = section.setdefault(name, {})
        section[path[-1]] = text
        self.variables[path] = variable


def read_environment(environ: Mapping[str, str], providers: Iterable[str] = ()) -> Environment:
    """Return what the environment sets; an empty variable counts as not set.

    Args:
        environ: The process environment.
        providers: Provider names the user's file knows, letter by letter, besides our own.
    """
    names = list(dict.fromkeys((*PROVIDER_ENV, *providers)))
    given = {name: text.strip() for name, text in environ.items() if text.strip()}
    unknown: list[str] = []
    found = Environment()
    for variable, path in _PLAIN.items():
        if variable in given:
            found.set(path, variable, given[variable])
    for variable in sorted(given):
        if not variable.startswith(_PREFIX) or variable.removeprefix(_PREFIX) in _NOT_SETTINGS:
            continue
        named = _path(variable.removeprefix(_PREFIX), names)
        if named is None:
            unknown.append(variable)
        else:
            found.set(named, variable, given[variable])
    for name in names:
        _read_provider(found, given, name)
    return Environment(found.values, found.variables, tuple(unknown))


def demo_by_default(environ: Mapping[str, str]) -> bool:
    """Tell whether this is a Space, which is a demo unless told otherwise."""
    return bool(environ.get("SPACE_ID", "").strip())


def _read_provider(found: Environment, given: Mapping[str, str], name: str) -> None:
    stem = _folded(name)
    wanted = {
        "api_key": PROVIDER_ENV.get(name, (f"{stem}_API_KEY",)),
        "api_base": (f"{stem}_API_BASE", f"{stem}_BASE_URL"),
    }
    for setting, variables in wanted.items():
        for variable in variables:
            if variable in given:
                found.set(("providers", name, setting), variable, given[variable])


def _path(name: str, providers: Iterable[str]) -> FieldPath | None:
    """Return the setting that ``A__B__C`` names, or None."""
    first, *rest = (segment.lower() for segment in name.split("__"))
    if first == "providers":
        return _provider_path(rest, providers)
    if first == "channels":
        return _channel_path(rest)
    return _section_path(Settings, (first, *rest))


def _provider_path(segments: list[str], providers: Iterable[str]) -> FieldPath | None:
    if len(segments) == 3 and segments[0] == "custom":
        segments = segments[1:]
    if len(segments) != 2 or segments[1] not in ProviderSettings.model_fields:
        return None
    spoken, setting = segments
    name = next((name for name in providers if _folded(name) == _folded(spoken)), spoken)
    return ("providers", name, setting)


def _channel_path(segments: list[str]) -> FieldPath | None:
    if len(segments) != 2 or not all(segments):
        return None
    known = ChannelsSettings.model_fields.get(segments[0])
    if known is None:
        return ("channels", *segments)
    section = section_of(known)
    inside = section is not None and segments[1] in section.model_fields
    return ("channels", *segments) if inside else None


def _section_path(model: type[BaseModel], segments: tuple[str, ...]) -> FieldPath | None:
    """Follow the segments down to a field that is no section."""
    known = model.model_fields.get(segments[0])
    if known is None:
        return None
    section = section_of(known)
    if section is not None:
        below = _section_path(section, segments[1:]) if segments[1:] else None
        return None if below is None else (segments[0], *below)
    return None if segments[1:] else segments


def _folded(name: str) -> str:
    """Return the form in which a name stands in a variable: ``My-Prov`` → ``MY_PROV``."""
    return re.sub(r"[^A-Za-z0-9]+", "_", name).upper()
