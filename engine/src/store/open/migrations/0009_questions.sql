-- Questions that nothing answered strongly: never told to a server.
CREATE TABLE asked_in_vain (
    n     INTEGER PRIMARY KEY,
    at    INTEGER NOT NULL,
    scope TEXT NOT NULL,               -- the project it was asked in
    words TEXT NOT NULL,               -- JSON: those of its words that memories held when it was asked
    text  TEXT                         -- the question itself, where the person wants it kept
) STRICT;
