"""The kinds of value a setting can hold, and how text from a person becomes one of them."""

import json
import re
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    SecretStr,
)
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

FieldPath = tuple[str, ...]
"""Where a setting stands: ``("providers", "openai", "api_key")``."""

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER = re.compile(r"[\t\x20-\x7e]*")
_FRAMING = frozenset({"content-length", "transfer-encoding", "connection"})
"""Headers that the client writes by what it sends; others would break the request."""

RESTART: dict[str, JsonValue] = {"restart": True}
"""For `Field(json_schema_extra=...)`: the setting is read once, when the program starts."""


class Section(BaseModel):
    """A group of settings: frozen, and blind to names it does not know.

    Unknown names stay in the user's file; they may belong to a newer FinchBot.
    """

    # Validation errors travel to logs and pages, so they must not quote what was entered.
    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


def section_of(info: FieldInfo) -> type[BaseModel] | None:
    """Return the section a field holds, or None when it holds a value."""
    kind = info.annotation
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _filled(value: object) -> object:
    """Take blank text for no value at all, drop the blanks around it; an id may be a number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        return value.strip() or None
    return value


def _number(value: object) -> object:
    """Refuse true and false, which Python would take for 1 and 0."""
    if isinstance(value, bool):
        raise PydanticCustomError("int_type", "Input should be a number")
    return value


def _texts(value: object) -> object:
    """Read a list from JSON or from words between commas; ids may be numbers; blanks are cut."""
    if isinstance(value, str):
        value = _json(value, "list_type") if value.lstrip().startswith("[") else value.split(",")
    if not isinstance(value, list | tuple):
        raise PydanticCustomError("list_type", "Input should be a list")
    words = [
        str(word).strip() if isinstance(word, str | int) and not isinstance(word, bool) else word
        for word in value
    ]
    return tuple(word for word in words if word != "")


def _one_line(value: object) -> object:
    """Refuse a secret with a line break inside: it could never be sent."""
    value = _filled(value)
    if isinstance(value, str) and any(ord(letter) < 32 for letter in value):
        raise PydanticCustomError("not_one_line", "Input should be one line")
    return value


def _sent_as_key(value: object) -> object:
    """Refuse a key that no header can carry, such as one pasted with an invisible letter."""
    value = _one_line(value)
    if isinstance(value, str) and not _HEADER.fullmatch(value):
        raise PydanticCustomError("not_a_key", "Input should be ASCII")
    return value


def _mapping(value: object) -> object:
    return _json(value, "dict_type") if isinstance(value, str) else value


def _sendable(headers: dict[str, str]) -> dict[str, str]:
    """Refuse what HTTP cannot carry as a header."""
    for name, text in headers.items():
        named = _HEADER_NAME.fullmatch(name) and name.lower() not in _FRAMING
        if not named or not _HEADER.fullmatch(text):
            raise PydanticCustomError("bad_header", "Input should be HTTP headers")
    return headers


def _json(text: str, problem: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise PydanticCustomError(problem, "Input should be JSON") from error


def _url(value: object) -> object:
    """Accept web addresses alone and drop the slash at their end."""
    value = _filled(value)
    if not isinstance(value, str):
        return value
    if not _is_url(value):
        raise PydanticCustomError("not_url", "Input should be a web address")
    return value.rstrip("/")


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        known = parts.scheme in ("http", "https", "ws", "wss")
        # Asking for the port checks that it is one.
        named = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
    return known and named and text.isprintable() and not any(map(str.isspace, text))


Secret = Annotated[SecretStr | None, BeforeValidator(_one_line)]
"""A key, token or password; blank means not set."""

Key = Annotated[SecretStr | None, BeforeValidator(_sent_as_key)]
"""A secret that is sent in a header; blank means not set."""

Text = Annotated[str | None, BeforeValidator(_filled)]
"""Text that may be missing; blank means not set."""

Url = Annotated[str | None, BeforeValidator(_url)]
"""A web address without a slash at the end; blank means not set."""

Texts = Annotated[tuple[str, ...], BeforeValidator(_texts)]
"""A list of texts; numbers are taken as text."""

Headers = Annotated[dict[str, str], BeforeValidator(_mapping), AfterValidator(_sendable)]
"""Names kept letter by letter."""

Count = Annotated[int, BeforeValidator(_number), Field(ge=1)]
"""A whole number from 1 up."""

Seconds = Annotated[float, BeforeValidator(_number), Field(gt=0, le=86_400, allow_inf_nan=False)]
"""A time, longer than none and at most a day."""

Port = Annotated[int, BeforeValidator(_number), Field(ge=0, le=65_535)]
"""A TCP port; 0 lets the system choose."""
