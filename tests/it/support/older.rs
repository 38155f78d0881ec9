//! Databases and folders as older systems leave them, made by their own statements.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rusqlite::{Connection, params};

use super::World;

const V: &str = "
    CREATE TABLE memories (id INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL, category TEXT DEFAULT 'facts',
        tags TEXT DEFAULT '', expanded_keywords TEXT DEFAULT '', importance REAL DEFAULT 0.5,
        is_sensitive INTEGER DEFAULT 0, created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
    CREATE VIRTUAL TABLE memories_fts USING fts5(content, category, tags, expanded_keywords,
        content='memories', content_rowid='id');
    CREATE TRIGGER memories_ai AFTER INSERT ON memories BEGIN
        INSERT INTO memories_fts(rowid, content, category, tags, expanded_keywords)
        VALUES (new.id, new.content, new.category, new.tags, new.expanded_keywords); END;";
const V_SYNCED: &str = "
    ALTER TABLE memories ADD COLUMN server_id INTEGER;
    CREATE UNIQUE INDEX idx_memories_server_id ON memories(server_id);
    CREATE TABLE pending_ops (id INTEGER PRIMARY KEY AUTOINCREMENT, op_type TEXT NOT NULL, payload TEXT NOT NULL,
        created_at TEXT NOT NULL, retry_count INTEGER DEFAULT 0);
    CREATE TABLE sync_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
    PRAGMA user_version = 2;";
const W: &str = "
    CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL);
    CREATE TABLE memories (id TEXT PRIMARY KEY, content TEXT NOT NULL,
        type TEXT NOT NULL CHECK(type IN ('fact', 'entity', 'relationship', 'self')),
        importance REAL NOT NULL CHECK(importance >= 0 AND importance <= 10), embedding BLOB,
        created_at INTEGER NOT NULL, last_accessed INTEGER NOT NULL, expires_at INTEGER,
        metadata TEXT NOT NULL DEFAULT '{}', is_deleted INTEGER NOT NULL DEFAULT 0, summary TEXT,
        access_count INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE entities (id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, type TEXT NOT NULL,
        metadata TEXT NOT NULL DEFAULT '{}', created_at INTEGER NOT NULL);
    CREATE TABLE memory_entities (memory_id TEXT NOT NULL, entity_id TEXT NOT NULL, created_at INTEGER NOT NULL,
        PRIMARY KEY (memory_id, entity_id));
    CREATE TABLE provenance (id TEXT PRIMARY KEY, memory_id TEXT NOT NULL, operation TEXT NOT NULL,
        timestamp INTEGER NOT NULL, source TEXT NOT NULL, context TEXT, user_id TEXT, changes TEXT);";

/// What a file is: its bytes, and when it was written.
pub(crate) type FileState = (PathBuf, Vec<u8>, SystemTime);

/// An empty database of V's, as its client for a server has it, with a log that is never put into it.
pub(crate) fn v_database(path: &Path) -> Connection {
    let connection = v_alone(path);
    connection.execute_batch(V_SYNCED).unwrap();
    connection
}

/// The same as it was before it knew a server.
pub(crate) fn v_alone(path: &Path) -> Connection {
    database(path, V)
}

/// An empty database of W's.
pub(crate) fn w_database(path: &Path) -> Connection {
    database(path, W)
}

fn database(path: &Path, tables: &str) -> Connection {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let connection = Connection::open(path).unwrap();
    connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0").unwrap();
    connection.execute_batch(tables).unwrap();
    connection
}

/// Stores as V does, at a minute of one day; the number of the row.
pub(crate) fn v_stores(connection: &Connection, minute: u32, content: &str) -> i64 {
    let at = format!("2026-11-01T{:02}:{:02}:38.553482+00:00", minute / 60, minute % 60);
    let sql = "INSERT INTO memories (content, tags, expanded_keywords, importance, created_at, updated_at)
               VALUES (?1, 'ops,Shop', 'port shop staging', 0.8, ?2, ?2)";
    connection.execute(sql, params![content, at]).unwrap();
    connection.last_insert_rowid()
}

/// Stores as W does.
pub(crate) fn w_stores(connection: &Connection, id: &str, content: &str, importance: f64) {
    let sql = "INSERT INTO memories (id, content, type, importance, created_at, last_accessed, metadata, access_count)
               VALUES (?1, ?2, 'fact', ?3, 1793500000000, 1793600000000, '{\"tags\":[\"ops\"],\"project\":\"shop\"}', 3)";
    connection.execute(sql, params![id, content, importance]).unwrap();
    let sql = "INSERT INTO provenance VALUES ('p' || ?1, ?1, 'create', 1793500000000, 'user', NULL, NULL, NULL)";
    connection.execute(sql, [id]).unwrap();
}

/// The database and what lies beside it.
pub(crate) fn states(path: &Path) -> Vec<FileState> {
    let beside = |suffix: &str| PathBuf::from(format!("{}{suffix}", path.display()));
    let of = |path: PathBuf| {
        let bytes = fs::read(&path).ok()?;
        let written = fs::metadata(&path).unwrap().modified().unwrap();
        Some((path, bytes, written))
    };
    let files = ["", "-wal", "-shm", "-journal"].map(beside);
    let mut states: Vec<FileState> = files.into_iter().filter_map(of).collect();
    let mut names: Vec<PathBuf> =
        fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    states.push((names.iter().collect(), Vec::new(), SystemTime::UNIX_EPOCH));
    states
}

/// Two notes of basic-memory's that name each other.
pub(crate) fn vault(world: &World) -> PathBuf {
    let dir = world.path("vault");
    fs::create_dir_all(dir.join("infra")).unwrap();
    let staging = "---\ntitle: Staging database\ntype: note\npermalink: main/infra/staging-database\ntags:\n- postgres\n---\n\n\
                   # Staging database\n\n## Observations\n- [fact] runs PostgreSQL 15 on port 5433 #staging (seen in compose)\n\
                   - [decision] backups at 02:00\n\n## Relations\n- used_by [[Shop Front End]]\n- depends_on [[Network Plan]]\n";
    let shop = "---\ntitle: Shop Front End\npermalink: main/shop-front-end\n---\n\nWe decided on Svelte over React.\n";
    fs::write(dir.join("infra/Staging database.md"), staging).unwrap();
    fs::write(dir.join("Shop Front End.md"), shop).unwrap();
    dir
}
