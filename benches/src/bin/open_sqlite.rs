//! A process that only opens a database and reads its schema: the lower bound for a cold recall.

fn main() {
    let path = std::env::args_os().nth(1).expect("a database");
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let connection = rusqlite::Connection::open_with_flags(path, flags).expect("a database");
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).expect("a schema");
    assert!(tables > 0, "an empty database");
}
