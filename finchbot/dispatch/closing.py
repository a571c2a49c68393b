"""Closes runs that break off: whatever happened, their last events are lawful."""

import logging

from finchbot.bus import MessageBus
from finchbot.errors import FinchError
from finchbot.events import RunInterrupted, Terminal
from finchbot.ids import RunId, ThreadId
from finchbot.run_view import SpokenItem, closing_events
from finchbot.threads.store import ThreadStore

log = logging.getLogger(__name__)

PROGRAM_ENDED = "the program ended before the tool answered"
"""What the model reads as the result of a call that was open."""


async def close_from_record(
    store: ThreadStore, bus: MessageBus, thread_id: ThreadId, last: Terminal, *, why: str
) -> None:
    """End a run of which nobody but the record knows; nothing happens when it has ended.

    Args:
        store: Where it stands.
        bus: Where its last events go.
        thread_id: Its thread.
        last: Its terminal event.
        why: Output of the tool calls that are open.

    Raises:
        ThreadError: The store cannot be read or written.
    """
    view = await store.run_view(thread_id, last.run_id)
    if view.ended:
        return
    for item in view.items:
        if isinstance(item, SpokenItem) and not item.done:
            await bus.mend(thread_id, last.run_id, item.message_id)
            break
    for event in closing_events(view, last, why=why):
        await bus.publish(event)


async def recover(store: ThreadStore, bus: MessageBus) -> int:
    """Close what a program that died left open, also what it had only queued.

    Returns:
        How many runs were closed.
    """
    closed = 0
    for thread_id, run_id in await store.open_runs():
        last = RunInterrupted(thread_id=thread_id, run_id=RunId(run_id), reason="crash")
        try:
            await close_from_record(store, bus, thread_id, last, why=PROGRAM_ENDED)
            closed += 1
        except FinchError as error:
            # The others can still be closed; this one is tried again at the next start.
            log.error("run %s could not be closed: %s", run_id, error.code)
    if closed:
        log.warning("%d runs were cut off when the program last ended", closed)
    return closed
