-- Files that recall knows. A file is a memory (`whole` = 1), which travels and keeps its history; its parts, observations and
-- groups of paragraphs, are memories too: they are found, and no server is told of them.
ALTER TABLE memories ADD COLUMN file TEXT;                       -- the path: /memories/user/preferences.md
ALTER TABLE memories ADD COLUMN heading TEXT;                    -- the heading above a part
ALTER TABLE memories ADD COLUMN whole INTEGER NOT NULL DEFAULT 0;
CREATE INDEX memories_file ON memories (file) WHERE file IS NOT NULL;
CREATE INDEX memories_whole ON memories (rev) WHERE whole = 1;
-- Nobody finds a file as a whole, so nobody looks for what it means.
DROP INDEX memories_waiting;
CREATE INDEX memories_waiting ON memories (rev) WHERE meaning = x'' AND deleted IS NULL AND whole = 0;

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

-- Why a memory stays on this machine: 'file' where a file cannot be told of, or its folder is not; NULL where the person
-- said so.
ALTER TABLE private ADD COLUMN why TEXT;

-- What a server said of files before this program knew of them was read without their paths: everything is fetched anew.
UPDATE server SET is_whole = 0;
