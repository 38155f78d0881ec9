//! Each query and change of the server whose text is known while compiling is one that its database can prepare.

use std::path::Path;

use sqlx::{AssertSqlSafe, Executor as _, SqlSafeStr as _};

use crate::taken_over::{rules, take, with_older};

#[path = "../../../fixtures/statements.rs"]
mod read;

#[test]
fn the_database_prepares_every_statement() {
    // With the tables of the older system beside its own.
    with_older("SELECT 1", |site| async move {
        take(&site, rules()).await.unwrap();
        let pool = site.admin().await;
        // Lists of columns that a macro makes of a table.
        let columns = [
            ("columns!", "memories.*"),
            ("derived_columns!", "memories.owner AS whose, memories.embedding AS derived"),
        ];
        let found = read::Statements::below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &columns);
        let mut refused = Vec::new();
        // The tests on a spread database run what names the tables of the extension.
        for (file, sql) in found.whole.iter().filter(|(_, sql)| !sql.contains("citus_tables")) {
            if let Err(error) = pool.prepare(AssertSqlSafe(sql.clone()).into_sql_str()).await {
                refused.push(format!("{file}: {sql}\n    {error}"));
            }
        }
        assert!(refused.is_empty(), "{}", refused.join("\n"));
        assert!(found.whole.len() > 150, "{} were found", found.whole.len());
        // Those of which a part is known only at run time are left to the tests that run them.
        assert!(found.partial.len() <= 16, "{:#?}", found.partial);
    });
}
