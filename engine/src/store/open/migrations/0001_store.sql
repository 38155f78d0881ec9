-- The schema of a store. Before the first release this file is edited; a shipped migration is never edited.
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value ANY
) STRICT, WITHOUT ROWID;

INSERT INTO meta (key, value) VALUES ('store_id', randomblob(16)), ('rev', 0), ('short_id', 0);

CREATE TABLE memories (
    short_id           INTEGER PRIMARY KEY,
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
    related            INTEGER NOT NULL DEFAULT 0,  -- 1 if the memory was compared with older ones
    superseded_by      INTEGER,           -- the short ID of the successor
    newer              INTEGER,           -- the short ID of the memory that updates this one
    -- The tokens of the attribution (owner, author and file), if it is not part of the memory's lines.
    attribution_tokens INTEGER NOT NULL DEFAULT 0,
    shared_by          TEXT,              -- the owner, if another user shares the memory; the name on the team server
    share_permission   TEXT,              -- the owner's permission: read or write
    conflict_of        BLOB,              -- the original, if this memory is a conflict copy
    edited_by          TEXT,              -- the author of the text, if not the owner
    owner_trust            TEXT,              -- the trust that the owner set: user, model or foreign
    file               TEXT,              -- the path: /memories/user/preferences.md
    heading            TEXT,              -- the heading above a section
    is_file              INTEGER NOT NULL DEFAULT 0,
    metadata           TEXT,              -- a JSON object that a client stores with the memory
    -- The exact importance, if the hundredths in `importance` are rounded.
    importance_millionths  INTEGER CHECK (importance_millionths BETWEEN 0 AND 1000000),
    -- Derived from the columns above at each write.
    is_instruction           INTEGER NOT NULL,
    length             INTEGER NOT NULL,
    signature          INTEGER NOT NULL,
    detail_tokens      INTEGER NOT NULL,
    index_tokens       INTEGER NOT NULL,
    json_detail_tokens INTEGER NOT NULL,
    json_index_tokens  INTEGER NOT NULL,
    forward            BLOB NOT NULL,     -- forward blob; empty for a deleted row
    passages           BLOB NOT NULL,     -- (bytes, tokens) pairs, little-endian u32
    embedding            BLOB NOT NULL DEFAULT x'', -- vectors; empty if they are not computed yet, and for a deleted row
    anchors            TEXT NOT NULL DEFAULT '[]'   -- a JSON array: the keys under which actions find the memory
) STRICT;

CREATE UNIQUE INDEX memories_rev ON memories (rev);
CREATE INDEX memories_signature ON memories (signature);
CREATE INDEX memories_session ON memories (session, created, short_id) WHERE session IS NOT NULL;
-- For the session summary. It also needs memories whose successor has expired or was deleted.
CREATE INDEX memories_session_summary ON memories (scope, importance) WHERE (is_instruction = 1 OR category = 'decisions') AND deleted IS NULL;
CREATE INDEX memories_shared ON memories (shared_by) WHERE shared_by IS NOT NULL AND deleted IS NULL;
CREATE INDEX memories_conflict ON memories (conflict_of) WHERE conflict_of IS NOT NULL AND deleted IS NULL;
CREATE INDEX memories_file ON memories (file) WHERE file IS NOT NULL;
CREATE INDEX memories_whole ON memories (rev) WHERE is_file = 1;
-- Recall does not return the memory of a file, so this memory needs no embedding.
CREATE INDEX memories_waiting ON memories (rev) WHERE embedding = x'' AND deleted IS NULL AND is_file = 0;
-- An embedding is deleted when its text changes, whichever program changes the text.
CREATE TRIGGER memories_embedding AFTER UPDATE OF content, deleted ON memories
    WHEN NEW.embedding <> x'' AND NEW.embedding = OLD.embedding AND (NEW.content <> OLD.content OR NEW.deleted IS NOT NULL)
BEGIN
    UPDATE memories SET embedding = x'' WHERE short_id = NEW.short_id;
END;
-- Memories that must still be compared with older ones.
CREATE INDEX memories_unrelated ON memories (created, short_id) WHERE related = 0 AND deleted IS NULL AND is_file = 0;
CREATE INDEX memories_expires ON memories (expires) WHERE expires IS NOT NULL AND deleted IS NULL;

-- For lists: newest first, with the columns that their filters use most.
CREATE INDEX memories_listed ON memories (created, short_id, expires, category, type, scope, trust, shared_by)
    WHERE deleted IS NULL AND purged = 0 AND is_file = 0;

-- The keys under which actions find memories. Triggers maintain the table, whichever program writes.
CREATE TABLE anchors (
    key    INTEGER NOT NULL,
    memory INTEGER NOT NULL,            -- the short ID
    PRIMARY KEY (key, memory)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER memories_anchored AFTER INSERT ON memories WHEN NEW.anchors <> '[]'
BEGIN
    INSERT OR IGNORE INTO anchors SELECT json_each.value, NEW.short_id FROM json_each(NEW.anchors);
END;
CREATE TRIGGER memories_anchored_again AFTER UPDATE OF anchors ON memories WHEN OLD.anchors <> NEW.anchors
BEGIN
    DELETE FROM anchors WHERE memory = OLD.short_id AND key IN (SELECT value FROM json_each(OLD.anchors));
    INSERT OR IGNORE INTO anchors SELECT json_each.value, NEW.short_id FROM json_each(NEW.anchors);
END;
CREATE TRIGGER memories_unanchored AFTER DELETE ON memories WHEN OLD.anchors <> '[]'
BEGIN
    DELETE FROM anchors WHERE memory = OLD.short_id AND key IN (SELECT value FROM json_each(OLD.anchors));
END;

-- How many memories have a value, so that nobody reads all of them to count. Triggers maintain it, whichever program
-- writes. The view `counted` says what is counted.
CREATE TABLE counts (
    kind  TEXT NOT NULL,
    value TEXT NOT NULL,
    n     INTEGER NOT NULL,
    PRIMARY KEY (kind, value)
) STRICT, WITHOUT ROWID;
CREATE INDEX counts_nothing ON counts (n) WHERE n = 0;

-- The kind `encoder` is the first byte of the embedding, in hexadecimal; its value is empty for a memory that waits.
CREATE VIEW counted (short_id, kind, value) AS
    SELECT short_id, 'memories', '' FROM memories WHERE deleted IS NULL AND is_file = 0
    UNION ALL SELECT short_id, 'deleted', '' FROM memories WHERE deleted IS NOT NULL AND purged = 0 AND is_file = 0
    UNION ALL SELECT short_id, 'category', category FROM memories WHERE deleted IS NULL AND is_file = 0
    UNION ALL SELECT short_id, 'type', type FROM memories WHERE deleted IS NULL AND is_file = 0
    UNION ALL SELECT short_id, 'scope', scope FROM memories WHERE deleted IS NULL AND is_file = 0
    UNION ALL SELECT short_id, 'encoder', hex(substr(embedding, 1, 1)) FROM memories WHERE deleted IS NULL AND is_file = 0
    UNION ALL SELECT short_id, 'tag', json_each.value FROM memories, json_each(tags) WHERE deleted IS NULL AND is_file = 0;

CREATE TRIGGER memories_counted AFTER INSERT ON memories
BEGIN
    INSERT INTO counts SELECT kind, value, 1 FROM counted WHERE short_id = NEW.short_id
        ON CONFLICT (kind, value) DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER memories_uncounted BEFORE DELETE ON memories
BEGIN
    INSERT INTO counts SELECT kind, value, -1 FROM counted WHERE short_id = OLD.short_id
        ON CONFLICT (kind, value) DO UPDATE SET n = n - 1;
    DELETE FROM counts WHERE n = 0;
END;
-- `memories_embedding`, which is created earlier, runs after these: SQLite runs the newest trigger first.
CREATE TRIGGER memories_before_recount BEFORE UPDATE OF category, type, scope, tags, deleted, purged, is_file, embedding
    ON memories WHEN OLD.category <> NEW.category OR OLD.type <> NEW.type OR OLD.scope <> NEW.scope OR OLD.tags <> NEW.tags
        OR OLD.deleted IS NOT NEW.deleted OR OLD.purged <> NEW.purged OR OLD.is_file <> NEW.is_file
        OR substr(OLD.embedding, 1, 1) IS NOT substr(NEW.embedding, 1, 1)
BEGIN
    INSERT INTO counts SELECT kind, value, -1 FROM counted WHERE short_id = OLD.short_id
        ON CONFLICT (kind, value) DO UPDATE SET n = n - 1;
END;
CREATE TRIGGER memories_after_recount AFTER UPDATE OF category, type, scope, tags, deleted, purged, is_file, embedding
    ON memories WHEN OLD.category <> NEW.category OR OLD.type <> NEW.type OR OLD.scope <> NEW.scope OR OLD.tags <> NEW.tags
        OR OLD.deleted IS NOT NEW.deleted OR OLD.purged <> NEW.purged OR OLD.is_file <> NEW.is_file
        OR substr(OLD.embedding, 1, 1) IS NOT substr(NEW.embedding, 1, 1)
BEGIN
    INSERT INTO counts SELECT kind, value, 1 FROM counted WHERE short_id = NEW.short_id
        ON CONFLICT (kind, value) DO UPDATE SET n = n + 1;
    DELETE FROM counts WHERE n = 0;
END;

CREATE TABLE links (
    source  BLOB NOT NULL,
    type    TEXT NOT NULL,
    target  BLOB NOT NULL,
    created INTEGER NOT NULL,
    PRIMARY KEY (source, type, target)
) STRICT, WITHOUT ROWID;

CREATE INDEX links_target ON links (target);

-- Provenance: one row per change, which is never deleted. A permanent deletion empties `before`.
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
    before  TEXT                          -- the memory before the change, as JSON
) STRICT;

CREATE INDEX history_memory ON history (memory, rev);

-- What automatic recall delivered to models; how far automatic learning has read a session; and the tokens of extractors.
CREATE TABLE deliveries (
    n       INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    at      INTEGER NOT NULL,
    delivery TEXT NOT NULL             -- JSON
) STRICT;

CREATE INDEX deliveries_session ON deliveries (session, n);
CREATE INDEX deliveries_at ON deliveries (at);

CREATE TABLE learning (
    session TEXT PRIMARY KEY,
    turns   INTEGER NOT NULL,         -- the number of processed turns of the person
    cursor  TEXT,                     -- the last processed turn
    updated INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE spending (
    day           TEXT NOT NULL,      -- UTC
    extractor         TEXT NOT NULL,
    calls         INTEGER NOT NULL DEFAULT 0,
    failures      INTEGER NOT NULL DEFAULT 0,
    input_tokens  INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    learned       INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (day, extractor)
) STRICT, WITHOUT ROWID;

-- For each synced memory: the base version, the sent change and the waiting changes, as JSON.
CREATE TABLE sync_states (
    memory BLOB PRIMARY KEY,
    sync_state  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Memories that stay on this machine and are not synced.
CREATE TABLE private (
    memory BLOB PRIMARY KEY,
    -- 'file' if a file cannot be synced, or its folder is not synced; 'undecided' if the user was not asked yet; NULL if the user decided it.
    why    TEXT
) STRICT, WITHOUT ROWID;

-- Memories that may differ from the server's rows, in the order of their last change. The change to send is computed
-- by comparing the memory with its base version, so this table cannot contradict the memory.
CREATE TABLE outbox (
    n        INTEGER PRIMARY KEY,
    memory   BLOB NOT NULL UNIQUE,
    refused  TEXT,                    -- why the server rejects it; it is not sent again unless the user asks
    failing  TEXT                     -- why the server could not process it; it is sent again with each exchange
) STRICT;

CREATE INDEX outbox_refused ON outbox (n) WHERE refused IS NOT NULL;
CREATE INDEX outbox_failing ON outbox (n) WHERE failing IS NOT NULL;

-- One row: the server that this store belongs to.
CREATE TABLE server (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    url      TEXT NOT NULL,
    user     TEXT NOT NULL,
    epoch    INTEGER NOT NULL,
    cursor   INTEGER NOT NULL,
    is_whole INTEGER NOT NULL,        -- 0 until a snapshot was downloaded, and when the server requests a new beginning
    reached  INTEGER,                 -- when the server last answered
    problem  TEXT                     -- why the server has not answered since then
) STRICT;

-- Directories of this machine that belong to a project. They are never synced.
CREATE TABLE trusted_directories (
    path    TEXT NOT NULL,
    project TEXT NOT NULL,
    how     TEXT NOT NULL,            -- 'told': the user confirmed it; 'made': a memory of the project was stored there
    since   INTEGER NOT NULL,
    PRIMARY KEY (path, project)
) STRICT, WITHOUT ROWID;

-- Checkpoints of the server's history. They show whether the server's database was restored from a backup.
CREATE TABLE checkpoints (
    seq   INTEGER PRIMARY KEY,
    stamp INTEGER NOT NULL
) STRICT;

-- Tags that other users share, and that the user has not accepted or declined yet.
CREATE TABLE invitations (
    owner      TEXT NOT NULL,
    tag        TEXT NOT NULL,
    permission TEXT NOT NULL,
    PRIMARY KEY (owner, tag)
) STRICT, WITHOUT ROWID;

-- Questions for which recall found no relevant memory. They are never synced.
CREATE TABLE unanswered_questions (
    n     INTEGER PRIMARY KEY,
    at    INTEGER NOT NULL,
    scope TEXT NOT NULL,               -- the project in which the question was asked
    words TEXT NOT NULL,               -- JSON: the words of the question that memories contained
    text  TEXT                         -- the question itself, if the user wants Tessera to keep it
) STRICT;

-- The review queue: lines that wait for the user's decision. They are not memories, and are never synced.
CREATE TABLE candidates (
    digest    BLOB PRIMARY KEY CHECK (length(digest) = 16),  -- of the scope and the text
    at        INTEGER NOT NULL,        -- when the line was added
    expires   INTEGER,
    candidate TEXT NOT NULL,           -- JSON
    embedding BLOB NOT NULL            -- the vector of the line; empty if semantic search was off
) STRICT, WITHOUT ROWID;
-- Decisions of the review queue that are not asked for again: dropped lines, pairs that stay, memories that stay.
CREATE TABLE reviewed (
    digest BLOB PRIMARY KEY CHECK (length(digest) = 16),  -- the subject cannot be read from it
    kind   TEXT NOT NULL,              -- line, edited, pair, unused
    at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Secrets that were redacted in texts. The text contains their name in place of the value.
CREATE TABLE secrets (
    memory BLOB NOT NULL CHECK (length(memory) = 16),
    name   TEXT NOT NULL,
    kind   TEXT NOT NULL,                -- such as password or GitHub token
    mark   BLOB NOT NULL,                -- a keyed fingerprint: equal for equal values under one key
    sealed BLOB,                         -- encrypted for this memory; NULL if the value is stored elsewhere
    place  TEXT NOT NULL DEFAULT 'here', -- where the value is stored: here, vault
    made   INTEGER NOT NULL,
    told   INTEGER NOT NULL DEFAULT 0,   -- 1 if the team server also has the value
    PRIMARY KEY (memory, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX secrets_marked ON secrets (mark);
CREATE INDEX secrets_named ON secrets (name);
-- The uses of secrets. It never contains a value.
CREATE TABLE secret_uses (
    n       INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    memory  BLOB NOT NULL,
    name    TEXT NOT NULL,
    use     TEXT NOT NULL,               -- shown, forgotten, hidden, allowed, sent, moved
    origin  TEXT NOT NULL,
    session TEXT,
    client  TEXT
) STRICT;
-- Texts that look like secrets, and that a person declared to be none.
CREATE TABLE allowed_texts (
    value TEXT NOT NULL PRIMARY KEY,
    at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- Secrets that a person marked, and whose values must still be removed from backups and other files.
CREATE TABLE hidden_secrets (
    memory BLOB NOT NULL CHECK (length(memory) = 16),
    name   TEXT NOT NULL,
    tried  INTEGER NOT NULL DEFAULT 0,   -- 1 if a file could not be changed
    PRIMARY KEY (memory, name)
) STRICT, WITHOUT ROWID;
-- Texts that a scan for probable secrets has read without finding one.
CREATE TABLE clean_texts (
    memory BLOB NOT NULL PRIMARY KEY CHECK (length(memory) = 16),
    digest INTEGER NOT NULL              -- a digest of the text and of the table of the classifiers
) STRICT, WITHOUT ROWID;
-- Permanently deleted memories, and when they were removed from which place. It never contains a text.
CREATE TABLE purges (
    memory BLOB NOT NULL CHECK (length(memory) = 16),
    place  TEXT NOT NULL,                -- row, pages, copies, files, or a file of the home
    at     INTEGER NOT NULL,             -- when the permanent deletion was recorded for this place
    done   INTEGER,                      -- when the memory was removed from this place; NULL if it was not yet
    how    TEXT NOT NULL,                -- a description
    PRIMARY KEY (memory, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX purges_left ON purges (place) WHERE done IS NULL;

-- Watched folders of this machine. A file is a memory (`is_file` = 1), which is synced and has a history. Its sections
-- (observations and groups of paragraphs) are memories too: recall returns them, and they are not synced.
CREATE TABLE folders (
    name     TEXT PRIMARY KEY,
    dir      TEXT NOT NULL,
    scope    TEXT NOT NULL,
    trust    TEXT NOT NULL,              -- the trust of texts that people write by hand
    writable INTEGER NOT NULL,
    told     INTEGER NOT NULL,           -- 1 if its files are synced
    device   INTEGER,                    -- the identity of the directory when it was last read
    inode    INTEGER,
    away     TEXT                        -- why the directory could not be read last time
) STRICT, WITHOUT ROWID;

-- The state of each directory in a folder when its files were last compared.
CREATE TABLE directories (
    folder TEXT NOT NULL,
    path   TEXT NOT NULL,                -- the path in the folder; empty for the folder itself
    digest INTEGER NOT NULL,
    PRIMARY KEY (folder, path)
) STRICT, WITHOUT ROWID;

-- A file at its last reading, with the fields of its front matter.
CREATE TABLE files (
    memory    BLOB PRIMARY KEY CHECK (length(memory) = 16),  -- the memory of the file
    path      TEXT NOT NULL UNIQUE,
    seen      INTEGER NOT NULL,          -- the rev of its memory whose text is on disk
    size      INTEGER NOT NULL,
    modified  INTEGER NOT NULL,          -- nanoseconds since 1970
    inode     INTEGER NOT NULL,
    hash      INTEGER NOT NULL,          -- the hash of its bytes
    kept      INTEGER NOT NULL,          -- 1 if the memory contains the complete text of the file
    title     TEXT NOT NULL,
    kind      TEXT NOT NULL,
    permalink TEXT NOT NULL,
    tags      TEXT NOT NULL,             -- JSON
    fields    TEXT NOT NULL,             -- JSON: the rest of its front matter
    problem   TEXT                       -- why the front matter cannot be read
) STRICT, WITHOUT ROWID;
CREATE INDEX files_permalink ON files (permalink);
CREATE INDEX files_hash ON files (hash);

-- Files whose memory may differ from the file on disk. Without this table, all files would have to be compared.
CREATE TABLE changed_files (
    memory BLOB PRIMARY KEY CHECK (length(memory) = 16)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER memories_file_made AFTER INSERT ON memories WHEN NEW.is_file = 1
BEGIN
    INSERT OR IGNORE INTO changed_files VALUES (NEW.id);
END;
CREATE TRIGGER memories_file_changed AFTER UPDATE OF rev ON memories WHEN NEW.is_file = 1 OR OLD.is_file = 1
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
-- A file whose record was deleted although its memory exists. REPLACE does not run this trigger, so code that takes over a
-- path must delete the row that has it.
CREATE TRIGGER files_unseen AFTER DELETE ON files
WHEN EXISTS (SELECT 1 FROM memories WHERE id = OLD.memory AND is_file = 1 AND deleted IS NULL AND purged = 0)
BEGIN
    INSERT OR IGNORE INTO changed_files VALUES (OLD.memory);
END;

-- The positions of the sections in their file.
CREATE TABLE parts (
    memory     BLOB PRIMARY KEY CHECK (length(memory) = 16),
    file       BLOB NOT NULL,            -- the memory of the file
    n          INTEGER NOT NULL,         -- the position among the sections
    kind       TEXT NOT NULL,            -- observation, text
    category   TEXT,                     -- as written in the file
    context    TEXT,
    begins     INTEGER NOT NULL,         -- the byte range of its text in the file
    ends       INTEGER NOT NULL,
    first_line INTEGER NOT NULL,
    last_line  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX parts_file ON parts (file, n);

-- The names of a file: its title, aliases, permalink and path, in normalised spelling.
CREATE TABLE names (
    key    TEXT NOT NULL,
    memory BLOB NOT NULL,
    PRIMARY KEY (key, memory)
) STRICT, WITHOUT ROWID;
CREATE INDEX names_memory ON names (memory);

-- Relations from one file to another. The target is set when its file appears, and stays when that file is renamed.
CREATE TABLE relations (
    source  BLOB NOT NULL,               -- the memory of the file that contains the relation
    type    TEXT NOT NULL,
    name    TEXT NOT NULL,               -- the name of the other file, as written
    key     TEXT NOT NULL,               -- the name in normalised spelling
    target  BLOB,                        -- the memory of the other file; NULL if there is none yet
    context TEXT,
    line    INTEGER NOT NULL,
    PRIMARY KEY (source, type, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX relations_key ON relations (key);
CREATE INDEX relations_target ON relations (target) WHERE target IS NOT NULL;

-- Writes to files that are about to happen, with their author. After a crash, Tessera still knows who wrote the file.
CREATE TABLE intents (
    path    TEXT PRIMARY KEY,
    hash    INTEGER NOT NULL,
    origin  TEXT NOT NULL,
    session TEXT,
    client  TEXT,
    memory  BLOB NOT NULL                -- the memory of the file
) STRICT, WITHOUT ROWID;

-- Imports from other systems, so that users can list them and undo one completely.
CREATE TABLE imports (
    n       INTEGER PRIMARY KEY,
    system  TEXT NOT NULL,               -- claude-memory-mcp, memory-mcp, basic-memory, lines
    source  TEXT NOT NULL,               -- the source: a path or an address
    whose   TEXT NOT NULL,               -- own, foreign
    started INTEGER NOT NULL,
    ended   INTEGER,                     -- NULL if the import was interrupted; the next run of the same import continues it
    undone  INTEGER
) STRICT;

-- What an import did with each memory.
CREATE TABLE imported (
    import INTEGER NOT NULL,
    memory BLOB NOT NULL CHECK (length(memory) = 16),
    did    TEXT NOT NULL,                -- stored, changed, deleted, restored, owner_trust; undone
    was    TEXT,                         -- the original value of `did`, if the import was undone
    rev    INTEGER NOT NULL,             -- the rev of the memory after the import; a higher one shows a later change
    PRIMARY KEY (import, memory)
) STRICT, WITHOUT ROWID;

-- The memory of each imported row, by the row's key in the other system. So a second import recognises the row.
CREATE TABLE imported_rows (
    key    BLOB NOT NULL PRIMARY KEY CHECK (length(key) = 16),
    memory BLOB NOT NULL CHECK (length(memory) = 16),
    import INTEGER NOT NULL,             -- the first import that read the row
    said   INTEGER NOT NULL,             -- a digest of the row when it was last imported
    held   INTEGER NOT NULL              -- a digest of the memory after that; another digest shows a change here
) STRICT, WITHOUT ROWID;

CREATE INDEX imported_rows_by_memory ON imported_rows (memory);

-- The values of `imported_rows` before an import changed them, so that undoing the import restores them.
CREATE TABLE imported_rows_before (
    import INTEGER NOT NULL,
    key    BLOB NOT NULL CHECK (length(key) = 16),
    said   INTEGER NOT NULL,
    held   INTEGER NOT NULL,
    PRIMARY KEY (key, import)
) STRICT, WITHOUT ROWID;
