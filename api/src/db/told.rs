//! Returns the entries of a user's feed with their memories. If several owners use a UUID, the user's own memory is
//! taken, otherwise the first visible one. If one machine stores all rows, uses one statement. Otherwise reads the feed
//! first, and then the memories by key.

use std::collections::{BTreeMap, HashSet};
use std::pin::pin;

use futures_util::{Stream, TryStreamExt as _};
use sqlx::Row as _;
use sqlx::postgres::PgRow;
use tessera_engine::domain::MemoryUuid;
use uuid::Uuid;

use super::embedding::believed;
use super::memories::{columns, uuid};
use super::sync::{MOST_PAGE_BYTES, bytes_of};
use super::verbs::{Ask as _, args};
use super::{DbError, UserTx};

/// A feed entry with its position, and its row if the user may see it.
pub(super) struct Told {
    pub(super) memory: MemoryUuid,
    pub(super) seq: u64,
    pub(super) row: Option<PgRow>,
}

impl Told {
    fn new(memory: Uuid, seq: i64, row: Option<PgRow>) -> Self {
        Self { memory: MemoryUuid::from_uuid(memory), seq: u64::try_from(seq).unwrap_or(0), row }
    }
}

/// A page of the feed, and for each memory on it the row that the user sees. The query limits the page before it joins
/// the memories.
macro_rules! meant {
    ($told:literal, $order:literal) => {
        concat!(
            "SELECT told.memory AS about, told.seq AS told_at, ",
            believed!("memories"),
            ", ",
            columns!(),
            " FROM (",
            $told,
            ") told
              LEFT JOIN LATERAL (SELECT feed.owner AS whose, feed.memory AS what FROM feed
                  JOIN memories ON memories.owner = feed.owner AND memories.id = feed.memory
                  WHERE feed.user_id = $1 AND feed.memory = told.memory
                  ORDER BY feed.owner <> $1, feed.short_id LIMIT 1) meant ON true
              LEFT JOIN memories ON memories.owner = meant.whose AND memories.id = meant.what ORDER BY ",
            $order
        )
    };
}

/// Reads rows until a page is full, and one more row, which shows that another page exists.
async fn told_of(rows: impl Stream<Item = Result<PgRow, sqlx::Error>> + Send) -> Result<Vec<Told>, DbError> {
    let mut rows = pin!(rows);
    let (mut told, mut bytes) = (Vec::new(), 0);
    while let Some(row) = rows.try_next().await? {
        let is_full = bytes > MOST_PAGE_BYTES;
        let (memory, seq) = (row.try_get("about")?, row.try_get("told_at")?);
        let is_there = row.try_get::<Option<&str>, _>("owner")?.is_some();
        bytes += if is_there { bytes_of(&row)? } else { 0 };
        told.push(Told::new(memory, seq, is_there.then_some(row)));
        if is_full {
            break;
        }
    }
    Ok(told)
}

impl UserTx {
    /// Feed entries after a sequence number, in order. An entry has no row if the user may not see its memory.
    pub(super) async fn told_after(&mut self, after: u64, most: i64) -> Result<Vec<Told>, DbError> {
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        if self.is_spread {
            let sql = "SELECT memory, seq FROM feed WHERE user_id = $1 AND seq > $2 ORDER BY seq LIMIT $3";
            let told = self.tx.all(sql, args![self.user.as_str(), after, most]).await?;
            return self.memories_of(&told).await;
        }
        let sql =
            meant!("SELECT memory, seq FROM feed WHERE user_id = $1 AND seq > $2 ORDER BY seq LIMIT $3", "told.seq");
        let query = sqlx::query(sql).bind(self.user.as_str()).bind(after).bind(most);
        told_of(query.fetch(&mut *self.tx)).await
    }

    /// Feed entries after a UUID, in the order of UUIDs.
    pub(super) async fn told_from(&mut self, after: Option<MemoryUuid>, most: i64) -> Result<Vec<Told>, DbError> {
        let after = after.map_or(Uuid::nil(), uuid);
        if self.is_spread {
            let sql = "SELECT memory, max(seq) AS seq FROM feed WHERE user_id = $1 AND memory > $2
                       GROUP BY memory ORDER BY memory LIMIT $3";
            let told = self.tx.all(sql, args![self.user.as_str(), after, most]).await?;
            return self.memories_of(&told).await;
        }
        let sql = meant!(
            "SELECT memory, max(seq) AS seq FROM feed WHERE user_id = $1 AND memory > $2
             GROUP BY memory ORDER BY memory LIMIT $3",
            "told.memory"
        );
        let query = sqlx::query(sql).bind(self.user.as_str()).bind(after).bind(most);
        told_of(query.fetch(&mut *self.tx)).await
    }

    /// The memories for feed entries. Only the database machines of the owners receive the query.
    async fn memories_of(&mut self, told: &[PgRow]) -> Result<Vec<Told>, DbError> {
        let told: Vec<(Uuid, i64)> = told
            .iter()
            .map(|row| Ok((row.try_get("memory")?, row.try_get("seq")?)))
            .collect::<Result<_, sqlx::Error>>()?;
        let ids: Vec<Uuid> = told.iter().map(|(memory, _)| *memory).collect();
        let sql =
            "SELECT memory, owner FROM feed WHERE user_id = $1 AND memory = ANY ($2) ORDER BY owner <> $1, short_id";
        let places = self.tx.all(sql, args![self.user.as_str(), &ids]).await?;
        let places: Vec<(Uuid, String)> = places
            .iter()
            .map(|row| Ok((row.try_get("memory")?, row.try_get("owner")?)))
            .collect::<Result<_, sqlx::Error>>()?;
        let owners: HashSet<&String> = places.iter().map(|(_, owner)| owner).collect();
        let (own, others): (Vec<&String>, Vec<&String>) =
            owners.into_iter().partition(|owner| **owner == self.user.as_str());
        let mut rows: BTreeMap<(Uuid, String), PgRow> = BTreeMap::new();
        for of in [own, others].into_iter().filter(|of| !of.is_empty()) {
            let those = places.iter().filter(|(_, owner)| of.contains(&owner)).map(|(memory, _)| *memory);
            let sql = concat!(
                "SELECT ",
                believed!("memories"),
                ", ",
                columns!(),
                " FROM memories WHERE memories.owner = ANY ($1) AND memories.id = ANY ($2)"
            );
            let query = sqlx::query(sql).bind(of.iter().map(|owner| owner.as_str()).collect::<Vec<_>>());
            for row in query.bind(those.collect::<Vec<_>>()).fetch_all(&mut *self.tx).await? {
                rows.insert((row.try_get("id")?, row.try_get("owner")?), row);
            }
        }
        let mut meant: BTreeMap<Uuid, PgRow> = BTreeMap::new();
        for (memory, owner) in places {
            if !meant.contains_key(&memory)
                && let Some(row) = rows.remove(&(memory, owner))
            {
                meant.insert(memory, row);
            }
        }
        Ok(told.into_iter().map(|(memory, seq)| Told::new(memory, seq, meant.remove(&memory))).collect())
    }
}
