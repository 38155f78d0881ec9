//! Sync and sharing.

use schemars::JsonSchema;
use serde::Serialize;
use tessera_desk::team::Given;
use tessera_engine::Memory;
use tessera_engine::store::{RefusedChange, SyncStatus, UnsyncedFiles};
use tessera_engine::sync::Invitation;

/// The output of `tessera sync join`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Joined {
    /// The name of the user on the server.
    pub(crate) user: String,
    /// The address of the server.
    pub(crate) server: String,
    /// The number of sent changes.
    pub(crate) sent: u64,
    /// The number of received changes.
    pub(crate) received: u64,
}

/// The output of `tessera sync now`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SyncedNow {
    /// The number of sent changes.
    pub(crate) sent: u64,
    /// The number of received changes.
    pub(crate) received: u64,
    /// The number of changes that the server rejected.
    pub(crate) refused: u64,
}

/// The output of `tessera sync status`.
#[expect(clippy::struct_field_names, reason = "the names of the JSON fields")]
#[derive(Serialize, JsonSchema)]
pub(crate) struct Status {
    #[serde(flatten)]
    pub(crate) status: SyncStatus,
    /// The files that are not sent, by reason.
    pub(crate) files_held_back: UnsyncedFiles,
    /// The changes that the server failed to process.
    pub(crate) failing_changes: Vec<RefusedChange>,
}

/// The output of a command that only reports what it did.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Done {
    /// The result, in English. The wording may change.
    pub(crate) done: String,
}

/// The output of `tessera accept` and `tessera decline`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Answered {
    /// The result, in English. The wording may change.
    pub(crate) done: String,
    /// False if there was no open invitation.
    pub(crate) changed: bool,
}

/// The output of `tessera shares`.
#[expect(clippy::struct_field_names, reason = "the names of the JSON fields")]
#[derive(Serialize, JsonSchema)]
pub(crate) struct Shares {
    /// What you share.
    pub(crate) my_shares: Given,
    /// The memories that others share with you.
    pub(crate) shared_with_me: Vec<Memory>,
    /// Tags that others offer.
    pub(crate) invitations: Vec<Invitation>,
}
