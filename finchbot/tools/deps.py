"""What tools may reach beyond their arguments; each protocol says only what is used."""

from dataclasses import dataclass
from typing import Protocol

from finchbot.errors import Scalar
from finchbot.ids import ThreadId, UserId


class Titles(Protocol):
    """The titles of threads."""

    async def get(self, user_id: UserId, thread_id: ThreadId) -> str:
        """Return the title, empty when there is none yet.

        Raises:
            ThreadNotFound: No such thread of this user.
        """

    async def set_by_tool(self, user_id: UserId, thread_id: ThreadId, title: str) -> None:
        """Give the thread a title that nothing automatic overwrites.

        Raises:
            ThreadNotFound: No such thread of this user.
        """


class Sentences(Protocol):
    """The catalogue in one language: what a tool says around the data it returns."""

    def __call__(self, key: str, /, **params: Scalar) -> str:
        """Return the sentence of a key such as ``"tool_output.created"``."""


@dataclass(frozen=True, slots=True)
class ToolDeps:
    """Handed to every tool source."""

    titles: Titles
    sentences: Sentences
