//! What another user allows.

use serde::{Deserialize, Serialize};
use tessera_tables::names;

use super::error::by_name;

names! {
/// What may be done with a memory that another user shares.
#[derive(PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// Read it.
    Read = "read",
    /// Change its text and details too, but neither its tags nor its being there.
    Write = "write",
}
}

by_name! { Permission, "permission", "give read or write" }

/// Whose a memory of another user is, and what they allow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// The owner, by their name on the team server.
    #[serde(rename = "shared_by")]
    pub by: String,
    /// What they allow.
    #[serde(rename = "share_permission")]
    pub permission: Permission,
}
