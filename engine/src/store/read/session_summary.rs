//! The session summary: memories that a session should know from its beginning.
//!
//! This module also returns memories that the caller names, within a budget, and lists the memories of a session.

use rusqlite::params;

use crate::domain::{RecallRequest, Scope, ShortId, Timestamp};
use crate::embedding::{Embedding, Vector};
use crate::index::{Flags, IndexRow};
use crate::pack::{Ranked, Recall};
use crate::recall::{Form, Ranking, answer};
use crate::score::Prior;
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::{Ask as _, sql};
use crate::store::rows::index::{IndexColumns, index_row};
use crate::store::rows::memory::HOLDS;

/// The maximum number of candidates. If there are more, the most important ones are considered.
const MOST_CONSIDERED: u32 = 300;
/// The bonus for memories of the session's project. The prior adds at most 0.3.
const OWN_PROJECT: f64 = 0.1;

/// The maximum bonus for similarity to the recent work in the project.
const RECENT_WORK: f64 = 0.3;
/// The maximum number of recently changed rows of a project. The second number is the number of latest changes that are
/// searched for them.
const MOST_RECENT: usize = 8;
const RECENT_OF_ALL: u32 = 64;

/// Finds recent changes through the index on `rev`.
const RECENT: &str =
    "SELECT short_id, embedding FROM (SELECT short_id, scope, embedding, deleted FROM memories ORDER BY rev DESC LIMIT ?1)
    WHERE scope = ?2 AND deleted IS NULL";

/// Uses the index `memories_session_summary`, which covers instructions and decisions that are not deleted.
const SESSION_SUMMARY: &str = sql!(
    "SELECT ",
    IndexColumns::LIST,
    " FROM memories WHERE scope IN ('global', ?1) AND (is_instruction = 1 OR category = 'decisions')
     AND deleted IS NULL AND is_file = 0 AND (expires IS NULL OR expires > ?2) AND trust <> 'foreign'
     AND origin <> 'conversation' AND ",
    HOLDS,
    " AND NOT EXISTS (SELECT 1 FROM links WHERE source = memories.id AND type = 'resolved_by')
     ORDER BY importance DESC, short_id DESC LIMIT ?3"
);

impl Store {
    /// Standing preferences and open decisions of the project and of global scope, within the budget. Importance and
    /// similarity to the recent work determine the order; memories that a newer one updates come last. Returns `None` if no memory qualifies, or if all of them are
    /// excluded.
    ///
    /// # Errors
    /// Returns an error if the budget is too small for any reply, or the store cannot be read.
    pub fn session_summary(&mut self, request: &RecallRequest) -> Result<Option<Recall>, StoreError> {
        let rows = self.summary_rows(request).map_err(|error| self.failed(error))?;
        let recent = self.recent_work(request.scope.as_ref()).map_err(|error| self.failed(error))?;
        let now = self.now();
        let project = request.scope.as_ref().map_or(Scope::Global.as_str(), Scope::as_str).to_owned();
        let weight = |row: &IndexRow| {
            let own = if row.scope == project { OWN_PROJECT } else { 0.0 };
            let prior = Prior::of(&row.features, now, &self.weights).lifts(&self.weights).iter().sum::<f64>();
            prior + own + RECENT_WORK * nearest(row, &recent)
        };
        let is_updated = |row: &IndexRow| row.features.flags.has(Flags::UPDATED);
        let mut rows: Vec<(bool, f64, u32)> =
            rows.iter().map(|row| (is_updated(row), weight(row), row.features.short_id)).collect();
        // Memories that a newer one updates come last, so they make room for others.
        rows.sort_by(|(last, a, one), (other_last, b, other)| {
            last.cmp(other_last).then(b.total_cmp(a)).then(other.cmp(one))
        });
        let short_ids = rows.iter().filter_map(|(.., short_id)| ShortId::try_from(*short_id).ok());
        let short_ids: Vec<ShortId> = short_ids.filter(|short_id| !request.exclude.contains(short_id)).collect();
        self.chosen(&short_ids, request)
    }

    /// The embeddings of a project's recently changed rows, with their IDs; empty without a project, or if semantic
    /// search is off.
    fn recent_work(&self, scope: Option<&Scope>) -> rusqlite::Result<Vec<(u32, Vector)>> {
        let Some(project @ Scope::Project(_)) = scope.filter(|_| self.has_embedding()) else { return Ok(Vec::new()) };
        let mut statement = self.connection.prepare_cached(RECENT)?;
        let mut rows = statement.query(params![RECENT_OF_ALL, project.as_str()])?;
        let mut recent = Vec::new();
        while let (true, Some(row)) = (recent.len() < MOST_RECENT, rows.next()?) {
            let (short_id, embedding): (u32, Vec<u8>) = (row.get(0)?, row.get(1)?);
            recent.extend(
                Embedding::vectors(&embedding).next().and_then(Vector::of_bytes).map(|vector| (short_id, vector)),
            );
        }
        Ok(recent)
    }

    fn summary_rows(&self, request: &RecallRequest) -> rusqlite::Result<Vec<IndexRow>> {
        let scope = request.scope.as_ref().map(Scope::as_str);
        self.connection.all(SESSION_SUMMARY, params![scope, self.now(), MOST_CONSIDERED], index_row)
    }
}

/// The similarity of a row to the most similar of the other rows, 0 to 1.
fn nearest(row: &IndexRow, others: &[(u32, Vector)]) -> f64 {
    let others = others.iter().filter(|(short_id, _)| *short_id != row.features.short_id);
    let each =
        others.flat_map(|(_, other)| Embedding::vectors(&row.embedding).map(|own| other.similarities_to_bytes(own)));
    f64::from(each.fold(0.0, f32::max))
}

impl Store {
    /// Live memories by ID, in the given order, within a budget. Deleted and superseded memories are skipped. `None` if
    /// none is left. Counts no use.
    ///
    /// # Errors
    /// Returns an error if the budget is too small for any reply, or the store cannot be read.
    pub fn chosen(&mut self, short_ids: &[ShortId], request: &RecallRequest) -> Result<Option<Recall>, StoreError> {
        let mut page = Vec::new();
        for short_id in short_ids {
            if page.len() >= request.limit as usize {
                break;
            }
            if self.is_current(*short_id)? {
                let rank = u32::try_from(page.len()).unwrap_or(u32::MAX);
                page.push(Ranked::chosen(*short_id, rank));
            }
        }
        if page.is_empty() {
            return Ok(None);
        }
        let newer = self.newer_of(page.iter().map(|ranked| ranked.short_id))?;
        page.iter_mut().for_each(|ranked| ranked.newer = newer.get(&ranked.short_id).map(|newer| newer.short_id()));
        let rows = self.rows(&page)?;
        let ranking = Ranking::chosen(&page, request);
        Ok(Some(answer(request, &ranking, page, rows, &self.weights, Form::Text)?))
    }

    /// True if a memory with this text was deleted at or after a given time.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn was_forgotten_after(&self, content: &str, scope: &Scope, time: Timestamp) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM memories WHERE deleted >= ?1 AND content = ?2 AND scope = ?3 AND purged = 0";
        let read = self.connection.prepare_cached(sql);
        let read = read.and_then(|mut query| query.exists(params![time, content, scope.as_str()]));
        read.map_err(|error| self.failed(error))
    }

    /// True if the memory is the user's own, and neither deleted, superseded nor expired.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn is_current(&self, short_id: ShortId) -> Result<bool, StoreError> {
        let sql = sql!(
            "SELECT count(*) FROM memories WHERE short_id = ?1 AND deleted IS NULL
             AND (expires IS NULL OR expires > ?2) AND trust <> 'foreign' AND ",
            HOLDS
        );
        let count: rusqlite::Result<u32> = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row(params![short_id, self.now()], |row| row.get(0)));
        Ok(count.map_err(|error| self.failed(error))? > 0)
    }

    /// Memories of a session, most important first.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn of_session(&self, session: &str, limit: u32) -> Result<Vec<ShortId>, StoreError> {
        let sql = sql!(
            "SELECT short_id FROM memories WHERE session = ?1 AND deleted IS NULL AND origin <> 'conversation' AND ",
            HOLDS,
            " ORDER BY importance DESC, short_id DESC LIMIT ?3"
        );
        self.all(sql, params![session, self.now(), limit], |row| row.get(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Draft;
    use crate::store::open::in_memory::InMemory;

    #[test]
    fn what_the_project_is_at_comes_first() {
        let mut store = InMemory::new();
        let scope: Scope = "harbour/ledger".parse().unwrap();
        let said = |store: &mut InMemory, text: &str, category: &str| {
            let category = Some(category.parse().unwrap());
            store.remember(Draft { scope: scope.clone(), category, ..Draft::new(text) }).unwrap();
        };
        said(&mut store, "We decided that invoices are rounded half up", "decisions");
        said(&mut store, "We decided on Playwright for the browser tests", "decisions");
        said(&mut store, "The VAT of a refund is computed from the original bill", "facts");
        let first = |store: &mut InMemory| {
            let request = RecallRequest { scope: Some(scope.clone()), ..RecallRequest::new("") };
            store.session_summary(&request).unwrap().unwrap().details[0].memory.short_id.get()
        };
        assert_eq!(first(&mut store), 2, "without embeddings, the newest decision is first");
        while store.embed_some().unwrap() {}
        assert_eq!(first(&mut store), 1, "with embeddings, the decision about bills is first");
    }

    #[test]
    fn an_updated_memory_comes_last_and_is_marked() {
        let mut store = InMemory::new();
        let [old, other, new] = ["Always deploy on Fridays", "Never mock the database", "Always deploy on Mondays"]
            .map(|text| store.said(text));
        let actor = crate::store::Actor::default();
        let [newer, older] = [&new, &old].map(crate::store::open::in_memory::named);
        store.link(newer, &crate::domain::LinkKind::Updates, older, &actor).unwrap();
        let summary = store.session_summary(&RecallRequest::new("")).unwrap().unwrap();
        let shown: Vec<_> = summary.details.iter().map(|detail| (detail.memory.id, detail.ranked.newer)).collect();
        assert_eq!(shown, [(new.id, None), (other.id, None), (old.id, Some(new.short_id))], "{}", summary.body);
    }

    #[test]
    fn what_changed_last_is_found_by_an_index() {
        let store = InMemory::new();
        let sql = format!("EXPLAIN QUERY PLAN {RECENT}");
        let mut statement = store.connection.prepare(&sql).unwrap();
        let plan = statement.query_map(params![1, "p"], |row| row.get::<_, String>(3)).unwrap();
        let plan: Vec<String> = plan.collect::<Result<_, _>>().unwrap();
        assert!(plan.iter().any(|step| step.contains("USING INDEX")), "{plan:?}");
        assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{plan:?}");
    }

    #[test]
    fn a_session_summary_does_not_look_through_all_memories() {
        let store = InMemory::new();
        let sql = format!("EXPLAIN QUERY PLAN {SESSION_SUMMARY}");
        let mut statement = store.connection.prepare(&sql).unwrap();
        let plan = statement.query_map(params!["p", 0, 1], |row| row.get::<_, String>(3)).unwrap();
        let plan: Vec<String> = plan.collect::<Result<_, _>>().unwrap();
        assert!(
            plan.iter().any(|step| step.contains("SEARCH memories USING INDEX memories_session_summary")),
            "{plan:?}"
        );
    }
}
