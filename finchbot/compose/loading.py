"""Loading: the imports of a start, with as little work beside them as can be."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from finchbot.lazy import load


def load_all(modules: tuple[str, ...]) -> None:
    """Import modules; seconds of work, so call it in a thread."""
    for module in modules:
        load(module)


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """Keep the garbage collector from walking through what is being loaded, then and later.

    Imports make hundreds of thousands of objects that stay for ever. Looking through them over
    and over takes a fifth of the time of a start, and later every full collection would stop
    all answers for as long as that walk takes.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
