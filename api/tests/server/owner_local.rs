//! Everything that a statement touches belongs to one user, but for a short list: so that tables can be spread by
//! user. The catalogue is looked at in `isolation`; here are the statements, as they stand in the sources.

use std::fs;
use std::path::PathBuf;

const TABLES: [&str; 18] = [
    "users",
    "api_keys",
    "memories",
    "memory_shares",
    "tag_shares",
    "mutes",
    "user_seq",
    "checkpoints",
    "feed",
    "applied_ops",
    "restores",
    "memory_secrets",
    "vault_writes",
    "vault_removals",
    "audit",
    "purges",
    "fetched",
    "index_cache",
];

/// Statements that are not local to one user, with the words that tell them; docs/SCALING.md says what each costs.
const BEYOND: [(&str, &str); 6] = [
    ("presented_keys($1)", "the users of the keys, and the positions of their feeds"),
    ("presented_key($1)", "whose a key is, where rows are spread over machines"),
    ("SELECT every_user()", "all users, on the server's host"),
    ("SELECT owner FROM vault_writes UNION", "whose values are on their way into a vault or out of it"),
    ("memories.owner = feed.owner AND memories.id = feed.memory", "what is shared with a user: by its owner and id"),
    ("memories.owner = ANY ($1) AND memories.id = ANY ($2)", "the same where rows are spread over machines"),
];

/// The text between quotes in the sources of the database's part, joined where `concat!` joins it.
fn statements() -> Vec<String> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    for dir in ["db", "db/older", "recall"] {
        for entry in fs::read_dir(root.join(dir)).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                continue;
            }
            let text = fs::read_to_string(entry).unwrap();
            // A statement ends where its values are bound or it is run.
            for piece in text.split("sqlx::query").skip(1).chain(text.split("let sql =").skip(1)) {
                let end = [".bind(", ".execute(", ".fetch"].iter().filter_map(|end| piece.find(end)).min();
                let quoted: String = piece[..end.unwrap_or(piece.len())].split('"').skip(1).step_by(2).collect();
                if !quoted.is_empty() {
                    found.push(quoted.split_whitespace().collect::<Vec<_>>().join(" "));
                }
            }
            for piece in text.split("concat!(").skip(1) {
                let quoted: String = piece.split(");").next().unwrap().split('"').skip(1).step_by(2).collect();
                found.push(quoted.split_whitespace().collect::<Vec<_>>().join(" "));
            }
        }
    }
    found
}

#[test]
fn every_statement_is_local_to_one_user_or_on_the_list() {
    let statements = statements();
    assert!(statements.len() > 40, "{} statements were found", statements.len());
    let mut exceptions = [0; BEYOND.len()];
    for statement in &statements {
        let word = |table: &&&str| {
            ["FROM", "JOIN", "INTO", "UPDATE"].iter().any(|before| statement.contains(&format!("{before} {table} ")))
        };
        let touched: Vec<&&str> = TABLES.iter().filter(word).collect();
        let listed = BEYOND.iter().position(|(words, _)| statement.contains(words));
        if let Some(listed) = listed {
            exceptions[listed] += 1;
        }
        if touched.is_empty() || listed.is_some() {
            continue;
        }
        let is_local = ["owner = $1", "user_id = $1", "(owner, ", "(user_id, ", "(user_id)"]
            .iter()
            .any(|local| statement.contains(local));
        assert!(is_local, "touches {touched:?} of more than one user: {statement}");
    }
    assert!(exceptions.iter().all(|count| *count > 0), "the list names what is not there: {exceptions:?}");
}
