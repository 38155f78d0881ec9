//! Compares a new text with the older memories of a store.

use std::collections::BTreeSet;

use crate::classifier::Trees;
use crate::domain::{Memory, MemoryRef, MemoryUuid, Scope, ShortId};
use crate::relation::{
    Beside, CERTAIN, Candidate, Compared, Features, Holders, PreparedText, Restated, candidates, is_same,
};
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;

impl Store {
    /// Compares a text with the older memories of its scope and of the global scope. The most likely updates come
    /// first. Nothing is compared if semantic search is off.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn compare(
        &mut self,
        content: &str,
        scope: &Scope,
        except: Option<MemoryUuid>,
    ) -> Result<Vec<Compared>, StoreError> {
        if !self.has_embedding() {
            return Ok(Vec::new());
        }
        let meant = self.embedding_key(content);
        self.refresh_index()?;
        let new = PreparedText::read(content);
        let (found, mut holders) = {
            let view = self.index.view();
            let similarities = meant.as_ref().map(|meant| view.similarities(meant)).unwrap_or_default();
            let in_scope = view.scope_test(|name| name == scope.as_str() || name == Scope::Global.as_str());
            candidates(&view, &new, &similarities, in_scope)
        };
        let mut older = Vec::new();
        let mut texts = Vec::new();
        for (rank, candidate) in (0..).zip(found) {
            let Some(memory) = self.comparable(candidate)?.filter(|memory| Some(memory.id) != except) else { continue };
            let Candidate { near, is_updated, .. } = candidate;
            let is_same_scope = memory.scope == *scope;
            texts.push((PreparedText::read(&memory.content), Beside { near, rank, is_same_scope, is_updated }));
            older.push(memory);
        }
        self.count_holders(texts.iter().map(|(text, _)| text), &mut holders);
        let features = new.features(&texts, &holders);
        let odds = |restated: Option<Restated>, features: &Features| match restated {
            Some(Restated::Replaces | Restated::Updates) => CERTAIN,
            Some(Restated::Elsewhere) => -CERTAIN,
            None => Trees(&self.weights.updates).odds(features),
        };
        let compared = older.into_iter().zip(texts).zip(features).map(|((memory, (text, beside)), features)| {
            let restated = new.restates(&text);
            Compared {
                short_id: memory.short_id,
                id: memory.id,
                is_same: is_same(content, &memory.content),
                trust: memory.trust,
                scope: memory.scope,
                summary: memory.summary,
                created: memory.created,
                near: beside.near,
                odds: odds(restated, &features),
                is_replaced: restated == Some(Restated::Replaces),
                features,
            }
        });
        let mut compared: Vec<Compared> = compared.collect();
        compared.sort_by(|one, other| other.odds.cmp(&one.odds).then(other.short_id.cmp(&one.short_id)));
        Ok(compared)
    }

    /// The memory of a candidate; `None` if it is not a live memory of this user.
    fn comparable(&self, candidate: Candidate) -> Result<Option<Memory>, StoreError> {
        let found = self.get(MemoryRef::ShortId(ShortId::try_from(candidate.short_id)?))?;
        Ok(found.filter(|older| is_compared(older) && !older.is_over(self.now())))
    }

    /// Adds the numbers of rows for the terms of texts, in one call for all of them.
    fn count_holders<'t>(&self, texts: impl Iterator<Item = &'t PreparedText>, holders: &mut Holders) {
        let all = texts.flat_map(PreparedText::terms);
        let unknown: BTreeSet<&str> = all.filter(|term| !holders.terms.contains_key(*term)).collect();
        let terms: Vec<&[u8]> = unknown.iter().map(|term| term.as_bytes()).collect();
        let own = self.index.view().holders(&terms);
        holders.terms.extend(unknown.into_iter().map(str::to_owned).zip(own));
    }
}

/// True for a live memory of this user that is neither a turn of a conversation nor a part of a file.
pub(in crate::store) fn is_compared(memory: &Memory) -> bool {
    let is_own = memory.share.is_none() && memory.conflict_of.is_none() && memory.file.is_none();
    is_own && memory.deleted.is_none() && !memory.origin.is_captured()
}
