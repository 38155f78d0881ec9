//! Each query and change of the store whose text is known while compiling is one that its database can prepare.

use std::path::Path;

use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::{Batch, Connection};

use crate::support::Home;

#[path = "../../../fixtures/statements.rs"]
mod read;

#[test]
fn the_database_prepares_every_statement() {
    let home = Home::new();
    drop(home.open("2026-11-20T09:00:00Z"));
    let database = Connection::open(home.dir.path().join("t/tessera.db")).unwrap();
    let found = read::Statements::below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store"), &[]);
    let refused = |(file, sql): &(String, String)| {
        let all = Batch::new(&database, sql).for_each(|_| Ok(()));
        all.err().map(|error| format!("{file}: {sql}\n    {error}"))
    };
    let refused: Vec<String> = found.whole.iter().filter_map(refused).collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert!(found.whole.len() > 300, "{} were found", found.whole.len());
    // Those of which a part is known only at run time are left to the tests that run them.
    assert!(found.partial.len() < 50, "{:#?}", found.partial);
}
