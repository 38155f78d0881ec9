//! What is known of files and cannot be true: found by the doctor, and put right.

use super::written::remove_part;
use crate::domain::{FilePath, MemoryId, MemoryRef};
use crate::store::base::config::Actor;
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;
use crate::store::rows::ask::{Ask as _, Run as _};

/// Of a memory that stands for no file that is known.
const OF_NO_FILE: &str = "NOT IN (SELECT memory FROM files)";

/// Parts that stand in no file that is known.
const PARTS_ASTRAY: &str = "FROM memories WHERE file IS NOT NULL AND whole = 0 AND deleted IS NULL AND purged = 0
    AND shared_by IS NULL
    AND id NOT IN (SELECT memory FROM parts WHERE n >= 0 AND file IN (SELECT memory FROM files))";

impl Store {
    /// Has files read again by the next look, whatever they look like, and what they say written again.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn mistrust_files(&mut self, paths: &[FilePath]) -> Result<(), StoreError> {
        self.write(|change| {
            for path in paths {
                let sql = "UPDATE files SET hash = ~hash, modified = modified - 1 WHERE path = ?1";
                change.tx.run(sql, [path.as_str()])?;
                let sql = "UPDATE directories SET digest = 0 WHERE folder = ?1";
                change.tx.run(sql, [path.folder()])?;
            }
            Ok(())
        })
    }

    /// How many parts the files that are known have.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn count_parts(&self) -> Result<usize, StoreError> {
        let sql = "SELECT COUNT(*) FROM parts WHERE n >= 0 AND file IN (SELECT memory FROM files)";
        self.one(sql, [], |row| row.get(0))
    }

    /// Rows that stand for nothing: parts of files that are not known, and relations that lead to such files.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn files_astray(&self) -> Result<(u64, u64), StoreError> {
        let sql = format!(
            "SELECT (SELECT COUNT(*) {PARTS_ASTRAY}), (SELECT COUNT(*) FROM relations WHERE source {OF_NO_FILE}
                OR (target IS NOT NULL AND target {OF_NO_FILE}))"
        );
        self.one(&sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Takes what stands for nothing out of recall, and gives the files that it came from, where that is known.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn drop_astray(&mut self, actor: &Actor) -> Result<Vec<FilePath>, StoreError> {
        self.write(|change| {
            let mut statement = change.tx.prepare(&format!("SELECT id {PARTS_ASTRAY}"))?;
            let ids: Vec<MemoryId> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
            let mut files = Vec::new();
            for id in ids {
                let known = change.known(MemoryRef::Id(id))?;
                remove_part(change, &known, actor)?;
                files.extend(known.memory.file.map(|file| file.path));
            }
            change.tx.execute(&format!("DELETE FROM relations WHERE source {OF_NO_FILE}"), [])?;
            change.tx.execute(&format!("UPDATE relations SET target = NULL WHERE target {OF_NO_FILE}"), [])?;
            Ok(files)
        })
    }
}
