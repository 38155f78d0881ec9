-- The schema of a store. Before the first release this file is edited; a shipped migration is never edited.
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value ANY
) STRICT, WITHOUT ROWID;

INSERT INTO meta (key, value) VALUES ('store_id', randomblob(16)), ('rev', 0), ('short_id', 0);

CREATE TABLE memories (
    short_id             INTEGER PRIMARY KEY,
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
    superseded_by      INTEGER,           -- short_id of the successor
    -- What the words cost that say whose a memory is, where they are apart from its lines.
    attribution_tokens INTEGER NOT NULL DEFAULT 0,
    shared_by          TEXT,              -- the owner of a memory of another user, by the name on the team server
    share_permission   TEXT,              -- what the owner allows
    conflict_of        BLOB,              -- the memory of which it is the other text
    edited_by          TEXT,              -- who wrote a text that its owner did not write
    vouched            TEXT,              -- user, model or foreign: the owner's own word on its trust
    file               TEXT,              -- the path: /memories/user/preferences.md
    heading            TEXT,              -- the heading above a section
    whole              INTEGER NOT NULL DEFAULT 0,
    metadata           TEXT,              -- a JSON object that a client keeps beside it
    -- In millionths, where the hundredths in `importance` are not exact.
    importance_beyond  INTEGER CHECK (importance_beyond BETWEEN 0 AND 1000000),
    -- Derived from the above when it is written.
    standing           INTEGER NOT NULL,
    length             INTEGER NOT NULL,
    signature          INTEGER NOT NULL,
    detail_tokens      INTEGER NOT NULL,
    index_tokens       INTEGER NOT NULL,
    json_detail_tokens INTEGER NOT NULL,
    json_index_tokens  INTEGER NOT NULL,
    forward            BLOB NOT NULL,     -- forward blob; empty for a deleted row
    passages           BLOB NOT NULL,     -- (bytes, tokens) pairs, little-endian u32
    meaning            BLOB NOT NULL DEFAULT x''  -- vectors; empty while it waits for them, and for a deleted row
) STRICT;

CREATE UNIQUE INDEX memories_rev ON memories (rev);
CREATE INDEX memories_signature ON memories (signature);
CREATE INDEX memories_session ON memories (session, created, short_id) WHERE session IS NOT NULL;
-- What a session may be told at its start. It also shows what was replaced by a memory that is expired or forgotten.
CREATE INDEX memories_brief ON memories (scope, importance) WHERE (standing = 1 OR category = 'decisions') AND deleted IS NULL;
CREATE INDEX memories_shared ON memories (shared_by) WHERE shared_by IS NOT NULL AND deleted IS NULL;
CREATE INDEX memories_conflict ON memories (conflict_of) WHERE conflict_of IS NOT NULL AND deleted IS NULL;
CREATE INDEX memories_file ON memories (file) WHERE file IS NOT NULL;
CREATE INDEX memories_whole ON memories (rev) WHERE whole = 1;
-- Nobody finds a file as a whole, so nobody looks for its vectors.
CREATE INDEX memories_waiting ON memories (rev) WHERE meaning = x'' AND deleted IS NULL AND whole = 0;
-- No vectors may outlive their text, whoever changes it.
CREATE TRIGGER memories_meant AFTER UPDATE OF content, deleted ON memories
    WHEN NEW.meaning <> x'' AND NEW.meaning = OLD.meaning AND (NEW.content <> OLD.content OR NEW.deleted IS NOT NULL)
BEGIN
    UPDATE memories SET meaning = x'' WHERE short_id = NEW.short_id;
END;
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

-- Beside a memory: the row of the server, the change that was sent, the news that waits. JSON.
CREATE TABLE trails (
    memory BLOB PRIMARY KEY,
    trail  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Memories that stay on this machine: no server is told of them.
CREATE TABLE private (
    memory BLOB PRIMARY KEY,
    -- 'file' where a file cannot be told of, or its folder is not; NULL where the person said so.
    why    TEXT
) STRICT, WITHOUT ROWID;

-- Memories that may differ from what the server holds, in the order of their last change. What is to be sent is
-- found by comparing, so that nothing said here can contradict the memory itself.
CREATE TABLE outbox (
    n        INTEGER PRIMARY KEY,
    memory   BLOB NOT NULL UNIQUE,
    refused  TEXT,                    -- why the server rejects it; it is not sent again unless the user asks
    failing  TEXT                     -- why the server could not process it; it is sent again with each exchange
) STRICT;

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

-- Directories of this machine that are known to be of a project, by what the person did: never told to a server.
CREATE TABLE places (
    path    TEXT NOT NULL,
    project TEXT NOT NULL,
    how     TEXT NOT NULL,            -- 'told': the person said so; 'made': a memory of the project was made there
    since   INTEGER NOT NULL,
    PRIMARY KEY (path, project)
) STRICT, WITHOUT ROWID;

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

-- Questions that nothing answered strongly: never told to a server.
CREATE TABLE asked_in_vain (
    n     INTEGER PRIMARY KEY,
    at    INTEGER NOT NULL,
    scope TEXT NOT NULL,               -- the project it was asked in
    words TEXT NOT NULL,               -- JSON: those of its words that memories held when it was asked
    text  TEXT                         -- the question itself, where the person wants it kept
) STRICT;

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

-- Files that recall knows. A file is a memory (`whole` = 1), which travels and keeps its history; its parts, observations and
-- groups of paragraphs, are memories too: they are found, and no server is told of them.
-- Directories on this machine whose texts are known.
CREATE TABLE folders (
    name     TEXT PRIMARY KEY,
    dir      TEXT NOT NULL,
    scope    TEXT NOT NULL,
    trust    TEXT NOT NULL,              -- how far what somebody writes there by hand is believed
    writable INTEGER NOT NULL,
    told     INTEGER NOT NULL,           -- 1 where a team server is told of its files
    device   INTEGER,                    -- what the directory was when it was last read
    inode    INTEGER,
    away     TEXT                        -- why it could not be read last time
) STRICT, WITHOUT ROWID;

-- What a directory in a folder looked like when its files were last compared.
CREATE TABLE directories (
    folder TEXT NOT NULL,
    path   TEXT NOT NULL,                -- in the folder; empty for itself
    digest INTEGER NOT NULL,
    PRIMARY KEY (folder, path)
) STRICT, WITHOUT ROWID;

-- A file as it was last read, and what it says of itself.
CREATE TABLE files (
    memory    BLOB PRIMARY KEY CHECK (length(memory) = 16),  -- what stands for it
    path      TEXT NOT NULL UNIQUE,
    seen      INTEGER NOT NULL,          -- the rev of its memory that is on disk
    size      INTEGER NOT NULL,
    modified  INTEGER NOT NULL,          -- nanoseconds since 1970
    inode     INTEGER NOT NULL,
    hash      INTEGER NOT NULL,          -- of its bytes
    kept      INTEGER NOT NULL,          -- 1 where the memory holds the text as it is on disk
    title     TEXT NOT NULL,
    kind      TEXT NOT NULL,
    permalink TEXT NOT NULL,
    tags      TEXT NOT NULL,             -- JSON
    fields    TEXT NOT NULL,             -- JSON: the rest of its front matter
    problem   TEXT                       -- why its front matter cannot be read
) STRICT, WITHOUT ROWID;
CREATE INDEX files_permalink ON files (permalink);
CREATE INDEX files_hash ON files (hash);

-- Files whose memory was changed, and is not known to be on disk as it is: so that not all have to be compared with theirs.
CREATE TABLE changed_files (
    memory BLOB PRIMARY KEY CHECK (length(memory) = 16)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER memories_file_made AFTER INSERT ON memories WHEN NEW.whole = 1
BEGIN
    INSERT OR IGNORE INTO changed_files VALUES (NEW.id);
END;
CREATE TRIGGER memories_file_changed AFTER UPDATE OF rev ON memories WHEN NEW.whole = 1 OR OLD.whole = 1
BEGIN
    INSERT OR IGNORE INTO changed_files VALUES (NEW.id);
END;
CREATE TRIGGER files_seen_first AFTER INSERT ON files
BEGIN
    DELETE FROM changed_files WHERE memory = NEW.memory
        AND NEW.seen = (SELECT rev FROM memories WHERE id = NEW.memory);
END;
CREATE TRIGGER files_seen_again AFTER UPDATE OF seen ON files
BEGIN
    DELETE FROM changed_files WHERE memory = NEW.memory
        AND NEW.seen = (SELECT rev FROM memories WHERE id = NEW.memory);
END;
-- A file that is not known on disk any more, and lives. Rows that REPLACE removes come by no trigger: what takes a path must
-- delete the row that has it.
CREATE TRIGGER files_unseen AFTER DELETE ON files
WHEN EXISTS (SELECT 1 FROM memories WHERE id = OLD.memory AND whole = 1 AND deleted IS NULL AND purged = 0)
BEGIN
    INSERT OR IGNORE INTO changed_files VALUES (OLD.memory);
END;

-- Where the parts of a file stand in it.
CREATE TABLE parts (
    memory     BLOB PRIMARY KEY CHECK (length(memory) = 16),
    file       BLOB NOT NULL,            -- what stands for the file
    n          INTEGER NOT NULL,         -- its place among them
    kind       TEXT NOT NULL,            -- observation, text
    category   TEXT,                     -- as it is written
    context    TEXT,
    begins     INTEGER NOT NULL,         -- of its text, in bytes of the file
    ends       INTEGER NOT NULL,
    first_line INTEGER NOT NULL,
    last_line  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX parts_file ON parts (file, n);

-- Names under which a file is meant: its title, aliases, permalink and path, as they are compared loosely.
CREATE TABLE names (
    key    TEXT NOT NULL,
    memory BLOB NOT NULL,
    PRIMARY KEY (key, memory)
) STRICT, WITHOUT ROWID;
CREATE INDEX names_memory ON names (memory);

-- What files say of others. The target is found when its file appears, and stays when that is renamed.
CREATE TABLE relations (
    source  BLOB NOT NULL,               -- what stands for the file that says it
    type    TEXT NOT NULL,
    name    TEXT NOT NULL,               -- the other, as it is written
    key     TEXT NOT NULL,               -- the same as it is compared loosely
    target  BLOB,                        -- what stands for the other; NULL while there is none
    context TEXT,
    line    INTEGER NOT NULL,
    PRIMARY KEY (source, type, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX relations_key ON relations (key);
CREATE INDEX relations_target ON relations (target) WHERE target IS NOT NULL;

-- What is about to be written to a file, and by whom: so that it is known as theirs even where the program ended there.
CREATE TABLE intents (
    path    TEXT PRIMARY KEY,
    hash    INTEGER NOT NULL,
    origin  TEXT NOT NULL,
    session TEXT,
    client  TEXT,
    memory  BLOB NOT NULL                -- what is to stand for the file
) STRICT, WITHOUT ROWID;

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
