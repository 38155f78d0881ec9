//! Lists memories: newest first, filtered, in pages.

use std::collections::BTreeSet;

use rusqlite::types::Value;

use crate::domain::{Filters, Memory, MemoryRef, ShortId, Timestamp};
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;
use crate::store::rows::columns::MEMORY;
use crate::store::rows::memory as row;
use crate::text::fold;

/// The request of a list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListRequest {
    /// The filters.
    pub filters: Filters,
    /// Rows, 1 to 200.
    pub limit: u32,
    /// List deleted memories instead of live ones.
    pub deleted: bool,
    /// List expired memories instead of visible ones.
    pub expired: bool,
    /// List only memories of other users.
    pub shared: bool,
    /// Where to continue: `next` of the previous page.
    pub after: Option<ShortId>,
}

/// A page of memories.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listing {
    /// The memories, newest first.
    pub memories: Vec<Memory>,
    /// Matching memories on all pages.
    pub total_count: u32,
    /// The value of `after` for the next page; `None` at the end.
    pub next: Option<ShortId>,
}

impl Store {
    /// Lists memories, newest first.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn list(&self, request: &ListRequest) -> Result<Listing, StoreError> {
        self.listed(request).map_err(|error| self.failed(error))
    }

    /// Live foreign memories that nobody has confirmed, oldest first. The list omits memories that other users share or
    /// edited, and learned memories, which the user accepts one by one.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn imported(&self) -> Result<Vec<MemoryRef>, StoreError> {
        let read = || -> rusqlite::Result<Vec<MemoryRef>> {
            let sql =
                "SELECT short_id FROM memories WHERE trust = 'foreign' AND shared_by IS NULL AND edited_by IS NULL
                       AND origin NOT IN ('auto_learn') AND deleted IS NULL AND file IS NULL ORDER BY short_id";
            let mut statement = self.connection.prepare(sql)?;
            statement.query_map([], |row| row.get(0).map(MemoryRef::ShortId))?.collect()
        };
        read().map_err(|error| self.failed(error))
    }

    /// All stored spellings that recall treats as equal to these names. A name that no memory contains stays unchanged.
    fn spellings(&self, names: &[String]) -> rusqlite::Result<Vec<String>> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let asked: BTreeSet<String> = names.iter().map(|name| fold(name)).collect();
        let sql = "SELECT DISTINCT value FROM memories, json_each(entities) WHERE purged = 0 AND is_file = 0";
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
        let rows = if request.deleted { "memories" } else { "memories INDEXED BY memories_listed" };
        let is_unfiltered =
            *request == ListRequest { limit: request.limit, after: request.after, ..Default::default() };
        let total_count = if is_unfiltered {
            u32::try_from(self.live_rows()?.saturating_sub(self.count_expired()?)).unwrap_or(u32::MAX)
        } else {
            let count = format!("SELECT count(*) FROM {rows} WHERE {sql}");
            self.connection.query_row(&count, rusqlite::params_from_iter(&values), |row| row.get(0))?
        };
        if let Some(after) = request.after {
            sql.push_str(" AND (created, short_id) < (SELECT created, short_id FROM memories WHERE short_id = ?)");
            values.push(after.get().into());
        }
        let limit = request.limit.clamp(1, crate::domain::MAX_LIMIT);
        values.push((limit + 1).into());
        let select = format!("SELECT {MEMORY} FROM {rows} WHERE {sql} ORDER BY created DESC, short_id DESC LIMIT ?");
        let mut statement = self.connection.prepare(&select)?;
        let rows = statement.query_map(rusqlite::params_from_iter(&values), row::memory)?;
        let mut memories = rows.collect::<rusqlite::Result<Vec<_>>>()?;
        let has_more = memories.len() > limit as usize;
        memories.truncate(limit as usize);
        let next = memories.last().filter(|_| has_more).map(|memory| memory.short_id);
        Ok(Listing { memories, total_count, next })
    }
}

fn conditions(request: &ListRequest, now: Timestamp) -> (String, Vec<Value>) {
    let filters = &request.filters;
    let mut sql = vec!["purged = 0 AND is_file = 0".to_owned()];
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Draft;
    use crate::store::base::config::Actor;
    use crate::store::change::erase::Erase;
    use crate::store::open::in_memory::{InMemory, named};

    fn filled() -> InMemory {
        let mut store = InMemory::new();
        for (number, scope) in [(1, "global"), (2, "acme/ledger"), (3, "acme/ledger"), (4, "global")] {
            let tags = if number == 3 { vec!["ci".to_owned().try_into().unwrap()] } else { Vec::new() };
            let expires = (number == 4).then(|| store.now().plus_days(1));
            let scope = scope.parse().unwrap();
            let entities = vec![if number == 2 { "Zoë".to_owned() } else { "Bob".to_owned() }];
            store.remember(Draft { tags, entities, scope, expires, ..Draft::new(format!("note {number}")) }).unwrap();
            store.pass_days(1);
        }
        store
    }

    fn short_ids(store: &InMemory, request: ListRequest) -> Vec<u32> {
        let listing = store.list(&ListRequest { limit: 10, ..request }).unwrap();
        assert_eq!(listing.total_count as usize, listing.memories.len());
        listing.memories.iter().map(|memory| memory.short_id.get()).collect()
    }

    fn filtered(store: &InMemory, filters: Filters) -> Vec<u32> {
        short_ids(store, ListRequest { filters, ..ListRequest::default() })
    }

    #[test]
    fn filters_hold_together_and_names_are_found_however_they_are_written() {
        let mut store = filled();
        let none = Filters::default;
        assert_eq!(
            filtered(&store, none()),
            [3, 2, 1],
            "the list begins with the newest memory and omits expired memories"
        );
        let ledger = Filters { scopes: vec!["acme/ledger".parse().unwrap()], ..none() };
        assert_eq!(filtered(&store, ledger.clone()), [3, 2]);
        let tag = "ci".to_owned().try_into().unwrap();
        assert_eq!(filtered(&store, Filters { tags: vec![tag], ..ledger.clone() }), [3]);
        assert_eq!(filtered(&store, Filters { entities: vec!["ZOE".into()], ..none() }), [2]);
        let since = store.now().plus_days(-3);
        assert_eq!(filtered(&store, Filters { since: Some(since), ..none() }), [3, 2]);
        assert_eq!(filtered(&store, Filters { until: Some(since), ..none() }), [1]);
        store.run(
            "UPDATE memories SET shared_by = 'bob', share_permission = 'read', trust = 'foreign' WHERE short_id = 1",
        );
        assert_eq!(filtered(&store, Filters { own_only: true, ..none() }), [3, 2]);
        assert_eq!(filtered(&store, Filters { shared_by: Some("bob".into()), ..none() }), [1]);
        assert_eq!(short_ids(&store, ListRequest { shared: true, ..ListRequest::default() }), [1]);
        assert_eq!(short_ids(&store, ListRequest { expired: true, ..ListRequest::default() }), [4]);
        let one = store.get(MemoryRef::ShortId(ShortId::FIRST)).unwrap().unwrap();
        store.run("UPDATE memories SET shared_by = NULL, share_permission = NULL");
        store.forget(&[named(&one)], Erase::Soft, &Actor::default()).unwrap();
        assert_eq!(short_ids(&store, ListRequest { deleted: true, ..ListRequest::default() }), [1]);
        store.forget(&[named(&one)], Erase::Hard, &Actor::default()).unwrap();
        assert!(short_ids(&store, ListRequest { deleted: true, ..ListRequest::default() }).is_empty());
    }

    #[test]
    fn pages_follow_one_another_and_end() {
        let store = filled();
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let page = store.list(&ListRequest { limit: 2, after, ..ListRequest::default() }).unwrap();
            assert_eq!(page.total_count, 3);
            seen.extend(page.memories.iter().map(|memory| memory.short_id.get()));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(seen, [3, 2, 1]);
    }

    #[test]
    fn what_came_from_elsewhere_and_nobody_vouches_for_is_known() {
        let mut store = filled();
        let draft = Draft { origin: crate::domain::Origin::Import, ..Draft::new("from elsewhere") };
        let imported = store.remember(draft).unwrap().memory;
        assert_eq!(store.imported().unwrap(), [named(&imported)]);
        store.run("UPDATE memories SET shared_by = 'bob', share_permission = 'read' WHERE short_id = 5");
        assert_eq!(store.imported().unwrap(), []);
    }
}
