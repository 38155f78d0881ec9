//! Changes through REST. They are processed like sync changes. In addition, a request can require a certain revision.

use sha2::{Digest, Sha256};
use sqlx::Row as _;
use tessera_engine::Timestamp;
use tessera_engine::domain::{LinkKind, MemoryUuid};
use tessera_engine::embedding::ENCODER_VERSION;
use tessera_engine::screen::Screened;
use tessera_engine::sync::{Action, Op, Refusal};

use super::foreseen::UnlockedOutcome;
use super::memories::{Stored, columns, numbered, seen, uuid};
use super::ops::{Current, Sender, Step};
use super::sync::MOST_PAGE_BYTES;
use super::verbs::{Ask as _, args};
use super::{Caller, Db, DbError, UserId, UserTx, unless_overtaken};

/// A requested change.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    /// The memory.
    pub(crate) memory: MemoryUuid,
    /// The UUID was generated for this request, so nobody knows it yet.
    pub(crate) is_unheard: bool,
    /// The action.
    pub(crate) action: Screened<Action>,
    /// The rev it must have.
    pub(crate) only_at: Option<u64>,
    /// Identifies a retry: the caller's key, and the request that used it.
    pub(crate) idempotency: Option<Idempotency>,
    /// The server's time.
    pub(crate) at: Timestamp,
}

impl Ask {
    /// Converts the request to a sync change. The base of the change is this revision of the memory.
    pub(super) fn op(&self, base_rev: u64) -> Screened<Op> {
        let op_id = match &self.idempotency {
            Some(idempotency) => idempotency.op_id(),
            None => MemoryUuid::generate(self.at),
        };
        self.action.asked(op_id, self.memory, base_rev, self.at)
    }
}

/// The caller's idempotency key for a request.
#[derive(Debug, Clone)]
pub(crate) struct Idempotency {
    /// The key.
    pub(crate) key: String,
    /// The body, without the texts that contained a credential.
    pub(crate) body: Vec<u8>,
}

impl Idempotency {
    /// The change ID for this key. The server looks up this ID among the changes of the user, so two users may use the
    /// same idempotency key.
    pub(crate) fn op_id(&self) -> MemoryUuid {
        MemoryUuid::from_key(&format!("request {}", self.key))
    }
}

/// The result.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// An earlier attempt of this request, or this request, applied the change. Contains the memory's current state,
    /// unless it was deleted permanently.
    Done(Option<Box<Stored>>),
    /// The memory is at another rev.
    Moved(Option<Box<Stored>>),
    /// It may not be done.
    Refused(Refusal),
}

impl Db {
    /// Carries out a change, once.
    pub(crate) async fn ask(&self, caller: &Caller, ask: &Ask) -> Result<Reply, DbError> {
        Ok(self.ask_all(caller, std::slice::from_ref(ask)).await?.pop().unwrap_or(Reply::Done(None)))
    }

    /// Applies several changes in one transaction.
    pub(crate) async fn ask_all(&self, caller: &Caller, asks: &[Ask]) -> Result<Vec<Reply>, DbError> {
        self.has_room(&caller.user, asks.iter().map(|ask| &*ask.action)).await?;
        let foreseen = self.foresee_all(caller, asks).await?;
        let foreseen = &foreseen;
        unless_overtaken(|| async {
            'again: for _ in 0..super::sync::ATTEMPTS {
                let mut tx = self.by(caller).await?;
                let mut all = Vec::with_capacity(asks.len());
                for (ask, foreseen) in asks.iter().zip(foreseen) {
                    match tx.ask(ask, foreseen).await? {
                        Some(done) => all.push(done),
                        None => continue 'again,
                    }
                }
                // One update for all changes keeps the lock on the counters short.
                tx.tell().await?;
                for (reply, ask) in all.iter_mut().zip(asks) {
                    if let Reply::Done(now) = reply {
                        *now = tx.memory(ask.memory).await?.map(Box::new);
                    }
                }
                tx.commit().await?;
                return Ok(all);
            }
            Err(DbError::Row("a memory could not be inserted, but no existing memory has its ID".into()))
        })
        .await
    }
}

impl UserTx {
    /// Like [`Db::own_after`], within this transaction.
    pub(super) async fn own_after(&mut self, after: Option<MemoryUuid>) -> Result<Vec<Stored>, DbError> {
        let sql = concat!(
            "WITH page AS (SELECT id, octet_length(content) AS bytes FROM memories
                 WHERE memories.owner = $1 AND memories.id > $2 AND state = 'live' ORDER BY memories.id LIMIT 500),
             cut AS (SELECT id, sum(bytes) OVER (ORDER BY id) - bytes AS before FROM page)
             SELECT feed.short_id, ",
            columns!(),
            " FROM cut JOIN memories ON memories.owner = $1 AND memories.id = cut.id
              LEFT JOIN feed ON feed.user_id = $1 AND feed.owner = $1 AND feed.memory = cut.id
              WHERE before < $3 ORDER BY memories.id"
        );
        let rows = self
            .tx
            .all(sql, args![self.user.as_str(), after.map_or(uuid::Uuid::nil(), uuid), MOST_EXPORT_BYTES])
            .await?;
        rows.iter().map(numbered).collect()
    }

    /// True if links of one type lead from one of the user's memories to another.
    pub(super) async fn leads_to(&mut self, kind: &LinkKind, [from, to]: [MemoryUuid; 2]) -> Result<bool, DbError> {
        // UNION keeps each memory once, so a cycle ends.
        let sql = "WITH RECURSIVE chain (id) AS (
                       SELECT $2::uuid
                       UNION
                       SELECT split_part(link, ':', 2)::uuid FROM chain
                       JOIN memories ON owner = $1 AND memories.id = chain.id AND state <> 'purged', unnest(links) AS link
                       WHERE split_part(link, ':', 1) = $4)
                   SELECT EXISTS (SELECT FROM chain WHERE id = $3)";
        Ok(self.tx.value(sql, args![self.user.as_str(), uuid(from), uuid(to), kind.as_str()]).await?)
    }

    async fn ask(&mut self, ask: &Ask, foreseen: &UnlockedOutcome) -> Result<Option<Reply>, DbError> {
        let current = if ask.is_unheard {
            Current::Unheard
        } else {
            let begun = self.begin_op(None, ask.memory, None).await?;
            self.current(ask.memory, &begun).await?
        };
        let base_rev = current.stored().map_or(0, |found| found.row.rev);
        let op = ask.op(base_rev);
        let is_moved = ask.only_at.is_some_and(|rev| rev != base_rev);
        if is_moved && !self.is_applied(op.op_id).await? {
            return Ok(Some(Reply::Moved(current.into_stored().map(Box::new))));
        }
        let decided = match &ask.idempotency {
            Some(idempotency) => self.apply(&op, &Sha256::digest(&idempotency.body), current, foreseen).await?,
            // Nobody can repeat a request without an idempotency key.
            None => self.decide(&op, current, Sender::Request, foreseen).await?,
        };
        match decided {
            None => return Ok(None),
            Some(Step::Refused(refusal)) => return Ok(Some(Reply::Refused(refusal))),
            Some(Step::Kept) => {}
            Some(Step::Written(written)) => self.note_written(&written).await?,
        }
        Ok(Some(Reply::Done(None)))
    }

    pub(super) async fn is_applied(&mut self, op_id: MemoryUuid) -> Result<bool, DbError> {
        let sql = "SELECT EXISTS (SELECT FROM applied_ops WHERE user_id = $1 AND op_id = $2)";
        Ok(self.tx.value(sql, args![self.user.as_str(), uuid(op_id)]).await?)
    }
}

/// The request of a list.
#[derive(Debug, Clone, Default)]
pub(crate) struct Listed {
    pub(crate) category: Option<String>,
    pub(crate) tag: Option<String>,
    pub(crate) limit: i64,
    pub(crate) offset: i64,
    pub(crate) newest_first: bool,
    pub(crate) deleted: bool,
}

/// The maximum size of the texts that the server reads at once for an export, in bytes. An export reads all pages, so
/// the client sends only one request.
const MOST_EXPORT_BYTES: i64 = 256 * 1024;
/// Rows of a page of changes.
const MOST_CHANGED: i64 = 1_000;

/// A position among a user's memories in the order of their changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChangedAfter {
    /// The time of a change.
    pub(crate) time: Timestamp,
    /// Of the memories with this time, the last one that the client has received.
    pub(crate) memory: Option<MemoryUuid>,
}

impl Db {
    /// The user's own memories, and their number. A page may be shorter than requested, because the bytes of its texts
    /// are limited.
    pub(crate) async fn list(&self, user: &UserId, listed: &Listed) -> Result<(Vec<Stored>, u64), DbError> {
        let mut tx = self.of(user).await?;
        let sql = concat!(
            "WITH page AS (
                 SELECT id, octet_length(content) AS bytes, count(*) OVER () AS total, row_number() OVER (
                     ORDER BY CASE WHEN $7 THEN 0 ELSE importance END DESC, memories.created DESC, memories.id) AS place
                 FROM memories WHERE memories.owner = $1 AND state = $2
                     AND ($3::text IS NULL OR category = $3) AND ($4::text IS NULL OR $4 = ANY (tags))
                 ORDER BY place LIMIT $5 OFFSET $6),
             cut AS (SELECT id, place, total, sum(bytes) OVER (ORDER BY place) - bytes AS before FROM page)
             SELECT total, feed.short_id, ",
            columns!(),
            " FROM cut JOIN memories ON memories.owner = $1 AND memories.id = cut.id
              LEFT JOIN feed ON feed.user_id = $1 AND feed.owner = $1 AND feed.memory = cut.id
              WHERE before < $8 ORDER BY place"
        );
        let rows = tx
            .all(
                sql,
                args![
                    user.as_str(),
                    if listed.deleted { "deleted" } else { "live" },
                    &listed.category,
                    &listed.tag,
                    listed.limit,
                    listed.offset,
                    listed.newest_first,
                    MOST_PAGE_BYTES
                ],
            )
            .await?;
        with_total(&rows)
    }

    /// Returns a page of the user's own memories after a UUID, in the order of UUIDs, without deleted ones.
    pub(crate) async fn own_after(&self, user: &UserId, after: Option<MemoryUuid>) -> Result<Vec<Stored>, DbError> {
        self.of(user).await?.own_after(after).await
    }

    /// A page of the user's own memories that changed after a position, by the server's clock; with or without deleted
    /// ones. Also returns the `since` value for the next request, and whether more memories follow.
    pub(crate) async fn changed_since(
        &self,
        user: &UserId,
        from: ChangedAfter,
        with_gone: bool,
    ) -> Result<(Vec<Stored>, Timestamp, bool), DbError> {
        let mut tx = self.of(user).await?;
        // A change has the time at which its transaction began. Changes of running transactions come with the next
        // request.
        let sql = "SELECT (extract(epoch FROM unfinished_since()) * 1000000)::bigint";
        let now: i64 = tx.value(sql, args![]).await?;
        let rows = sqlx::query(concat!(
            "WITH page AS (
                 SELECT id, bytes, row_number() OVER (ORDER BY updated, id) AS place FROM (
                     SELECT id, updated, octet_length(content) AS bytes FROM memories
                     WHERE memories.owner = $1 AND (updated, id) > ($2, $3) AND (state = 'live' OR $4)
                     ORDER BY updated, id LIMIT $5) AS first_rows),
             cut AS (SELECT id, place, sum(bytes) OVER (ORDER BY place) - bytes AS before,
                 count(*) OVER () AS total FROM page)
             SELECT total, feed.short_id, ",
            columns!(),
            " FROM cut JOIN memories ON memories.owner = $1 AND memories.id = cut.id
              LEFT JOIN feed ON feed.user_id = $1 AND feed.owner = $1 AND feed.memory = cut.id
              WHERE before < $6 ORDER BY place"
        ))
        .bind(user.as_str())
        .bind(from.time.as_micros())
        // Changes after the given time; with a memory, from this memory on.
        .bind(from.memory.map_or(uuid::Uuid::max(), uuid))
        .bind(with_gone)
        .bind(MOST_CHANGED)
        .bind(MOST_PAGE_BYTES)
        .fetch_all(&mut *tx.tx)
        .await?;
        let (memories, found) = with_total(&rows)?;
        let is_all = found < MOST_CHANGED.unsigned_abs() && memories.len() as u64 == found;
        Ok((memories, Timestamp::from_micros(now), !is_all))
    }

    /// Memories that other users share with this user, in pages like [`Db::list`].
    pub(crate) async fn shared_with(
        &self,
        user: &UserId,
        limit: i64,
        offset: i64,
    ) -> Result<(Vec<Stored>, u64), DbError> {
        let mut tx = self.of(user).await?;
        let sql = concat!(
            "WITH page AS (
                 SELECT memories.owner, id, feed.short_id, octet_length(content) AS bytes, count(*) OVER () AS total,
                     row_number() OVER (ORDER BY memories.owner, id) AS place
                 FROM feed JOIN memories ON memories.owner = feed.owner AND memories.id = feed.memory
                 WHERE feed.user_id = $1 AND feed.owner <> $1 AND state = 'live' ORDER BY place LIMIT $2 OFFSET $3),
             cut AS (SELECT owner, id, short_id, place, total, sum(bytes) OVER (ORDER BY place) - bytes AS before FROM page)
             SELECT total, cut.short_id, ",
            columns!(),
            " FROM cut JOIN memories ON memories.owner = cut.owner AND memories.id = cut.id
              WHERE before < $4 ORDER BY place"
        );
        let rows = tx.fed(sql, |query| query.bind(limit).bind(offset).bind(MOST_PAGE_BYTES)).await?;
        let (memories, total) = with_total(&rows)?;
        Ok((memories.into_iter().map(seen).collect(), total))
    }

    /// A memory that the user may see.
    pub(crate) async fn get(&self, user: &UserId, id: MemoryUuid) -> Result<Option<Stored>, DbError> {
        self.of(user).await?.memory(id).await
    }

    /// True if links of one type lead from one memory to another.
    pub(crate) async fn leads_to(
        &self,
        user: &UserId,
        kind: &LinkKind,
        [from, to]: [MemoryUuid; 2],
    ) -> Result<bool, DbError> {
        self.of(user).await?.leads_to(kind, [from, to]).await
    }

    /// The user's own memories that link to a memory: their UUIDs and link types.
    pub(crate) async fn links_to(&self, user: &UserId, id: MemoryUuid) -> Result<Vec<(MemoryUuid, String)>, DbError> {
        let mut tx = self.of(user).await?;
        let sql = "SELECT id, split_part(link, ':', 1) AS type FROM memories, unnest(links) AS link
             WHERE owner = $1 AND state = 'live' AND links <> '{}' AND split_part(link, ':', 2) = $2 ORDER BY id";
        let rows = tx.all(sql, args![user.as_str(), id.to_string()]).await?;
        rows.iter().map(|row| Ok((MemoryUuid::from_uuid(row.try_get("id")?), row.try_get("type")?))).collect()
    }

    /// The numbers of the user's own live memories by tag or category, the largest number first.
    pub(crate) async fn counts(&self, user: &UserId, by_tag: bool) -> Result<Vec<(String, i64)>, DbError> {
        let mut tx = self.of(user).await?;
        let sql = if by_tag {
            "SELECT tag AS name, count(*) AS count FROM memories, unnest(tags) AS tag
             WHERE owner = $1 AND state = 'live' GROUP BY 1 ORDER BY 2 DESC, 1"
        } else {
            "SELECT category AS name, count(*) AS count FROM memories WHERE owner = $1 AND state = 'live'
             GROUP BY 1 ORDER BY 2 DESC, 1"
        };
        Ok(tx.rows(sql, args![user.as_str()]).await?)
    }

    /// Statistics of a user, as in the older API.
    pub(crate) async fn stats(&self, user: &UserId) -> Result<serde_json::Value, DbError> {
        let mut tx = self.of(user).await?;
        let sql = "WITH own AS (SELECT * FROM memories WHERE owner = $1 AND state = 'live')
             SELECT jsonb_build_object(
               'total_memories', (SELECT count(*) FROM own),
               'awaiting_embedding', (SELECT count(*) FROM own
                   WHERE embedding_rev <> content_rev OR substring(embedding FROM 1 FOR 1) < $2),
               'by_category', (SELECT coalesce(jsonb_object_agg(category, n), '{}')
                   FROM (SELECT category, count(*) AS n FROM own GROUP BY 1) c),
               'by_importance', (SELECT coalesce(jsonb_object_agg(bucket, n), '{}') FROM
                   (SELECT least(importance / 20, 4) AS bucket, count(*) AS n FROM own GROUP BY 1) i),
               'recent_activity', (SELECT coalesce(jsonb_agg(jsonb_build_object('date', day, 'updated', n) ORDER BY day), '[]')
                   FROM (SELECT to_timestamp(updated / 1000000.0)::date AS day, count(*) AS n FROM own
                         WHERE updated > extract(epoch FROM now() - interval '30 days') * 1000000 GROUP BY 1) a),
               'sharing_stats', jsonb_build_object(
                   'shared_by_me', (SELECT count(*) FROM memory_shares WHERE owner = $1)
                       + (SELECT count(*) FROM tag_shares WHERE owner = $1)))";
        let found: sqlx::types::Json<serde_json::Value> =
            tx.value(sql, args![user.as_str(), [ENCODER_VERSION].as_slice()]).await?;
        let sql = "SELECT count(*) AS count FROM feed JOIN memories ON memories.owner = feed.owner AND memories.id = feed.memory
                   WHERE feed.user_id = $1 AND feed.owner <> $1 AND state = 'live'";
        let mut shared = 0;
        for row in tx.fed(sql, |query| query).await? {
            shared += row.try_get::<i64, _>("count")?;
        }
        let mut found = found.0;
        if let Some(sharing) = found.get_mut("sharing_stats").and_then(serde_json::Value::as_object_mut) {
            sharing.insert("shared_with_me".into(), shared.into());
        }
        Ok(found)
    }
}

/// Reads memories. Each row also contains the total count.
pub(super) fn with_total(rows: &[sqlx::postgres::PgRow]) -> Result<(Vec<Stored>, u64), DbError> {
    let total: i64 = rows.first().map_or(Ok(0), |row| row.try_get("total"))?;
    Ok((rows.iter().map(numbered).collect::<Result<_, _>>()?, u64::try_from(total).unwrap_or(0)))
}
