//! How much one user may store.
//!
//! Counting reads all rows of a user. So the count is cached for some seconds, and this server adds the rows that it
//! stores meanwhile. Several servers together may therefore exceed a quota by the amount that they store in that time.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use tessera_engine::sync::{Action, Op};

use super::{Db, DbError, UserId};

/// How long a count from the database may be reused.
const COUNTED_FOR: Duration = Duration::from_secs(10);

/// The limits per user; 0 means no limit. Deleted memories count, permanently deleted ones do not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quota {
    /// The number of memories.
    pub memories: u64,
    /// The bytes of their texts.
    pub bytes: u64,
}

/// What a user has stored, and the limits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Used {
    memories: u64,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    most_memories: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    most_bytes: Option<u64>,
}

impl Used {
    fn is_over(&self) -> bool {
        let over = |used: u64, most: Option<u64>| most.is_some_and(|most| used > most);
        over(self.memories, self.most_memories) || over(self.bytes, self.most_bytes)
    }
}

impl std::fmt::Display for Used {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of = |most: Option<u64>| most.map(|most| format!(" of {most}")).unwrap_or_default();
        let Self { memories, bytes, most_memories, most_bytes } = *self;
        write!(f, "{memories}{} memories, {bytes}{} bytes", of(most_memories), of(most_bytes))
    }
}

/// The quota, and the last counts.
#[derive(Debug, Default)]
pub(super) struct Quotas {
    quota: Quota,
    counts: Mutex<HashMap<UserId, (Instant, Used)>>,
}

/// The number of memories and bytes that a change adds. Edits count as zero, because a user at the limit must be able
/// to shorten a text.
fn added_by(action: &Action) -> (u64, u64) {
    match action {
        Action::Create(document) => (1, document.content.as_str().len() as u64),
        _ => (0, 0),
    }
}

impl Db {
    /// The same database, with a quota per user.
    #[must_use]
    pub fn with_quota(self, quota: Quota) -> Self {
        Self { quota: std::sync::Arc::new(Quotas { quota, counts: Mutex::default() }), ..self }
    }

    /// What a user has stored; `None` without a quota.
    pub(crate) async fn used_quota(&self, user: &UserId) -> Result<Option<Used>, DbError> {
        if self.quota.quota == Quota::default() {
            return Ok(None);
        }
        self.counted(user).await.map(Some)
    }

    async fn counted(&self, user: &UserId) -> Result<Used, DbError> {
        let limit = |most: u64| Some(most).filter(|most| *most > 0);
        let Quota { memories: most_memories, bytes: most_bytes } = self.quota.quota;
        let mut tx = self.of(user).await?;
        let sql = "SELECT count(*), coalesce(sum(octet_length(content)), 0)::bigint FROM memories
                   WHERE owner = $1 AND state <> 'purged'";
        let (memories, bytes): (i64, i64) = sqlx::query_as(sql).bind(user.as_str()).fetch_one(&mut *tx.tx).await?;
        let (memories, bytes) = (memories.unsigned_abs(), bytes.unsigned_abs());
        Ok(Used { memories, bytes, most_memories: limit(most_memories), most_bytes: limit(most_bytes) })
    }

    /// Rejects changes that would exceed the user's quota.
    pub(super) async fn has_room<'a>(
        &self,
        user: &UserId,
        actions: impl Iterator<Item = &'a Action> + Send,
    ) -> Result<(), DbError> {
        if self.quota.quota == Quota::default() {
            return Ok(());
        }
        let (memories, bytes) = actions.map(added_by).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        if memories == 0 {
            return Ok(());
        }
        let recent = {
            let counts = self.quota.counts.lock().unwrap_or_else(PoisonError::into_inner);
            counts.get(user).filter(|(at, _)| at.elapsed() < COUNTED_FOR).copied()
        };
        let with = |used: Used| Used { memories: used.memories + memories, bytes: used.bytes + bytes, ..used };
        let (at, used) = match recent {
            Some((at, used)) if !with(used).is_over() => (at, used),
            // The user may have deleted something meanwhile.
            _ => (Instant::now(), self.counted(user).await?),
        };
        if with(used).is_over() {
            return Err(DbError::Quota(used));
        }
        let mut counts = self.quota.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.retain(|_, (at, _)| at.elapsed() < COUNTED_FOR);
        counts.insert(user.clone(), (at, with(used)));
        Ok(())
    }

    /// Rejects a machine's change if it would exceed the quota. A repeated change is answered regardless of the quota.
    pub(super) async fn has_room_for(&self, user: &UserId, op: &Op) -> Result<(), DbError> {
        match self.has_room(user, std::iter::once(&op.action)).await {
            Err(DbError::Quota(_)) if self.of(user).await?.is_applied(op.op_id).await? => Ok(()),
            done => done,
        }
    }
}
