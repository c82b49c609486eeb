-- The tables of the ledger. A table that is added here is made in the ledgers that exist, and an older memhook does not
-- miss it; a column is added in `ledger.py`.

CREATE TABLE IF NOT EXISTS injection (
    id INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    session TEXT NOT NULL,
    agent TEXT NOT NULL,
    client TEXT NOT NULL,
    event TEXT NOT NULL,
    project TEXT NOT NULL,
    outcome TEXT NOT NULL,
    text TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    budget INTEGER NOT NULL,
    milliseconds TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS injection_by_session ON injection (session, agent);
CREATE INDEX IF NOT EXISTS injection_by_time ON injection (at);
CREATE TABLE IF NOT EXISTS considered (
    injection INTEGER NOT NULL REFERENCES injection (id) ON DELETE CASCADE,
    rank INTEGER NOT NULL,
    memory TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    reason TEXT NOT NULL,
    level TEXT NOT NULL,
    passage_start INTEGER NOT NULL,
    passage_end INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    score REAL NOT NULL,
    parts TEXT NOT NULL,
    part INTEGER NOT NULL,
    delivered INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (injection, rank)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS considered_by_memory ON considered (memory);
CREATE TABLE IF NOT EXISTS reset (
    session TEXT NOT NULL,
    agent TEXT NOT NULL,
    injection INTEGER NOT NULL,
    PRIMARY KEY (session, agent)
);
CREATE TABLE IF NOT EXISTS place (directory TEXT PRIMARY KEY, project TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS told (what TEXT PRIMARY KEY, at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS captured (
    id INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    session TEXT NOT NULL,
    moment TEXT NOT NULL,
    memory TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    is_new INTEGER NOT NULL,
    was_forgotten INTEGER NOT NULL,
    injection INTEGER NOT NULL,
    taken_back INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS captured_by_session ON captured (session);
CREATE TABLE IF NOT EXISTS report (
    id INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    line TEXT NOT NULL,
    memories TEXT NOT NULL DEFAULT ''
);
CREATE TABLE IF NOT EXISTS usage (
    memory TEXT PRIMARY KEY,
    shown INTEGER NOT NULL DEFAULT 0,
    used INTEGER NOT NULL DEFAULT 0,
    last_shown TEXT,
    last_used TEXT
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS proposal (
    id INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    kind TEXT NOT NULL,
    memory TEXT NOT NULL,
    other TEXT NOT NULL,
    reason TEXT NOT NULL,
    decided INTEGER NOT NULL DEFAULT 0,
    UNIQUE (kind, memory, other)
);
