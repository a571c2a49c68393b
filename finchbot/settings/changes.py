"""Changes from a surface, put into the data of the user's file; everything else stays."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import JsonValue

from finchbot.errors import ConfigError
from finchbot.settings.fields import (
    Field,
    dotted,
    file_path,
    find_field,
    secret_text,
    settings_path,
    shown,
    split_name,
    value_at,
)
from finchbot.settings.layers import Merged, value_in
from finchbot.settings.masks import is_masked, looks_secret
from finchbot.settings.values import FieldPath


def apply_changes(
    data: dict[str, Any], changes: Mapping[str, JsonValue], merged: Merged
) -> list[FieldPath]:
    """Put the changes into `data`, and return which settings they touch.

    Values are not judged here, only whether there is such a setting and whether a mask is the
    one that was shown.

    Args:
        data: What the file holds, changed in place; names that are unknown stay untouched.
        changes: New values by dotted name; null removes; a section may come as a map.
        merged: The settings the surface has shown.

    Raises:
        ConfigError: ``config.unknown_field``, ``config.environment_only``,
            ``config.mask_stale`` (``field``).
    """
    touched: list[FieldPath] = []
    for name, value in changes.items():
        for path, leaf in _leaves(split_name(name), value):
            place = path if path[:2] == ("providers", "custom") else file_path(path, data)
            place = file_path(settings_path(path), data) if _stands(path, data) else place
            _apply(data, place, leaf, merged)
            touched.append(settings_path(path))
    return touched


def _stands(path: FieldPath, data: Mapping[str, Any]) -> bool:
    """Tell whether the file has this provider already, in whichever place."""
    place = file_path(settings_path(path), data)
    return value_in(data, place[: 3 if place[:2] == ("providers", "custom") else 2]) is not None


def _leaves(path: FieldPath, value: JsonValue) -> Iterator[tuple[FieldPath, JsonValue]]:
    """Yield the settings below a section that was sent as a map, else the one named."""
    where = settings_path(path)
    if find_field(where) is not None or _is_header(where) or (value is None and _is_entry(where)):
        yield path, value
    elif isinstance(value, dict) and value:
        for name, below in value.items():
            yield from _leaves((*path, name), below)
    else:
        raise ConfigError("config.unknown_field", field=dotted(path))


def _is_header(where: FieldPath) -> bool:
    return where[:1] == ("providers",) and len(where) == 4 and where[2] == "extra_headers"


def _is_entry(where: FieldPath) -> bool:
    """Tell whether this is a provider or a channel as a whole, which can only be removed."""
    return len(where) == 2 and where[0] in ("providers", "channels")


def _apply(data: dict[str, Any], place: FieldPath, value: JsonValue, merged: Merged) -> None:
    where = settings_path(place)
    if where == ("demo",):
        raise ConfigError("config.environment_only", field="demo")
    field = find_field(where)
    if field is not None and field.secret and not isinstance(value, dict | list):
        if _keeps(field, value, merged):
            return
        value = None if value == "" else value
    elif isinstance(value, dict | list):
        known = field or Field(where)
        now = shown(known, value_at(merged.settings, where))
        value = _unmasked(value, now, value_in(data, place), where, secret=known.secret)
    elif is_masked(value) and _is_header(where):
        raise ConfigError("config.mask_stale", field=dotted(place))
    if value is None:
        _remove(data, place)
    else:
        _put(data, place, value)


def _keeps(field: Field, value: JsonValue, merged: Merged) -> bool:
    """Tell whether the secret sent is the one in force, masked or from the environment.

    Raises:
        ConfigError: ``config.mask_stale`` when it is the mask of another secret.
    """
    old = value_at(merged.settings, field.path)
    if value is not None and merged.source_of(field.path) == "env" and value == secret_text(old):
        return True
    if not is_masked(value):
        return False
    if value != shown(field, old):
        raise ConfigError("config.mask_stale", field=dotted(field.path))
    return True


def _unmasked(sent: Any, now: Any, kept: Any, where: FieldPath, *, secret: bool) -> Any:
    """Return what was sent with each mask replaced by what the file has in its place.

    What the file has not, as it comes from the environment, is left out.

    Args:
        sent: A map or list with masks in it.
        now: The same as it was shown.
        kept: The same as the file has it.
        where: Its name, for the error.
        secret: It stands below a secret-looking name; elsewhere nothing is a mask.

    Raises:
        ConfigError: ``config.mask_stale`` when a mask is not the one that was shown.
    """
    if isinstance(sent, dict):
        inside = {
            name: _unmasked(
                below,
                _at(now, name),
                _at(kept, name),
                (*where, name),
                secret=secret or looks_secret(name),
            )
            for name, below in sent.items()
        }
        return {name: value for name, value in inside.items() if value is not None}
    if isinstance(sent, list):
        return [
            _unmasked(below, _at(now, at), _at(kept, at), (*where, str(at)), secret=secret)
            for at, below in enumerate(sent)
        ]
    if not secret or not is_masked(sent):
        return sent
    if sent != now:
        raise ConfigError("config.mask_stale", field=dotted(where))
    return kept


def _at(value: Any, key: str | int) -> Any:
    """Return what a map has under a name, or a list at a place; None when there is nothing."""
    if isinstance(value, dict):
        return value.get(key)
    at_place = isinstance(value, list) and isinstance(key, int) and key < len(value)
    return value[key] if at_place else None


def _put(data: dict[str, Any], place: FieldPath, value: JsonValue) -> None:
    section = data
    for name in place[:-1]:
        below = section.get(name)
        if not isinstance(below, dict):
            below = section[name] = {}
        section = below
    section[place[-1]] = value


def _remove(data: dict[str, Any], place: FieldPath) -> None:
    """Take out one value, and the sections it leaves empty."""
    section = value_in(data, place[:-1])
    if isinstance(section, dict):
        section.pop(place[-1], None)
        if not section and place[:-1]:
            _remove(data, place[:-1])
