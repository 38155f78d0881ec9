//! The tables of the schema, each defined once: how a salvage copies its rows, which columns contain texts, and what a
//! permanent deletion changes.

use std::collections::BTreeSet;

use Salvaged::{AfterMemories, Again, Apart, Rows};
use rusqlite::Connection;
use rusqlite::ffi::SQLITE_ERROR;

use crate::domain::MemoryUuid;
use crate::store::rows::codec::{Ask as _, Run as _};

/// A table of the schema.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    /// The columns of the primary key, in order.
    pub(crate) key: &'static [&'static str],
    pub(crate) salvage: Salvaged,
    pub(crate) texts: &'static [Text],
    /// The statements for a permanent deletion of the memory `?1`.
    pub(crate) erase: &'static [Erase],
}

/// How a salvage copies the rows of a table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Salvaged {
    /// With separate code.
    Apart,
    /// Row by row, unchanged.
    Rows,
    /// The rows are copied after the memories, because triggers look up the memory of a file.
    AfterMemories,
    /// A salvage does not copy the table, because triggers or the server fill it again.
    Again,
}

/// A column with texts.
#[derive(Clone, Copy)]
pub(crate) struct Text {
    pub(crate) column: &'static str,
    /// True for JSON about the memory whose UUID is in the column `memory`.
    pub(crate) is_of_memory: bool,
}

/// A statement of a permanent deletion.
pub(crate) struct Erase {
    sql: &'static str,
    /// True if a permanent deletion executes the statement only in copies. In the store itself, other code deletes
    /// these rows after its own checks.
    in_copies_only: bool,
}

const fn text(column: &'static str) -> Text {
    Text { column, is_of_memory: false }
}

const fn of_memory(column: &'static str) -> Text {
    Text { column, is_of_memory: true }
}

const fn erase(sql: &'static str) -> Erase {
    Erase { sql, in_copies_only: false }
}

const fn in_copies(sql: &'static str) -> Erase {
    Erase { sql, in_copies_only: true }
}

const fn table(name: &'static str, key: &'static [&'static str], salvage: Salvaged) -> Table {
    Table { name, key, salvage, texts: &[], erase: &[] }
}

impl Table {
    const fn texts(self, texts: &'static [Text]) -> Self {
        Self { texts, ..self }
    }

    const fn erase(self, erase: &'static [Erase]) -> Self {
        Self { erase, ..self }
    }
}

/// All tables. Rows of a file come after its memory, because they contain its revision.
pub(crate) static TABLES: [Table; 37] = [
    table("meta", &["key"], Apart),
    table("memories", &["short_id"], Apart),
    table("outbox", &["n"], Apart)
        .texts(&[text("refused"), text("failing")])
        .erase(&[erase("UPDATE outbox SET refused = NULL, failing = NULL WHERE memory = ?1")]),
    table("counts", &["kind", "value"], Again),
    table("anchors", &["key", "memory"], Again),
    table("private", &["memory"], Apart),
    table("links", &["source", "type", "target"], Rows)
        .erase(&[erase("DELETE FROM links WHERE source = ?1 OR target = ?1")]),
    table("history", &["rev"], Rows)
        .texts(&[text("reason"), text("session"), text("client"), text("origin"), of_memory("before")])
        .erase(&[erase(
            "UPDATE history SET before = NULL, reason = NULL, session = NULL, client = NULL WHERE memory = ?1",
        )]),
    table("deliveries", &["n"], Rows).texts(&[text("delivery"), text("session")]),
    table("learning", &["session"], Rows).texts(&[text("cursor"), text("session")]),
    table("spending", &["day", "extractor"], Rows),
    table("sync_states", &["memory"], Rows)
        .texts(&[of_memory("sync_state")])
        .erase(&[erase("DELETE FROM sync_states WHERE memory = ?1")]),
    table("server", &["only_row"], Rows).texts(&[text("problem")]),
    table("trusted_directories", &["path", "project"], Rows).erase(&[in_copies(
        "DELETE FROM trusted_directories WHERE how = 'made' AND ?1 IS NOT NULL AND NOT EXISTS
         (SELECT 1 FROM memories WHERE cwd = path AND scope = project)",
    )]),
    // In a copy, it is not checked which questions concern a memory, because a copy only restores memories.
    table("unanswered_questions", &["n"], Rows)
        .texts(&[text("text"), text("words"), text("scope")])
        .erase(&[in_copies("DELETE FROM unanswered_questions WHERE ?1 IS NOT NULL")]),
    table("candidates", &["digest"], Rows)
        .texts(&[text("candidate")])
        .erase(&[in_copies("DELETE FROM candidates WHERE ?1 IS NOT NULL")]),
    table("reviewed", &["digest"], Rows),
    // In the store, a secret in a vault is first deleted there.
    table("secrets", &["memory", "name"], Rows).erase(&[in_copies("DELETE FROM secrets WHERE memory = ?1")]),
    table("secret_uses", &["n"], Rows)
        .texts(&[text("session")])
        .erase(&[erase("DELETE FROM secret_uses WHERE memory = ?1")]),
    table("allowed_texts", &["value"], Rows),
    table("hidden_secrets", &["memory", "name"], Rows).erase(&[erase("DELETE FROM hidden_secrets WHERE memory = ?1")]),
    table("clean_texts", &["memory"], Again).erase(&[erase("DELETE FROM clean_texts WHERE memory = ?1")]),
    table("purges", &["memory", "place"], Rows),
    table("imports", &["n"], Rows).texts(&[text("source")]),
    table("imported", &["import", "memory"], Rows),
    // Its key in another system stays, so that it is not imported again. Its digest is deleted, because the text could
    // be guessed from it.
    table("imported_rows", &["key"], Rows)
        .erase(&[erase("UPDATE imported_rows SET said = 0, held = 0 WHERE memory = ?1")]),
    table("imported_rows_before", &["key", "import"], Rows).erase(&[erase(
        "DELETE FROM imported_rows_before WHERE key IN (SELECT key FROM imported_rows WHERE memory = ?1)",
    )]),
    table("folders", &["name"], AfterMemories),
    table("directories", &["folder", "path"], AfterMemories),
    // The position of a file on disk stays until it has been deleted there.
    table("files", &["memory"], AfterMemories).erase(&[erase(
        "UPDATE files SET title = '', kind = '', permalink = '', tags = '[]', fields = '{}', problem = NULL
         WHERE memory = ?1",
    )]),
    table("changed_files", &["memory"], Again),
    table("parts", &["memory"], AfterMemories).erase(&[erase("DELETE FROM parts WHERE memory = ?1")]),
    table("names", &["key", "memory"], AfterMemories).erase(&[erase("DELETE FROM names WHERE memory = ?1")]),
    table("relations", &["source", "type", "key"], AfterMemories).erase(&[
        erase("DELETE FROM relations WHERE source = ?1"),
        erase("UPDATE relations SET target = NULL WHERE target = ?1"),
    ]),
    table("intents", &["path"], AfterMemories).erase(&[erase("DELETE FROM intents WHERE memory = ?1")]),
    table("checkpoints", &["seq"], Again),
    table("invitations", &["owner", "tag"], Again),
];

/// The columns with texts, each with its table and the key column of the table.
pub(crate) fn texts(is_of_memory: bool) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let of_table = move |table: &'static Table| {
        let wanted = table.texts.iter().filter(move |text| text.is_of_memory == is_of_memory);
        let key = table.key.first().copied().unwrap_or_default();
        wanted.map(move |text| (table.name, key, text.column))
    };
    TABLES.iter().flat_map(of_table)
}

/// Erases a memory's data that is stored outside its row.
pub(crate) fn erase_beside(connection: &Connection, memory: MemoryUuid) -> rusqlite::Result<()> {
    let statements = TABLES.iter().flat_map(|table| table.erase).filter(|erase| !erase.in_copies_only);
    for erase in statements {
        connection.run(erase.sql, [memory])?;
    }
    Ok(())
}

/// Deletes the data of a memory from a copy, whose schema may be older. Statements are skipped if the copy lacks their
/// table or columns.
pub(crate) fn erase_beside_in_copy(connection: &Connection, memory: MemoryUuid) -> rusqlite::Result<()> {
    for erase in TABLES.iter().flat_map(|table| table.erase) {
        match connection.prepare(erase.sql) {
            Ok(mut statement) => statement.execute([memory]).map(drop)?,
            Err(error) if error.sqlite_error().is_some_and(|error| error.extended_code == SQLITE_ERROR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The columns of a table; none if it does not exist.
pub(crate) fn columns(connection: &Connection, table: &str) -> rusqlite::Result<BTreeSet<String>> {
    let names = connection.all("SELECT name FROM pragma_table_info(?1)", [table], |row| row.get(0))?;
    Ok(names.into_iter().collect())
}

/// True if a table has a column.
pub(crate) fn has(connection: &Connection, table: &str, column: &str) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2")?.exists([table, column])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::open::in_memory::InMemory;

    fn names(store: &InMemory, sql: &str) -> BTreeSet<String> {
        let mut statement = store.connection.prepare(sql).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn the_list_has_every_table_of_the_schema_with_its_key_and_columns_that_are_there() {
        let store = InMemory::new();
        let schema = names(&store, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
        assert_eq!(schema, TABLES.iter().map(|table| table.name.to_owned()).collect());
        for table in &TABLES {
            let sql = format!("SELECT name FROM pragma_table_info('{}') WHERE pk > 0", table.name);
            assert_eq!(names(&store, &sql), table.key.iter().map(|key| (*key).to_owned()).collect(), "{}", table.name);
            let there = columns(&store.connection, table.name).unwrap();
            assert!(table.texts.iter().all(|text| there.contains(text.column)), "{}", table.name);
            assert!(!table.texts.iter().any(|text| text.is_of_memory) || there.contains("memory"), "{}", table.name);
        }
        let id = MemoryUuid::from_key("a");
        erase_beside(&store.connection, id).unwrap();
        erase_beside_in_copy(&store.connection, id).unwrap();
        store
            .connection
            .execute_batch("DROP INDEX outbox_failing; ALTER TABLE outbox DROP COLUMN failing; DROP TABLE sync_states")
            .unwrap();
        assert!(erase_beside(&store.connection, id).is_err());
        erase_beside_in_copy(&store.connection, id).unwrap();
    }
}
