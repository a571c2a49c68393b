"""Values made once, when first needed; double-checked locking lives here and nowhere else."""

import importlib
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Generic, TypeVar

T = TypeVar("T")


class Lazy(Generic[T]):
    """A value that is made on the first `get` and shared by every thread after it.

    Args:
        make: Called at most once while it succeeds; when it raises, the error goes to the
            caller and the next `get` tries again.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._value: tuple[T] | None = None

    @property
    def ready(self) -> bool:
        """Whether the value is there already."""
        return self._value is not None

    def get(self) -> T:
        """Return the value, making it first if nobody has."""
        value = self._value
        if value is None:
            with self._lock:
                value = self._value
                if value is None:
                    value = self._value = (self._make(),)
        return value[0]


def load(dotted_name: str) -> ModuleType:
    """Import a module late, such as ``load("finchbot.agent.graph")``.

    The one way to reach a module that wraps a heavy library. Python's own import lock makes
    it safe from several threads.
    """
    return importlib.import_module(dotted_name)
