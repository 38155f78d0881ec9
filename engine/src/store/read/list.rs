//! Listing: newest first, by filter, page by page.

use std::collections::BTreeSet;

use rusqlite::types::Value;

use crate::domain::{Filters, Handle, Memory, MemoryRef, Timestamp};
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;
use crate::store::rows::columns::MEMORY;
use crate::store::rows::memory as row;
use crate::text::fold;

/// What to list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListRequest {
    /// What a memory must be.
    pub filters: Filters,
    /// Rows, 1 to 200.
    pub limit: u32,
    /// List deleted memories instead of live ones.
    pub deleted: bool,
    /// List memories whose lifetime has ended instead of those that are shown.
    pub expired: bool,
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

    /// The live memories that came from elsewhere and that nobody vouches for, oldest first: not those that other
    /// users share or have written in.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn imported(&self) -> Result<Vec<MemoryRef>, StoreError> {
        let read = || -> rusqlite::Result<Vec<MemoryRef>> {
            let sql = "SELECT handle FROM memories WHERE trust = 'foreign' AND shared_by IS NULL AND edited_by IS NULL
                       AND deleted IS NULL ORDER BY handle";
            let mut statement = self.connection.prepare(sql)?;
            statement.query_map([], |row| row.get(0).map(MemoryRef::Handle))?.collect()
        };
        read().map_err(|error| self.failed(error))
    }

    /// How names are written here that recall takes for the same; a name that nobody wrote stays as it is.
    fn spellings(&self, names: &[String]) -> rusqlite::Result<Vec<String>> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let asked: BTreeSet<String> = names.iter().map(|name| fold(name)).collect();
        let sql = "SELECT DISTINCT value FROM memories, json_each(entities) WHERE purged = 0";
        let mut statement = self.connection.prepare(sql)?;
        let written = statement.query_map([], |row| row.get::<_, String>(0))?;
        let mut same: Vec<String> = written
            .filter(|name| name.as_ref().map_or(true, |name| asked.contains(&fold(name))))
            .collect::<rusqlite::Result<_>>()?;
        same.extend(names.iter().cloned());
        Ok(same)
    }

    fn listed(&self, request: &ListRequest) -> rusqlite::Result<Listing> {
        let mut request = request.clone();
        request.filters.entities = self.spellings(&request.filters.entities)?;
        let request = &request;
        let (mut sql, mut values) = conditions(request, self.now());
        let count = format!("SELECT count(*) FROM memories WHERE {sql}");
        let total_count = self.connection.query_row(&count, rusqlite::params_from_iter(&values), |row| row.get(0))?;
        if let Some(after) = request.after {
            sql.push_str(" AND (created, handle) < (SELECT created, handle FROM memories WHERE handle = ?)");
            values.push(after.get().into());
        }
        let limit = request.limit.clamp(1, crate::domain::MAX_LIMIT);
        values.push((limit + 1).into());
        let select = format!("SELECT {} FROM memories WHERE {sql} ORDER BY created DESC, handle DESC LIMIT ?", MEMORY);
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
        let shown = if request.expired { "expires <= ?" } else { "(expires IS NULL OR expires > ?)" };
        sql.push(format!("deleted IS NULL AND {shown}"));
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
    any_of("EXISTS (SELECT 1 FROM json_each(entities) WHERE value = ?)", filters.entities.clone());
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
