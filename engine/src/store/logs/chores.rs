//! Maintenance after a write: logs are processed, the write-ahead log is truncated, and the snapshot is rebuilt.

use std::path::Path;

use super::{access_log, deliveries, questions};
use crate::store::base::config::Usage;
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;
use crate::store::file::home::Home;

impl Store {
    /// True if uses, deliveries or questions in a home directory are not in its database yet.
    pub fn has_spooled(home: impl AsRef<Path>) -> bool {
        let home = &Home::new(home.as_ref());
        [&access_log::LOG, &deliveries::SPOOL, &questions::SPOOL].into_iter().any(|spool| spool.holds_any(home))
    }

    /// Maintenance after a write. If the maintenance fails, the write is still successful.
    pub fn maintain(&mut self) {
        let mut chores = || -> Result<(), StoreError> {
            self.fold_accesses_if_due()?;
            self.fold_deliveries_if_due()?;
            self.fold_questions_if_due()?;
            self.delete_old_candidates_if_due()?;
            self.scrub_if_due()?;
            self.reanalyse_some()?;
            if self.usage == Usage::Write {
                self.rebuild_if_due()?;
            }
            Ok(())
        };
        if let Err(error) = chores() {
            tracing::debug!(error = %error, "maintenance failed after a write");
        }
    }
}
