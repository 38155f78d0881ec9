//! Views: how much there is, what was given when and why, what it cost.

use std::collections::BTreeMap;

use serde::Serialize;
use tessera_engine::Store;
use tessera_engine::domain::{Memory, MemoryRef, Timestamp};
use tessera_engine::store::{Delivery, DeliveryFilter, ExtractorUsage, Given, Stats, StoreError, SyncStatus};

use crate::caller::Caller;
use crate::desk::{Effect, UseCase};

const DAY_MICROS: i64 = 86_400_000_000;

/// How much there is, and how things stand with the team server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count;

/// What [`Count`] finds.
#[derive(Debug, Clone)]
pub struct Counts {
    /// Memories by what they are.
    pub stats: Stats,
    /// Changes that wait, and the server they wait for.
    pub sync: SyncStatus,
}

impl UseCase for Count {
    type Outcome = Counts;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Counts, StoreError> {
        Ok(Counts { stats: store.stats()?, sync: store.sync_status()? })
    }
}

/// The latest events of clients, newest last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    /// Only of this session.
    pub session: Option<String>,
    /// Events, at most.
    pub limit: usize,
}

/// An event, and what was given at it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Logged {
    /// The event. As JSON it stands alone.
    #[serde(flatten)]
    pub delivery: Delivery,
    /// The summaries of what was given, in the order of the receipt; empty for what is gone.
    #[serde(skip)]
    pub summaries: Vec<String>,
}

impl UseCase for Log {
    type Outcome = Vec<Logged>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Vec<Logged>, StoreError> {
        let mut deliveries =
            store.deliveries(&DeliveryFilter { session: self.session, ..DeliveryFilter::default() })?;
        let older = deliveries.len().saturating_sub(self.limit);
        deliveries.drain(..older);
        let summary = |given: &Given| {
            let memory = store.get(MemoryRef::ShortId(given.short_id))?;
            Ok(memory.map_or_else(String::new, |memory| memory.summary))
        };
        let logged = |delivery: Delivery| {
            let summaries = delivery.given.iter().map(summary).collect::<Result<_, StoreError>>()?;
            Ok(Logged { delivery, summaries })
        };
        deliveries.into_iter().map(logged).collect()
    }
}

/// Where a memory comes from, and when and why it was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Why {
    /// Which.
    pub id: MemoryRef,
}

/// What [`Why`] finds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reason {
    /// The memory.
    pub memory: Memory,
    /// Events that gave it, oldest first.
    pub given: Vec<Delivery>,
    /// True when its lifetime has ended.
    #[serde(skip)]
    pub is_over: bool,
}

impl UseCase for Why {
    type Outcome = Reason;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Reason, StoreError> {
        let memory = store.get(self.id)?.ok_or(StoreError::NotFound(self.id))?;
        let given =
            store.deliveries(&DeliveryFilter { short_id: Some(memory.short_id), ..DeliveryFilter::default() })?;
        Ok(Reason { is_over: memory.is_over(store.now()), memory, given })
    }
}

/// Tokens day by day, the latest day first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenUsage {
    /// Days, today included.
    pub days: u32,
}

/// One day: what was given, and what judges spent.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Day {
    /// The date.
    pub day: String,
    /// Events of clients.
    pub events: u64,
    /// Of these, those that gave nothing.
    pub silent: u64,
    /// Tokens given.
    pub given_tokens: u64,
    /// What judges read and wrote, each for itself.
    pub extractors: Vec<ExtractorUsage>,
}

impl UseCase for TokenUsage {
    type Outcome = Vec<Day>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Vec<Day>, StoreError> {
        let today = store.now().as_micros().div_euclid(DAY_MICROS) * DAY_MICROS;
        let since = Timestamp::from_micros(today - i64::from(self.days.saturating_sub(1)) * DAY_MICROS);
        let mut days: BTreeMap<String, Day> = BTreeMap::new();
        for delivery in store.deliveries(&DeliveryFilter { since: Some(since), ..DeliveryFilter::default() })? {
            let day = days.entry(delivery.at.date().to_string()).or_default();
            day.events += 1;
            day.silent += u64::from(delivery.tokens == 0);
            day.given_tokens += u64::from(delivery.tokens);
        }
        for spent in store.spending(since)? {
            days.entry(spent.day.clone()).or_default().extractors.push(spent);
        }
        Ok(days.into_iter().rev().map(|(day, of)| Day { day, ..of }).collect())
    }
}
