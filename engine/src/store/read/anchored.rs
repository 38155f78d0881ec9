//! Finds the memories that may bind to an action, by the table of anchors.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rusqlite::params;

use crate::action::Candidate;
use crate::domain::{Scope, Timestamp};
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::{Ask as _, Reader, sql};
use crate::store::rows::memory::HOLDS;

/// Maximum memories that are compared. If more have a key in common with the action, those with the rarest keys are
/// compared.
const MOST_READ: usize = 24;
/// Maximum memories per key; the newest ones.
const MOST_PER_KEY: u32 = 64;
/// The weight of a key that only one memory has. If n memories share a key, its weight is this value divided by n.
const RAREST: u32 = 1 << 16;

/// Of the memories with a key, the newest ones that automatic recall may return.
const OF_KEY: &str = "SELECT memory FROM anchors JOIN memories ON short_id = memory WHERE key = ?1
     AND scope IN ('global', ?2) AND deleted IS NULL AND trust <> 'foreign' ORDER BY memory DESC LIMIT ?3";

/// The memories that automatic recall may return, without those that a newer memory updates or resolves.
const SERVED: &str = sql!(
    "SELECT short_id, content, created FROM memories WHERE short_id = ?1 AND scope IN ('global', ?3) AND deleted IS NULL
     AND is_file = 0 AND (expires IS NULL OR expires > ?2) AND trust <> 'foreign' AND origin <> 'conversation' AND ",
    HOLDS,
    " AND NOT EXISTS (SELECT 1 FROM links WHERE source = memories.id AND type = 'resolved_by')
     AND NOT EXISTS (SELECT 1 FROM memories AS next WHERE next.short_id = memories.newer AND next.deleted IS NULL)"
);

impl Store {
    /// Trusted memories of the scope and of global scope that have a key in common with an action, oldest first.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn anchored(&self, keys: &[i64], scope: &Scope) -> Result<Vec<Candidate>, StoreError> {
        self.read_anchored(keys, scope, self.now()).map_err(|error| self.failed(error))
    }

    fn read_anchored(&self, keys: &[i64], scope: &Scope, now: Timestamp) -> rusqlite::Result<Vec<Candidate>> {
        let mut weights: BTreeMap<u32, u32> = BTreeMap::new();
        for key in keys {
            let found: Vec<u32> =
                self.connection.all(OF_KEY, params![key, scope.as_str(), MOST_PER_KEY], |row| row.get(0))?;
            let weight = RAREST / u32::try_from(found.len().max(1)).unwrap_or(u32::MAX);
            for short_id in found {
                let sum = weights.entry(short_id).or_default();
                *sum = sum.saturating_add(weight);
            }
        }
        let mut found: Vec<(u32, u32)> = weights.into_iter().collect();
        found.sort_by_key(|(short_id, weight)| Reverse((*weight, *short_id)));
        let mut candidates = Vec::new();
        for (short_id, _) in found {
            candidates.extend(self.connection.maybe(SERVED, params![short_id, now, scope.as_str()], |row| {
                let mut from = Reader::new(row);
                Ok(Candidate { short_id: from.take()?, text: from.take()?, created: from.take()? })
            })?);
            if candidates.len() == MOST_READ {
                break;
            }
        }
        candidates.sort_by_key(|candidate| (candidate.created, candidate.short_id));
        Ok(candidates)
    }
}
