//! Export as JSON lines, one memory per line.

use std::collections::BTreeMap;
use std::io::Write;

use serde::Serialize;

use crate::domain::{Memory, MemoryRef, ShortId};
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::sql;
use crate::store::rows::columns::MEMORY;
use crate::store::rows::memory as row;

/// A memory, and the ID of the newer one if it is no longer true. An import ignores this ID, because the links of the
/// newer memory say the same.
#[derive(Serialize, schemars::JsonSchema)]
struct Line<'a> {
    #[serde(flatten)]
    memory: &'a Memory,
    #[serde(flatten)]
    newer: BTreeMap<&'static str, ShortId>,
}

impl Store {
    /// Writes every memory that is not deleted, oldest first, one JSON object per line. Returns their number. Memories
    /// from files are left out, because the files can be copied. A memory that is no longer true has the ID of the newer
    /// one in `superseded_by` or `older`.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read or the lines cannot be written.
    pub fn export(&self, out: &mut dyn Write) -> Result<u64, StoreError> {
        self.each_live(false, &mut |memory| {
            let newer = self.newer_of([memory.short_id])?;
            let newer = newer.values().map(|newer| (newer.field(), newer.short_id())).collect();
            let line = serde_json::to_string(&Line { memory: &memory, newer }).unwrap_or_default();
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

#[cfg(test)]
mod tests {
    use crate::domain::{Draft, LinkKind};
    use crate::store::base::config::Actor;
    use crate::store::open::in_memory::{InMemory, named};

    #[test]
    fn a_memory_that_is_no_longer_true_names_the_newer_one() {
        let mut store = InMemory::new();
        let [old, amended, new] = ["Builds use make", "Builds take a minute", "Builds use just, and two minutes"]
            .map(|text| store.said(text));
        store.link(named(&new), &LinkKind::Supersedes, named(&old), &Actor::default()).unwrap();
        store.link(named(&new), &LinkKind::Updates, named(&amended), &Actor::default()).unwrap();
        let mut lines = Vec::new();
        assert_eq!(store.export(&mut lines).unwrap(), 3);
        let lines: Vec<serde_json::Value> =
            String::from_utf8(lines).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((&lines[0]["superseded_by"], lines[0].get("older")), (&new.short_id.get().into(), None));
        assert_eq!((&lines[1]["older"], lines[1].get("superseded_by")), (&new.short_id.get().into(), None));
        assert!(lines[2].get("older").is_none() && lines[2].get("superseded_by").is_none());
        assert_eq!(lines[0]["content"], Draft::new("Builds use make").content);
    }
}
