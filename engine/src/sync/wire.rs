//! What goes over the wire between a machine and the server, as JSON.

use serde::{Deserialize, Serialize};

use super::local::{Arrival, Shadow};
use super::op::{Op, Refusal};
use crate::domain::MemoryId;

/// Ops of a push, at most.
pub const MOST_OPS: usize = 100;
/// Rows of a page, at most.
pub const MOST_ROWS: u32 = 500;

/// `POST /v1/sync/push`: ops in the order they are to be carried out, each for itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Push {
    /// The epoch that the machine's revs belong to.
    pub epoch: u64,
    /// At most [`MOST_OPS`].
    pub ops: Vec<Op>,
}

/// What became of an op.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The op.
    pub op_id: MemoryId,
    /// Its memory.
    pub memory: MemoryId,
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
}

/// News of one memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct News {
    /// The memory.
    pub memory: MemoryId,
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
}

/// `GET /v1/sync/snapshot?epoch=…&after=…`: all that a user may see, in the order of ids, with the head of the feed
/// as it was when the page was read. The first page's head is the cursor to go on from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The server's epoch.
    pub epoch: u64,
    /// How far what the machine knew is still known: smaller than the counter where a restore lost something.
    pub restored_seq: u64,
    /// The feed's head.
    pub head: u64,
    /// Rows, tombstones included.
    pub rows: Vec<Shadow>,
    /// The id to go on after; `None` at the end.
    pub next: Option<MemoryId>,
}
