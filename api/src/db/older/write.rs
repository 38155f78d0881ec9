//! Writes rows of the older system as memories, in batches of one transaction each.

use tessera_engine::compose::Decided;

use super::TakenOver;
use super::names::Names;
use super::row::{Becomes, Older, id_of, next, reading};
use super::shares::{Grant, Rules};
use crate::db::error::Remedy;
use crate::db::memories::{Comparison, uuid};
use crate::db::verbs::{Ask as _, args};
use crate::db::{AuditedAction, Db, DbError, UserId, UserTx, unless_overtaken};
use crate::secrets::Secrets;

/// Rows of one transaction.
const BATCH: i64 = 100;

/// A row that becomes a memory.
struct Coming<'a> {
    older: &'a Older,
    owner: &'a UserId,
    states: Vec<Decided>,
    grants: Vec<Grant>,
}

impl Db {
    /// Migrates the rows that are not migrated yet, in the order of their old IDs.
    pub(super) async fn take_rows(
        &self,
        secrets: &Secrets,
        names: &Names,
        rules: &Rules,
        is_first: bool,
        taken: &mut TakenOver,
        progress: impl Fn(u64, u64),
    ) -> Result<(), DbError> {
        let (reading, mut after) = (reading(self).await?, i64::MIN);
        let all = "SELECT (SELECT count(*) FROM older.memories) - (SELECT count(*) FROM older.taken WHERE memory IS NOT NULL)";
        let all = sqlx::query_scalar::<_, i64>(all).fetch_one(&self.pool).await?.unsigned_abs();
        let mut done = 0;
        loop {
            let rows = next(self, &reading, after, BATCH).await?;
            let Some(last) = rows.last() else { return Ok(()) };
            after = last.id;
            let (mut coming, mut left) = (Vec::new(), Vec::new());
            for older in &rows {
                match older.becomes(self, secrets, names).await? {
                    Becomes::Left(why) => left.push((older.id, why)),
                    Becomes::Memory { states, with_secrets, links, remarks } => {
                        let Some(owner) = names.of(&older.user) else { continue };
                        let grants = rules.of_memory(older.id, &older.user, owner, &older.tags);
                        taken.with_secrets += u64::from(with_secrets);
                        taken.links += links;
                        taken.remarks.extend(remarks);
                        coming.push(Coming { older, owner, states, grants });
                    }
                }
            }
            let written = unless_overtaken(|| self.write(&coming, &left, is_first)).await?;
            taken.memories += written.memories;
            taken.deleted += written.deleted;
            taken.shares += written.shares;
            done += rows.len() as u64;
            progress(done, all);
        }
    }

    /// Writes a batch, and records the result of each row. A row that the database rejects does not stop the others.
    async fn write(&self, coming: &[Coming<'_>], left: &[(i64, String)], is_first: bool) -> Result<TakenOver, DbError> {
        let mut taken = TakenOver::default();
        let nobody: UserId = "nobody".parse()?;
        let mut tx = self.on_host(coming.first().map_or(&nobody, |one| one.owner)).await?;
        for (id, why) in left {
            tx.note_older(*id, None, Some(why)).await?;
        }
        for one in coming {
            tx.act_for(one.owner).await?;
            tx.run("SAVEPOINT one", args![]).await?;
            match tx.take(one, is_first).await {
                Ok(shares) => {
                    tx.run("RELEASE SAVEPOINT one", args![]).await?;
                    tx.note_older(one.older.id, Some(one.owner), None).await?;
                    taken.memories += 1;
                    taken.deleted += u64::from(one.older.is_deleted);
                    taken.shares += shares;
                }
                Err(error) if matches!(error, DbError::Row(_)) || error.remedy() == Remedy::Change => {
                    tx.run("ROLLBACK TO SAVEPOINT one", args![]).await?;
                    tx.note_older(one.older.id, None, Some(&error.to_string())).await?;
                }
                Err(error) => return Err(error),
            }
        }
        tx.commit().await?;
        Ok(taken)
    }

    /// Records in the audit of each user how many memories were migrated.
    pub(super) async fn audit_taken(&self) -> Result<(), DbError> {
        let owners: Vec<(String, i64)> = sqlx::query_as(
            "SELECT owner, count(*) FROM older.taken WHERE memory IS NOT NULL AND owner IS NOT NULL GROUP BY owner \
            ORDER BY owner",
        )
        .fetch_all(&self.pool)
        .await?;
        for (owner, count) in owners {
            let mut tx = self.on_host(&owner.parse()?).await?;
            tx.audit(AuditedAction::TakenOver, &format!("{count} memories")).await?;
            tx.commit().await?;
        }
        Ok(())
    }
}

impl UserTx {
    /// Continues the transaction as another user, because the migration writes rows of several users.
    async fn act_for(&mut self, user: &UserId) -> Result<(), DbError> {
        self.user = user.clone();
        self.see_as(user.as_str()).await
    }

    async fn see_as(&mut self, user: &str) -> Result<(), DbError> {
        self.tx.run("SELECT set_config('app.user_id', $1, true)", args![user]).await?;
        Ok(())
    }

    /// Writes a memory with its shares. All users who can see the memory keep its old ID. Returns the number of shares
    /// that were written for this memory.
    async fn take(&mut self, one: &Coming<'_>, is_first: bool) -> Result<u64, DbError> {
        let (owner, number) = (one.owner.as_str().to_owned(), one.older.id);
        let memory = id_of(one.owner, number);
        for (place, state) in one.states.iter().enumerate() {
            if place == 0 {
                self.insert(state, None, Comparison::Due).await?;
            } else {
                self.replace(&owner, state, None).await?;
            }
        }
        // Keeps the old time of the change, because older clients ask for changes since a time.
        let sql = "UPDATE memories SET updated = $3 WHERE owner = $1 AND id = $2";
        self.tx.run(sql, args![&owner, uuid(memory), one.older.updated.as_micros()]).await?;
        for grant in &one.grants {
            let sql = "INSERT INTO memory_shares (owner, memory, grantee, permission, created)
                 VALUES ($1, $2, $3, $4, $5::text::timestamptz) ON CONFLICT (owner, memory, grantee) DO NOTHING";
            self.tx.run(sql, args![&owner, uuid(memory), grant.with.as_str(), grant.permission, &grant.since]).await?;
        }
        let those = self.audience(&owner, memory).await?;
        for who in &those {
            self.see_as(who).await?;
            // Users who joined after the older system have other IDs.
            let sql = "INSERT INTO feed (user_id, memory, owner, seq, short_id)
                 SELECT $1, $2, $3, $4, $4 WHERE EXISTS (SELECT FROM older.names WHERE name = $1)
                 ON CONFLICT (user_id, owner, memory) DO NOTHING";
            self.tx.run(sql, args![who, uuid(memory), &owner, number]).await?;
        }
        self.see_as(&owner).await?;
        if !is_first {
            // Machines have passed this number, so they receive the row as a new change.
            self.told_all(those, memory);
        }
        Ok(one.grants.len() as u64)
    }

    /// Records the owner of the migrated memory, or why a row was not migrated.
    async fn note_older(&mut self, id: i64, owner: Option<&UserId>, problem: Option<&str>) -> Result<(), DbError> {
        let sql = "INSERT INTO older.taken (id, owner, memory, problem) VALUES ($1, $2, $3, $4)
             ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, memory = excluded.memory, problem = excluded.problem, at = now()";
        self.tx
            .run(sql, args![id, owner.map(UserId::as_str), owner.map(|owner| uuid(id_of(owner, id))), problem])
            .await?;
        Ok(())
    }
}
