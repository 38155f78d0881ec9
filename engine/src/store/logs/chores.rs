//! Small chores after a write: logs are folded, the write-ahead log is cut, the snapshot is built anew.

use std::path::Path;

use super::{access_log, deliveries, questions};
use crate::store::base::config::Usage;
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;
use crate::store::file::home::Home;

impl Store {
    /// True when uses, receipts or questions wait in a home to be put into its database.
    pub fn has_spooled(home: impl AsRef<Path>) -> bool {
        let home = &Home::new(home.as_ref());
        [&access_log::LOG, &deliveries::SPOOL, &questions::SPOOL].into_iter().any(|spool| spool.holds_any(home))
    }

    /// Small chores after a write. Their failure is not the write's.
    pub fn maintain(&mut self) {
        let mut chores = || -> Result<(), StoreError> {
            self.fold_accesses_if_due()?;
            self.fold_receipts_if_due()?;
            self.fold_questions_if_due()?;
            self.scrub_if_due()?;
            self.reanalyse_some()?;
            if self.usage == Usage::Write {
                self.rebuild_if_due()?;
            }
            Ok(())
        };
        if let Err(error) = chores() {
            tracing::debug!(error = %error, "chores after a write failed");
        }
    }
}
