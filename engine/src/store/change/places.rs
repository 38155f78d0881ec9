//! Places: directories of this machine that belong to a project, according to the user's actions. A project name in a
//! file of the directory is not evidence.

use std::path::Path;

use rusqlite::params;
use serde::Serialize;

use crate::domain::{Draft, Memory, Origin, Scope, Timestamp};
use crate::screen::is_clean;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::{Ask as _, Run as _};

/// A directory that belongs to a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Place {
    /// The directory.
    pub path: String,
    /// The project.
    pub project: Scope,
    /// The evidence: `told` if the user confirmed it, `made` if a memory of the project was stored there.
    pub how: String,
    /// Since when.
    pub since: Timestamp,
}

impl Store {
    /// True if the user confirmed one of these directories for the project, or stored a memory of the project in or
    /// below one.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn knows_place(&self, project: &Scope, paths: &[&Path]) -> Result<bool, StoreError> {
        let read = || -> rusqlite::Result<bool> {
            let sql = "SELECT EXISTS (SELECT 1 FROM trusted_directories WHERE project = ?1
                       AND (path = ?2 OR (how = 'made' AND substr(path, 1, length(?2) + 1) = ?2 || '/')))";
            let mut statement = self.connection.prepare_cached(sql)?;
            for path in paths {
                if statement.query_row(params![project.as_str(), path.to_string_lossy()], |row| row.get(0))? {
                    return Ok(true);
                }
            }
            Ok(false)
        };
        read().map_err(|error| self.failed(error))
    }

    /// Records the user's confirmation that a directory belongs to a project.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn trust_place(&mut self, path: &Path, project: &Scope) -> Result<(), StoreError> {
        self.write(|change| note(change, &path.to_string_lossy(), project, "told"))
    }

    /// Forgets a directory and those below it. Returns their number.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn forget_place(&mut self, path: &Path) -> Result<usize, StoreError> {
        self.write(|change| {
            let sql = "DELETE FROM trusted_directories WHERE path = ?1 OR substr(path, 1, length(?1) + 1) = ?1 || '/'";
            Ok(change.tx.execute(sql, [path.to_string_lossy()])?)
        })
    }

    /// All known places, sorted by path.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn places(&self) -> Result<Vec<Place>, StoreError> {
        let sql = "SELECT path, project, how, since FROM trusted_directories ORDER BY path, project";
        self.all(sql, [], |row| {
            let project: String = row.get(1)?;
            let project = project.parse().unwrap_or_default();
            Ok(Place { path: row.get(0)?, project, how: row.get(2)?, since: row.get(3)? })
        })
    }

    /// True if a project has a live memory.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn holds_any_of(&self, project: &Scope) -> Result<bool, StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM memories WHERE scope = ?1 AND deleted IS NULL)";
        let held = self.connection.prepare_cached(sql);
        let held = held.and_then(|mut statement| statement.query_row([project.as_str()], |row| row.get(0)));
        held.map_err(|error| self.failed(error))
    }
}

/// A memory of a project that is stored in a directory is evidence that the directory belongs to the project. Imported
/// and foreign memories are not evidence.
pub(crate) fn note_made(change: &Change<'_>, draft: &Draft) -> Result<(), StoreError> {
    let Some(cwd) = &draft.cwd else { return Ok(()) };
    if draft.scope == Scope::Global || !matches!(draft.origin, Origin::User | Origin::Agent | Origin::AutoLearn) {
        return Ok(());
    }
    note(change, cwd, &draft.scope, "made")
}

/// Removes the record that a memory's directory belongs to its project, unless another memory of this project was
/// stored there.
pub(crate) fn forget_made(change: &Change<'_>, memory: &Memory) -> Result<(), StoreError> {
    let Some(cwd) = &memory.cwd else { return Ok(()) };
    let sql = "DELETE FROM trusted_directories WHERE how = 'made' AND path = ?1 AND project = ?2
               AND NOT EXISTS (SELECT 1 FROM memories WHERE cwd = ?1 AND scope = ?2 AND short_id <> ?3)";
    change.tx.run(sql, params![cwd, memory.scope.as_str(), memory.short_id])?;
    Ok(())
}

fn note(change: &Change<'_>, path: &str, project: &Scope, how: &str) -> Result<(), StoreError> {
    // A directory whose name is a secret is never recorded.
    if !is_clean(path) || !is_clean(project.as_str()) {
        return Ok(());
    }
    // The user's confirmation has priority.
    let sql = "INSERT INTO trusted_directories (path, project, how, since) VALUES (?1, ?2, ?3, ?4)
               ON CONFLICT (path, project) DO UPDATE SET how = 'told' WHERE ?3 = 'told' AND how <> 'told'";
    change.tx.run(sql, params![path, project.as_str(), how, change.now])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::open::in_memory::config_at;

    fn store(home: &Path) -> Store {
        Store::open(config_at(&home.into())).unwrap()
    }

    #[test]
    fn a_place_is_known_by_the_persons_word_and_by_what_was_made_there() {
        let home = tempfile::tempdir().unwrap();
        let mut store = store(home.path());
        let ledger: Scope = "github.com/acme/ledger".parse().unwrap();
        let knows = |store: &Store, path: &str| store.knows_place(&ledger, &[Path::new(path)]).unwrap();
        let made = |cwd: &str, origin, scope: &Scope| Draft {
            cwd: Some(cwd.to_owned()),
            origin,
            scope: scope.clone(),
            ..Draft::new(format!("made in {cwd}"))
        };
        store.remember(made("/w/ledger/src", Origin::User, &ledger)).unwrap();
        store.remember(made("/w/imported", Origin::Import, &ledger)).unwrap();
        store.remember(made("/w/everywhere", Origin::User, &Scope::Global)).unwrap();
        assert!(knows(&store, "/w/ledger/src") && knows(&store, "/w/ledger"), "there, and above it");
        for other in ["/w/ledger/src/deep", "/w/led", "/w/imported", "/w/everywhere", "/w/clone"] {
            assert!(!knows(&store, other), "{other}");
        }
        store.trust_place(Path::new("/w/clone"), &ledger).unwrap();
        assert!(knows(&store, "/w/clone") && knows(&store, "/w"), "made below it");
        assert_eq!(store.forget_place(Path::new("/w/ledger")).unwrap(), 1);
        assert!(
            !knows(&store, "/w/ledger") && !knows(&store, "/w"),
            "a confirmation is valid for its own directory only"
        );
        assert_eq!(store.places().unwrap().len(), 1);
        assert!(store.holds_any_of(&ledger).unwrap() && !store.holds_any_of(&"x".parse().unwrap()).unwrap());
    }
}
