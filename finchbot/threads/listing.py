"""Lists of threads and messages, a page at a time; a cursor is the place of the last item."""

import base64
import binascii
import json
import sqlite3
from typing import Any

from finchbot.errors import InputInvalid
from finchbot.ids import RunId, ThreadId, UserId
from finchbot.messages import Message
from finchbot.threads.moments import from_ms
from finchbot.threads.records import Page, Thread
from finchbot.threads.search import Query, parse_query
from finchbot.threads.transcript import parts_adapter

LONGEST_PAGE = 200
SAID_LIKE = r"""EXISTS (SELECT 1 FROM json_each(m.parts) p
    WHERE json_extract(p.value, '$.type') = 'text'
    AND json_extract(p.value, '$.text') LIKE ? ESCAPE '\')"""
SAID_MATCH = "m.n IN (SELECT rowid FROM message_words WHERE words MATCH ?)"
TITLE_LIKE = r"t.title LIKE ? ESCAPE '\'"
TITLE_MATCH = "t.n IN (SELECT rowid FROM title_words WHERE words MATCH ?)"


def list_threads(
    connection: sqlite3.Connection,
    user_id: UserId,
    *,
    q: str,
    archived: bool,
    limit: int,
    cursor: str | None,
) -> Page[Thread]:
    """Return a page of a user's threads: pinned first, then the last active.

    Raises:
        InputInvalid: The limit is not 1–`LONGEST_PAGE`, or the cursor is not one of ours.
    """
    conditions = ["t.user_id = ?", "t.archived = ?"]
    values: list[object] = [user_id, archived]
    if cursor is not None:
        conditions.append("(t.pinned, t.active_ms, t.n) < (?, ?, ?)")
        values += _place(cursor, 3)
    query = parse_query(q)
    if query.match is not None or query.likes:
        condition, sought = _found(user_id, query)
        conditions.append(condition)
        values += sought
    rows = connection.execute(
        # Only constants of this module are put together here; values are bound.
        f"""SELECT * FROM thread_rows t WHERE {" AND ".join(conditions)}
        ORDER BY t.pinned DESC, t.active_ms DESC, t.n DESC LIMIT ?""",  # noqa: S608
        (*values, checked(limit) + 1),
    ).fetchall()
    last = rows[limit - 1] if len(rows) > limit else None
    return Page(
        items=tuple(map(thread_of, rows[:limit])),
        next=None if last is None else _cursor(last[10], last[7], last[0]),
    )


def list_messages(
    connection: sqlite3.Connection, thread_id: ThreadId, *, limit: int, cursor: str | None
) -> Page[Message]:
    """Return a page of a thread's transcript, oldest first.

    Raises:
        InputInvalid: The limit is not 1–`LONGEST_PAGE`, or the cursor is not one of ours.
    """
    run, n = (0, 0) if cursor is None else _place(cursor, 2)
    rows = connection.execute(
        """SELECT * FROM message_rows
        WHERE thread = (SELECT n FROM threads WHERE id = ?) AND (run, n) > (?, ?)
        ORDER BY run, n LIMIT ?""",
        (thread_id, run, n, checked(limit) + 1),
    ).fetchall()
    last = rows[limit - 1] if len(rows) > limit else None
    return Page(
        items=tuple(map(message_of, rows[:limit])),
        next=None if last is None else _cursor(last[1], last[2]),
    )


def recent_messages(
    connection: sqlite3.Connection, thread_id: ThreadId, limit: int, before: RunId | None
) -> list[Message]:
    """Return the newest messages that a model may see, oldest of them first.

    Left out is what still waits in the queue, or was stopped there.
    """
    rows = connection.execute(
        """SELECT * FROM message_rows
        WHERE thread = (SELECT n FROM threads WHERE id = ?1)
        AND run < coalesce((SELECT n FROM runs WHERE id = ?3), 9223372036854775807)
        AND run_status <> 'queued' AND (run_status <> 'cancelled' OR run_model IS NOT NULL)
        ORDER BY run DESC, n DESC LIMIT ?2""",
        (thread_id, limit, before),
    ).fetchall()
    return [message_of(row) for row in reversed(rows)]


def thread_of(row: Any) -> Thread:
    """Return the thread in a row of `thread_rows`."""
    return Thread(
        id=row[1],
        user_id=row[2],
        title=row[3],
        title_source=row[4],
        channel=row[5],
        created_at=from_ms(row[6]),
        last_active_at=from_ms(row[7]),
        message_count=row[8],
        turn_count=row[9],
        pinned=bool(row[10]),
        archived=bool(row[11]),
        running=bool(row[12]),
    )


def message_of(row: Any) -> Message:
    """Return the message in a row of `message_rows`."""
    return Message(
        id=row[3],
        role=row[4],
        parts=parts_adapter.validate_json(row[5]),
        run_id=row[6],
        created_at=from_ms(row[7]),
        partial=bool(row[8]),
    )


def _found(user_id: UserId, query: Query) -> tuple[str, list[str]]:
    """Return the condition that a thread's title, or one message of it, has all that is asked."""
    in_title = [TITLE_LIKE] * len(query.likes)
    in_message = [SAID_LIKE] * len(query.likes)
    if query.match is None:
        in_message.append("m.thread IN (SELECT n FROM threads WHERE user_id = ?)")
        values = [*query.likes, *query.likes, user_id]
    else:
        in_title.append(TITLE_MATCH)
        in_message.append(SAID_MATCH)
        values = [*query.likes, query.match, *query.likes, query.match]
    # Only constants of this module are put together here; values are bound.
    said = f"SELECT m.thread FROM messages m WHERE {' AND '.join(in_message)}"  # noqa: S608
    return f"({' AND '.join(in_title)} OR t.n IN ({said}))", values


def checked(limit: int) -> int:
    """Return the limit of a page.

    Raises:
        InputInvalid: It is not 1–`LONGEST_PAGE`.
    """
    if not 1 <= limit <= LONGEST_PAGE:
        raise InputInvalid("list.limit_invalid", limit=limit, longest=LONGEST_PAGE)
    return limit


def _cursor(*place: int) -> str:
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


def _place(cursor: str, length: int) -> list[int]:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        place = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (binascii.Error, ValueError) as error:
        raise InputInvalid("list.cursor_invalid") from error
    if (
        not isinstance(place, list)
        or len(place) != length
        or not all(type(n) is int and abs(n) < 2**63 for n in place)
    ):
        raise InputInvalid("list.cursor_invalid")
    return place
