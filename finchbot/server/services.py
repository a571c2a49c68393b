"""What the routes work with, handed down by the composition root."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from finchbot.bot import FinchBot
from finchbot.i18n import Catalogue
from finchbot.server.guard import Door
from finchbot.server.look import Look
from finchbot.server.problems import Problems
from finchbot.server.streams import Streams


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Everything behind the API."""

    bot: FinchBot
    catalogue: Catalogue
    door: Door
    streams: Streams
    look: Look
    model_name: Callable[[], str]
    """Returns ``provider/model`` of the next run."""
    parts: Callable[[], Mapping[str, str]]
    """Returns the state of model, memory, vectors and channels: ok, degraded, off, …"""
    demo: bool = False
    """Whether strangers come in, each as a user of their own."""

    @property
    def problems(self) -> Problems:
        """Turns errors into answers."""
        return Problems(self.catalogue)
