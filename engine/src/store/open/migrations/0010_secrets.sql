-- Credentials that were taken out of texts, by the name that the text has in their place.
CREATE TABLE secrets (
    memory BLOB NOT NULL CHECK (length(memory) = 16),
    name   TEXT NOT NULL,
    kind   TEXT NOT NULL,                -- in words: password, GitHub token
    mark   BLOB NOT NULL,                -- equal for equal values under one key; without the key it says nothing
    sealed BLOB,                         -- encrypted for this memory; NULL where it is kept elsewhere
    place  TEXT NOT NULL DEFAULT 'here', -- where it is kept: here, vault
    made   INTEGER NOT NULL,
    told   INTEGER NOT NULL DEFAULT 0,   -- 1 once the team server has it too
    PRIMARY KEY (memory, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX secrets_marked ON secrets (mark);
CREATE INDEX secrets_named ON secrets (name);
-- Who asked for which, and what else was done with them. Never a value.
CREATE TABLE secret_uses (
    n       INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    memory  BLOB NOT NULL,
    name    TEXT NOT NULL,
    use     TEXT NOT NULL,               -- shown, forgotten, sent, moved
    origin  TEXT NOT NULL,
    session TEXT,
    client  TEXT
) STRICT;
-- What was removed for good, and where it went from when. Never a text.
CREATE TABLE purges (
    memory BLOB NOT NULL CHECK (length(memory) = 16),
    place  TEXT NOT NULL,                -- row, pages, copies, files, or a file of the home
    at     INTEGER NOT NULL,             -- when it was removed from memory
    done   INTEGER,                      -- when it was gone from this place too; NULL while it is not
    how    TEXT NOT NULL,                -- in words
    PRIMARY KEY (memory, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX purges_left ON purges (place) WHERE done IS NULL;
