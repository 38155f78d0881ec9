//! The brief: what a session should know before anything was asked.

use rusqlite::params;

use crate::domain::{Handle, RecallRequest, Scope};
use crate::index::IndexRow;
use crate::pack::Recall;
use crate::score::Prior;
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::sql;
use crate::store::rows::index::{IndexColumns, index_row};
use crate::store::rows::memory::HOLDS;

/// Rows considered, at most: those of the highest importance.
const MOST_CONSIDERED: u32 = 300;
/// What belonging to the project is worth beside the prior, whose parts sum to 0.3 at most.
const OWN_PROJECT: f64 = 0.1;

/// Found by the index `memories_brief`, which holds what the first line and the next ask for.
const BRIEF: &str = sql!(
    "SELECT ",
    IndexColumns::LIST,
    " FROM memories WHERE scope IN ('global', ?1) AND (standing = 1 OR category = 'decisions')
     AND deleted IS NULL AND (expires IS NULL OR expires > ?2) AND trust <> 'foreign'
     AND origin <> 'conversation' AND ",
    HOLDS,
    " AND NOT EXISTS (SELECT 1 FROM links WHERE source = memories.id AND type = 'resolved_by')
     ORDER BY importance DESC, handle DESC LIMIT ?3"
);

impl Store {
    /// Standing wishes and open decisions of the request's scope and of every project, the weightiest
    /// first, within the request's budget. `None` when there are none that the request does not exclude.
    ///
    /// # Errors
    /// When the budget is too small for any reply, or the store cannot be read.
    pub fn brief(&mut self, request: &RecallRequest) -> Result<Option<Recall>, StoreError> {
        let mut rows = self.brief_rows(request).map_err(|error| self.failed(error))?;
        let now = self.now();
        let project = request.scope.as_ref().map_or(Scope::Global.as_str(), Scope::as_str).to_owned();
        let weight = |row: &IndexRow| {
            let own = if row.scope == project { OWN_PROJECT } else { 0.0 };
            Prior::of(&row.features, now, &self.weights).lifts(&self.weights).iter().sum::<f64>() + own
        };
        rows.sort_by(|a, b| weight(b).total_cmp(&weight(a)).then(b.features.handle.cmp(&a.features.handle)));
        let handles = rows.iter().filter_map(|row| Handle::try_from(row.features.handle).ok());
        let handles: Vec<Handle> = handles.filter(|handle| !request.exclude.contains(handle)).collect();
        self.chosen(&handles, request)
    }

    fn brief_rows(&self, request: &RecallRequest) -> rusqlite::Result<Vec<IndexRow>> {
        let scope = request.scope.as_ref().map(Scope::as_str);
        let mut statement = self.connection.prepare_cached(BRIEF)?;
        statement.query_map(params![scope, self.now(), MOST_CONSIDERED], index_row)?.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::open::in_memory::InMemory;

    #[test]
    fn a_brief_does_not_look_through_all_memories() {
        let store = InMemory::new();
        let sql = format!("EXPLAIN QUERY PLAN {BRIEF}");
        let mut statement = store.connection.prepare(&sql).unwrap();
        let plan = statement.query_map(params!["p", 0, 1], |row| row.get::<_, String>(3)).unwrap();
        let plan: Vec<String> = plan.collect::<Result<_, _>>().unwrap();
        assert!(plan.iter().any(|step| step.contains("SEARCH memories USING INDEX memories_brief")), "{plan:?}");
    }
}
