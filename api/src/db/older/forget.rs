//! Deletes the data of a removed user in the old tables.

use sqlx::{AssertSqlSafe, Row as _};

use super::names::has_column;
use crate::db::remove::Counts;
use crate::db::verbs::{Ask as _, args};
use crate::db::{Db, DbError, UserId};

/// The rows of the old tables that name a user, in deletion order: the table, a column that must exist, and the
/// condition. `$1` is the user's old name.
const ROWS: [(&str, &str, &str); 5] = [
    ("memory_links", "user_id", "user_id = $1"),
    (
        "memory_shares",
        "owner_id",
        "owner_id = $1 OR shared_with = $1 OR memory_id IN (SELECT id FROM older.memories WHERE user_id = $1)",
    ),
    ("tag_shares", "owner_id", "owner_id = $1 OR shared_with = $1"),
    ("memories", "user_id", "user_id = $1"),
    ("names", "older", "older = $1"),
];

/// The migrated rows of a user.
const TAKEN: &str = "owner = $1 OR id IN (SELECT id FROM older.memories WHERE user_id = $2)";

impl Db {
    /// The user's name in the old tables, if these still exist.
    async fn older_name(&self, user: &UserId) -> Result<Option<String>, DbError> {
        let mut conn = self.pool.acquire().await?;
        if !super::is_aside(&mut conn).await? {
            return Ok(None);
        }
        let sql = "SELECT older FROM older.names WHERE name = $1";
        Ok(conn.maybe_value(sql, args![user.as_str()]).await?)
    }

    /// For each old table, the number of rows that name a user.
    pub(in crate::db) async fn older_rows_of(&self, user: &UserId) -> Result<Counts, DbError> {
        let mut counts = Counts::new();
        let Some(name) = self.older_name(user).await? else { return Ok(counts) };
        for (table, column, rows) in ROWS {
            if has_column(self, table, column).await? {
                let sql = AssertSqlSafe(format!("SELECT count(*) FROM older.{table} WHERE {rows}"));
                let n: i64 = sqlx::query_scalar(sql).bind(&name).fetch_one(&self.pool).await?;
                if n > 0 {
                    counts.insert(format!("older.{table}"), n.unsigned_abs());
                }
            }
        }
        Ok(counts)
    }

    /// A user's secrets that the older system stored in the vault: the old user name, and the ID of each memory.
    pub(in crate::db) async fn older_in_vault(&self, user: &UserId) -> Result<Vec<(String, String)>, DbError> {
        let Some(name) = self.older_name(user).await? else { return Ok(Vec::new()) };
        if !has_column(self, "memories", "vault_path").await? {
            return Ok(Vec::new());
        }
        let rows = sqlx::query("SELECT id::text AS id FROM older.memories WHERE user_id = $1 AND vault_path <> ''")
            .bind(&name)
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(|row| Ok((name.clone(), row.try_get("id")?))).collect()
    }

    /// Deletes a user's rows in the old tables.
    pub(in crate::db) async fn forget_older(&self, user: &UserId, counts: &mut Counts) -> Result<(), DbError> {
        let Some(name) = self.older_name(user).await? else { return Ok(()) };
        let mut there = Vec::new();
        for (table, column, rows) in ROWS {
            if has_column(self, table, column).await? {
                there.push((table, rows));
            }
        }
        let is_of_users = has_column(self, "memories", "user_id").await?;
        let mut tx = self.pool.begin().await?;
        let taken = if is_of_users { TAKEN } else { "owner = $1 OR $2 = ''" };
        let sql = AssertSqlSafe(format!("DELETE FROM older.taken WHERE {taken}"));
        tx.run(sql, args![user.as_str(), &name]).await?;
        // Without a user column, all rows belong to this user. Remaining rows would be migrated again.
        there.extend((!is_of_users).then_some(("memories", "$1 IS NOT NULL")));
        for (table, rows) in there {
            let sql = AssertSqlSafe(format!("DELETE FROM older.{table} WHERE {rows}"));
            let n = tx.run(sql, args![&name]).await?.rows_affected();
            if n > 0 {
                *counts.entry(format!("older.{table}")).or_default() += n;
            }
        }
        Ok(tx.commit().await?)
    }
}
