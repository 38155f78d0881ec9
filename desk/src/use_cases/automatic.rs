//! Automatic recall for a session, and the record of its deliveries. It uses only confirmed projects and the user's own
//! memories, and returns nothing twice.

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

/// Maximum memories for one prompt.
const MOST_GIVEN: u32 = 8;
/// The maximum number of memories in a session summary.
const MOST_IN_SUMMARY: u32 = 20;
/// Maximum saved memories of a session.
const MOST_SAVED: u32 = 20;

/// An event of the caller's session.
#[derive(Debug, Clone)]
pub struct Event {
    /// The event, as the client names it.
    pub name: &'static str,
    /// The project that the session's directory claims to be.
    pub claim: Claim,
    /// When it arrived.
    pub started: Instant,
    /// Maximum text that the client shows a model directly, in UTF-16 units.
    pub most_characters: usize,
}

impl Event {
    /// Creates the record of a delivery that contains no memories yet.
    pub(super) fn delivery(&self, store: &Store, caller: &Caller) -> Result<Delivery, StoreError> {
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
            to_subagent: false,
            given: Vec::new(),
        })
    }

    /// Stores a delivery.
    pub(super) fn keep(&self, store: &Store, delivery: Delivery) {
        let took_micros = u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX);
        store.keep_delivery(&Delivery { took_micros, ..delivery });
    }

    /// Records that a reply was delivered to the session.
    fn keep_given(&self, store: &Store, delivery: Delivery, reply: &Reply) {
        let delivery = Delivery {
            tokens: delivery.tokens.saturating_add(reply.tokens_used),
            characters: delivery.characters.saturating_add(counted(&reply.body)),
            given: given_by(reply),
            ..delivery
        };
        self.keep(store, delivery);
    }

    /// A reply within the character limit. If the reply is too long for the client, the budget is reduced.
    fn bounded(
        &self,
        mut request: RecallRequest,
        mut recall: impl FnMut(&RecallRequest) -> Result<Option<Reply>, StoreError>,
    ) -> Result<Option<Reply>, StoreError> {
        loop {
            let found = match recall(&request) {
                // The budget is too small for any reply, so there is none.
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

/// The client's count of characters: UTF-16 units.
fn characters(text: &str) -> usize {
    text.encode_utf16().count()
}

fn counted(text: &str) -> u32 {
    u32::try_from(characters(text)).unwrap_or(u32::MAX)
}

/// The scopes for automatic recall in a project: its own, and global.
fn visible(scope: &Scope) -> Vec<Scope> {
    match scope {
        Scope::Global => vec![Scope::Global],
        project @ Scope::Project(_) => vec![project.clone(), Scope::Global],
    }
}

/// The request of automatic recall.
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

/// Recalls memories for a prompt before a model sees it, or returns nothing.
#[derive(Debug, Clone)]
pub struct Prompted {
    /// The event.
    pub event: Event,
    /// The query of the prompt.
    pub question: Question,
    /// The budget of the reply.
    pub budget: TokenBudget,
    /// Who receives the memories.
    pub recipient: Recipient,
}

/// Who receives memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recipient {
    /// The session.
    Session,
    /// A subagent of the session. The session itself does not see them.
    Subagent,
}

/// The query of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// None, with the reason.
    None(String),
    /// A query, and further words that count less.
    Of {
        /// The query.
        query: String,
        /// The additional words.
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
        delivery.to_subagent = self.recipient == Recipient::Subagent;
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

/// The session's context at its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// Empty.
    New,
    /// The session continues, so the model still has the memories.
    Kept,
    /// The client compacted the session, so the model no longer has the memories.
    Compacted,
}

/// A summary for a new session; for a compacted one, its lost memories.
#[derive(Debug, Clone)]
pub struct SessionSummary {
    /// The event.
    pub event: Event,
    /// The session's context.
    pub context: Context,
    /// The budget of the reply.
    pub budget: TokenBudget,
    /// The text and the tokens of a hand-off that follows the memories. The record of the delivery counts both.
    pub handoff: Option<(String, u32)>,
}

impl UseCase for SessionSummary {
    type Outcome = Option<Reply>;
    const EFFECT: Effect = Effect::Reads;

    fn run(mut self, store: &mut Store, caller: &Caller) -> Result<Option<Reply>, StoreError> {
        let mut delivery = self.event.delivery(store, caller)?;
        delivery.resets = self.context != Context::Kept;
        if let Some((text, tokens)) = &self.handoff {
            (delivery.tokens, delivery.characters) = (*tokens, counted(text));
            self.event.most_characters = self.event.most_characters.saturating_sub(characters(text));
        }
        let exclude = if delivery.resets { BTreeSet::new() } else { given_in(store, &delivery.session)? };
        let request =
            RecallRequest { limit: MOST_IN_SUMMARY, exclude, ..automatic(caller, self.budget, &delivery.scope) };
        let lost = if self.context == Context::Compacted { lost(store, &delivery)? } else { Vec::new() };
        let reply = self.event.bounded(request, |request| {
            if lost.is_empty() { store.session_summary(request) } else { store.chosen(&lost, request) }
        })?;
        match &reply {
            Some(reply) => self.event.keep_given(store, delivery, reply),
            None => self.event.keep(store, delivery),
        }
        Ok(reply)
    }
}

/// The memories that a session already received. For sessions without an ID, all memories are new.
fn given_in(store: &Store, session: &str) -> Result<BTreeSet<ShortId>, StoreError> {
    if session.is_empty() { Ok(BTreeSet::new()) } else { store.given_in(session) }
}

/// Of the memories that a compaction removed, returns those that may be shown in this project.
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

/// Saves the memories of a session for the summary after a compaction.
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
        let aside = |short_id| Given {
            short_id,
            form: GivenAs::Saved,
            tokens: 0,
            score: 0.0,
            parts: ScoreParts::default(),
            because: Vec::new(),
        };
        delivery.given = saved.into_iter().map(aside).collect();
        self.event.keep(store, delivery);
        Ok(())
    }
}

/// Problems that need the user at the beginning of a session.
#[derive(Debug, Clone)]
pub struct SessionNotice {
    /// The project that the session's directory claims to be.
    pub claim: Claim,
}

/// The result of [`SessionNotice`].
#[derive(Debug, Clone, Default)]
pub struct Notice {
    /// Changes that the team server rejected.
    pub refused: u64,
    /// Memories with conflicts.
    pub conflicts: u64,
    /// Local memories whose upload is undecided.
    pub undecided: u64,
    /// Unanswered invitations of others.
    pub invitations: Vec<Invitation>,
    /// True if the directory claims to be a project with memories, but is not confirmed.
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
        Ok(Notice { refused, conflicts, undecided, invitations: store.invitations()?, is_doubted })
    }
}
