-- Marks of the server's history that this machine was given: what tells a database that went back from the one it knows.
CREATE TABLE marks (
    seq   INTEGER PRIMARY KEY,
    stamp INTEGER NOT NULL
) STRICT;

-- What other users want to share, and whether the person was told of it.
CREATE TABLE offers (
    owner      TEXT NOT NULL,
    tag        TEXT NOT NULL,
    permission TEXT NOT NULL,
    told       INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (owner, tag)
) STRICT, WITHOUT ROWID;
