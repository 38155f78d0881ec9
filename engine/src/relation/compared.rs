//! Compares a new memory with older ones, and decides which of them it updates.

use std::collections::BTreeSet;

use super::{Beside, Candidate, Features, Holders, PreparedText, Restated, candidates, is_same};
use crate::action::Lesson;
use crate::classifier::Trees;
use crate::domain::{Link, LinkKind, Memory, MemoryUuid, Scope, ShortId, Timestamp, Trust};
use crate::embedding::Vector;
use crate::index::IndexView;

/// The odds of a restatement: higher than those of any other pair.
pub const CERTAIN: i32 = i32::MAX;

/// The result of a comparison with an older memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// The ID of the older memory.
    pub short_id: ShortId,
    /// Its UUID.
    pub id: MemoryUuid,
    /// Its scope.
    pub scope: Scope,
    /// Its trust.
    pub trust: Trust,
    /// Its summary.
    pub summary: String,
    /// When it was created.
    pub created: Timestamp,
    /// The cosine similarity of both embeddings; `None` if one is missing.
    pub near: Option<f64>,
    /// True if both texts consist of the same words in the same order.
    pub is_same: bool,
    /// The features of the pair.
    pub features: Features,
    /// The logarithm of the odds that the new text updates it, in 1/1024; [`CERTAIN`] for a restatement, and its negative
    /// for things with different numbers.
    pub odds: i32,
    /// True if the words of the new text say that it replaces the older one as a whole.
    pub is_replaced: bool,
}

/// A new text, and the IDs of the older memories with which it is compared.
#[derive(Debug)]
pub struct Comparison {
    content: String,
    scope: Scope,
    text: PreparedText,
    candidates: Vec<Candidate>,
    holders: Holders,
}

impl Comparison {
    /// Selects older memories of the scope and of the global scope. `meant` is the embedding of the text's first passage.
    pub fn new<B: AsRef<[u8]>>(view: &IndexView<'_, B>, content: &str, scope: &Scope, meant: Option<&Vector>) -> Self {
        let text = PreparedText::read(content);
        let similarities = meant.map(|meant| view.similarities(meant)).unwrap_or_default();
        let in_scope = view.scope_test(|name| name == scope.as_str() || name == Scope::Global.as_str());
        let (candidates, holders) = candidates(view, &text, &similarities, in_scope);
        Self { content: content.to_owned(), scope: scope.clone(), text, candidates, holders }
    }

    /// The IDs of the older memories, the most similar first.
    pub fn short_ids(&self) -> impl Iterator<Item = u32> {
        self.candidates.iter().map(|candidate| candidate.short_id)
    }

    /// Compares the text with the memories that `read` returns for the IDs. The most likely updates come first. `trees`
    /// are those of the classifier.
    ///
    /// # Errors
    /// Returns the errors of `read`.
    pub fn with<B: AsRef<[u8]>, E>(
        self,
        view: &IndexView<'_, B>,
        mut read: impl FnMut(u32) -> Result<Option<Memory>, E>,
        trees: &[u8],
    ) -> Result<Vec<Compared>, E> {
        let Self { content, scope, text: new, candidates, mut holders } = self;
        let (mut older, mut texts) = (Vec::new(), Vec::new());
        for (rank, candidate) in (0..).zip(candidates) {
            let Some(memory) = read(candidate.short_id)? else { continue };
            let Candidate { near, is_updated, .. } = candidate;
            let is_same_scope = memory.scope == scope;
            texts.push((PreparedText::read(&memory.content), Beside { near, rank, is_same_scope, is_updated }));
            older.push(memory);
        }
        count_holders(view, texts.iter().map(|(text, _)| text), &mut holders);
        let features = new.features(&texts, &holders);
        let odds = |restated: Option<Restated>, features: &Features| match restated {
            Some(Restated::Replaces | Restated::Updates) => CERTAIN,
            Some(Restated::Elsewhere) => -CERTAIN,
            None => Trees(trees).odds(features),
        };
        let compared = older.into_iter().zip(texts).zip(features).map(|((memory, (text, beside)), features)| {
            let restated = new.restates(&text);
            Compared {
                short_id: memory.short_id,
                id: memory.id,
                is_same: is_same(&content, &memory.content),
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
}

/// Adds the numbers of rows for the terms of texts, in one call for all of them.
fn count_holders<'t, B: AsRef<[u8]>>(
    view: &IndexView<'_, B>,
    texts: impl Iterator<Item = &'t PreparedText>,
    holders: &mut Holders,
) {
    let all = texts.flat_map(PreparedText::terms);
    let unknown: BTreeSet<&str> = all.filter(|term| !holders.terms.contains_key(*term)).collect();
    let terms: Vec<&[u8]> = unknown.iter().map(|term| term.as_bytes()).collect();
    let own = view.holders(&terms);
    holders.terms.extend(unknown.into_iter().map(str::to_owned).zip(own));
}

/// True for a live memory of this user that is neither a turn of a conversation nor a part of a file. All lessons have
/// similar words, so lessons are not compared.
pub fn is_compared(memory: &Memory) -> bool {
    let is_own = memory.share.is_none() && memory.conflict_of.is_none() && memory.file.is_none();
    is_own && memory.deleted.is_none() && !memory.origin.is_captured() && Lesson::read(&memory.content).is_none()
}

/// When a memory is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparedWhen {
    /// While it is being stored. The reply can report what it supersedes.
    Storing,
    /// Afterwards, in the background.
    Stored,
}

/// The links from a memory to the older memories that it probably updates, without those to which it already has a
/// link. Their odds are at least `least`. Of two memories with the same time, the one that was stored first is older. A
/// memory that is just being stored supersedes an older one if its words say so. A foreign memory updates only foreign
/// ones.
pub fn found_links(memory: &Memory, compared: &[Compared], least: i32, when: ComparedWhen) -> Vec<Link> {
    let is_stored = when == ComparedWhen::Stored;
    let found = compared.iter().filter(|older| {
        let is_linked = memory.links.iter().any(|link| link.to == older.id);
        let is_earlier = older.created < memory.created
            || (older.created == memory.created && (!is_stored || older.short_id < memory.short_id));
        let may_update = memory.trust != Trust::Foreign || older.trust == Trust::Foreign;
        older.odds >= least && is_earlier && !is_linked && may_update
    });
    let found = found.map(|older| {
        // Another project may still need a global memory.
        let is_replaced = older.is_replaced && older.scope == memory.scope && memory.trust <= older.trust;
        let kind = if is_replaced && !is_stored { LinkKind::Supersedes } else { LinkKind::Updates };
        Link { kind, to: older.id }
    });
    found.collect()
}
