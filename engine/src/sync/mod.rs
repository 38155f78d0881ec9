//! Sync as values: what machines tell a server and what they make of its answers. Pure functions without
//! a clock, a database or a network: the server's transactions and the client's worker carry out what
//! they say, and a simulator runs them over every order of events (`tests/sync`).
//!
//! - [`Document`], [`Edit`]: what of a memory travels, and the difference between two states of it.
//! - [`Op`], [`Row`]: what a machine asks for, and what the server holds.
//! - [`decide`]: what the server does with an op: compare and set, merge, or keep both texts.
//! - [`Mark`]: what tells one history of a server from another.
//! - [`merged_file`]: two texts of a file, put together.
//! - [`SentMeaning`]: what a text means, beside what is said of it.
//! - [`SentSecrets`], [`ShownSecrets`]: secrets, by routes of their own.
//! - [`Local`]: a memory on one machine between its user and the server.

mod both;
mod decide;
mod document;
mod local;
mod mark;
mod meaning;
mod merge;
mod op;
mod secrets;
mod untold;
mod wire;

pub use decide::decide;
pub use document::{Details, Document, Edit, State};
pub use local::{Arrival, Local, Settled, Shadow, Trail};
pub use mark::Mark;
pub use meaning::SentMeaning;
pub use merge::merged_file;
pub use op::{Action, Author, Decision, Op, Refusal, Rights, Row, copy_id};
pub use secrets::{
    Became, KeptSecret, KeptSecrets, KeyMachine, MACHINE_HEADER, MOST_SECRET_BYTES, MOST_SECRETS, Missing,
    OtherUserMachines, PurgeReport, SentSecret, SentSecrets, ShownSecret, ShownSecrets,
};
pub use untold::UnsentFile;
pub use wire::{Answer, Invitation, MOST_OPS, MOST_ROWS, News, Page, Push, Pushed, SentOp, Snapshot};
