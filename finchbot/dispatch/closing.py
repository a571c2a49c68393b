"""Closes runs that break off: whatever happened, their last events are lawful."""

import logging

from finchbot.bus import MessageBus
from finchbot.errors import FinchError
from finchbot.events import (
    ApprovalResolved,
    MessageCompleted,
    RunEvent,
    RunInterrupted,
    Terminal,
    ToolCallFinished,
)
from finchbot.ids import RunId, ThreadId
from finchbot.run_view import Item, RunView, SpokenItem, ToolItem
from finchbot.threads.store import ThreadStore

log = logging.getLogger(__name__)

PROGRAM_ENDED = "the program ended before the tool answered"
"""What the model reads as the result of a call that was open."""


def closing_events(view: RunView, last: Terminal, *, why: str) -> list[RunEvent]:
    """Return what must still be said so that a run which stops here keeps the laws.

    Args:
        view: The run so far.
        last: Its terminal event.
        why: Output of the tool calls that will not answer any more, such as
            ``"cancelled by the user"``.

    Returns:
        A partial `MessageCompleted` per open message, an `ApprovalResolved` per open question,
        a failed `ToolCallFinished` per open tool call, then `last`. Empty when the run has
        ended already.
    """
    if view.ended:
        return []
    closing = [event for item in view.items for event in _close(item, last, why)]
    return [*closing, last]


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


def _close(item: Item, last: Terminal, why: str) -> list[RunEvent]:
    thread_id, run_id = last.thread_id, last.run_id
    match item:
        case SpokenItem(done=False):
            return [
                MessageCompleted(
                    thread_id=thread_id,
                    run_id=run_id,
                    message_id=item.message_id,
                    text=item.text,
                    reasoning=item.reasoning,
                    partial=True,
                )
            ]
        case ToolItem(state="running" | "waiting"):
            finished = ToolCallFinished(
                thread_id=thread_id,
                run_id=run_id,
                call_id=item.call_id,
                output=why,
                is_error=True,
                elapsed_s=0.0,
            )
            if item.state == "running":
                return [finished]
            expired = ApprovalResolved(
                thread_id=thread_id, run_id=run_id, call_id=item.call_id, decision="expired"
            )
            return [expired, finished]
        case _:
            return []
