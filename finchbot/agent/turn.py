"""The contract between dispatch and the agent: a turn goes in, events come out."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

from finchbot.events import RunEvent
from finchbot.ids import RunId, ThreadId, UserId
from finchbot.messages import Message


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a user, to be answered by one run."""

    run_id: RunId
    thread_id: ThreadId
    user_id: UserId
    message: Message
    """The user's; it stands in the transcript already."""
    language: str | None = None
    """BCP 47 tag the caller asked for, if any."""


class Agent(Protocol):
    """Answers turns."""

    def run(self, turn: Turn) -> AsyncIterator[RunEvent]:
        """Yield the run's events, not yet stamped: `RunStarted` first, `RunFinished` last.

        All of them carry the turn's thread and run. Dispatch stamps and publishes each before
        it asks for the next, and closes what a broken-off run leaves open; the usage, times
        included, is the agent's. What the agent does after it yielded `RunFinished` still
        belongs to the turn: the next run of the thread waits for it.

        A run is stopped by cancelling the task that iterates: let `CancelledError` pass and end
        the model stream and the tools within a second. Yield nothing after that.

        Raises:
            FinchError: The run failed; dispatch says so with the error's code and parameters.
        """
