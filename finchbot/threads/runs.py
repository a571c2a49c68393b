"""Runs as they are kept, as views, and by the id a client gave their message."""

import json
import sqlite3

from finchbot.errors import RunNotFound
from finchbot.events import Usage
from finchbot.ids import MessageId, RunId, ThreadId, UserId
from finchbot.run_view import ENDED, RunView, fold_all
from finchbot.threads.journal import run_events
from finchbot.threads.listing import checked
from finchbot.threads.moments import from_ms
from finchbot.threads.records import KnownMessage, Run


def get(connection: sqlite3.Connection, user_id: UserId, run_id: RunId) -> Run:
    """Return a user's run.

    Raises:
        RunNotFound: No such run of this user.
    """
    row = connection.execute(
        """SELECT r.id, t.id, r.message_id, r.status, r.model, r.usage, r.error, r.created_ms,
            r.ended_ms
        FROM runs r JOIN threads t ON t.n = r.thread WHERE r.id = ? AND t.user_id = ?""",
        (run_id, user_id),
    ).fetchone()
    if row is None:
        raise RunNotFound(run_id=run_id)
    return Run(
        id=row[0],
        thread_id=row[1],
        message_id=row[2],
        status=row[3],
        model=row[4],
        usage=None if row[5] is None else Usage.model_validate_json(row[5]),
        error=None if row[6] is None else json.loads(row[6]),
        created_at=from_ms(row[7]),
        ended_at=None if row[8] is None else from_ms(row[8]),
    )


def view(
    connection: sqlite3.Connection, thread_id: ThreadId, run_id: RunId, *, deltas: bool
) -> RunView:
    """Return what is stored of a run as a view; without deltas only a run that ended is whole."""
    return fold_all(run_id, run_events(connection, thread_id, run_id, deltas=deltas))


def recent(
    connection: sqlite3.Connection, thread_id: ThreadId, limit: int, before: RunId | None
) -> list[RunView]:
    """Return the newest runs, older than `before`, as views, oldest of them first.

    Raises:
        InputInvalid: The limit makes no sense.
    """
    rows = connection.execute(
        """SELECT id, status FROM runs WHERE thread = (SELECT n FROM threads WHERE id = ?1)
        AND n < coalesce((SELECT n FROM runs WHERE id = ?3), 9223372036854775807)
        ORDER BY n DESC LIMIT ?2""",
        (thread_id, checked(limit), before),
    ).fetchall()
    return [
        view(connection, thread_id, run_id, deltas=status not in ENDED)
        for run_id, status in reversed(rows)
    ]


def open_ones(connection: sqlite3.Connection) -> list[tuple[ThreadId, RunId]]:
    """Return every run that has not ended, in order of arrival."""
    return connection.execute(
        """SELECT t.id, r.id FROM runs r JOIN threads t ON t.n = r.thread
        WHERE r.status IN ('queued', 'running', 'waiting') ORDER BY r.n"""
    ).fetchall()


def known_message(
    connection: sqlite3.Connection,
    user_id: UserId,
    client_id: str,
    thread_id: ThreadId | None,
    since_ms: int,
) -> KnownMessage | None:
    """Return the message a user sent under a client id since then, if it was taken in.

    None for the thread finds it in any, the newest first.
    """
    row = connection.execute(
        """SELECT t.id, r.id, r.message_id, r.first_seq, r.status = 'queued' AND EXISTS (
            SELECT 1 FROM runs o WHERE o.thread = r.thread AND o.n < r.n
            AND o.status IN ('queued', 'running', 'waiting'))
        FROM client_messages c JOIN runs r ON r.id = c.run_id JOIN threads t ON t.n = r.thread
        WHERE c.user_id = :user AND c.client_id = :client AND c.created_ms > :since
            AND (:thread IS NULL OR t.id = :thread)
        ORDER BY r.n DESC LIMIT 1""",
        {"user": user_id, "client": client_id, "thread": thread_id, "since": since_ms},
    ).fetchone()
    if row is None:
        return None
    thread_id, run_id, message_id, seq, queued = row
    return KnownMessage(thread_id, run_id, MessageId(message_id), seq, bool(queued))


def note_client_id(
    connection: sqlite3.Connection,
    user_id: UserId,
    client_id: str,
    thread_id: ThreadId,
    run_id: RunId,
    now_ms: int,
    since_ms: int,
) -> None:
    """Note under which client id a run's message comes; forget notes older than `since_ms`."""
    connection.execute("DELETE FROM client_messages WHERE created_ms <= ?", (since_ms,))
    connection.execute(
        """INSERT OR REPLACE INTO client_messages (user_id, client_id, thread, run_id, created_ms)
        SELECT ?, ?, n, ?, ? FROM threads WHERE id = ?""",
        (user_id, client_id, run_id, now_ms, thread_id),
    )
