"""The transcript: what the events of a thread come to, as rows of messages and runs.

An assistant's message is followed by one tool message per call it made, in order of the calls;
so every call in the transcript has its result, a failed one when the run was broken off.
"""

import sqlite3
from typing import assert_never

from pydantic import TypeAdapter

from finchbot.events import (
    ApprovalRequested,
    ApprovalResolved,
    ContextCompacted,
    HistoryRepaired,
    InRun,
    MemoryRecalled,
    MessageCompleted,
    MessageReceived,
    ModelFallback,
    ReasoningDelta,
    RunCancelled,
    RunEvent,
    RunFailed,
    RunFinished,
    RunInterrupted,
    RunQueued,
    RunStarted,
    Terminal,
    TextDelta,
    TextRetracted,
    ThreadDeleted,
    ThreadTitled,
    ThreadUpdated,
    ToolCallFinished,
    ToolCallOutput,
    ToolCallStarted,
)
from finchbot.ids import MessageId
from finchbot.messages import Message, Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from finchbot.threads.moments import from_ms, to_ms
from finchbot.threads.search import index_words

parts_adapter: TypeAdapter[tuple[Part, ...]] = TypeAdapter(tuple[Part, ...])
"""Reads and writes the parts of a message."""


def project(connection: sqlite3.Connection, thread: int, event: RunEvent) -> None:
    """Bring the tables up to date with one event of a thread, given its number."""
    match event:
        case MessageReceived():
            _receive(connection, thread, event)
        case RunStarted():
            _start(connection, thread, event)
        case MessageCompleted():
            _complete(connection, thread, event)
        case ToolCallStarted():
            _call(connection, thread, event)
        case ToolCallFinished():
            run = _run_number(connection, thread, event)
            _put_message(connection, thread, run, _result(event))
        case ApprovalRequested() | ApprovalResolved():
            _wait_or_run(connection, event)
        case RunFinished() | RunCancelled() | RunInterrupted() | RunFailed():
            _end(connection, thread, event)
        case ThreadTitled():
            set_title(connection, thread, event.title, event.source)
        case ThreadUpdated():
            _update(connection, thread, event)
        case (
            RunQueued()
            | MemoryRecalled()
            | HistoryRepaired()
            | ContextCompacted()
            | ModelFallback()
            | ReasoningDelta()
            | TextDelta()
            | TextRetracted()
            | ToolCallOutput()
            | ThreadDeleted()
        ):
            pass
        case _:
            assert_never(event)


def set_title(connection: sqlite3.Connection, thread: int, title: str, source: str) -> None:
    """Set a thread's title and make it searchable."""
    connection.execute(
        "UPDATE threads SET title = ?, title_source = ? WHERE n = ?", (title, source, thread)
    )
    connection.execute(
        "INSERT OR REPLACE INTO title_words (rowid, words) VALUES (?, ?)",
        (thread, index_words(title)),
    )


def _receive(connection: sqlite3.Connection, thread: int, event: MessageReceived) -> None:
    run = _run_number(connection, thread, event)
    message = event.message
    connection.execute(
        "UPDATE runs SET message_id = ?, created_ms = ? WHERE n = ?",
        (message.id, to_ms(message.created_at), run),
    )
    connection.execute("UPDATE threads SET turn_count = turn_count + 1 WHERE n = ?", (thread,))
    _put_message(connection, thread, run, message)
    _touch(connection, thread, event)


def _complete(connection: sqlite3.Connection, thread: int, event: MessageCompleted) -> None:
    parts: list[Part] = []
    if event.reasoning:
        parts.append(ReasoningPart(text=event.reasoning))
    if event.text:
        parts.append(TextPart(text=event.text))
    message = Message(
        id=event.message_id,
        role="assistant",
        parts=tuple(parts),
        run_id=event.run_id,
        created_at=event.at,
        partial=event.partial,
    )
    _put_message(connection, thread, _run_number(connection, thread, event), message)


def _call(connection: sqlite3.Connection, thread: int, event: ToolCallStarted) -> None:
    """Add the call to the message that asked for it, and keep a place for its result."""
    run = _run_number(connection, thread, event)
    asking = connection.execute(
        """SELECT id, parts, partial, created_ms FROM messages
        WHERE run = ? AND role = 'assistant' ORDER BY n DESC LIMIT 1""",
        (run,),
    ).fetchone()
    call = ToolCallPart(call_id=event.call_id, name=event.name, arguments=event.arguments)
    before = () if asking is None else parts_adapter.validate_json(asking[1])
    message = Message(
        id=MessageId(f"{event.run_id}.{event.call_id}.call") if asking is None else asking[0],
        role="assistant",
        parts=(*before, call),
        run_id=event.run_id,
        created_at=event.at if asking is None else from_ms(asking[3]),
        partial=False if asking is None else bool(asking[2]),
    )
    _put_message(connection, thread, run, message)
    _put_message(connection, thread, run, _result(event))


def _result(event: ToolCallStarted | ToolCallFinished) -> Message:
    parts: tuple[Part, ...] = ()
    if isinstance(event, ToolCallFinished):
        parts = (
            ToolResultPart(call_id=event.call_id, output=event.output, is_error=event.is_error),
        )
    return Message(
        id=MessageId(f"{event.run_id}.{event.call_id}"),
        role="tool",
        parts=parts,
        run_id=event.run_id,
        created_at=event.at,
    )


def _put_message(connection: sqlite3.Connection, thread: int, run: int, message: Message) -> None:
    """Insert the message, or give the one that stands in its place other parts."""
    known = connection.execute(
        "SELECT n, parts <> '[]' FROM messages WHERE run = ? AND id = ?", (run, message.id)
    ).fetchone()
    parts = parts_adapter.dump_json(message.parts).decode()
    created_ms = to_ms(message.created_at)
    if known is None:
        number = connection.execute(
            """INSERT INTO messages (id, thread, run, role, parts, partial, created_ms)
            VALUES (?, ?, ?, ?, ?, ?, ?)""",
            (message.id, thread, run, message.role, parts, message.partial, created_ms),
        ).lastrowid
    else:
        number = known[0]
        connection.execute(
            "UPDATE messages SET parts = ?, partial = ?, created_ms = ? WHERE n = ?",
            (parts, message.partial, created_ms, number),
        )
    if message.parts and not (known and known[1]):
        connection.execute(
            "UPDATE threads SET message_count = message_count + 1 WHERE n = ?", (thread,)
        )
    if message.text:
        connection.execute(
            "INSERT OR REPLACE INTO message_words (rowid, words) VALUES (?, ?)",
            (number, index_words(message.text)),
        )


def _run_number(connection: sqlite3.Connection, thread: int, event: InRun) -> int:
    """Return the number of the event's run; its first event makes it."""
    row = connection.execute("SELECT n FROM runs WHERE id = ?", (event.run_id,)).fetchone()
    if row is None:
        row = connection.execute(
            """INSERT INTO runs (id, thread, message_id, status, first_seq, created_ms)
            VALUES (?, ?, '', 'queued', ?, ?) RETURNING n""",
            (event.run_id, thread, event.seq, to_ms(event.at)),
        ).fetchone()
    return int(row[0])


def _start(connection: sqlite3.Connection, thread: int, event: RunStarted) -> None:
    run = _run_number(connection, thread, event)
    connection.execute(
        "UPDATE runs SET status = 'running', model = ? WHERE n = ?", (event.model, run)
    )


def _wait_or_run(connection: sqlite3.Connection, event: InRun) -> None:
    """Set whether the run waits: it does while any question is open."""
    connection.execute(
        """UPDATE runs SET status = CASE WHEN (
            SELECT sum(CASE type WHEN 'approval.requested' THEN 1 ELSE -1 END) FROM events
            WHERE run_id = ?1 AND type IN ('approval.requested', 'approval.resolved')
        ) > 0 THEN 'waiting' ELSE 'running' END WHERE id = ?1""",
        (event.run_id,),
    )


def _end(connection: sqlite3.Connection, thread: int, event: Terminal) -> None:
    usage = event.usage.model_dump_json() if isinstance(event, RunFinished) else None
    error = event.error.model_dump_json() if isinstance(event, RunFailed) else None
    status = event.type.removeprefix("run.")
    connection.execute(
        "UPDATE runs SET status = ?, usage = ?, error = ?, ended_ms = ? WHERE n = ?",
        (status, usage, error, to_ms(event.at), _run_number(connection, thread, event)),
    )
    _touch(connection, thread, event)


def _touch(connection: sqlite3.Connection, thread: int, event: InRun) -> None:
    connection.execute("UPDATE threads SET active_ms = ? WHERE n = ?", (to_ms(event.at), thread))


def _update(connection: sqlite3.Connection, thread: int, event: ThreadUpdated) -> None:
    pinned, archived = event.fields.get("pinned"), event.fields.get("archived")
    connection.execute(
        """UPDATE threads SET pinned = coalesce(?, pinned), archived = coalesce(?, archived)
        WHERE n = ?""",
        (pinned, archived, thread),
    )
