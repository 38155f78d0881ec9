//! The outcome of a change, computed before its transaction begins. Analysing a text, counting its tokens and merging
//! texts takes milliseconds. In a transaction, the computation would hold locks for which other requests wait.

use tessera_engine::compose::{Known, Outcome, outcome};
use tessera_engine::screen::Screened;
use tessera_engine::sync::{Action, Author, Op, Rights, Row};
use tessera_engine::text::O200k;

use super::ask::Ask;
use super::memories::Stored;
use super::{Caller, Db, DbError, UserId};
use crate::threads::off_runtime;

/// The memory that a change applies to, and the rights of the author.
#[derive(Debug, Clone)]
struct Base {
    owner: String,
    row: Row,
    rights: Rights,
    known: Option<Box<Known>>,
}

impl Base {
    fn of(stored: &Stored) -> Self {
        let Stored { owner, row, rights, known, .. } = stored;
        Self { owner: owner.clone(), row: row.clone(), rights: *rights, known: known.clone() }
    }

    /// True if everything that the outcome depends on is equal in both reads.
    fn is_as(&self, stored: &Stored) -> bool {
        let embedding = |known: &Option<Box<Known>>| known.as_ref().map_or(0, |known| known.embedding.len());
        self.row == stored.row
            && self.owner == stored.owner
            && self.rights == stored.rights
            && embedding(&self.known) == embedding(&stored.known)
    }
}

/// The outcome of a change, based on a memory that was read without a lock.
#[derive(Debug)]
pub(super) struct UnlockedOutcome {
    base: Option<Base>,
    outcome: Outcome,
}

impl UnlockedOutcome {
    /// Returns the computed outcome if the memory is unchanged since then.
    pub(super) fn if_still(&self, current: Option<&Stored>) -> Option<Outcome> {
        let is_same = match (&self.base, current) {
            (None, None) => true,
            (Some(base), Some(stored)) => base.is_as(stored),
            _ => false,
        };
        is_same.then(|| self.outcome.clone())
    }
}

fn computed(base: Option<&Base>, op: &Screened<Op>, author: &UserId) -> Outcome {
    let rights = base.map_or(Rights::None, |base| base.rights);
    let current = base.map(|base| (&base.row, base.known.as_deref()));
    outcome(current, op, Author { name: author.as_str(), rights }, &O200k)
}

/// Computes the outcome for a memory that changed after it was read.
pub(super) async fn outcome_on(
    current: Option<&Stored>,
    op: &Screened<Op>,
    author: &UserId,
) -> Result<Outcome, DbError> {
    let (base, op, author) = (current.map(Base::of), op.clone(), author.clone());
    off_runtime(move || computed(base.as_ref(), &op, &author)).await
}

impl Db {
    /// Computes the outcome of one change. A new memory is not looked up, because another memory almost never has its
    /// UUID.
    pub(super) async fn foresee(&self, caller: &Caller, op: &Screened<Op>) -> Result<UnlockedOutcome, DbError> {
        let base = match op.action {
            Action::Create(_) => None,
            _ => self.of(&caller.user).await?.memory_to_foresee(op.memory).await?.as_ref().map(Base::of),
        };
        let (op, author) = (op.clone(), caller.user.clone());
        off_runtime(move || {
            let outcome = computed(base.as_ref(), &op, &author);
            UnlockedOutcome { base, outcome }
        })
        .await
    }

    /// Computes the outcomes of several changes in order. If two of them change the same memory,
    /// the outcome of the second is computed again in its transaction.
    pub(super) async fn foresee_all(&self, caller: &Caller, asks: &[Ask]) -> Result<Vec<UnlockedOutcome>, DbError> {
        let mut bases = Vec::with_capacity(asks.len());
        let mut tx = None;
        for ask in asks {
            if matches!(*ask.action, Action::Create(_)) {
                bases.push(None);
                continue;
            }
            let tx = match &mut tx {
                Some(tx) => tx,
                None => tx.insert(self.of(&caller.user).await?),
            };
            bases.push(tx.memory_to_foresee(ask.memory).await?.as_ref().map(Base::of));
        }
        drop(tx);
        let (asks, author) = (asks.to_vec(), caller.user.clone());
        off_runtime(move || {
            let foreseen = asks.iter().zip(bases).map(|(ask, base)| {
                let op = ask.op(base.as_ref().map_or(0, |base| base.row.rev));
                let outcome = computed(base.as_ref(), &op, &author);
                UnlockedOutcome { base, outcome }
            });
            foreseen.collect()
        })
        .await
    }
}
