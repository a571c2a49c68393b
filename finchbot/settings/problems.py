"""What is wrong with a value, as an error a person can be told about."""

import re

from pydantic_core import ErrorDetails

from finchbot.errors import ConfigError, Scalar


def problem_of(error: ErrorDetails, field: str) -> ConfigError:
    """Return the error that says why `field` cannot have the value; it never quotes the value.

    Args:
        error: One of pydantic's details.
        field: The setting's dotted name.
    """
    context = error.get("ctx", {})
    match error["type"]:
        case "greater_than_equal" | "greater_than" | "less_than_equal" | "less_than" as kind:
            limit = next(iter(context.values()), None)
            return _out_of_range(field, kind, limit)
        case "literal_error" | "enum":
            # pydantic joins them with an English "or"; the names alone read in any language.
            allowed = ", ".join(re.findall(r"'([^']*)'", str(context.get("expected", ""))))
            return ConfigError("config.not_one_of", field=field, allowed=allowed)
        case "not_url":
            return ConfigError("config.not_url", field=field)
        case "not_one_line":
            return ConfigError("config.not_one_line", field=field)
        case "not_a_key":
            return ConfigError("config.not_a_key", field=field)
        case "bad_header":
            return ConfigError("config.bad_header", field=field)
        case "not_language":
            return ConfigError("config.not_language", field=field)
        case kind if kind.startswith(("int_", "float_", "finite_", "decimal_")):
            return ConfigError("config.not_number", field=field)
        case kind if kind.startswith("bool_"):
            return ConfigError("config.not_switch", field=field)
        case kind if kind.startswith(("string_type", "string_sub", "string_unicode")):
            return ConfigError("config.not_text", field=field)
        case "string_too_short":
            return ConfigError("config.empty", field=field)
        case kind if kind.startswith(("list_", "tuple_")):
            return ConfigError("config.not_list", field=field)
        case kind if kind.startswith(("dict_", "mapping_", "model_")):
            return ConfigError("config.not_map", field=field)
        case _:
            return ConfigError("config.invalid", field=field, reason=error["msg"])


def _out_of_range(field: str, kind: str, limit: object) -> ConfigError:
    bound: Scalar = limit if isinstance(limit, int | float) else str(limit)
    if kind == "greater_than_equal":
        return ConfigError("config.too_small", field=field, limit=bound)
    if kind == "greater_than":
        return ConfigError("config.not_above", field=field, limit=bound)
    return ConfigError("config.too_large", field=field, limit=bound)
