//! The decisions of sync: what machines send to a server, and how they apply its answers. These are pure functions
//! without a clock, a database or a network. The server's transactions and the client's worker execute them, and a
//! simulator tests them with random orders of events (`tests/sync`).
//!
//! - [`Document`], [`Edit`]: the synced part of a memory, and the difference of two states.
//! - [`Op`], [`Row`]: a machine's change, and the server's row.
//! - [`decide`]: the server's decision about a change: compare-and-set, merge, or a conflict copy.
//! - [`Checkpoint`]: shows whether a server's database was restored.
//! - [`merged_file`]: merges two texts of a file.
//! - [`SentEmbedding`]: embeddings that are sent with the data.
//! - [`SentSecrets`], [`ShownSecrets`]: secrets, which have their own routes.
//! - [`Local`]: a memory on one machine, with its sync state.

mod both;
mod checkpoint;
mod decide;
mod document;
mod embedding;
mod local;
mod merge;
mod op;
mod secrets;
mod untold;
mod wire;

pub use checkpoint::Checkpoint;
pub use decide::decide;
pub use document::{Details, Document, Edit, State};
pub use embedding::SentEmbedding;
pub use local::{Arrival, BaseVersion, Local, Settled, SyncState};
pub use merge::merged_file;
pub use op::{Action, Author, Decision, Op, Refusal, Rights, Row, copy_id};
pub use secrets::{
    Became, KeptSecret, KeptSecrets, KeyMachine, MACHINE_HEADER, MOST_SECRET_BYTES, MOST_SECRETS, Missing,
    OtherUserMachines, PurgeReport, SentSecret, SentSecrets, ShownSecret, ShownSecrets,
};
pub use untold::UnsentFile;
pub use wire::{Answer, Invitation, MOST_OPS, MOST_ROWS, News, Page, Push, Pushed, SentOp, Snapshot};
