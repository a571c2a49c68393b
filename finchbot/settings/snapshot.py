"""One reading of everything: file, environment and command line, merged and judged."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from finchbot.errors import ConfigError
from finchbot.settings.document import Document, place_of, read_document
from finchbot.settings.environment import Environment, demo_by_default, read_environment
from finchbot.settings.fields import dotted, file_path, find_field, settings_path, split_name
from finchbot.settings.layers import Layer, Merged, Problem, merge
from finchbot.settings.masks import looks_secret
from finchbot.settings.model import flat_providers

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class SafeMode:
    """The user's file, or one value in it, cannot be used; the rest holds."""

    file: str
    line: int
    column: int
    detail: str
    """English, for logs."""
    error: ConfigError
    """The same, for a surface to say in the reader's language."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What followed from one reading."""

    document: Document
    environment: Environment
    merged: Merged
    safe_mode: SafeMode | None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the settings come from; all but the file is fixed when the program starts.

    Args:
        file: The user's ``config.json``, there or not.
        environ: The process environment.
        overrides: What the command line set, nested as the settings are.
    """

    file: FilePath
    environ: Mapping[str, str]
    overrides: Mapping[str, Any]

    def read(self) -> Snapshot:
        """Read the file and merge all layers; a fault is part of the answer."""
        document = read_document(self.file)
        values = self.file_values(document.data)
        providers = values.get("providers")
        environment = read_environment(
            self.environ, providers if isinstance(providers, dict) else ()
        )
        merged = merge(
            [
                Layer("cli", self.overrides),
                Layer("env", environment.values),
                Layer("file", values),
                Layer("default", self._defaults(environment)),
            ]
        )
        return Snapshot(document, environment, merged, self._safe_mode(document, merged))

    def file_values(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the file's layer: what the settings know, references replaced, blanks gone."""
        values = {name: value for name, value in data.items() if name != "demo"}
        if isinstance(values.get("providers"), dict):
            values["providers"] = flat_providers(values["providers"])
        resolved = self._resolved(values)
        return resolved if isinstance(resolved, dict) else {}

    def environment_secrets(self) -> Iterator[str]:
        """Yield the values of all variables whose names speak of secrets, ours or not."""
        for name, text in self.environ.items():
            if looks_secret(name) and len(text.strip()) >= 8:
                yield text.strip()

    def _resolved(self, value: Any) -> Any:
        """Replace each ``${NAME}`` by the variable; null and unset ones are left out."""
        if isinstance(value, dict):
            inside = ((name, self._resolved(below)) for name, below in value.items())
            return {name: below for name, below in inside if below is not None}
        if isinstance(value, str) and (match := _REFERENCE.fullmatch(value.strip())):
            return self.environ.get(match[1], "").strip() or None
        return value

    def _defaults(self, environment: Environment) -> dict[str, Any]:
        """Return the defaults that depend on where the program runs."""
        said = environment.values.get("demo")
        demo = demo_by_default(self.environ)
        if said is not None:
            demo = said.lower() in ("1", "true", "yes", "on", "t", "y")
        return {"demo": True, "server": {"host": "0.0.0.0"}} if demo else {}  # noqa: S104

    def _safe_mode(self, document: Document, merged: Merged) -> SafeMode | None:
        if document.fault is not None:
            error = broken(self.file, document)
            fault = document.fault
            return SafeMode(str(self.file), fault.line, fault.column, fault.detail, error)
        wrong = next((found for found in merged.problems if found.source == "file"), None)
        return None if wrong is None else self._one_wrong(document, wrong)

    def _one_wrong(self, document: Document, wrong: Problem) -> SafeMode:
        where = file_path(wrong.path, document.data)
        line, column = place_of(document.text, where)
        detail = f"{dotted(where)}: {wrong.error.code}"
        return SafeMode(str(self.file), line, column, detail, wrong.error)


def broken(file: FilePath, document: Document) -> ConfigError:
    """Return the error that says why and where the whole file cannot be read."""
    fault = document.fault
    assert fault is not None  # noqa: S101
    return ConfigError(
        "config.file_broken",
        file=str(file),
        line=fault.line,
        column=fault.column,
        reason=fault.detail,
    )


def refuse_wrong_options(snapshot: Snapshot) -> None:
    """Raise when the command line or the environment holds a wrong value.

    Raises:
        ConfigError: With ``field``, which names the variable when it came from one.
    """
    for problem in snapshot.merged.problems:
        if problem.source in ("cli", "env"):
            variable = snapshot.environment.variables.get(problem.path)
            field = variable if problem.source == "env" and variable else dotted(problem.path)
            raise ConfigError(problem.error.code, **{**problem.error.params, "field": field})


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return dotted names as the nested form the settings have.

    Raises:
        ConfigError: ``config.unknown_field`` (``field``).
    """
    result: dict[str, Any] = {}
    for name, value in values.items():
        path = settings_path(split_name(name))
        if find_field(path) is None:
            raise ConfigError("config.unknown_field", field=name)
        section = result
        for part in path[:-1]:
            section = section.setdefault(part, {})
        section[path[-1]] = value
    return result
