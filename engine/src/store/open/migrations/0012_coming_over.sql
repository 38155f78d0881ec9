-- What came over from other systems, a row an import, so that it can be seen and undone as one.
CREATE TABLE imports (
    n       INTEGER PRIMARY KEY,
    system  TEXT NOT NULL,               -- v, w, basic-memory, lines
    source  TEXT NOT NULL,               -- where it was read: a path, an address
    whose   TEXT NOT NULL,               -- own, foreign
    started INTEGER NOT NULL,
    ended   INTEGER,                     -- NULL where it was cut short: the same import, run again, goes on
    undone  INTEGER
) STRICT;

-- What an import did, memory by memory.
CREATE TABLE imported (
    import INTEGER NOT NULL,
    memory BLOB NOT NULL CHECK (length(memory) = 16),
    did    TEXT NOT NULL,                -- stored, vouched
    rev    INTEGER NOT NULL,             -- of the memory right after: what was changed since is seen by it
    PRIMARY KEY (import, memory)
) STRICT, WITHOUT ROWID;
CREATE INDEX imported_memory ON imported (memory);

-- What a client wants kept beside a text and given back with it: a JSON object.
ALTER TABLE memories ADD COLUMN metadata TEXT;
