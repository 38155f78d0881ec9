//! Finds the memories that supersede or update others.

use std::collections::BTreeMap;

use crate::domain::ShortId;
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::Ask as _;

/// The newer memory of an older one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Newer {
    /// Recall returns only the newer memory.
    SupersededBy(ShortId),
    /// Recall returns the newer memory first, and marks the older one.
    UpdatedBy(ShortId),
}

impl Newer {
    /// The ID of the newer memory.
    pub fn short_id(self) -> ShortId {
        match self {
            Self::SupersededBy(short_id) | Self::UpdatedBy(short_id) => short_id,
        }
    }

    /// The name of the JSON field that contains the ID of the newer memory.
    pub fn field(self) -> &'static str {
        match self {
            Self::SupersededBy(_) => "superseded_by",
            Self::UpdatedBy(_) => "older",
        }
    }
}

impl std::fmt::Display for Newer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::SupersededBy(short_id) => write!(f, "superseded by {short_id}"),
            Self::UpdatedBy(short_id) => write!(f, "older, see {short_id}"),
        }
    }
}

impl Store {
    /// For each of the given memories that a live memory supersedes or updates, the newer memory.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn newer_of(
        &self,
        memories: impl IntoIterator<Item = ShortId>,
    ) -> Result<BTreeMap<ShortId, Newer>, StoreError> {
        let sql = "SELECT superseding.short_id, updating.short_id FROM memories AS old
                   LEFT JOIN memories AS superseding
                       ON superseding.short_id = old.superseded_by AND superseding.deleted IS NULL
                   LEFT JOIN memories AS updating ON updating.short_id = old.newer AND updating.deleted IS NULL
                   WHERE old.short_id = ?1";
        let mut found = BTreeMap::new();
        for short_id in memories {
            let newer: Option<(Option<ShortId>, Option<ShortId>)> = self
                .connection
                .maybe(sql, [short_id], |row| Ok((row.get(0)?, row.get(1)?)))
                .map_err(|error| self.failed(error))?;
            let newer = newer.and_then(|(superseding, updating)| {
                superseding.map(Newer::SupersededBy).or_else(|| updating.map(Newer::UpdatedBy))
            });
            found.extend(newer.map(|newer| (short_id, newer)));
        }
        Ok(found)
    }
}
