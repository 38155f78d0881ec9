//! Export as JSON lines, one memory per line.

use std::io::Write;

use crate::domain::{Memory, MemoryRef};
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::sql;
use crate::store::rows::columns::MEMORY;
use crate::store::rows::memory as row;

impl Store {
    /// Writes every memory that is not deleted, oldest first, one JSON object per line. Returns their number. Memories
    /// from files are left out, because the files can be copied.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read or the lines cannot be written.
    pub fn export(&self, out: &mut dyn Write) -> Result<u64, StoreError> {
        self.each_live(false, &mut |memory| {
            let line = serde_json::to_string(&memory).unwrap_or_default();
            writeln!(out, "{line}").map_err(|source| StoreError::file(self.path(), source))
        })
    }

    /// Visits every memory that is not deleted, oldest first, with its links, and returns their number. Parts
    /// of files are visited only with `with_parts`. Memories of complete files are never visited.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read, or the visitor returns an error.
    pub fn each_live(
        &self,
        with_parts: bool,
        see: &mut dyn FnMut(Memory) -> Result<(), StoreError>,
    ) -> Result<u64, StoreError> {
        let failed = |error| self.failed(error);
        let sql = sql!(
            "SELECT ",
            MEMORY,
            " FROM memories WHERE deleted IS NULL AND purged = 0 AND is_file = 0 AND (file IS NULL OR ?1) ORDER BY \
            short_id"
        );
        let mut statement = self.connection.prepare(sql).map_err(failed)?;
        let mut rows = statement.query([with_parts]).map_err(failed)?;
        let mut told = 0;
        while let Some(sql_row) = rows.next().map_err(failed)? {
            let short_id = row::memory(sql_row).map_err(failed)?.short_id;
            let Some(memory) = self.get(MemoryRef::ShortId(short_id))? else { continue };
            see(memory)?;
            told += 1;
        }
        Ok(told)
    }
}
