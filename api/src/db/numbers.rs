//! Queries for older clients: memories by short ID, texts that were sent before, complete lists, and the names of other
//! users.
//!
//! Also access counts: how often a memory was delivered to a user, and when it was last delivered.

use std::collections::HashMap;

use sqlx::Row as _;
use sqlx::postgres::PgRow;
use tessera_engine::Timestamp;
use tessera_engine::domain::{Filters, MemoryUuid};
use uuid::Uuid;

use super::ask::with_total;
use super::memories::{Stored, columns, numbered, seen, uuid};
use super::sync::MOST_PAGE_BYTES;
use super::verbs::{Ask as _, args};
use super::{Db, DbError, UserId, UserTx, unless_overtaken};

/// The maximum number of returned user names.
const MOST_USERS: i64 = 1_000;

/// A page of all memories that a user sees.
#[derive(Debug, Clone)]
pub(crate) struct Browsed {
    pub(crate) filters: Filters,
    pub(crate) newest_first: bool,
    pub(crate) limit: i64,
    pub(crate) offset: i64,
}

impl Db {
    /// The memory with a short ID. `None` if the user does not have the short ID, or if the memory's UUID refers to
    /// another memory for this user.
    pub(crate) async fn of_short_id(&self, user: &UserId, short_id: i64) -> Result<Option<MemoryUuid>, DbError> {
        let mut tx = self.of(user).await?;
        let sql = "SELECT memory FROM feed WHERE user_id = $1 AND short_id = $2 AND short_id =
                 (SELECT other.short_id FROM feed other WHERE other.user_id = $1 AND other.memory = feed.memory
                  ORDER BY other.owner <> $1, other.short_id LIMIT 1)";
        let found: Option<Uuid> = tx.maybe_value(sql, args![user.as_str(), short_id]).await?;
        Ok(found.map(MemoryUuid::from_uuid))
    }

    /// Memories that other owners share with the user under this ID. In the older system one ID was valid for all
    /// users. Memories that the user no longer sees are omitted.
    pub(crate) async fn shared_under(&self, user: &UserId, short_id: i64) -> Result<Vec<Stored>, DbError> {
        let mut tx = self.of(user).await?;
        let those: Vec<Uuid> = tx.values("SELECT shared_under($1)", args![short_id]).await?;
        let mut found = Vec::with_capacity(those.len());
        for memory in those {
            found.extend(tx.memory(MemoryUuid::from_uuid(memory)).await?.filter(|stored| stored.share().is_some()));
        }
        Ok(found)
    }

    /// The short IDs of memories, if the user has them.
    pub(crate) async fn short_ids(
        &self,
        user: &UserId,
        memories: &[MemoryUuid],
    ) -> Result<HashMap<MemoryUuid, u32>, DbError> {
        if memories.is_empty() {
            return Ok(HashMap::new());
        }
        let mut tx = self.of(user).await?;
        let sql = "SELECT DISTINCT ON (memory) memory, short_id FROM feed WHERE user_id = $1 AND memory = ANY ($2)
             ORDER BY memory, owner <> $1, short_id";
        let rows = tx.all(sql, args![user.as_str(), memories.iter().copied().map(uuid).collect::<Vec<_>>()]).await?;
        let numbered = rows.iter().map(|row| {
            let short_id = u32::try_from(row.try_get::<i64, _>("short_id")?).unwrap_or(u32::MAX);
            Ok((MemoryUuid::from_uuid(row.try_get("memory")?), short_id))
        });
        numbered.collect()
    }

    /// A live memory of the user with exactly this text.
    pub(crate) async fn saying(&self, user: &UserId, content: &str) -> Result<Option<Stored>, DbError> {
        let mut tx = self.of(user).await?;
        let sql = concat!(
            "SELECT feed.short_id, ",
            columns!(),
            " FROM memories JOIN feed ON feed.user_id = $1 AND feed.owner = $1 AND feed.memory = memories.id
              WHERE memories.owner = $1 AND state = 'live' AND content_md5 <> ''
                  AND content_md5 = md5($2) AND content = $2 ORDER BY feed.short_id LIMIT 1"
        );
        let row = tx.maybe(sql, args![user.as_str(), content]).await?;
        row.as_ref().map(numbered).transpose()
    }

    /// All memories that a user sees, own and shared, in pages like [`Db::list`].
    pub(crate) async fn browse(&self, user: &UserId, browsed: &Browsed) -> Result<(Vec<Stored>, u64), DbError> {
        let Browsed { filters, newest_first, limit, offset } = browsed;
        let texts = |list: Vec<String>| if list.is_empty() { None } else { Some(list) };
        let mut tx = self.of(user).await?;
        let sql = concat!(
            "WITH page AS (
                 SELECT memories.owner, id, feed.short_id, octet_length(content) AS bytes, count(*) OVER () AS total,
                     row_number() OVER (ORDER BY CASE WHEN $2 THEN 0 ELSE importance END DESC, created DESC, feed.short_id) AS place
                 FROM feed JOIN memories ON memories.owner = feed.owner AND memories.id = feed.memory
                 WHERE feed.user_id = $1 AND state = 'live'
                     AND ($6::text[] IS NULL OR category = ANY ($6)) AND ($7::text[] IS NULL OR type = ANY ($7))
                     AND ($8::text[] IS NULL OR tags && $8) AND ($9::text[] IS NULL OR scope = ANY ($9))
                     AND ($10::text[] IS NULL OR EXISTS (SELECT FROM unnest(entities) named WHERE lower(named) = ANY ($10)))
                     AND ($11::bigint IS NULL OR created >= $11) AND ($12::bigint IS NULL OR created < $12)
                     AND ($13::text IS NULL OR feed.owner = $13 AND feed.owner <> $1)
                 ORDER BY place LIMIT $3 OFFSET $4),
             cut AS (SELECT owner, id, short_id, place, total, sum(bytes) OVER (ORDER BY place) - bytes AS before FROM page)
             SELECT total, cut.short_id, ",
            columns!(),
            " FROM cut JOIN memories ON memories.owner = cut.owner AND memories.id = cut.id
              WHERE before < $5 ORDER BY place"
        );
        let rows = tx
            .all(
                sql,
                args![
                    user.as_str(),
                    newest_first,
                    limit,
                    offset,
                    MOST_PAGE_BYTES,
                    texts(filters.categories.iter().map(|category| category.as_str().to_owned()).collect()),
                    texts(filters.types.iter().map(ToString::to_string).collect()),
                    texts(filters.tags.iter().map(|tag| tag.as_str().to_owned()).collect()),
                    texts(filters.scopes.iter().map(|scope| scope.as_str().to_owned()).collect()),
                    texts(filters.entities.iter().map(|name| name.to_lowercase()).collect()),
                    filters.since.map(Timestamp::as_micros),
                    filters.until.map(Timestamp::as_micros),
                    &filters.shared_by
                ],
            )
            .await?;
        let (memories, total) = with_total(&rows)?;
        Ok((memories.into_iter().map(seen).collect(), total))
    }

    /// Names of other users, sorted.
    pub(crate) async fn others(&self, user: &UserId) -> Result<Vec<String>, DbError> {
        // A user may see only their own row, so a function of the table owner lists the names.
        let sql = "SELECT name FROM every_user() AS of_all (name) WHERE name <> $1 ORDER BY 1 LIMIT $2";
        let query = sqlx::query_scalar(sql).bind(user.as_str().to_owned()).bind(MOST_USERS);
        Ok(query.fetch_all(&self.pool).await?)
    }

    /// Whether a user has a key of the older API. Such clients cannot answer invitations.
    pub(super) async fn has_older_key(&self, user: &UserId) -> Result<bool, DbError> {
        let mut tx = self.begin(user).await?;
        // Keys of the older API are found by the beginning of their hash.
        let sql = "SELECT EXISTS (SELECT FROM api_keys WHERE user_id = $1 AND key_id = left(encode(hash, 'hex'), 12)
                   AND revoked IS NULL AND (expires IS NULL OR expires > now()))";
        Ok(tx.value(sql, args![user.as_str().to_owned()]).await?)
    }
}

/// How a user used a memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Use {
    /// The memory's ID for this user.
    pub(crate) short_id: u32,
    /// Deliveries in full.
    pub(crate) count: u32,
    /// The last one.
    pub(crate) last: Timestamp,
}

fn uses(rows: &[PgRow]) -> Result<Vec<Use>, DbError> {
    let one = |row: &PgRow| {
        Ok(Use {
            short_id: u32::try_from(row.try_get::<i64, _>("short_id")?).unwrap_or(u32::MAX),
            count: u32::try_from(row.try_get::<i32, _>("uses")?).unwrap_or(0),
            last: Timestamp::from_micros(row.try_get("used")?),
        })
    };
    rows.iter().map(one).collect()
}

impl Db {
    /// Increases the access counts. The arguments are the IDs, the number of deliveries of each memory, and the time.
    /// Returns the new counts.
    pub(crate) async fn count_uses(
        &self,
        user: &UserId,
        short_ids: &[i64],
        counts: &[i32],
        now: Timestamp,
    ) -> Result<Vec<Use>, DbError> {
        let counted = unless_overtaken(|| async {
            let mut tx = self.of(user).await?;
            let sql = "UPDATE feed SET uses = uses + told.count, used = $4
                 FROM unnest($2::bigint[], $3::int[]) AS told (short_id, count) WHERE feed.user_id = $1 AND feed.short_id = told.short_id
                 RETURNING feed.short_id, feed.uses, feed.used";
            let rows = tx.all(sql, args![user.as_str(), short_ids, counts, now.as_micros()]).await?;
            tx.commit().await?;
            Ok::<_, DbError>(rows)
        });
        uses(&counted.await?)
    }
}

impl UserTx {
    /// Returns the access counts of memories that were delivered after a time, in microseconds since 1970.
    pub(crate) async fn used_since(&mut self, time: i64) -> Result<Vec<Use>, DbError> {
        let sql = "SELECT short_id, uses, used FROM feed WHERE user_id = $1 AND used > $2";
        let rows = self.tx.all(sql, args![self.user.as_str(), time]).await?;
        uses(&rows)
    }
}
