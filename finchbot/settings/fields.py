"""Every setting as one flat list: its dotted name, its kind, its value as people may see it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from finchbot.settings.channels import ChannelSettings, ChannelsSettings
from finchbot.settings.masks import looks_secret, mask, masked, secrets_in
from finchbot.settings.model import ProviderSettings, Settings, is_group
from finchbot.settings.providers import PROVIDER_ENV, usual_name
from finchbot.settings.values import FieldPath, section_of


@dataclass(frozen=True, slots=True)
class Field:
    """One setting that can be set by itself."""

    path: FieldPath
    """Where it stands in `Settings`."""
    secret: bool = False
    restart: bool = False
    """Read once, at the start."""


def all_fields(settings: Settings) -> Iterator[Field]:
    """Yield every setting there is, those of each known provider and channel included."""
    for name, info in Settings.model_fields.items():
        if name == "providers":
            for provider in dict.fromkeys((*PROVIDER_ENV, *settings.providers)):
                yield from _of_section(ProviderSettings, ("providers", provider))
        elif name == "channels":
            for channel, section in settings.channels.named().items():
                yield from _of_channel(section, ("channels", channel))
        else:
            yield from _of_field(info, (name,))


def find_field(path: FieldPath) -> Field | None:
    """Return the setting at this path, whatever the provider's or channel's name; else None."""
    if path[:1] == ("providers",):
        known = _of_section(ProviderSettings, path[:2])
    elif path[:1] == ("channels",):
        return _find_in_channel(path)
    else:
        known = all_fields(Settings())
    return next((field for field in known if field.path == path), None)


def _find_in_channel(path: FieldPath) -> Field | None:
    """Any name may be a setting of a channel that an installed package brings."""
    if len(path) != 3:
        return None
    section = ChannelsSettings().named().get(path[1])
    known = _of_channel(section or ChannelSettings(), path[:2])
    found = next((field for field in known if field.path == path), None)
    if found is None and section is None:
        return Field(path, secret=looks_secret(path[2]), restart=True)
    return found


def value_at(settings: Settings, path: FieldPath) -> Any:
    """Return the value of a setting, None where nobody set it; secrets stay wrapped."""
    value: Any = settings
    for name in path:
        if isinstance(value, Mapping):
            value = value.get(name, ProviderSettings())
        elif isinstance(value, ChannelsSettings):
            value = value.named().get(name, ChannelSettings())
        elif isinstance(value, ChannelSettings):
            value = getattr(value, name, None)
        else:
            value = getattr(value, name)
    return value


def shown(field: Field, value: Any) -> Any:
    """Return the value as JSON with every secret masked."""
    if field.secret and not isinstance(value, dict | list):
        text = secret_text(value)
        return mask(text, password="password" in field.path[-1]) if text else None
    return masked(value, secret=field.secret)


def secret_text(value: Any) -> str:
    """Return the bare secret, empty when there is none."""
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    # A channel of another package has its secrets as the file has them.
    return str(value) if isinstance(value, str | int | float) else ""


def secrets_of(settings: Settings) -> Iterator[str]:
    """Yield every secret among the settings, those in headers included."""
    for field in all_fields(settings):
        value = value_at(settings, field.path)
        if isinstance(value, SecretStr):
            yield from filter(None, [secret_text(value)])
        else:
            yield from secrets_in(value, secret=field.secret)


def split_name(name: str) -> FieldPath:
    """Return the path a dotted name means, as the user's file has it.

    A provider's name may hold dots: everything between ``providers.`` and the first name of a
    provider's setting is the provider.
    """
    first, *rest = name.split(".")
    if first != "providers":
        return (first, *rest)
    settings = ProviderSettings.model_fields
    end = next((at for at, part in enumerate(rest) if at and part in settings), len(rest))
    head, tail = rest[:end], rest[end:]
    group = head[:1] if head[0:1] == ["custom"] and len(head) > 1 else []
    provider = ".".join(head[len(group) :])
    below = [tail[0], ".".join(tail[1:])] if len(tail) > 1 else tail
    return ("providers", *group, provider, *below)


def settings_path(path: FieldPath) -> FieldPath:
    """Return where `Settings` has what stands at `path` in the file."""
    if path[:2] == ("providers", "custom") and len(path) > 2:
        inside = path[2] not in ProviderSettings.model_fields
        path = ("providers", *path[2:]) if inside else path
    if path[:1] == ("providers",) and len(path) > 1:
        return ("providers", usual_name(path[1]), *path[2:])
    return path


def file_path(path: FieldPath, data: Mapping[str, Any]) -> FieldPath:
    """Return where the file has, or would have, what `Settings` has at `path`."""
    if path[:1] != ("providers",) or len(path) < 2:
        return path
    providers = data.get("providers")
    if not isinstance(providers, dict):
        return path
    if (name := _spelled(path[1], providers)) is not None:
        return ("providers", name, *path[2:])
    group = providers.get("custom")
    if is_group(group) and (name := _spelled(path[1], group)) is not None:
        return ("providers", "custom", name, *path[2:])
    return path


def _spelled(name: str, providers: Mapping[str, Any]) -> str | None:
    """Return the name under which the file has a provider; None when it has it not."""
    if name in providers:
        return name
    return next((known for known in providers if usual_name(known) == name), None)


def dotted(path: Iterable[str | int]) -> str:
    """Return the name people read."""
    return ".".join(str(part) for part in path)


def _of_channel(section: ChannelSettings, path: FieldPath) -> Iterator[Field]:
    yield from _of_section(type(section), path)
    for extra in section.model_extra or {}:
        yield Field((*path, extra), secret=looks_secret(extra), restart=True)


def _of_section(model: type[BaseModel], path: FieldPath) -> Iterator[Field]:
    for name, info in model.model_fields.items():
        yield from _of_field(info, (*path, name))


def _of_field(info: FieldInfo, path: FieldPath) -> Iterator[Field]:
    section = section_of(info)
    if section is not None:
        yield from _of_section(section, path)
        return
    extra = info.json_schema_extra
    restart = isinstance(extra, dict) and bool(extra.get("restart"))
    restart = restart or path[0] == "channels"
    yield Field(path, secret=SecretStr in get_args(info.annotation), restart=restart)
