-- The first schema. A shipped migration is never edited.
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value ANY
) STRICT, WITHOUT ROWID;

INSERT INTO meta (key, value) VALUES ('store_id', randomblob(16)), ('rev', 0), ('handle', 0);

CREATE TABLE memories (
    handle             INTEGER PRIMARY KEY,
    id                 BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    content            TEXT NOT NULL,
    summary            TEXT NOT NULL,
    category           TEXT NOT NULL,
    type               TEXT NOT NULL,
    importance         INTEGER NOT NULL CHECK (importance BETWEEN 0 AND 100),
    tags               TEXT NOT NULL,     -- JSON array
    keywords           TEXT NOT NULL,     -- JSON array
    entities           TEXT NOT NULL,     -- JSON array
    scope              TEXT NOT NULL,
    created            INTEGER NOT NULL,  -- times are microseconds since 1970
    updated            INTEGER NOT NULL,
    last_accessed      INTEGER,
    access_count       INTEGER NOT NULL DEFAULT 0,
    expires            INTEGER,
    origin             TEXT NOT NULL,
    trust              TEXT NOT NULL,
    session            TEXT,
    cwd                TEXT,
    client             TEXT,
    sensitive          INTEGER NOT NULL DEFAULT 0,
    rev                INTEGER NOT NULL,  -- the store's change counter at the row's last change
    deleted            INTEGER,
    purged             INTEGER NOT NULL DEFAULT 0,
    superseded_by      INTEGER,           -- handle of the successor
    standing           INTEGER NOT NULL,
    length             INTEGER NOT NULL,
    signature          INTEGER NOT NULL,
    forward            BLOB NOT NULL,     -- forward blob; empty for a deleted row
    detail_tokens      INTEGER NOT NULL,
    index_tokens       INTEGER NOT NULL,
    json_detail_tokens INTEGER NOT NULL,
    json_index_tokens  INTEGER NOT NULL,
    passages           BLOB NOT NULL      -- (bytes, tokens) pairs, little-endian u32
) STRICT;

CREATE UNIQUE INDEX memories_rev ON memories (rev);
CREATE INDEX memories_signature ON memories (signature);
CREATE INDEX memories_session ON memories (session, created, handle) WHERE session IS NOT NULL;
CREATE INDEX memories_created ON memories (created, handle) WHERE deleted IS NULL;
CREATE INDEX memories_expires ON memories (expires) WHERE expires IS NOT NULL AND deleted IS NULL;

CREATE TABLE links (
    source  BLOB NOT NULL,
    type    TEXT NOT NULL,
    target  BLOB NOT NULL,
    created INTEGER NOT NULL,
    PRIMARY KEY (source, type, target)
) STRICT, WITHOUT ROWID;

CREATE INDEX links_target ON links (target);

-- Provenance: one row per change, never deleted; a purge empties `before`.
CREATE TABLE history (
    rev     INTEGER PRIMARY KEY,
    op_id   BLOB NOT NULL,
    memory  BLOB NOT NULL,
    op      TEXT NOT NULL,
    at      INTEGER NOT NULL,
    origin  TEXT NOT NULL,
    session TEXT,
    client  TEXT,
    reason  TEXT,
    before  TEXT                          -- JSON of the memory as it was
) STRICT;

CREATE INDEX history_memory ON history (memory, rev);

-- What a team server has not been told yet: at most one unsent row per memory.
CREATE TABLE outbox (
    n          INTEGER PRIMARY KEY,
    op_id      BLOB NOT NULL,
    memory     BLOB NOT NULL,
    kind       TEXT NOT NULL,
    rev        INTEGER NOT NULL,
    state      TEXT NOT NULL DEFAULT 'pending',
    attempts   INTEGER NOT NULL DEFAULT 0,
    next_at    INTEGER,
    last_error TEXT
) STRICT;

CREATE INDEX outbox_memory ON outbox (memory);
