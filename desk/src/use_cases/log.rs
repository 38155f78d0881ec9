//! The log: what models received, and what automatic learning did.

use serde::Serialize;
use tessera_engine::Store;
use tessera_engine::domain::{CandidateId, Memory, MemoryRef, ShortId, Timestamp};
use tessera_engine::store::{Delivery, DeliveryFilter, Given, HistoryEntry, Operation, StoreError, WaitingLine};
use tessera_tables::names;

use super::review::ACCEPTED;
use crate::caller::Caller;
use crate::desk::{Effect, UseCase};

/// The latest events, newest last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    /// Only of this session.
    pub session: Option<String>,
    /// Maximum events.
    pub limit: usize,
}

/// An event: memories that a model received, or a result of automatic learning.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(untagged)]
pub enum Logged {
    /// An event of a client, with the memories that the model received.
    Delivered(Delivered),
    /// A result of automatic learning.
    Learned(LearnedEvent),
}

/// An event of a client with its memories.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Delivered {
    /// The delivery. In JSON it stands alone.
    #[serde(flatten)]
    pub delivery: Delivery,
    /// The summaries of the delivered memories, in the same order; empty for deleted memories.
    #[serde(skip)]
    pub summaries: Vec<String>,
}

names! {
/// The result for a line of automatic learning.
#[derive(Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Learning {
    /// It was stored as a memory.
    Learned = "learned",
    /// The user accepted it in the review, and it was stored as a memory.
    Accepted = "accepted",
    /// The memory was deleted, because the user retracted it.
    Retracted = "retracted",
    /// It waits for review.
    Waiting = "waiting",
    /// The user dropped it. Its text is not kept.
    Dropped = "dropped",
}
}

/// A result of automatic learning.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct LearnedEvent {
    /// The time.
    pub at: Timestamp,
    /// What happened.
    pub event: Learning,
    /// The session in which the user said it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<ShortId>,
    /// The ID of the waiting line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<CandidateId>,
    /// The summary of the memory, or the text of the line, if it still exists.
    #[serde(skip)]
    pub text: Option<String>,
}

impl Logged {
    /// The time of the event.
    pub fn at(&self) -> Timestamp {
        match self {
            Self::Delivered(delivered) => delivered.delivery.at,
            Self::Learned(learned) => learned.at,
        }
    }
}

impl UseCase for Log {
    type Outcome = Vec<Logged>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Vec<Logged>, StoreError> {
        let mut events = delivered(store, &self)?;
        events.extend(learned(store, &self)?);
        events.sort_by_key(Logged::at);
        let older = events.len().saturating_sub(self.limit);
        events.drain(..older);
        Ok(events)
    }
}

fn delivered(store: &Store, asked: &Log) -> Result<Vec<Logged>, StoreError> {
    let filter = DeliveryFilter { session: asked.session.clone(), ..DeliveryFilter::default() };
    let mut deliveries = store.deliveries(&filter)?;
    let older = deliveries.len().saturating_sub(asked.limit);
    deliveries.drain(..older);
    let summary = |given: &Given| Ok(live(store, given.short_id)?.map_or_else(String::new, |memory| memory.summary));
    let logged = |delivery: Delivery| {
        let summaries = delivery.given.iter().map(summary).collect::<Result<_, StoreError>>()?;
        Ok(Logged::Delivered(Delivered { delivery, summaries }))
    };
    deliveries.into_iter().map(logged).collect()
}

fn learned(store: &Store, asked: &Log) -> Result<Vec<Logged>, StoreError> {
    let mut events = Vec::new();
    for entry in store.learned_lately(asked.session.as_deref(), asked.limit)? {
        events.push(of_entry(store, entry)?);
    }
    let is_asked = |line: &WaitingLine| asked.session.is_none() || asked.session == line.candidate.session;
    let waiting = store.candidates()?.into_iter().filter(is_asked).map(|line| LearnedEvent {
        at: line.candidate.created,
        event: Learning::Waiting,
        session: line.candidate.session,
        id: None,
        line: Some(line.id),
        text: Some(line.candidate.content),
    });
    events.extend(waiting);
    if asked.session.is_none() {
        let dropped = store.dropped_lately(asked.limit)?.into_iter();
        let event = Learning::Dropped;
        events.extend(dropped.map(|at| LearnedEvent { at, event, session: None, id: None, line: None, text: None }));
    }
    Ok(events.into_iter().map(Logged::Learned).collect())
}

fn of_entry(store: &Store, entry: HistoryEntry) -> Result<LearnedEvent, StoreError> {
    let event = match entry.reason.as_deref() {
        _ if entry.operation == Operation::Delete.as_str() => Learning::Retracted,
        Some(ACCEPTED) => Learning::Accepted,
        _ => Learning::Learned,
    };
    let text = live(store, entry.short_id)?.map(|memory| memory.summary);
    Ok(LearnedEvent { at: entry.at, event, session: entry.session, id: Some(entry.short_id), line: None, text })
}

fn live(store: &Store, id: ShortId) -> Result<Option<Memory>, StoreError> {
    Ok(store.get(MemoryRef::ShortId(id))?.filter(|memory| memory.deleted.is_none()))
}
