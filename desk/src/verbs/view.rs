//! Views: how much there is, what was given when and why, what it cost.

use std::collections::BTreeMap;

use serde::Serialize;
use tessera_engine::Store;
use tessera_engine::domain::{Memory, MemoryRef, Timestamp};
use tessera_engine::store::{Given, Receipt, ReceiptFilter, Spending, Stats, StoreError, SyncStatus};

use crate::caller::Caller;
use crate::desk::{Effect, Verb};

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

impl Verb for Count {
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
    pub receipt: Receipt,
    /// The summaries of what was given, in the order of the receipt; empty for what is gone.
    #[serde(skip)]
    pub summaries: Vec<String>,
}

impl Verb for Log {
    type Outcome = Vec<Logged>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Vec<Logged>, StoreError> {
        let mut receipts = store.receipts(&ReceiptFilter { session: self.session, ..ReceiptFilter::default() })?;
        let older = receipts.len().saturating_sub(self.limit);
        receipts.drain(..older);
        let summary = |given: &Given| {
            let memory = store.get(MemoryRef::Handle(given.handle))?;
            Ok(memory.map_or_else(String::new, |memory| memory.summary))
        };
        let logged = |receipt: Receipt| {
            let summaries = receipt.given.iter().map(summary).collect::<Result<_, StoreError>>()?;
            Ok(Logged { receipt, summaries })
        };
        receipts.into_iter().map(logged).collect()
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
    pub given: Vec<Receipt>,
    /// True when its lifetime has ended.
    #[serde(skip)]
    pub is_over: bool,
}

impl Verb for Why {
    type Outcome = Reason;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Reason, StoreError> {
        let memory = store.get(self.id)?.ok_or(StoreError::NotFound(self.id))?;
        let given = store.receipts(&ReceiptFilter { handle: Some(memory.handle), ..ReceiptFilter::default() })?;
        Ok(Reason { is_over: memory.is_over(store.now()), memory, given })
    }
}

/// Tokens day by day, the latest day first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ledger {
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
    pub judges: Vec<Spending>,
}

impl Verb for Ledger {
    type Outcome = Vec<Day>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Vec<Day>, StoreError> {
        let today = store.now().as_micros().div_euclid(DAY_MICROS) * DAY_MICROS;
        let since = Timestamp::from_micros(today - i64::from(self.days.saturating_sub(1)) * DAY_MICROS);
        let mut days: BTreeMap<String, Day> = BTreeMap::new();
        for receipt in store.receipts(&ReceiptFilter { since: Some(since), ..ReceiptFilter::default() })? {
            let day = days.entry(receipt.at.date().to_string()).or_default();
            day.events += 1;
            day.silent += u64::from(receipt.tokens == 0);
            day.given_tokens += u64::from(receipt.tokens);
        }
        for spent in store.spending(since)? {
            days.entry(spent.day.clone()).or_default().judges.push(spent);
        }
        Ok(days.into_iter().rev().map(|(day, of)| Day { day, ..of }).collect())
    }
}
