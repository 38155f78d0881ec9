//! What a session is given unasked, and the receipts of it: only of projects that are believed, only the person's own,
//! nothing twice.

use std::collections::BTreeSet;
use std::time::Instant;

use tessera_engine::Store;
use tessera_engine::domain::{Filters, MemoryRef, Packing, Purpose, RecallRequest, Scope, ShortId, TokenBudget};
use tessera_engine::pack::Recall as Reply;
use tessera_engine::score::ScoreParts;
use tessera_engine::store::{Delivery, Given, GivenAs, StoreError, given_by};
use tessera_engine::sync::Invitation;

use crate::caller::Caller;
use crate::chain::Asked;
use crate::desk::{Effect, UseCase};
use crate::project::Claim;
use crate::use_cases::find::shown;

/// Memories given to one prompt, at most.
const MOST_GIVEN: u32 = 8;
/// Memories of a brief, at most.
const MOST_BRIEFED: u32 = 20;
/// Memories of a session itself that are set aside, at most.
const MOST_SAVED: u32 = 20;

/// An event of a client's session, which is the caller's.
#[derive(Debug, Clone)]
pub struct Event {
    /// The event, as the client names it.
    pub name: &'static str,
    /// What the session's directory says that it is.
    pub claim: Claim,
    /// When it came.
    pub started: Instant,
    /// The longest text that the client shows a model whole, in UTF-16 units as it counts them.
    pub most_characters: usize,
}

impl Event {
    /// A receipt that says that nothing was given yet.
    fn delivery(&self, store: &Store, caller: &Caller) -> Result<Delivery, StoreError> {
        Ok(Delivery {
            session: caller.session.clone().unwrap_or_default(),
            at: store.now(),
            event: self.name.to_owned(),
            scope: if self.claim.is_believed(store)? { self.claim.scope.clone() } else { Scope::Global },
            tokens: 0,
            characters: 0,
            searched: 0,
            below_floor: 0,
            best_below_floor: 0.0,
            took_micros: 0,
            skipped: None,
            resets: false,
            given: Vec::new(),
        })
    }

    /// Keeps a receipt.
    fn keep(&self, store: &Store, delivery: Delivery) {
        let took_micros = u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX);
        store.keep_delivery(&Delivery { took_micros, ..delivery });
    }

    /// Keeps the receipt of a reply.
    fn keep_given(&self, store: &Store, delivery: Delivery, reply: &Reply) {
        let delivery = Delivery {
            tokens: reply.tokens_used,
            characters: u32::try_from(characters(&reply.body)).unwrap_or(u32::MAX),
            given: given_by(reply),
            ..delivery
        };
        self.keep(store, delivery);
    }

    /// A reply that the client will show whole: with less budget, as long as it has too many characters.
    fn bounded(
        &self,
        mut request: RecallRequest,
        mut recall: impl FnMut(&RecallRequest) -> Result<Option<Reply>, StoreError>,
    ) -> Result<Option<Reply>, StoreError> {
        loop {
            let found = match recall(&request) {
                // No room for any reply: then nothing is said.
                Err(StoreError::Domain(_)) => return Ok(None),
                other => other?,
            };
            let Some(found) = found.filter(|found| !found.details.is_empty() || !found.index.is_empty()) else {
                return Ok(None);
            };
            if characters(&found.body) <= self.most_characters {
                return Ok(Some(found));
            }
            match TokenBudget::try_from(request.budget.get() / 2) {
                Ok(budget) => request.budget = budget,
                Err(_) => return Ok(None),
            }
        }
    }
}

/// Characters as the client counts them: UTF-16 units.
fn characters(text: &str) -> usize {
    text.encode_utf16().count()
}

/// What may be shown in a project unasked: its own, and what holds everywhere.
fn visible(scope: &Scope) -> Vec<Scope> {
    match scope {
        Scope::Global => vec![Scope::Global],
        project @ Scope::Project(_) => vec![project.clone(), Scope::Global],
    }
}

/// A request that nobody made.
fn automatic(caller: &Caller, budget: TokenBudget, scope: &Scope) -> RecallRequest {
    RecallRequest {
        budget,
        profile: caller.profile,
        limit: MOST_GIVEN,
        scope: Some(scope.clone()),
        packing: Packing::Dual,
        purpose: Purpose::Unasked,
        ..RecallRequest::new("")
    }
}

/// What the memory knows of a prompt, before a model sees it; nothing when it knows nothing.
#[derive(Debug, Clone)]
pub struct Prompted {
    /// The event.
    pub event: Event,
    /// What the prompt asks.
    pub question: Question,
    /// What the reply may cost.
    pub budget: TokenBudget,
}

/// What a prompt asks of the memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// Nothing, and why.
    None(String),
    /// This, with further words of a lower weight.
    Of {
        /// The question.
        query: String,
        /// The further words.
        expanded: Option<String>,
    },
}

impl UseCase for Prompted {
    type Outcome = Option<Reply>;
    const EFFECT: Effect = Effect::Reads;

    fn asked(&mut self) -> Option<Asked<'_>> {
        matches!(self.question, Question::Of { .. }).then_some(Asked::Prompt(&mut self.question))
    }

    fn touched(given: &Option<Reply>) -> Vec<MemoryRef> {
        given.as_ref().map(shown).unwrap_or_default()
    }

    fn run(self, store: &mut Store, caller: &Caller) -> Result<Option<Reply>, StoreError> {
        let mut delivery = self.event.delivery(store, caller)?;
        let (query, expanded_query) = match self.question {
            Question::None(why) => {
                delivery.skipped = Some(why);
                self.event.keep(store, delivery);
                return Ok(None);
            }
            Question::Of { query, expanded } => (query, expanded),
        };
        let request = RecallRequest {
            query,
            expanded_query,
            exclude: given_in(store, &delivery.session)?,
            filters: Filters { scopes: visible(&delivery.scope), own_only: true, ..Filters::default() },
            ..automatic(caller, self.budget, &delivery.scope)
        };
        let ranking = store.rank(&request)?;
        (delivery.searched, delivery.below_floor) = (ranking.searched, ranking.below_floor);
        delivery.best_below_floor = ranking.best_below_floor;
        let reply = match ranking.total() {
            0 => None,
            _ => self.event.bounded(request, |request| store.answer(request, &ranking).map(Some))?,
        };
        let Some(reply) = reply else {
            self.event.keep(store, delivery);
            return Ok(None);
        };
        store.note_delivery(&reply);
        self.event.keep_given(store, delivery, &reply);
        Ok(Some(reply))
    }
}

/// What a session's context holds when it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// Nothing.
    New,
    /// What it held before: the session goes on.
    Kept,
    /// Less than it held before: it was compacted.
    Compacted,
}

/// What holds here, for a session that begins; for one that was compacted, what it lost.
#[derive(Debug, Clone)]
pub struct SessionSummary {
    /// The event.
    pub event: Event,
    /// What the session still has.
    pub context: Context,
    /// What the reply may cost.
    pub budget: TokenBudget,
}

impl UseCase for SessionSummary {
    type Outcome = Option<Reply>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<Option<Reply>, StoreError> {
        let mut delivery = self.event.delivery(store, caller)?;
        delivery.resets = self.context != Context::Kept;
        let exclude = if delivery.resets { BTreeSet::new() } else { given_in(store, &delivery.session)? };
        let request = RecallRequest { limit: MOST_BRIEFED, exclude, ..automatic(caller, self.budget, &delivery.scope) };
        let lost = if self.context == Context::Compacted { lost(store, &delivery)? } else { Vec::new() };
        let reply = self.event.bounded(request, |request| {
            if lost.is_empty() { store.brief(request) } else { store.chosen(&lost, request) }
        })?;
        match &reply {
            Some(reply) => self.event.keep_given(store, delivery, reply),
            None => self.event.keep(store, delivery),
        }
        Ok(reply)
    }
}

/// What a session was given already. Sessions without a name are not one session: to each of them anything may be new.
fn given_in(store: &Store, session: &str) -> Result<BTreeSet<ShortId>, StoreError> {
    if session.is_empty() { Ok(BTreeSet::new()) } else { store.given_in(session) }
}

/// What a compaction took away, as far as it may be shown here.
fn lost(store: &Store, delivery: &Delivery) -> Result<Vec<ShortId>, StoreError> {
    if delivery.session.is_empty() {
        return Ok(Vec::new());
    }
    let visible = visible(&delivery.scope);
    let mut kept = Vec::new();
    for short_id in store.lost_to_compaction(&delivery.session)? {
        let memory = store.get(MemoryRef::ShortId(short_id))?;
        kept.extend(memory.filter(|memory| visible.contains(&memory.scope)).map(|memory| memory.short_id));
    }
    Ok(kept)
}

/// Sets the memories that came from a session aside, for the brief that follows a compaction.
#[derive(Debug, Clone)]
pub struct SetAside {
    /// The event.
    pub event: Event,
}

impl UseCase for SetAside {
    type Outcome = ();
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<(), StoreError> {
        let mut delivery = self.event.delivery(store, caller)?;
        let saved = store.of_session(&delivery.session, MOST_SAVED)?;
        let aside =
            |short_id| Given { short_id, form: GivenAs::Saved, tokens: 0, score: 0.0, parts: ScoreParts::default() };
        delivery.given = saved.into_iter().map(aside).collect();
        self.event.keep(store, delivery);
        Ok(())
    }
}

/// What a person should know when a session begins: only what will not mend itself.
#[derive(Debug, Clone)]
pub struct SessionNotice {
    /// What the session's directory says that it is.
    pub claim: Claim,
}

/// What [`SessionNotice`] finds.
#[derive(Debug, Clone, Default)]
pub struct Notice {
    /// Changes that the team server refuses.
    pub refused: u64,
    /// Memories that were changed on two machines at once.
    pub conflicts: u64,
    /// Memories that stay here because nobody was asked whether the server may have them.
    pub undecided: u64,
    /// What others want to share, and nobody answered.
    pub offers: Vec<Invitation>,
    /// True when the directory says it is a project with memories, and is not believed.
    pub is_doubted: bool,
}

impl UseCase for SessionNotice {
    type Outcome = Notice;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Notice, StoreError> {
        let is_doubted = !self.claim.is_believed(store)? && store.holds_any_of(&self.claim.scope)?;
        if store.server()?.is_none() {
            return Ok(Notice { is_doubted, ..Notice::default() });
        }
        let status = store.sync_status()?;
        let (refused, conflicts, undecided) = (status.refused, status.conflicts, status.undecided);
        Ok(Notice { refused, conflicts, undecided, offers: store.offers()?, is_doubted })
    }
}
