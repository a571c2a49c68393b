"""Command line over environment over file over default, field by field, with who won."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from finchbot.errors import ConfigError
from finchbot.settings.fields import dotted
from finchbot.settings.model import Settings
from finchbot.settings.problems import problem_of
from finchbot.settings.values import FieldPath

Source = Literal["cli", "env", "file", "default"]


@dataclass(frozen=True, slots=True)
class Layer:
    """What one source sets, nested as the settings are."""

    source: Source
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Problem:
    """A value that was left out because it is wrong."""

    source: Source
    path: FieldPath
    """As far down as the layer's own values go."""
    error: ConfigError


@dataclass(frozen=True, slots=True)
class Merged:
    """The settings and where each came from."""

    settings: Settings
    layers: tuple[Layer, ...]
    """The strongest first, without the values that were wrong."""
    problems: tuple[Problem, ...] = ()

    def source_of(self, path: FieldPath) -> Source:
        """Return the strongest layer that sets this field."""
        return next((layer.source for layer in self.layers if _holds(layer, path)), "default")


def merge(layers: Sequence[Layer]) -> Merged:
    """Return the settings of these layers; a wrong value gives way to the next layer alone."""
    stack = list(layers)
    problems: list[Problem] = []
    while True:
        try:
            settings = Settings.layered([layer.values for layer in stack])
        except ValidationError as error:
            # One at a time: taking a value out may uncover or cure the others.
            details = error.errors(include_url=False, include_input=False)[0]
            at, problem = _blame(stack, details)
            stack[at] = replace(stack[at], values=_without(stack[at].values, problem.path))
            problems.append(problem)
        else:
            return Merged(settings, tuple(stack), tuple(problems))


def value_in(values: Any, path: FieldPath) -> Any:
    """Return what stands at this path, or None."""
    for name in path:
        if not isinstance(values, Mapping) or name not in values:
            return None
        values = values[name]
    return values


def _blame(stack: Sequence[Layer], details: ErrorDetails) -> tuple[int, Problem]:
    """Find the layer whose value made the error: the strongest that reaches deepest."""
    where = tuple(str(part) for part in details["loc"])
    depths = [_depth(layer.values, where) for layer in stack]
    at = depths.index(max(depths))
    path = where[: depths[at]]
    if not path:
        # No layer has it: a default of ours does not validate.
        raise AssertionError(f"the default of {dotted(where)} is wrong: {details['type']}")
    return at, Problem(stack[at].source, path, problem_of(details, dotted(path)))


def _depth(values: Any, path: FieldPath) -> int:
    for depth, name in enumerate(path):
        if not isinstance(values, Mapping) or name not in values:
            return depth
        values = values[name]
    return len(path)


def _holds(layer: Layer, path: FieldPath) -> bool:
    value = value_in(layer.values, path)
    return value is not None and value != "" and value != {}


def _without(values: Mapping[str, Any], path: FieldPath) -> dict[str, Any]:
    first, *rest = path
    if not rest:
        return {name: value for name, value in values.items() if name != first}
    return {**values, first: _without(values[first], tuple(rest))}
