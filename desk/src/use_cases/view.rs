//! Views: counts, deliveries, and token usage.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use tessera_engine::Store;
use tessera_engine::domain::{Memory, MemoryRef, Timestamp};
use tessera_engine::store::{Delivery, DeliveryFilter, ExtractorUsage, GivenAs, Stats, StoreError, SyncStatus};

use crate::caller::Caller;
use crate::desk::{Effect, UseCase};

const DAY_MICROS: i64 = 86_400_000_000;

/// Counts memories, and returns the state of the sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count;

/// The result of [`Count`].
#[derive(Debug, Clone)]
pub struct Counts {
    /// Counts of memories.
    pub stats: Stats,
    /// The state of sync.
    pub sync: SyncStatus,
}

impl UseCase for Count {
    type Outcome = Counts;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Counts, StoreError> {
        Ok(Counts { stats: store.stats()?, sync: store.sync_status()? })
    }
}

/// The origin of a memory, and when and why it was recalled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Why {
    /// The memory.
    pub id: MemoryRef,
}

/// The result of [`Why`].
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Reason {
    /// The memory.
    pub memory: Memory,
    /// The deliveries that contained the memory, oldest first.
    pub given: Vec<Delivery>,
    /// True if it has expired.
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

/// What a session and its subagents received, and how many lines wait for review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionTotals {
    /// The session.
    pub session: String,
}

/// The result of [`SessionTotals`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// The number of different memories that the session and its subagents received.
    pub memories: usize,
    /// Their tokens.
    pub tokens: u64,
    /// The number of waiting lines.
    pub waiting: usize,
}

impl UseCase for SessionTotals {
    type Outcome = Totals;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Totals, StoreError> {
        let waiting = store.count_candidates()?;
        if self.session.is_empty() {
            return Ok(Totals { waiting, ..Totals::default() });
        }
        let deliveries =
            store.deliveries(&DeliveryFilter { session: Some(self.session), ..DeliveryFilter::default() })?;
        let given = deliveries.iter().flat_map(|delivery| &delivery.given);
        let delivered = given.filter(|given| given.form != GivenAs::Saved).map(|given| given.short_id);
        let memories = delivered.collect::<BTreeSet<_>>().len();
        let tokens = deliveries.iter().map(|delivery| u64::from(delivery.tokens)).sum();
        Ok(Totals { memories, tokens, waiting })
    }
}

/// Tokens day by day, latest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenUsage {
    /// Days, including today.
    pub days: u32,
}

/// The delivered tokens and the usage of extractors on one day.
#[derive(Debug, Clone, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Day {
    /// The date.
    pub day: String,
    /// Events of clients.
    pub events: u64,
    /// Events without memories.
    pub silent: u64,
    /// Returned tokens.
    pub given_tokens: u64,
    /// The usage of each extractor.
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
