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
    did    TEXT NOT NULL,                -- stored, changed, deleted, restored, vouched; undone
    was    TEXT,                         -- of what is undone: what it did
    rev    INTEGER NOT NULL,             -- of the memory right after: what was changed since is seen by it
    PRIMARY KEY (import, memory)
) STRICT, WITHOUT ROWID;

-- Which memory a row of an older system is here, by the id that its key there gives: read again, it is known again.
CREATE TABLE came_over (
    key    BLOB NOT NULL PRIMARY KEY CHECK (length(key) = 16),
    memory BLOB NOT NULL CHECK (length(memory) = 16),
    import INTEGER NOT NULL,             -- the first that read it
    said   INTEGER NOT NULL,             -- a digest of what the row said when it was last taken
    held   INTEGER NOT NULL              -- a digest of the memory right after: with another one it was changed here
) STRICT, WITHOUT ROWID;

CREATE INDEX came_over_by_memory ON came_over (memory);

-- What stood in came_over of a row before an import noted something else, so that undoing it leaves that.
CREATE TABLE came_before (
    import INTEGER NOT NULL,
    key    BLOB NOT NULL CHECK (length(key) = 16),
    said   INTEGER NOT NULL,
    held   INTEGER NOT NULL,
    PRIMARY KEY (key, import)
) STRICT, WITHOUT ROWID;

-- What a client wants kept beside a text and given back with it: a JSON object.
ALTER TABLE memories ADD COLUMN metadata TEXT;
