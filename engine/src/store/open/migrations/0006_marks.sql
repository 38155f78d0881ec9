-- Marks of the server's history that this machine was given: what tells a database that went back from the one it knows.
CREATE TABLE marks (
    seq   INTEGER PRIMARY KEY,
    stamp INTEGER NOT NULL
) STRICT;

-- What other users want to share by a tag, and the person did not answer.
CREATE TABLE offers (
    owner      TEXT NOT NULL,
    tag        TEXT NOT NULL,
    permission TEXT NOT NULL,
    PRIMARY KEY (owner, tag)
) STRICT, WITHOUT ROWID;
