-- What a team server was told of, and what it is known to hold.
ALTER TABLE memories ADD COLUMN shared_by TEXT;         -- the owner of a memory of another user
ALTER TABLE memories ADD COLUMN share_permission TEXT;  -- what the owner allows
ALTER TABLE memories ADD COLUMN conflict_of BLOB;       -- the memory of which it is the other text

CREATE INDEX memories_shared ON memories (shared_by) WHERE shared_by IS NOT NULL AND deleted IS NULL;
CREATE INDEX memories_conflict ON memories (conflict_of) WHERE conflict_of IS NOT NULL AND deleted IS NULL;

-- Beside a memory: the row of the server, the change that was sent, the news that waits. JSON.
CREATE TABLE trails (
    memory BLOB PRIMARY KEY,
    trail  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Memories that stay on this machine: no server is told of them.
CREATE TABLE private (
    memory BLOB PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- Memories that may differ from what the server holds, in the order of their last change. What is to be sent is
-- found by comparing, so that nothing said here can contradict the memory itself.
DROP TABLE outbox;

CREATE TABLE outbox (
    n        INTEGER PRIMARY KEY,
    memory   BLOB NOT NULL UNIQUE,
    refused  TEXT                     -- why the server will not take it; it is not sent again unasked
) STRICT;

INSERT INTO outbox (memory) SELECT id FROM memories WHERE purged = 0 ORDER BY handle;

-- One row: the server that this store belongs to.
CREATE TABLE server (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    url      TEXT NOT NULL,
    user     TEXT NOT NULL,
    epoch    INTEGER NOT NULL,
    cursor   INTEGER NOT NULL,
    is_whole INTEGER NOT NULL,        -- 0 until a snapshot was taken, and when the server says to begin anew
    reached  INTEGER,                 -- when it last answered
    problem  TEXT                     -- why it did not, since
) STRICT;
