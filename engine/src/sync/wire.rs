//! The JSON messages between a machine and the server.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::checkpoint::Checkpoint;
use super::embedding::{self, SentEmbedding};
use super::local::{Arrival, BaseVersion};
use super::op::{Op, Refusal};
use crate::domain::{MemoryUuid, Permission, Tag};

/// Maximum changes per push.
pub const MOST_OPS: usize = 100;
/// Maximum rows per page.
pub const MOST_ROWS: u32 = 500;

/// `POST /v1/sync/push`: changes in order, each applied separately.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Push {
    /// The epoch of the server to which the revs belong.
    pub epoch: u64,
    /// At most [`MOST_OPS`].
    pub ops: Vec<SentOp>,
}

/// A change with the embedding of its text, if the machine has it. A server may ignore the embedding. It is not used to
/// recognise a repeated change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SentOp {
    /// The change.
    #[serde(flatten)]
    pub op: Op,
    /// The embedding of its text.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "embedding::one")]
    pub embedding: Option<SentEmbedding>,
}

impl From<Op> for SentOp {
    fn from(op: Op) -> Self {
        Self { op, embedding: None }
    }
}

/// The result of a change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The change.
    pub op_id: MemoryUuid,
    /// Its memory.
    pub memory: MemoryUuid,
    /// Why it was rejected.
    pub refused: Option<Refusal>,
    /// The memory's current row, if this user may see it.
    pub row: Option<BaseVersion>,
    /// The conflict copy, which belongs to the author.
    pub copy: Option<BaseVersion>,
}

/// The answers to a push, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pushed {
    /// One for each change.
    pub answers: Vec<Answer>,
    /// The newest checkpoint after them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Checkpoint>,
}

/// A change of one memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct News {
    /// The memory.
    pub memory: MemoryUuid,
    /// Its new state.
    pub arrival: Arrival,
}

/// `GET /v1/sync/changes?epoch=…&after=…`: changes after a cursor, in the order of the counter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Page {
    /// At most [`MOST_ROWS`].
    pub news: Vec<News>,
    /// The cursor to continue from.
    pub next: u64,
    /// True if there are more.
    pub more: bool,
    /// The checkpoint of `next`, or of a later number that was assigned in the same transaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Checkpoint>,
    /// Invitations from other users that are not answered yet. `None` if nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invitations: Option<Vec<Invitation>>,
    /// The embeddings of the rows, if the server has them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "embedding::many")]
    pub embeddings: BTreeMap<MemoryUuid, SentEmbedding>,
    /// True if the server stores secrets, so that machines may send theirs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keeps_secrets: bool,
}

impl Page {
    /// The page for an up-to-date machine.
    pub fn nothing_new(after: u64, checkpoint: Option<Checkpoint>) -> Self {
        Self {
            news: Vec::new(),
            next: after,
            more: false,
            checkpoint,
            invitations: None,
            embeddings: BTreeMap::new(),
            keeps_secrets: false,
        }
    }
}

/// An invitation from another user to share all memories with a tag, now and in the future. The memories arrive after
/// the user accepts the invitation to share.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema, Deserialize)]
pub struct Invitation {
    /// The owner.
    pub owner: String,
    /// The tag.
    pub tag: Tag,
    /// The permission.
    pub permission: Permission,
}

/// `GET /v1/sync/snapshot?epoch=…&after=…` returns all memories that a user may see, in order of UUIDs, and the newest
/// position of the feed. After the last page, the machine continues with the changes after the first page's head.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The server's epoch.
    pub epoch: u64,
    /// The position up to which the machine's state is still valid: its newest checkpoint that the server knows.
    pub restored_seq: u64,
    /// The feed's head.
    pub head: u64,
    /// Rows, including tombstones.
    pub rows: Vec<BaseVersion>,
    /// The checkpoint of the head.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Checkpoint>,
    /// The UUID to continue after; `None` at the end.
    pub next: Option<MemoryUuid>,
    /// The embeddings of the rows, if the server has them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "embedding::many")]
    pub embeddings: BTreeMap<MemoryUuid, SentEmbedding>,
}
