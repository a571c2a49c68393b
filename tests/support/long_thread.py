"""A home with one long thread in it, written into the record as the program would have."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

from finchbot.events import (
    MessageCompleted,
    MessageReceived,
    RunEvent,
    RunFinished,
    RunStarted,
    Usage,
)
from finchbot.ids import OWNER, MessageId, RunId, ThreadId, utc_now
from finchbot.messages import Message, TextPart
from finchbot.threads.records import empty_thread
from finchbot.threads.store import ThreadStore

BATCH = 2000
"""Events stored in one transaction."""


def write_long_thread(home: Path, thread_id: ThreadId, turns: int) -> None:
    """Make the home's record with a thread of the owner's, two messages a turn."""
    (home / "data").mkdir(parents=True)
    asyncio.run(_write(home / "data" / "threads.db", thread_id, turns))


async def _write(path: Path, thread_id: ThreadId, turns: int) -> None:
    events = [
        event.model_copy(update={"seq": seq, "at": utc_now()})
        for seq, event in enumerate(_events(thread_id, turns), start=1)
    ]
    async with ThreadStore.open(path, clock=utc_now) as store:
        thread = empty_thread(
            thread_id, OWNER, channel="api", now=utc_now(), title="Long", title_source="user"
        )
        await store.create(thread)
        for start in range(0, len(events), BATCH):
            await store.append(events[start : start + BATCH])


def _events(thread_id: ThreadId, turns: int) -> Iterator[RunEvent]:
    for turn in range(turns):
        run_id = RunId(f"run_{turn:05}")
        asked = Message(
            id=MessageId(f"msg_{turn:05}"),
            role="user",
            parts=(TextPart(text=f"question {turn}"),),
            run_id=run_id,
            created_at=utc_now(),
        )
        yield MessageReceived(thread_id=thread_id, run_id=run_id, message=asked)
        yield RunStarted(thread_id=thread_id, run_id=run_id, model="openai/scripted")
        yield MessageCompleted(
            thread_id=thread_id,
            run_id=run_id,
            message_id=MessageId(f"ans_{turn:05}"),
            text=f"answer {turn}",
        )
        yield RunFinished(thread_id=thread_id, run_id=run_id, usage=Usage())
