//! The permissions that another user gives.

use serde::{Deserialize, Serialize};
use tessera_tables::names;

use super::error::by_name;

names! {
/// What may be done with another user's shared memory.
#[derive(PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// Read it.
    Read = "read",
    /// The other user can read the memory, and can change its text and details. The other user cannot change its tags
    /// or delete it.
    Write = "write",
}
}

by_name! { Permission, "permission", "use read or write" }

/// The owner of another user's memory, and the permission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema, Deserialize)]
pub struct Share {
    /// The owner's name on the team server.
    #[serde(rename = "shared_by")]
    pub by: String,
    /// The permission.
    #[serde(rename = "share_permission")]
    pub permission: Permission,
}
