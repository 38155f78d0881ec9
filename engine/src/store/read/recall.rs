//! Recall from the local store: updates the index, runs the engine, and fetches the rows.

use crate::domain::{Filters, Memory, MemoryRef, MemoryUuid, RecallRequest, Scope, ShortId};
use crate::pack::{JsonRows, Ranked, Recall, Remark, Row};
use crate::recall::{Form, Ranking, answer, rank};
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;
use crate::store::logs::access_log;
use crate::store::rows::codec::Ask as _;
use crate::store::rows::memory as row;

/// The number of parts shown before and after a requested part of a file, if there is room.
const NEIGHBOURS: usize = 2;
/// The maximum number of neighbouring sections that are added to a reply.
const MOST_NEIGHBOURS: usize = 8;

impl Store {
    /// Answers a question within its budget, as text. Takes no write lock.
    ///
    /// # Errors
    /// Returns an error if the budget is too small for any reply, or the store cannot be read.
    pub fn recall(&mut self, request: &RecallRequest) -> Result<Recall, StoreError> {
        let ranking = self.rank(request)?;
        let recall = self.answer(request, &ranking)?;
        self.note_delivery(&recall);
        Ok(recall)
    }

    /// Turns a ranking into a reply as text. Counts no use.
    ///
    /// # Errors
    /// Returns the same errors as [`Store::recall`].
    pub fn answer(&self, request: &RecallRequest, ranking: &Ranking) -> Result<Recall, StoreError> {
        let page = ranking.page(request)?;
        let rows = self.rows(&page)?;
        Ok(answer(request, ranking, page, rows, &self.weights, Form::Text)?)
    }

    /// Answers a question within its budget, as one JSON document.
    ///
    /// # Errors
    /// Returns the same errors as [`Store::recall`].
    pub fn recall_json(&mut self, request: &RecallRequest, rows: JsonRows) -> Result<Recall, StoreError> {
        let ranking = self.rank(request)?;
        let recall = self.answer_json(request, &ranking, rows)?;
        self.note_delivery(&recall);
        Ok(recall)
    }

    /// Turns a ranking into a reply as one JSON document. Counts no use.
    ///
    /// # Errors
    /// Returns the same errors as [`Store::recall`].
    pub fn answer_json(
        &self,
        request: &RecallRequest,
        ranking: &Ranking,
        rows: JsonRows,
    ) -> Result<Recall, StoreError> {
        let page = ranking.page(request)?;
        let found = self.rows(&page)?;
        Ok(answer(request, ranking, page, found, &self.weights, Form::Json(rows))?)
    }

    /// Only ranks memories, without building a reply or counting a use.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn rank(&mut self, request: &RecallRequest) -> Result<Ranking, StoreError> {
        self.refresh_index()?;
        let meant = if self.index.view().has_vectors() { self.meant(&request.subject(self.clock.now())) } else { None };
        Ok(rank(&self.index.view(), request, meant.as_ref(), self.clock.now(), &self.weights))
    }

    /// At most five other scopes with their numbers of matches, most matches first, if a question has no matches in the
    /// requested scopes.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn near_scopes(&mut self, request: &RecallRequest) -> Result<Vec<(Scope, u32)>, StoreError> {
        let filters = Filters { scopes: Vec::new(), ..request.filters.clone() };
        let wider =
            RecallRequest { filters, scope: None, cursor: None, limit: crate::domain::MAX_LIMIT, ..request.clone() };
        let page = self.rank(&wider)?.page(&wider)?;
        let mut scopes: Vec<(Scope, u32)> = Vec::new();
        let page: Vec<Ranked> = page.into_iter().filter(|ranked| !ranked.is_weak).collect();
        for row in self.rows(&page)? {
            match scopes.iter_mut().find(|(scope, _)| *scope == row.memory.scope) {
                Some((_, count)) => *count += 1,
                None => scopes.push((row.memory.scope, 1)),
            }
        }
        scopes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        scopes.truncate(5);
        Ok(scopes)
    }

    /// Returns the scope of existing memories that a name means: the project of this name, otherwise the only project
    /// whose name differs in upper and lower case or ends with `/NAME`. `None` if there is no such project, or several.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn scope_meant(&self, given: &Scope) -> Result<Option<Scope>, StoreError> {
        let Scope::Project(name) = given else { return Ok(Some(Scope::Global)) };
        let ending = format!("/{}", name.to_lowercase());
        let is_meant = |scope: &str| format!("/{}", scope.to_lowercase()).ends_with(&ending);
        let sql = "SELECT value FROM counts WHERE kind = 'scope' AND n > 0";
        let stored: Vec<String> = self.connection.all(sql, [], |row| row.get(0)).map_err(|error| self.failed(error))?;
        if stored.contains(name) {
            return Ok(Some(given.clone()));
        }
        let mut matching = stored.into_iter().filter(|scope| is_meant(scope));
        Ok(match (matching.next(), matching.next()) {
            (Some(only), None) => Some(Scope::Project(only)),
            _ => None,
        })
    }

    pub(crate) fn rows(&self, page: &[Ranked]) -> Result<Vec<Row>, StoreError> {
        let rows = page.iter().filter_map(|ranked| row::packed(&self.connection, ranked.short_id).transpose());
        rows.collect::<rusqlite::Result<_>>().map_err(|error| self.failed(error))
    }

    /// Counts a use of every memory that was returned in full.
    pub fn note_delivery(&self, recall: &Recall) {
        let now = self.clock.now();
        access_log::append(&self.home, recall.details.iter().map(|detail| (detail.memory.short_id, now)));
    }

    /// Returns a memory by ID or UUID with its links. Finds deleted memories too, but not permanently deleted ones.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn get(&self, reference: MemoryRef) -> Result<Option<Memory>, StoreError> {
        row::find(&self.connection, reference).map_err(|error| self.failed(error))
    }

    /// Fetches memories by their IDs within a budget, in the given order. A text that is too long is cut at its end. A
    /// part of a file comes with its neighbours, if there is room. The reply names memories that do not exist.
    ///
    /// # Errors
    /// Returns an error if none of the memories exists, or the budget is too small for any reply.
    pub fn fetch(&self, references: &[MemoryRef], request: &RecallRequest) -> Result<Recall, StoreError> {
        self.fetched(references, request, Form::Text)
    }

    /// Like [`Store::fetch`], but returns one JSON document with full rows.
    ///
    /// # Errors
    /// Returns the same errors as [`Store::fetch`].
    pub fn fetch_json(&self, references: &[MemoryRef], request: &RecallRequest) -> Result<Recall, StoreError> {
        self.fetched(references, request, Form::Json(JsonRows { full: true, ..JsonRows::default() }))
    }

    fn fetched(&self, references: &[MemoryRef], request: &RecallRequest, form: Form) -> Result<Recall, StoreError> {
        let (mut named, mut absent, mut deleted) = (Vec::new(), Vec::new(), Vec::new());
        for reference in references {
            match self.get(*reference)? {
                Some(memory) if memory.deleted.is_none() => named.push(memory),
                Some(_) => deleted.push(*reference),
                None => absent.push(*reference),
            }
        }
        match (named.as_slice(), absent.first(), deleted.first()) {
            ([], Some(first), _) => return Err(StoreError::NotFound(*first)),
            ([], None, Some(first)) => {
                return Err(StoreError::Conflict {
                    memory: *first,
                    problem: "is deleted; `tessera restore ID` restores it",
                });
            }
            _ => {}
        }
        let now = self.clock.now();
        let expired = named.iter().filter(|memory| memory.is_over(now));
        let expired = expired.map(|memory| memory.short_id.to_string()).collect();
        let names = |references: &[MemoryRef]| references.iter().map(ToString::to_string).collect();
        let remarks =
            [(Remark::Missing, names(&absent)), (Remark::Deleted, names(&deleted)), (Remark::Expired, expired)];
        let short_ids: Vec<ShortId> = named.iter().map(|memory| memory.short_id).collect();
        let recall = self.packed(&short_ids, &remarks, request, form)?;
        self.note_delivery(&recall);
        let beside = self.neighbours(&named)?;
        if beside.is_empty() || request.cursor.is_some() || recall.details.len() < named.len() {
            return Ok(recall);
        }
        // Requested memories have priority. Neighbours are added only if they take no room from them.
        let with_neighbours = self.packed(&[short_ids, beside].concat(), &remarks, request, form)?;
        let is_whole =
            recall.details.iter().zip(&with_neighbours.details).all(|(alone, beside)| {
                alone.memory.short_id == beside.memory.short_id && alone.excerpt == beside.excerpt
            });
        Ok(if is_whole && with_neighbours.details.len() >= recall.details.len() { with_neighbours } else { recall })
    }

    fn packed(
        &self,
        short_ids: &[ShortId],
        remarks: &[(Remark, Vec<String>)],
        request: &RecallRequest,
        form: Form,
    ) -> Result<Recall, StoreError> {
        let newer = self.newer_of(short_ids.iter().copied())?;
        let chosen = |(rank, short_id): (u32, &ShortId)| Ranked {
            newer: newer.get(short_id).map(|newer| newer.short_id()),
            ..Ranked::chosen(*short_id, rank)
        };
        let mut page: Vec<Ranked> = (0..).zip(short_ids).map(chosen).collect();
        let mut ranking = Ranking::chosen(&page, request);
        if request.cursor.is_some() {
            page = ranking.page(request)?;
        }
        let rows = self.rows(&page)?;
        for (remark, names) in remarks {
            ranking = ranking.remarking(*remark, names.clone());
        }
        let budget = request.profile.to_o200k(request.budget).0;
        let long = rows.iter().filter(|row| row.costs.can_be_cut() && row.costs.detail > budget);
        let long = long.map(|row| format!("{} ({} tokens)", row.memory.short_id, row.costs.detail)).collect();
        let ranking = ranking.remarking(Remark::Long, long);
        Ok(answer(request, &ranking, page, rows, &self.weights, form)?)
    }

    /// Returns all sections of the file that contains a given section, in order.
    fn parts_beside(&self, part: MemoryUuid) -> rusqlite::Result<Vec<ShortId>> {
        let sql = "SELECT short_id FROM parts JOIN memories ON memories.id = parts.memory
                   WHERE parts.file = (SELECT file FROM parts WHERE memory = ?1) AND n >= 0 AND deleted IS NULL ORDER BY n";
        self.connection.all(sql, [part], |row| row.get(0))
    }

    /// For each part of a file, the parts before and after it, which show its topic.
    fn neighbours(&self, named: &[Memory]) -> Result<Vec<ShortId>, StoreError> {
        let mut beside: Vec<ShortId> = Vec::new();
        for memory in named.iter().filter(|memory| memory.is_part_of_file()) {
            let parts = self.parts_beside(memory.id).map_err(|error| self.failed(error))?;
            let Some(at) = parts.iter().position(|short_id| *short_id == memory.short_id) else { continue };
            let around = parts.iter().take(at + NEIGHBOURS + 1).skip(at.saturating_sub(NEIGHBOURS));
            let is_new = |short_id: &ShortId| {
                !beside.contains(short_id) && !named.iter().any(|memory| memory.short_id == *short_id)
            };
            let fresh: Vec<ShortId> = around.copied().filter(is_new).collect();
            beside.extend(fresh);
        }
        beside.truncate(MOST_NEIGHBOURS);
        Ok(beside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Draft, ShortId, TokenBudget};
    use crate::store::open::in_memory::{InMemory, named};

    #[test]
    fn an_answer_counts_as_use_once_it_is_delivered_and_a_ranking_does_not() {
        let mut store = InMemory::joined();
        let memory = store.said("The cache lives on birch");
        let request = RecallRequest::new("where does the cache live?");
        let ranking = store.rank(&request).unwrap();
        store.answer(&request, &ranking).unwrap();
        store.answer_json(&request, &ranking, JsonRows::default()).unwrap();
        store.fold_accesses().unwrap();
        assert_eq!(store.now_of(&memory).access_count, 0);
        store.recall(&request).unwrap();
        store.recall_json(&request, JsonRows::default()).unwrap();
        store.fold_accesses().unwrap();
        let memory = store.now_of(&memory);
        assert_eq!((memory.access_count, memory.last_accessed), (2, Some(store.now())));
        assert_eq!(store.one::<u32>("SELECT count(*) FROM outbox"), 1, "no server is told of a use");
    }

    #[test]
    fn scopes_that_would_answer_are_named_the_most_first() {
        let mut store = InMemory::new();
        for (scope, text) in [("a/one", "cache on birch"), ("a/two", "cache on oak"), ("a/two", "cache on elm")] {
            store.remember(Draft { scope: scope.parse().unwrap(), ..Draft::new(text) }).unwrap();
        }
        let filters = Filters { scopes: vec!["a/three".parse().unwrap()], ..Filters::default() };
        let request = RecallRequest { filters, ..RecallRequest::new("cache") };
        assert!(store.recall(&request).unwrap().details.is_empty());
        let near: Vec<(String, u32)> =
            store.near_scopes(&request).unwrap().iter().map(|(scope, n)| (scope.to_string(), *n)).collect();
        assert_eq!(near, [("a/two".to_owned(), 2), ("a/one".to_owned(), 1)]);
    }

    #[test]
    fn what_is_named_is_fetched_in_the_order_given_and_what_is_not_there_is_told() {
        let mut store = InMemory::new();
        let (one, two) = (store.said("one"), store.said("two"));
        let request = RecallRequest { budget: TokenBudget::DEFAULT, ..RecallRequest::new("") };
        let fetched = store.fetch(&[named(&two), MemoryRef::Id(one.id)], &request).unwrap();
        let texts: Vec<&str> = fetched.details.iter().map(|detail| detail.memory.content.as_str()).collect();
        assert_eq!(texts, ["two", "one"]);
        let nobody = MemoryRef::ShortId(ShortId::try_from(9).unwrap());
        let partly = store.fetch(&[named(&one), nobody], &request).unwrap();
        assert_eq!(partly.details.len(), 1);
        assert!(partly.body.contains(&format!("No memory: {nobody}.\n")), "{}", partly.body);
        assert!(matches!(store.fetch(&[nobody], &request), Err(StoreError::NotFound(_))));
        store.run("UPDATE memories SET deleted = 1 WHERE short_id = 1");
        assert!(store.fetch_json(&[named(&one)], &request).is_err(), "what is deleted is not fetched");
    }
}
