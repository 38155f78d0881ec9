-- What models were given unasked, how far a session has been learned from, and what judges cost.
CREATE TABLE receipts (
    n       INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    at      INTEGER NOT NULL,
    receipt TEXT NOT NULL             -- JSON
) STRICT;

CREATE INDEX receipts_session ON receipts (session, n);
CREATE INDEX receipts_at ON receipts (at);

CREATE TABLE learning (
    session TEXT PRIMARY KEY,
    turns   INTEGER NOT NULL,         -- turns of the person that were learned from
    cursor  TEXT,                     -- the last of them
    updated INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE spending (
    day           TEXT NOT NULL,      -- UTC
    judge         TEXT NOT NULL,
    calls         INTEGER NOT NULL DEFAULT 0,
    failures      INTEGER NOT NULL DEFAULT 0,
    input_tokens  INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    learned       INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (day, judge)
) STRICT, WITHOUT ROWID;

-- What a session may be told at its start.
CREATE INDEX memories_brief ON memories (scope, importance)
    WHERE (standing = 1 OR category = 'decisions') AND deleted IS NULL AND superseded_by IS NULL;
