"""The tables of `threads.db`, as migrations: one tuple of statements per version."""

V1 = (
    """CREATE TABLE threads (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        user_id TEXT NOT NULL,
        title TEXT NOT NULL,
        title_source TEXT NOT NULL,
        channel TEXT NOT NULL,
        created_ms INTEGER NOT NULL,
        active_ms INTEGER NOT NULL,
        message_count INTEGER NOT NULL DEFAULT 0,
        turn_count INTEGER NOT NULL DEFAULT 0,
        pinned INTEGER NOT NULL DEFAULT 0,
        archived INTEGER NOT NULL DEFAULT 0,
        last_seq INTEGER NOT NULL DEFAULT 0,
        reserved_seq INTEGER NOT NULL DEFAULT 0
    )""",
    """CREATE INDEX threads_in_order
        ON threads (user_id, archived, pinned DESC, active_ms DESC, n DESC)""",
    """CREATE TABLE runs (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        thread INTEGER NOT NULL REFERENCES threads (n) ON DELETE CASCADE,
        message_id TEXT NOT NULL,
        status TEXT NOT NULL,
        model TEXT,
        usage TEXT,
        error TEXT,
        first_seq INTEGER NOT NULL,
        created_ms INTEGER NOT NULL,
        ended_ms INTEGER
    )""",
    "CREATE INDEX runs_of_thread ON runs (thread, n)",
    """CREATE INDEX runs_open ON runs (thread)
        WHERE status IN ('queued', 'running', 'waiting')""",
    # A row is one event, or consecutive deltas of one message: then it spans seq..last_seq.
    """CREATE TABLE events (
        thread INTEGER NOT NULL REFERENCES threads (n) ON DELETE CASCADE,
        seq INTEGER NOT NULL,
        last_seq INTEGER NOT NULL,
        run_id TEXT,
        type TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        data TEXT NOT NULL,
        PRIMARY KEY (thread, seq)
    ) WITHOUT ROWID""",
    "CREATE INDEX events_of_run ON events (run_id, seq) WHERE run_id IS NOT NULL",
    # In order (run, n): a message that waited in the queue stands after the answer before it.
    """CREATE TABLE messages (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL,
        thread INTEGER NOT NULL REFERENCES threads (n) ON DELETE CASCADE,
        run INTEGER NOT NULL REFERENCES runs (n) ON DELETE CASCADE,
        role TEXT NOT NULL,
        parts TEXT NOT NULL,
        partial INTEGER NOT NULL,
        created_ms INTEGER NOT NULL,
        UNIQUE (run, id)
    )""",
    "CREATE INDEX messages_in_order ON messages (thread, run, n)",
    "CREATE INDEX messages_of_run ON messages (run, n)",
    """CREATE TABLE client_messages (
        user_id TEXT NOT NULL,
        client_id TEXT NOT NULL,
        thread INTEGER NOT NULL REFERENCES threads (n) ON DELETE CASCADE,
        run_id TEXT NOT NULL,
        created_ms INTEGER NOT NULL,
        PRIMARY KEY (user_id, client_id, thread)
    ) WITHOUT ROWID""",
    "CREATE INDEX client_messages_by_age ON client_messages (created_ms)",
    "CREATE INDEX client_messages_of_thread ON client_messages (thread)",
    """CREATE VIEW thread_rows AS SELECT t.n, t.id, t.user_id, t.title, t.title_source, t.channel,
        t.created_ms, t.active_ms, t.message_count, t.turn_count, t.pinned, t.archived,
        EXISTS (SELECT 1 FROM runs r WHERE r.thread = t.n
            AND r.status IN ('queued', 'running', 'waiting')) AS running
        FROM threads t""",
    # A message without parts keeps a place: for a result that is on its way, or for calls.
    """CREATE VIEW message_rows AS SELECT m.thread, m.run, m.n, m.id, m.role, m.parts,
        r.id AS run_id, m.created_ms, m.partial, r.status AS run_status, r.model AS run_model
        FROM messages m JOIN runs r ON r.n = m.run WHERE m.parts <> '[]'""",
    "CREATE VIRTUAL TABLE message_words USING fts5 (words, tokenize = 'unicode61')",
    "CREATE VIRTUAL TABLE title_words USING fts5 (words, tokenize = 'unicode61')",
)

MIGRATIONS = (V1,)
