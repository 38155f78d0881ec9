//! What goes over the wire between a machine and the server, as JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::local::{Arrival, Shadow};
use super::mark::Mark;
use super::meaning::{self, SentMeaning};
use super::op::{Op, Refusal};
use crate::domain::{MemoryUuid, Permission, Tag};

/// Ops of a push, at most.
pub const MOST_OPS: usize = 100;
/// Rows of a page, at most.
pub const MOST_ROWS: u32 = 500;

/// `POST /v1/sync/push`: ops in the order they are to be carried out, each for itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Push {
    /// The epoch that the machine's revs belong to.
    pub epoch: u64,
    /// At most [`MOST_OPS`].
    pub ops: Vec<SentOp>,
}

/// An op, and beside it what its text means where the machine knows that: a server that does not ask for it leaves it
/// away. An op that is repeated is the same whatever stands beside it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SentOp {
    /// The op.
    #[serde(flatten)]
    pub op: Op,
    /// What the text of the op means.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "meaning::one")]
    pub meaning: Option<SentMeaning>,
}

impl From<Op> for SentOp {
    fn from(op: Op) -> Self {
        Self { op, meaning: None }
    }
}

/// What became of an op.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The op.
    pub op_id: MemoryUuid,
    /// Its memory.
    pub memory: MemoryUuid,
    /// Why it was not carried out.
    pub refused: Option<Refusal>,
    /// The row as it is now, if it may be seen.
    pub row: Option<Shadow>,
    /// The other text of a conflict, a memory of the author's own.
    pub copy: Option<Shadow>,
}

/// The answers to a push, in its order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pushed {
    /// One for each op.
    pub answers: Vec<Answer>,
    /// The newest mark after them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<Mark>,
}

/// News of one memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct News {
    /// The memory.
    pub memory: MemoryUuid,
    /// What became of it.
    pub arrival: Arrival,
}

/// `GET /v1/sync/changes?epoch=…&after=…`: what changed after a cursor, in the order of the counter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Page {
    /// At most [`MOST_ROWS`].
    pub news: Vec<News>,
    /// The cursor to go on from.
    pub next: u64,
    /// True when more is waiting.
    pub more: bool,
    /// The mark of `next`, or of a change after it that was made with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<Mark>,
    /// What other users want to share with this one, and nobody answered yet. `None` if nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offers: Option<Vec<Invitation>>,
    /// What texts of these rows mean, where the server knows that.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "meaning::many")]
    pub meanings: BTreeMap<MemoryUuid, SentMeaning>,
    /// True where the server has a place for secrets: machines may send theirs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keeps_secrets: bool,
}

impl Page {
    /// The page for a machine that knows everything.
    pub fn nothing_new(after: u64, mark: Option<Mark>) -> Self {
        Self {
            news: Vec::new(),
            next: after,
            more: false,
            mark,
            offers: None,
            meanings: BTreeMap::new(),
            keeps_secrets: false,
        }
    }
}

/// What another user wants to share, now and later: all that has a tag. It comes once it is accepted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Invitation {
    /// Who.
    pub owner: String,
    /// The tag.
    pub tag: Tag,
    /// What would be allowed.
    pub permission: Permission,
}

/// `GET /v1/sync/snapshot?epoch=…&after=…`: all that a user may see, in the order of ids, with the head of the feed
/// as it was when the page was read. The first page's head is the cursor to go on from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The server's epoch.
    pub epoch: u64,
    /// How far what the machine knew is surely still known: up to the newest of its marks that the server knows.
    pub restored_seq: u64,
    /// The feed's head.
    pub head: u64,
    /// Rows, tombstones included.
    pub rows: Vec<Shadow>,
    /// The mark of the head.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<Mark>,
    /// The id to go on after; `None` at the end.
    pub next: Option<MemoryUuid>,
    /// What texts of these rows mean, where the server knows that.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "meaning::many")]
    pub meanings: BTreeMap<MemoryUuid, SentMeaning>,
}
