"""Dispatch: one run per thread at a time, many threads at once."""

from finchbot.dispatch.dispatcher import Dispatcher
from finchbot.dispatch.intake import Limits

__all__ = ["Dispatcher", "Limits"]
