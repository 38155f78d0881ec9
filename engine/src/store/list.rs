//! Listing: newest first, by filter, page by page.

use rusqlite::types::Value;

use super::error::StoreError;
use super::{Store, row};
use crate::domain::{Filters, Handle, Memory, Timestamp};

/// What to list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListRequest {
    /// What a memory must be.
    pub filters: Filters,
    /// Rows, 1 to 200.
    pub limit: u32,
    /// List deleted memories instead of live ones.
    pub deleted: bool,
    /// List what other users share alone.
    pub shared: bool,
    /// Where to go on: the `next` of the listing before.
    pub after: Option<Handle>,
}

/// A page of memories.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listing {
    /// The memories, newest first.
    pub memories: Vec<Memory>,
    /// Memories that pass, on all pages.
    pub total_count: u32,
    /// Pass it as `after` to go on; `None` at the end.
    pub next: Option<Handle>,
}

impl Store {
    /// Lists memories, newest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn list(&self, request: &ListRequest) -> Result<Listing, StoreError> {
        self.listed(request).map_err(|error| self.failed(error))
    }

    fn listed(&self, request: &ListRequest) -> rusqlite::Result<Listing> {
        let (mut sql, mut values) = conditions(request, self.now());
        let count = format!("SELECT count(*) FROM memories WHERE {sql}");
        let total_count = self.connection.query_row(&count, rusqlite::params_from_iter(&values), |row| row.get(0))?;
        if let Some(after) = request.after {
            sql.push_str(" AND (created, handle) < (SELECT created, handle FROM memories WHERE handle = ?)");
            values.push(after.get().into());
        }
        let limit = request.limit.clamp(1, crate::domain::MAX_LIMIT);
        values.push((limit + 1).into());
        let select =
            format!("SELECT {} FROM memories WHERE {sql} ORDER BY created DESC, handle DESC LIMIT ?", row::MEMORY);
        let mut statement = self.connection.prepare(&select)?;
        let rows = statement.query_map(rusqlite::params_from_iter(&values), row::memory)?;
        let mut memories = rows.collect::<rusqlite::Result<Vec<_>>>()?;
        let has_more = memories.len() > limit as usize;
        memories.truncate(limit as usize);
        let next = memories.last().filter(|_| has_more).map(|memory| memory.handle);
        Ok(Listing { memories, total_count, next })
    }
}

fn conditions(request: &ListRequest, now: Timestamp) -> (String, Vec<Value>) {
    let filters = &request.filters;
    let mut sql = vec!["purged = 0".to_owned()];
    let mut values: Vec<Value> = Vec::new();
    if request.deleted {
        sql.push("deleted IS NOT NULL".into());
    } else {
        sql.push("deleted IS NULL AND (expires IS NULL OR expires > ?)".into());
        values.push(now.as_micros().into());
    }
    let mut any_of = |condition: &str, wanted: Vec<String>| {
        if !wanted.is_empty() {
            let alternatives = vec![condition; wanted.len()].join(" OR ");
            sql.push(format!("({alternatives})"));
            values.extend(wanted.into_iter().map(Value::from));
        }
    };
    any_of("category = ?", filters.categories.iter().map(|category| category.as_str().to_owned()).collect());
    any_of("type = ?", filters.types.iter().map(|kind| kind.as_str().to_owned()).collect());
    any_of("scope = ?", filters.scopes.iter().map(|scope| scope.as_str().to_owned()).collect());
    any_of(
        "EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?)",
        filters.tags.iter().map(|tag| tag.as_str().to_owned()).collect(),
    );
    any_of(
        "EXISTS (SELECT 1 FROM json_each(entities) WHERE lower(value) = ?)",
        filters.entities.iter().map(|name| name.to_lowercase()).collect(),
    );
    any_of("shared_by = ?", filters.shared_by.iter().cloned().collect());
    for (condition, time) in [("created >= ?", filters.since), ("created < ?", filters.until)] {
        if let Some(time) = time {
            sql.push(condition.into());
            values.push(time.as_micros().into());
        }
    }
    if request.shared {
        sql.push("shared_by IS NOT NULL".into());
    }
    if filters.own_only {
        sql.push("trust <> 'foreign'".into());
    }
    (sql.join(" AND "), values)
}
