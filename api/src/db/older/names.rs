//! Converts the user names of the older system, which accepted any text.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest as _, Sha256};
use sqlx::AssertSqlSafe;

use super::TakenOver;
use crate::db::{Db, DbError, UserId};

/// The names of users.
pub(super) struct Names(BTreeMap<String, UserId>);

impl Names {
    /// Adds the owners of all memories as users, and finds a valid name for all users who received shares. Earlier
    /// decisions stay.
    pub(super) async fn settle(db: &Db, taken: &mut TakenOver) -> Result<Self, DbError> {
        let owners = names_in(db, &[("memories", "user_id"), ("tag_shares", "owner_id")]).await?;
        let grantees = names_in(db, &[("memory_shares", "shared_with"), ("tag_shares", "shared_with")]).await?;
        let known: Vec<(String, String)> =
            sqlx::query_as("SELECT older, name FROM older.names").fetch_all(&db.pool).await?;
        let mut names = BTreeMap::new();
        for (older, name) in known {
            names.insert(older, name.parse()?);
        }
        let given: BTreeSet<&String> = owners.union(&grantees).collect();
        // Names that are valid are assigned first.
        let (sound, others): (Vec<&String>, Vec<&String>) =
            given.into_iter().partition(|name| name.parse::<UserId>().is_ok());
        for older in sound.into_iter().chain(others) {
            if names.contains_key(older) {
                continue;
            }
            let name = free(older, &names)?;
            sqlx::query("INSERT INTO older.names (older, name) VALUES ($1, $2)")
                .bind(older)
                .bind(name.as_str())
                .execute(&db.pool)
                .await?;
            names.insert(older.clone(), name);
        }
        for owner in owners.iter().filter_map(|owner| names.get(owner)) {
            db.add_user(owner).await?;
        }
        let is_renamed = |(older, name): &(&String, &UserId)| older.as_str() != name.as_str();
        let renamed = names.iter().filter(is_renamed).map(|(older, name)| (older.clone(), name.as_str().to_owned()));
        taken.renamed = renamed.collect();
        let users: BTreeSet<String> = db.users().await?.into_iter().collect();
        let unknown = grantees.iter().filter_map(|older| names.get(older)).map(|name| name.as_str().to_owned());
        taken.unknown = unknown.filter(|name| !users.contains(name)).collect();
        Ok(Self(names))
    }

    /// A user's name here.
    pub(super) fn of(&self, older: &str) -> Option<&UserId> {
        self.0.get(older)
    }

    /// Everybody.
    pub(super) fn all(&self) -> impl Iterator<Item = &UserId> {
        self.0.values()
    }
}

async fn names_in(db: &Db, columns: &[(&str, &str)]) -> Result<BTreeSet<String>, DbError> {
    let mut found = BTreeSet::new();
    for (table, column) in columns {
        if has_column(db, table, column).await? {
            let sql = AssertSqlSafe(format!("SELECT DISTINCT {column} FROM older.{table} WHERE {column} IS NOT NULL"));
            found.extend(sqlx::query_scalar::<_, String>(sql).fetch_all(&db.pool).await?);
        } else if *table == "memories" {
            // From before it knew users.
            found.insert("default".to_owned());
        }
    }
    Ok(found)
}

/// True if the old table has this column; it depends on the version of the older system.
pub(super) async fn has_column(db: &Db, table: &str, column: &str) -> Result<bool, DbError> {
    Ok(sqlx::query_scalar(
        "SELECT EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass('older.' || $1) AND attname = $2 AND \
        NOT attisdropped)",
    )
    .bind(table)
    .bind(column)
    .fetch_one(&db.pool)
    .await?)
}

/// Returns an unused user name: the old name if it is valid, otherwise its valid characters and a part of its digest.
/// The digest distinguishes this name from an existing user with the same valid characters.
fn free(older: &str, names: &BTreeMap<String, UserId>) -> Result<UserId, DbError> {
    let is_taken = |name: &UserId| names.values().any(|known| known == name);
    if let Some(name) = older.parse().ok().filter(|name| !is_taken(name)) {
        return Ok(name);
    }
    let kept = |c: char| if c.is_ascii_alphanumeric() || "._@-".contains(c) { c } else { '-' };
    let plain: String = older.chars().map(kept).take(60).collect();
    let plain = plain.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let plain = if plain.is_empty() { "user" } else { plain };
    let digest: String = Sha256::digest(older.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    let mut candidates = (4..=digest.len()).filter_map(|n| Some(format!("{plain}-{}", digest.get(..n)?)));
    let found = candidates.find_map(|name| name.parse().ok().filter(|name| !is_taken(name)));
    found.ok_or_else(|| DbError::Row("a user name from the older system cannot be converted to a valid name".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_people_never_get_one_name() {
        let mut names = BTreeMap::new();
        for (older, begins) in [
            ("ada", "ada"),
            ("Ada Lovelace", "Ada-Lovelace-"),
            ("Ada_Lovelace", "Ada_Lovelace"),
            ("Ada/Lovelace", "Ada-Lovelace-"),
            ("", "user-"),
            ("Жанна", "user-"),
            ("..", "user-"),
            ("ada@example.org", "ada@example.org"),
        ] {
            let given = free(older, &names).unwrap();
            assert!(given.as_str().starts_with(begins), "{older}: {}", given.as_str());
            assert_eq!(given.as_str() == older, older.parse::<UserId>().is_ok(), "{older}");
            assert!(!names.values().any(|known| *known == given), "{older}");
            names.insert(older.to_owned(), given);
        }
    }
}
