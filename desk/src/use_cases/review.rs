//! The review queue: lines that automatic learning proposes, and memories that contradict each other, repeat each other
//! or were never used. The user accepts or drops each proposal.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use tessera_engine::Store;
use tessera_engine::domain::{
    Candidate, CandidateId, DomainError, LinkKind, Memory, MemoryRef, Origin, Scope, ShortId, Trust,
};
use tessera_engine::store::{Declined, DoubtfulPair, Erase, PairKind, StoreError, Stored, WaitingLine};
use tessera_tables::text_types;

use super::change::Forget;
use super::link::SetLink;
use super::remember::Remember;
use crate::caller::{Caller, Project};
use crate::chain::Asked;
use crate::desk::{Desk, Effect, UseCase};

/// The reason in the history of a memory that was a line of the queue.
pub(super) const ACCEPTED: &str = "accepted in the review";

/// Adds a line to the review queue. The outcome is `None` if an equal line waits already or was dropped earlier, or if
/// the line seems to contain a secret.
#[derive(Debug, Clone, PartialEq)]
pub struct Propose {
    /// The memory that the line becomes if the user accepts it.
    pub line: Remember,
    /// The probability that it is worth remembering, in percent.
    pub certainty: Option<u8>,
}

impl UseCase for Propose {
    type Outcome = Option<CandidateId>;
    const EFFECT: Effect = Effect::Adds;

    fn asked(&mut self) -> Option<Asked<'_>> {
        Some(Asked::Store(&mut self.line))
    }

    fn run(self, store: &mut Store, caller: &Caller) -> Result<Option<CandidateId>, StoreError> {
        let Self { line, certainty } = self;
        let scope = line.scope.unwrap_or_else(|| caller.default_scope(&line.content, line.category.as_ref()));
        let replaced = line.supersedes.map(|old| store.get(old)).transpose()?.flatten();
        store.propose(&Candidate {
            category: line.category,
            importance: line.importance,
            tags: line.tags,
            keywords: line.keywords,
            created: line.created.unwrap_or_else(|| store.now()),
            expires: line.expires,
            supersedes: replaced.map(|memory| memory.id),
            certainty,
            session: line.session.or_else(|| caller.session.clone()),
            dir: caller.dir_for(&scope),
            scope,
            content: line.content,
        })
    }
}

/// The ID of a proposal: of a line (`kdbfwm`), of a pair of memories (`57/42`), or of one memory (`42`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema)]
#[serde(into = "String")]
#[schemars(with = "String")]
pub enum ReviewId {
    /// A line that waits.
    Line(CandidateId),
    /// The newer and the older memory.
    Pair(ShortId, ShortId),
    /// A memory that was never used.
    Memory(ShortId),
}

impl fmt::Display for ReviewId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(id) => id.fmt(f),
            Self::Pair(newer, older) => write!(f, "{}/{}", newer.get(), older.get()),
            Self::Memory(id) => id.get().fmt(f),
        }
    }
}

impl FromStr for ReviewId {
    type Err = DomainError;

    fn from_str(text: &str) -> Result<Self, DomainError> {
        let number = |text: &str| {
            let number = text.trim().trim_start_matches('#').parse::<u32>().ok();
            number.and_then(|number| ShortId::try_from(number).ok())
        };
        let pair = text.split_once('/').and_then(|(newer, older)| Some(Self::Pair(number(newer)?, number(older)?)));
        let memory = || number(text).map(Self::Memory);
        let line = || text.parse().ok().map(Self::Line);
        pair.or_else(memory).or_else(line).ok_or_else(|| {
            let fix = "use an ID that `tessera review` shows, for example kdbfwm, 57/42 or 42";
            DomainError::invalid("id", format!("`{text}` is not the ID of a proposal"), fix)
        })
    }
}

text_types! { ReviewId: DomainError }

/// A change that Tessera proposes to the user.
#[derive(Debug, Clone, PartialEq)]
pub enum Proposal {
    /// Store this line as a memory.
    Line {
        /// The line.
        line: Box<Candidate>,
        /// The memory that the new memory will replace.
        replaces: Option<Box<Memory>>,
    },
    /// Mark the older memory as outdated, because the newer one may contradict it.
    Contradiction {
        /// The newer memory.
        newer: Box<Memory>,
        /// The older memory.
        older: Box<Memory>,
    },
    /// Delete one of two memories, because the other one says the same. The one with less trust is deleted, otherwise the
    /// older one.
    Duplicate {
        /// The memory to delete.
        deletes: Box<Memory>,
        /// The memory that stays.
        keeps: Box<Memory>,
    },
    /// Delete the memory, because it was never used.
    Unused {
        /// The memory.
        memory: Box<Memory>,
    },
}

/// A proposal with its ID.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewItem {
    /// The ID.
    pub id: ReviewId,
    /// The proposal.
    pub proposal: Proposal,
}

impl ReviewItem {
    fn of_pair(pair: DoubtfulPair) -> Self {
        let id = ReviewId::Pair(pair.newer.short_id, pair.older.short_id);
        let proposal = match pair.kind {
            PairKind::Same => {
                let (deletes, keeps) = duplicate(pair);
                Proposal::Duplicate { deletes: Box::new(deletes), keeps: Box::new(keeps) }
            }
            PairKind::MayContradict => {
                Proposal::Contradiction { newer: Box::new(pair.newer), older: Box::new(pair.older) }
            }
        };
        Self { id, proposal }
    }

    fn of_unused(memory: Memory) -> Self {
        Self { id: ReviewId::Memory(memory.short_id), proposal: Proposal::Unused { memory: Box::new(memory) } }
    }
}

/// The memory of a pair to delete, and the one to keep.
fn duplicate(pair: DoubtfulPair) -> (Memory, Memory) {
    // The higher value is the lower trust.
    if pair.newer.trust > pair.older.trust { (pair.newer, pair.older) } else { (pair.older, pair.newer) }
}

/// Lists all proposals: waiting lines first, oldest first; then pairs and memories that were never used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReviewQueue;

impl UseCase for ReviewQueue {
    type Outcome = Vec<ReviewItem>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Vec<ReviewItem>, StoreError> {
        let mut items = Vec::new();
        for WaitingLine { id, candidate } in store.candidates()? {
            let replaces = replaced(store, &candidate)?.map(Box::new);
            items.push(ReviewItem {
                id: ReviewId::Line(id),
                proposal: Proposal::Line { line: Box::new(candidate), replaces },
            });
        }
        items.extend(store.doubtful_pairs()?.into_iter().map(ReviewItem::of_pair));
        items.extend(store.never_used()?.into_iter().map(ReviewItem::of_unused));
        Ok(items)
    }
}

/// The memory that a line replaces; `None` if it was deleted or changed after the user said the line.
fn replaced(store: &Store, line: &Candidate) -> Result<Option<Memory>, StoreError> {
    let old = line.supersedes.map(|old| store.get(MemoryRef::Id(old))).transpose()?.flatten();
    Ok(old.filter(|old| old.deleted.is_none() && old.updated <= line.created))
}

/// Counts the lines that wait for review.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountWaiting;

impl UseCase for CountWaiting {
    type Outcome = usize;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<usize, StoreError> {
        store.count_candidates()
    }
}

/// The user's decision about a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Do what is proposed.
    Accept,
    /// Store the line with this text.
    Edit(String),
    /// Do nothing, and do not propose it again. Of a line, only a fingerprint remains.
    Drop,
}

/// Carries out a decision about one proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decide {
    /// The proposal.
    pub id: ReviewId,
    /// The decision.
    pub verdict: Verdict,
}

/// The result of a decision.
#[derive(Debug, Clone)]
pub enum Reviewed {
    /// The line is now a memory.
    Stored {
        /// The memory.
        stored: Box<Stored>,
        /// The memory that it replaces.
        replaces: Option<ShortId>,
    },
    /// The older memory is now marked as outdated.
    Outdated {
        /// The older memory.
        older: ShortId,
        /// The newer memory.
        newer: ShortId,
    },
    /// The memory was deleted, and can be restored.
    Deleted(ShortId),
    /// The proposal was dropped.
    Dropped,
}

impl UseCase for Decide {
    type Outcome = Reviewed;
    const EFFECT: Effect = Effect::Changes;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<Reviewed, StoreError> {
        match (self.id, self.verdict) {
            (ReviewId::Line(id), Verdict::Drop) => {
                store.drop_candidate(&id)?;
                Ok(Reviewed::Dropped)
            }
            (ReviewId::Line(id), Verdict::Accept) => accept_line(store, caller, id, None),
            (ReviewId::Line(id), Verdict::Edit(text)) => accept_line(store, caller, id, Some(text)),
            (_, Verdict::Edit(_)) => {
                let fix = "accept or drop it; `tessera edit` changes the text of a memory";
                Err(DomainError::invalid("id", "is not a line, so it cannot be edited here", fix).into())
            }
            (ReviewId::Pair(newer, older), verdict) => decide_pair(store, caller, newer, older, &verdict),
            (ReviewId::Memory(id), verdict) => decide_unused(store, caller, id, &verdict),
        }
    }
}

/// Stores a line as a memory, with another text if there is one. The same transaction removes the line from the queue.
fn accept_line(
    store: &mut Store,
    caller: &Caller,
    id: CandidateId,
    text: Option<String>,
) -> Result<Reviewed, StoreError> {
    let line = store.candidate(&id)?;
    // Another text may be about something else, so it replaces nothing.
    let replaces = if text.is_none() { replaced(store, &line)? } else { None };
    let scope = line.scope;
    let project = line.dir.map(|dir| Project { scope: scope.clone(), dir: dir.into() });
    let learner = Caller {
        origin: Origin::AutoLearn,
        session: line.session,
        project: project.filter(|project| project.scope != Scope::Global),
        ..caller.clone()
    };
    let remember = Remember {
        content: text.unwrap_or(line.content),
        category: line.category,
        importance: line.importance,
        tags: line.tags,
        keywords: line.keywords,
        created: Some(line.created),
        expires: line.expires,
        scope: Some(scope),
        supersedes: replaces.as_ref().map(|memory| MemoryRef::Id(memory.id)),
        owner_trust: Some(Trust::User),
        reason: Some(ACCEPTED.into()),
        accepts: Some(id),
        ..Remember::default()
    };
    let stored = Desk::new(store, &learner).perform(remember)?;
    Ok(Reviewed::Stored { stored: Box::new(stored), replaces: replaces.map(|memory| memory.short_id) })
}

fn decide_pair(
    store: &mut Store,
    caller: &Caller,
    newer: ShortId,
    older: ShortId,
    verdict: &Verdict,
) -> Result<Reviewed, StoreError> {
    let Some(pair) = store.doubtful_pair(newer, older)? else {
        return Err(not_proposed());
    };
    if *verdict == Verdict::Drop {
        store.decline(Declined::Pair(pair.newer.id, pair.older.id))?;
        return Ok(Reviewed::Dropped);
    }
    if pair.kind == PairKind::Same {
        let (deletes, keeps) = duplicate(pair);
        return delete(store, caller, deletes.short_id, format!("says the same as {}", keeps.short_id));
    }
    let link = SetLink { id: newer.into(), kind: LinkKind::Updates, to: older.into(), holds: true };
    Desk::new(store, caller).perform(link)?;
    Ok(Reviewed::Outdated { older, newer })
}

fn decide_unused(store: &mut Store, caller: &Caller, id: ShortId, verdict: &Verdict) -> Result<Reviewed, StoreError> {
    let unused = store.never_used()?.into_iter().find(|memory| memory.short_id == id);
    let Some(memory) = unused else { return Err(not_proposed()) };
    if *verdict == Verdict::Drop {
        store.decline(Declined::Unused(memory.id))?;
        return Ok(Reviewed::Dropped);
    }
    delete(store, caller, id, "was never used".into())
}

fn delete(store: &mut Store, caller: &Caller, id: ShortId, reason: String) -> Result<Reviewed, StoreError> {
    let forget = Forget { ids: vec![id.into()], erase: Erase::Soft, reason: Some(reason) };
    Desk::new(store, caller).perform(forget)?;
    Ok(Reviewed::Deleted(id))
}

fn not_proposed() -> StoreError {
    DomainError::invalid("id", "no proposal with this ID waits", "`tessera review` lists what waits").into()
}
