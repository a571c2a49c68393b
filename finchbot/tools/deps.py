"""What tools may reach beyond their arguments; each protocol says only what is used."""

from dataclasses import dataclass
from typing import Protocol

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


@dataclass(frozen=True, slots=True)
class ToolDeps:
    """Handed to every tool source."""

    titles: Titles
