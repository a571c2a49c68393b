"""The log of every thread in SQLite; the transcript follows it in the same transaction."""

import sqlite3
from collections.abc import Iterator, Sequence

from finchbot.bus import RESERVED, Position
from finchbot.errors import ThreadNotFound
from finchbot.events import RunEvent
from finchbot.ids import RunId, ThreadId
from finchbot.threads.rows import Row, decode, encode
from finchbot.threads.transcript import project


def append(connection: sqlite3.Connection, events: Sequence[RunEvent]) -> None:
    """Store stamped events and bring the transcript up to date with them.

    Raises:
        ThreadNotFound: A thread is gone.
    """
    for thread_id, log in _by_thread(events).items():
        thread = thread_number(connection, thread_id)
        rows = encode(log, last=_last_row(connection, thread))
        connection.executemany(
            "INSERT OR REPLACE INTO events VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(thread, r.seq, r.last_seq, r.run_id, r.type, r.at_ms, r.data) for r in rows],
        )
        last_seq = log[-1].seq
        connection.execute(
            "UPDATE threads SET last_seq = ?, reserved_seq = ? WHERE n = ?",
            (last_seq, last_seq + RESERVED, thread),
        )
        for event in log:
            project(connection, thread, event)


def position(connection: sqlite3.Connection, thread_id: ThreadId) -> Position:
    """Return where a thread's log stands.

    Raises:
        ThreadNotFound: There is no such thread.
    """
    row = connection.execute(
        "SELECT last_seq, reserved_seq FROM threads WHERE id = ?", (thread_id,)
    ).fetchone()
    if row is None:
        raise ThreadNotFound(thread_id=thread_id)
    return Position(*row)


def read(
    connection: sqlite3.Connection, thread_id: ThreadId, after_seq: int, limit: int
) -> Sequence[RunEvent]:
    """Return the events after `after_seq` from at most `limit` rows; none at the end."""
    rows = connection.execute(
        """SELECT e.seq, e.last_seq, e.run_id, e.type, e.at_ms, e.data
        FROM threads t JOIN events e ON e.thread = t.n
        WHERE t.id = ?1 AND e.last_seq > ?2 AND e.seq >= coalesce(
            (SELECT max(seq) FROM events WHERE thread = t.n AND seq <= ?2), 0)
        ORDER BY e.seq LIMIT ?3""",
        (thread_id, after_seq, limit),
    )
    return [event for event in _decoded(thread_id, rows) if event.seq > after_seq]


def run_events(
    connection: sqlite3.Connection, thread_id: ThreadId, run_id: RunId, *, deltas: bool
) -> list[RunEvent]:
    """Return the stored events of one run, in order, with or without its deltas."""
    rows = connection.execute(
        """SELECT seq, last_seq, run_id, type, at_ms, data FROM events
        WHERE run_id = ? AND (? OR type NOT IN ('text.delta', 'reasoning.delta'))
        ORDER BY seq""",
        (run_id, deltas),
    )
    return list(_decoded(thread_id, rows))


def thread_number(connection: sqlite3.Connection, thread_id: ThreadId) -> int:
    """Return the number that the tables know a thread by.

    Raises:
        ThreadNotFound: There is no such thread.
    """
    row = connection.execute("SELECT n FROM threads WHERE id = ?", (thread_id,)).fetchone()
    if row is None:
        raise ThreadNotFound(thread_id=thread_id)
    return int(row[0])


def _by_thread(events: Sequence[RunEvent]) -> dict[ThreadId, list[RunEvent]]:
    logs: dict[ThreadId, list[RunEvent]] = {}
    for event in events:
        logs.setdefault(event.thread_id, []).append(event)
    return logs


def _last_row(connection: sqlite3.Connection, thread: int) -> Row | None:
    row = connection.execute(
        """SELECT seq, last_seq, run_id, type, at_ms, data FROM events
        WHERE thread = ? ORDER BY seq DESC LIMIT 1""",
        (thread,),
    ).fetchone()
    return None if row is None else Row(*row)


def _decoded(thread_id: ThreadId, rows: sqlite3.Cursor) -> Iterator[RunEvent]:
    for row in rows:
        yield from decode(thread_id, Row(*row))
