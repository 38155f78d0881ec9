//! Notes and memories as one graph: resolving names, links around a memory, and an overview of files.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, Row, params};
use tessera_markdown::resolve::{Purpose, Resolution};

use super::names::resolved;
use crate::domain::{FilePath, LinkKind, MemoryUuid, ShortId};
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::Ask as _;

/// The result of resolving a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meant {
    /// One file.
    One(MemoryUuid),
    /// Several files, sorted by path.
    Several(Vec<MemoryUuid>),
    /// None.
    Nothing,
}

/// Whether the nearest file may be chosen if several files match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// Yes, for following a link.
    Nearest,
    /// No, the caller gets all.
    OnlyOne,
}

/// A link between two memories in the graph. A part of a file is represented by its file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// The memory with the link.
    pub source: MemoryUuid,
    /// Its type.
    pub kind: LinkKind,
    /// The other memory.
    pub target: MemoryUuid,
}

impl Store {
    /// Resolves a name among the files of some folders, or of all if none is given. `from` is the file that contains
    /// the name.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn note_called(
        &self,
        name: &str,
        folders: &[String],
        from: Option<&FilePath>,
        strictness: Strictness,
    ) -> Result<Meant, StoreError> {
        let purpose = match strictness {
            Strictness::Nearest => Purpose::Read,
            Strictness::OnlyOne => Purpose::Change,
        };
        let found = resolved(&self.connection, name, folders, from, purpose).map_err(|error| self.failed(error))?;
        Ok(match found {
            Resolution::Exact(id) | Resolution::Loose(id) => id.parse().map_or(Meant::Nothing, Meant::One),
            Resolution::Ambiguous(ids) => Meant::Several(ids.iter().filter_map(|id| id.parse().ok()).collect()),
            Resolution::Unknown => Meant::Nothing,
        })
    }

    /// The files that contain these memories.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn files_of_parts(&self, parts: &[ShortId]) -> Result<BTreeMap<ShortId, MemoryUuid>, StoreError> {
        let sql = "SELECT parts.file FROM memories JOIN parts ON parts.memory = memories.id
                   WHERE short_id = ?1 AND n >= 0 AND deleted IS NULL";
        let read = || -> rusqlite::Result<BTreeMap<ShortId, MemoryUuid>> {
            let mut statement = self.connection.prepare_cached(sql)?;
            let found = parts.iter().map(|short_id| {
                let file: Option<MemoryUuid> = statement.query_row([short_id], |row| row.get(0)).optional()?;
                Ok(file.map(|file| (*short_id, file)))
            });
            found.filter_map(Result::transpose).collect()
        };
        read().map_err(|error| self.failed(error))
    }

    /// Links from and to a memory, and the parts of its file. Links to deleted memories are left out.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn links_around(&self, memory: MemoryUuid) -> Result<Vec<Edge>, StoreError> {
        let sql = "WITH here (id) AS (SELECT ?1 UNION ALL SELECT memory FROM parts WHERE file = ?1 AND n >= 0)
                   SELECT ifnull((SELECT file FROM parts WHERE memory = source AND n >= 0), source), links.type,
                       ifnull((SELECT file FROM parts WHERE memory = target AND n >= 0), target)
                   FROM links JOIN memories AS one ON one.id = source JOIN memories AS other ON other.id = target
                   WHERE (source IN here OR target IN here) AND one.deleted IS NULL AND one.purged = 0
                       AND other.deleted IS NULL AND other.purged = 0
                   ORDER BY links.created, 1, 2, 3";
        let read = || -> rusqlite::Result<Vec<Edge>> {
            let mut edges: Vec<Edge> = self.connection.all(sql, params![memory], edge)?;
            let mut seen = std::collections::BTreeSet::new();
            edges.retain(|edge| edge.source != edge.target && seen.insert(edge.clone()));
            Ok(edges)
        };
        read().map_err(|error| self.failed(error))
    }

    /// The normalised names of files.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn names_of_notes(&self) -> Result<BTreeMap<MemoryUuid, Vec<String>>, StoreError> {
        let read = || -> rusqlite::Result<BTreeMap<MemoryUuid, Vec<String>>> {
            let mut statement = self.connection.prepare_cached("SELECT memory, key FROM names ORDER BY memory, key")?;
            let mut rows = statement.query([])?;
            let mut names: BTreeMap<MemoryUuid, Vec<String>> = BTreeMap::new();
            while let Some(row) = rows.next()? {
                names.entry(row.get(0)?).or_default().push(row.get(1)?);
            }
            Ok(names)
        };
        read().map_err(|error| self.failed(error))
    }
}

fn edge(row: &Row<'_>) -> rusqlite::Result<Edge> {
    let kind: String = row.get(1)?;
    let wrong = |error| rusqlite::Error::FromSqlConversionFailure(1, rusqlite::types::Type::Text, Box::new(error));
    Ok(Edge { source: row.get(0)?, kind: LinkKind::kept(&kind).map_err(wrong)?, target: row.get(2)? })
}
