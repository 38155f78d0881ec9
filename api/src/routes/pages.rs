//! Lists that are sent while they are read, one database page at a time, so a long list needs no more memory than a
//! short one.

use axum::body::{Body as HttpBody, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};
use tessera_engine::Timestamp;

use crate::contract::{Everything, GoneView, MatchView, MemoryView};
use crate::db::{Browsed, ChangedAfter, Db, DbError, Listed, Stored, UserId};
use crate::error::Problem;

/// A list.
pub(super) trait Pages: Send + 'static {
    /// The next memories; none at the end.
    fn next(&mut self) -> impl Future<Output = Result<Vec<Stored>, DbError>> + Send;

    /// The row for a memory in this list.
    fn row(&self, stored: &Stored) -> Option<Value> {
        MemoryView::of(stored).map(|view| json!(view))
    }

    /// The fields that follow the list of memories in the answer.
    fn beside(&self) -> Map<String, Value>;
}

/// Sends a list: an object with `memories` and the other fields.
pub(super) async fn sent<P: Pages>(mut list: P) -> Result<Response, Problem> {
    // An error before the first byte is an ordinary problem.
    let first = list.next().await?;
    let pages = futures_util::stream::try_unfold(Some((list, first, 0_u64)), |state| async move {
        let Some((mut list, page, before)) = state else { return Ok(None) };
        let mut text = String::from(if before == 0 { "{\"memories\":[" } else { "" });
        let rows = page.iter().filter_map(|stored| list.row(stored));
        let mut given = before;
        for row in rows {
            text.push_str(if given == 0 { "" } else { "," });
            text.push_str(&row.to_string());
            given += 1;
        }
        let next = if page.is_empty() { Ok(Vec::new()) } else { list.next().await };
        let next = next.inspect_err(|error| tracing::error!(%error, "a list"));
        // An error cuts the connection, so the client does not take a part for the whole.
        let next = next.map_err(|_| std::io::Error::other("the database failed"))?;
        if !next.is_empty() {
            return Ok::<_, std::io::Error>(Some((Bytes::from(text), Some((list, next, given)))));
        }
        text.push(']');
        for (name, value) in list.beside() {
            text.push_str(&format!(",{}:{value}", json!(name)));
        }
        text.push('}');
        Ok(Some((Bytes::from(text), None)))
    });
    let headers = [(header::CONTENT_TYPE, "application/json")];
    Ok((headers, HttpBody::from_stream(pages)).into_response())
}

/// The progress of a list with offsets.
struct Reach {
    from: i64,
    limit: i64,
    /// True if the request asks for a single page of the list.
    is_page: bool,
    given: i64,
    total: Option<u64>,
}

impl Reach {
    /// Without an offset, returns everything up to `limit`.
    fn new(limit: u32, offset: Option<u32>) -> Self {
        let from = i64::from(offset.unwrap_or(0));
        Self { from, limit: i64::from(limit), is_page: offset.is_some(), given: 0, total: None }
    }

    fn left(&self) -> i64 {
        if self.is_page && self.total.is_some() { 0 } else { self.limit - self.given }
    }

    fn at(&self) -> i64 {
        self.from + self.given
    }

    fn read(&mut self, (memories, total): (Vec<Stored>, u64)) -> Vec<Stored> {
        self.given += i64::try_from(memories.len()).unwrap_or(i64::MAX);
        // Beyond the end, no row contains the total.
        if self.total.is_none() || !memories.is_empty() {
            self.total = Some(total);
        }
        memories
    }

    fn beside(&self) -> Map<String, Value> {
        let total = self.total.unwrap_or(0);
        let mut beside = Map::from_iter([("total".to_owned(), json!(total))]);
        let next = self.at().unsigned_abs();
        if self.given > 0 && next < total {
            beside.insert("next_offset".to_owned(), json!(next));
        }
        beside
    }
}

/// The user's own memories.
pub(super) struct Own {
    db: Db,
    user: UserId,
    listed: Listed,
    reach: Reach,
}

impl Own {
    pub(super) fn new(db: Db, user: UserId, listed: Listed, limit: u32, offset: Option<u32>) -> Self {
        Self { db, user, listed, reach: Reach::new(limit, offset) }
    }
}

impl Pages for Own {
    async fn next(&mut self) -> Result<Vec<Stored>, DbError> {
        if self.reach.left() == 0 {
            return Ok(Vec::new());
        }
        let listed = Listed { limit: self.reach.left(), offset: self.reach.at(), ..self.listed.clone() };
        Ok(self.reach.read(self.db.list(&self.user, &listed).await?))
    }

    fn beside(&self) -> Map<String, Value> {
        self.reach.beside()
    }
}

/// Memories that others share with the user.
pub(super) struct WithMe {
    db: Db,
    user: UserId,
    reach: Reach,
}

impl WithMe {
    pub(super) fn new(db: Db, user: UserId, limit: u32, offset: Option<u32>) -> Self {
        Self { db, user, reach: Reach::new(limit, offset) }
    }
}

impl Pages for WithMe {
    async fn next(&mut self) -> Result<Vec<Stored>, DbError> {
        if self.reach.left() == 0 {
            return Ok(Vec::new());
        }
        Ok(self.reach.read(self.db.shared_with(&self.user, self.reach.left(), self.reach.at()).await?))
    }

    fn beside(&self) -> Map<String, Value> {
        self.reach.beside()
    }
}

/// All memories that a user sees, for an empty question.
pub(super) struct All {
    db: Db,
    user: UserId,
    everything: Everything,
    reach: Reach,
}

impl All {
    pub(super) fn new(db: Db, user: UserId, everything: Everything) -> Self {
        let reach = Reach::new(everything.limit, None);
        Self { db, user, everything, reach }
    }
}

impl Pages for All {
    async fn next(&mut self) -> Result<Vec<Stored>, DbError> {
        if self.reach.left() == 0 {
            return Ok(Vec::new());
        }
        let Everything { filters, newest_first, .. } = self.everything.clone();
        let browsed = Browsed { filters, newest_first, limit: self.reach.left(), offset: self.reach.at() };
        Ok(self.reach.read(self.db.browse(&self.user, &browsed).await?))
    }

    fn row(&self, stored: &Stored) -> Option<Value> {
        MemoryView::of(stored).map(|memory| json!(MatchView { memory, rank: 0.0, redirected_from: None }))
    }

    fn beside(&self) -> Map<String, Value> {
        Map::new()
    }
}

/// The changes after a position.
pub(super) struct Changed {
    db: Db,
    user: UserId,
    after: ChangedAfter,
    with_gone: bool,
    /// The value of `since` for the next request. All changes before this time are finished, and this answer contains
    /// them.
    at: Option<Timestamp>,
    is_end: bool,
}

impl Changed {
    /// Without `since`, starts at the beginning and omits deletions.
    pub(super) fn new(db: Db, user: UserId, since: Option<ChangedAfter>) -> Self {
        let after = since.unwrap_or(ChangedAfter { time: Timestamp::from_micros(0), memory: None });
        Self { db, user, after, with_gone: since.is_some(), at: None, is_end: false }
    }
}

impl Pages for Changed {
    async fn next(&mut self) -> Result<Vec<Stored>, DbError> {
        if self.is_end {
            return Ok(Vec::new());
        }
        let (memories, now, more) = self.db.changed_since(&self.user, self.after, self.with_gone).await?;
        self.at.get_or_insert(now);
        self.is_end = !more;
        if let Some(last) = memories.last() {
            self.after = ChangedAfter { time: last.updated, memory: Some(last.row.memory) };
        }
        Ok(memories)
    }

    fn row(&self, stored: &Stored) -> Option<Value> {
        Some(MemoryView::of(stored).map_or_else(|| json!(GoneView::of(stored)), |view| json!(view)))
    }

    fn beside(&self) -> Map<String, Value> {
        let time = self.at.map(|time| json!(time.to_string())).unwrap_or_default();
        Map::from_iter([("server_time".to_owned(), time)])
    }
}
