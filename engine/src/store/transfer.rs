//! Export and import as JSON lines: one memory a line, readable by anything, idempotent to import.

use std::io::{BufRead, Write};

use serde::Deserialize;

use super::error::StoreError;
use super::history::{self, Operation};
use super::salvage::draft_of;
use super::write::{Change, Written, insert, tell, write_row};
use super::{Actor, Store, links, row};
use crate::domain::{
    Category, DomainError, Draft, Importance, LinkKind, Memory, MemoryId, MemoryRef, MemoryType, Origin, Scope, Tag,
    Timestamp,
};
use crate::index::Analysis;

/// Lines of one transaction: a crash loses at most this many, and the next run takes them up again.
const BATCH: usize = 500;
const MAX_LINE_BYTES: usize = 1024 * 1024;

/// What an import did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// Memories that are new.
    pub stored: u64,
    /// Memories that were there already.
    pub skipped: u64,
    /// Lines that were refused: (line number, why).
    pub rejected: Vec<(u64, String)>,
}

/// How far an import is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportProgress {
    /// Lines read.
    pub lines: u64,
    /// Bytes read.
    pub bytes: u64,
}

/// A line of an import. Everything but `content` may be left out; unknown fields are ignored.
#[derive(Debug, Deserialize)]
struct Line {
    content: String,
    id: Option<String>,
    /// Another system's name for it: the same key is the same memory.
    key: Option<String>,
    category: Option<Category>,
    #[serde(rename = "type")]
    kind: Option<MemoryType>,
    importance: Option<Importance>,
    #[serde(default)]
    tags: Vec<Tag>,
    #[serde(default)]
    keywords: Vec<String>,
    #[serde(default)]
    entities: Vec<String>,
    scope: Option<Scope>,
    created: Option<Timestamp>,
    updated: Option<Timestamp>,
    last_accessed: Option<Timestamp>,
    #[serde(default)]
    access_count: u32,
    expires: Option<Timestamp>,
    origin: Option<Origin>,
    session: Option<String>,
    cwd: Option<String>,
    client: Option<String>,
    deleted: Option<Timestamp>,
    #[serde(default)]
    links: Vec<LineLink>,
}

#[derive(Debug, Deserialize)]
struct LineLink {
    #[serde(rename = "type")]
    kind: LinkKind,
    to: String,
}

impl Line {
    fn id(&self) -> Result<Option<MemoryId>, DomainError> {
        match (&self.id, &self.key) {
            (Some(id), _) => id.parse().map(Some),
            (None, Some(key)) => Ok(Some(MemoryId::from_key(key))),
            (None, None) => Ok(None),
        }
    }
}

impl Store {
    /// Writes every memory that is not deleted, oldest first, one JSON object a line. Returns how many.
    ///
    /// # Errors
    /// When the store cannot be read or the lines not be written.
    pub fn export(&self, out: &mut dyn Write) -> Result<u64, StoreError> {
        let failed = |error| self.failed(error);
        let sql = format!("SELECT {} FROM memories WHERE deleted IS NULL ORDER BY handle", row::MEMORY);
        let mut statement = self.connection.prepare(&sql).map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        let mut written = 0;
        while let Some(sql_row) = rows.next().map_err(failed)? {
            let handle = row::memory(sql_row).map_err(failed)?.handle;
            let Some(memory) = self.get(MemoryRef::Handle(handle))? else { continue };
            let line = serde_json::to_string(&memory).unwrap_or_default();
            writeln!(out, "{line}").map_err(|source| StoreError::file(self.path(), source))?;
            written += 1;
        }
        Ok(written)
    }

    /// Stores every line of `input` that is new here. Refused lines are reported and the rest goes on.
    /// A line without an origin counts as `import`.
    ///
    /// # Errors
    /// When the input cannot be read or the store not be written; run it again to go on.
    pub fn import(
        &mut self,
        input: &mut dyn BufRead,
        mut progress: impl FnMut(ImportProgress),
    ) -> Result<Imported, StoreError> {
        let mut report = Imported::default();
        let mut at = ImportProgress { lines: 0, bytes: 0 };
        let mut later = Vec::new();
        loop {
            let batch = self.read_batch(input, &mut at, &mut report)?;
            if batch.is_empty() {
                break;
            }
            self.store_batch(batch, &mut report, &mut later)?;
            progress(at);
        }
        self.link_all(&later, &mut report)?;
        self.maintain();
        Ok(report)
    }

    fn read_batch(
        &self,
        input: &mut dyn BufRead,
        at: &mut ImportProgress,
        report: &mut Imported,
    ) -> Result<Vec<(u64, Line)>, StoreError> {
        let mut batch = Vec::new();
        let mut bytes = Vec::new();
        while batch.len() < BATCH {
            bytes.clear();
            let read = input.read_until(b'\n', &mut bytes).map_err(|source| StoreError::file(self.path(), source))?;
            if read == 0 {
                break;
            }
            at.lines += 1;
            at.bytes += read as u64;
            match parse_line(&bytes) {
                Ok(Some(line)) => batch.push((at.lines, line)),
                Ok(None) => {}
                Err(problem) => report.rejected.push((at.lines, problem)),
            }
        }
        Ok(batch)
    }

    fn store_batch(
        &mut self,
        batch: Vec<(u64, Line)>,
        report: &mut Imported,
        later: &mut Vec<(u64, MemoryId, LineLink)>,
    ) -> Result<(), StoreError> {
        let outcomes =
            self.write(|change| batch.iter().map(|(_, line)| store_line(change, line)).collect::<Result<Vec<_>, _>>())?;
        for ((number, line), outcome) in batch.into_iter().zip(outcomes) {
            match outcome {
                Outcome::Stored(id) => {
                    report.stored += 1;
                    later.extend(line.links.into_iter().map(|link| (number, id, link)));
                }
                Outcome::Skipped => report.skipped += 1,
                Outcome::Rejected(problem) => report.rejected.push((number, problem)),
            }
        }
        Ok(())
    }

    /// Links are made last: a line may point at a later one.
    fn link_all(&mut self, later: &[(u64, MemoryId, LineLink)], report: &mut Imported) -> Result<(), StoreError> {
        for (number, source, link) in later {
            let target = link.to.parse().unwrap_or_else(|_| MemoryId::from_key(&link.to));
            let actor = Actor { origin: Origin::Import, ..Actor::default() };
            match self.link(MemoryRef::Id(*source), link.kind, MemoryRef::Id(target), &actor) {
                Err(error @ (StoreError::NotFound(_) | StoreError::Conflict { .. })) => {
                    report.rejected.push((*number, format!("links: {error}")));
                }
                other => drop(other?),
            }
        }
        Ok(())
    }
}

fn parse_line(bytes: &[u8]) -> Result<Option<Line>, String> {
    if bytes.len() > MAX_LINE_BYTES {
        return Err(format!("is {} bytes long; give at most {MAX_LINE_BYTES}", bytes.len()));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| format!("is not UTF-8 at byte {}", error.valid_up_to()))?;
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Ok(None);
    }
    serde_json::from_str(text).map(Some).map_err(|error| error.to_string())
}

enum Outcome {
    Stored(MemoryId),
    Skipped,
    Rejected(String),
}

fn store_line(change: &Change<'_>, line: &Line) -> Result<Outcome, StoreError> {
    let rejected = |error: DomainError| Ok(Outcome::Rejected(error.to_string()));
    let (id, draft) = match line.id().and_then(|id| Ok((id, draft_from(line, id)?))) {
        Ok(found) => found,
        Err(error) => return rejected(error),
    };
    if let Some(id) = id {
        let sql = "SELECT count(*) FROM memories WHERE id = ?1";
        if change.tx.prepare_cached(sql)?.query_row([id], |row| row.get::<_, u32>(0))? > 0 {
            return Ok(Outcome::Skipped);
        }
    }
    let stored = insert(change, &draft)?;
    let Some(stamps) = stamps_of(line, &stored.memory) else { return Ok(outcome(&stored)) };
    write_row(change, &stamps, &Analysis::of(&stamps), Written::Again)?;
    Ok(outcome(&stored))
}

fn outcome(stored: &super::Stored) -> Outcome {
    if stored.existed { Outcome::Skipped } else { Outcome::Stored(stored.memory.id) }
}

fn draft_from(line: &Line, id: Option<MemoryId>) -> Result<Draft, DomainError> {
    let draft = Draft {
        id,
        content: line.content.clone(),
        category: line.category.clone(),
        kind: line.kind,
        importance: line.importance,
        tags: Tag::unique(line.tags.clone())?,
        keywords: line.keywords.clone(),
        entities: line.entities.clone(),
        scope: line.scope.clone().unwrap_or_default(),
        created: line.created,
        expires: line.expires,
        vouched: None,
        origin: line.origin.clone().unwrap_or(Origin::Import),
        session: line.session.clone(),
        cwd: line.cwd.clone(),
        client: line.client.clone(),
        links: Vec::new(),
    };
    draft.check()?;
    Ok(draft)
}

/// The memory with what only an export of ours knows: its use, its last change, its deletion.
fn stamps_of(line: &Line, memory: &Memory) -> Option<Memory> {
    if line.access_count == 0 && line.updated.is_none() && line.deleted.is_none() {
        return None;
    }
    let mut stamped = memory.clone();
    stamped.access_count = line.access_count;
    stamped.last_accessed = line.last_accessed;
    stamped.deleted = line.deleted;
    stamped.updated = line.updated.unwrap_or(memory.updated);
    Some(stamped)
}

/// Takes in a memory as it was in another file of this store.
pub(super) fn adopt(change: &Change<'_>, memory: &Memory) -> Result<MemoryId, StoreError> {
    let mut kept = insert(change, &Draft { origin: Origin::Import, ..draft_of(memory) })?.memory;
    kept.origin = memory.origin.clone();
    kept.trust = memory.trust;
    kept.access_count = memory.access_count;
    kept.last_accessed = memory.last_accessed;
    kept.updated = memory.updated;
    kept.deleted = memory.deleted;
    kept.expires = memory.expires;
    kept.sensitive = memory.sensitive;
    kept.rev = change.next_rev()?;
    write_row(change, &kept, &Analysis::of(&kept), Written::Again)?;
    let actor = Actor { reason: Some("salvaged".into()), ..Actor::default() };
    history::record(change, &kept, Operation::Restore, &actor, None)?;
    tell(change, kept.id)?;
    for link in &memory.links {
        // The other may be among what was lost.
        if row::find(change.tx, MemoryRef::Id(link.to))?.is_some() {
            links::insert(change, &kept, link.kind, MemoryRef::Id(link.to))?;
        }
    }
    Ok(kept.id)
}
