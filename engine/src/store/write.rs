//! Writing: each change of a memory is one transaction with its provenance and outbox row.

use std::cell::OnceCell;
use std::time::Duration;

use backon::{BlockingRetryable, ExponentialBuilder};
use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, params};

use super::connection::PATIENCE;
use super::erase::refuse_foreign;
use super::error::StoreError;
use super::history::{self, Operation};
use super::{Actor, Store, links, row, session};
use crate::domain::{
    Draft, Handle, LinkKind, Memory, MemoryId, MemoryRef, Origin, Patch, Permission, Timestamp, Trust,
};
use crate::enrich;
use crate::index::Analysis;
use crate::pack::{LineCosts, Passage};
use crate::text::O200k;

/// Times a transaction is begun while another process is in the way.
const ATTEMPTS: u32 = 5;

/// A memory that was stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// As it is now.
    pub memory: Memory,
    /// What its full line costs a reply, in o200k_base tokens.
    pub tokens: u32,
    /// True when the very same text was there already: it was kept, and counted as used.
    pub existed: bool,
}

/// What one transaction works with.
pub(super) struct Change<'a> {
    pub tx: &'a Transaction<'a>,
    counter: &'a OnceCell<O200k>,
    pub now: Timestamp,
}

impl Store {
    /// Stores a memory. What the draft leaves out is derived from its text.
    ///
    /// # Errors
    /// When a field is refused, or the store cannot be written; nothing is stored then.
    pub fn remember(&mut self, draft: Draft) -> Result<Stored, StoreError> {
        draft.check()?;
        let stored = self.write(|change| {
            super::places::note_made(change, &draft)?;
            insert(change, &draft)
        })?;
        self.maintain();
        Ok(stored)
    }

    /// Stores many memories in one transaction: all of them, or none.
    ///
    /// # Errors
    /// As [`Store::remember`].
    pub fn remember_all(&mut self, drafts: &[Draft]) -> Result<Vec<Stored>, StoreError> {
        drafts.iter().try_for_each(|draft| draft.check().map(drop))?;
        let stored = self.write(|change| drafts.iter().map(|draft| insert(change, draft)).collect())?;
        self.maintain();
        Ok(stored)
    }

    /// Changes fields of a memory.
    ///
    /// # Errors
    /// When there is no such memory, a field is refused, or the store cannot be written.
    pub fn update(&mut self, reference: MemoryRef, patch: &Patch, actor: &Actor) -> Result<Stored, StoreError> {
        patch.check()?;
        let stored = self.write(|change| update(change, reference, patch, actor))?;
        self.maintain();
        Ok(stored)
    }

    /// Changes the same fields of many memories: of all of them, or of none.
    ///
    /// # Errors
    /// As [`Store::update`].
    pub fn update_all(
        &mut self,
        references: &[MemoryRef],
        patch: &Patch,
        actor: &Actor,
    ) -> Result<Vec<Stored>, StoreError> {
        patch.check()?;
        let stored =
            self.write(|change| references.iter().map(|reference| update(change, *reference, patch, actor)).collect())?;
        self.maintain();
        Ok(stored)
    }

    /// Brings back a memory that was deleted or is over, for good; or a live one to how it was before the change
    /// `before_rev`.
    ///
    /// # Errors
    /// When there is nothing to restore.
    pub fn restore(
        &mut self,
        reference: MemoryRef,
        before_rev: Option<u64>,
        actor: &Actor,
    ) -> Result<Stored, StoreError> {
        let stored = self.write(|change| restore(change, reference, before_rev, actor))?;
        self.maintain();
        Ok(stored)
    }

    /// Runs one transaction that writes texts: the token counter is loaded before the lock is taken.
    pub(super) fn write<T>(&mut self, work: impl FnMut(&Change<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.counter.get_or_init(O200k::load);
        self.write_numbers(work)
    }

    /// Runs one write transaction that counts no text, again when another process was in the way.
    pub(super) fn write_numbers<T>(
        &mut self,
        mut work: impl FnMut(&Change<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let now = self.clock.now();
        let counter = &self.counter;
        let (connection, path) = (&mut self.connection, &self.path);
        // All attempts together wait no longer than one statement may.
        connection.busy_timeout(PATIENCE / ATTEMPTS).map_err(|error| StoreError::sqlite(path, error))?;
        let attempt = || {
            let failed = |error| StoreError::sqlite(path, error);
            let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
            let done = work(&Change { tx: &tx, counter, now }).map_err(|error| match error {
                StoreError::Sqlite { source, .. } => StoreError::sqlite(path, source),
                other => other,
            })?;
            tx.commit().map_err(failed)?;
            Ok(done)
        };
        let backoff = ExponentialBuilder::default()
            .with_jitter()
            .with_min_delay(Duration::from_millis(5))
            .with_max_delay(Duration::from_millis(500))
            .with_max_times(ATTEMPTS as usize - 1);
        let done = attempt.retry(backoff).when(StoreError::is_transient).call();
        self.connection.busy_timeout(PATIENCE).map_err(|error| self.failed(error))?;
        done
    }
}

impl From<rusqlite::Error> for StoreError {
    /// Inside a transaction; the transaction adds the path.
    fn from(source: rusqlite::Error) -> Self {
        Self::Sqlite { path: "the store".into(), source }
    }
}

impl<'a> Change<'a> {
    /// The work of a transaction that somebody else began.
    pub(super) fn of(tx: &'a Transaction<'a>, counter: &'a OnceCell<O200k>, now: Timestamp) -> Self {
        Self { tx, counter, now }
    }

    fn counter(&self) -> &O200k {
        self.counter.get_or_init(O200k::load)
    }

    /// The next number of the store's change counter.
    pub(super) fn next_rev(&self) -> rusqlite::Result<u64> {
        self.next("rev")
    }

    pub(super) fn next_handle(&self) -> Result<Handle, StoreError> {
        Ok(Handle::try_from(u32::try_from(self.next("handle")?).unwrap_or(u32::MAX))?)
    }

    fn next(&self, counter: &str) -> rusqlite::Result<u64> {
        let sql = "UPDATE meta SET value = value + 1 WHERE key = ?1 RETURNING value";
        self.tx.prepare_cached(sql)?.query_row([counter], |row| row.get(0))
    }

    /// A memory that is there and not purged.
    pub(super) fn existing(&self, reference: MemoryRef) -> Result<Memory, StoreError> {
        row::find(self.tx, reference)?.ok_or(StoreError::NotFound(reference))
    }
}

/// Stores a draft, or finds the very same text already there.
pub(super) fn insert(change: &Change<'_>, draft: &Draft) -> Result<Stored, StoreError> {
    let mut memory = from_draft(change, draft);
    let analysis = Analysis::of(&memory);
    let actor = Actor {
        origin: draft.origin.clone(),
        session: draft.session.clone(),
        client: draft.client.clone(),
        reason: None,
    };
    if let Some(known) = same_text(change, &memory, analysis.signature)? {
        return said_again(change, known, draft, &actor);
    }
    memory.handle = change.next_handle()?;
    memory.rev = change.next_rev()?;
    let tokens = write_row(change, &memory, &analysis, Written::New)?;
    history::record(change, &memory, Operation::Create, &actor, None)?;
    tell(change, memory.id)?;
    for link in &draft.links {
        links::insert(change, &memory, link.kind, MemoryRef::Id(link.to))?;
    }
    let memory = change.existing(MemoryRef::Handle(memory.handle))?;
    Ok(Stored { memory, tokens, existed: false })
}

/// The memory of a draft; handle and rev are given when it is written.
fn from_draft(change: &Change<'_>, draft: &Draft) -> Memory {
    let content = draft.content.clone();
    let category = draft.category.clone().unwrap_or_else(|| enrich::category(&content));
    let importance = draft.importance.unwrap_or_else(|| enrich::importance(&content));
    let entities = if draft.entities.is_empty() { enrich::entities(&content) } else { draft.entities.clone() };
    let now = change.now;
    Memory {
        id: draft.id.unwrap_or_else(|| MemoryId::generate(now)),
        handle: Handle::FIRST,
        summary: enrich::summary(&content),
        kind: draft.kind.unwrap_or_else(|| enrich::kind(&content, &entities)),
        expires: draft.expires,
        category,
        importance,
        tags: draft.tags.clone(),
        keywords: draft.keywords.clone(),
        entities,
        scope: draft.scope.clone(),
        created: draft.created.unwrap_or(now),
        updated: now,
        last_accessed: None,
        access_count: 0,
        trust: draft.vouched.unwrap_or_else(|| draft.origin.trust()),
        vouched: draft.vouched,
        origin: draft.origin.clone(),
        session: draft.session.clone(),
        cwd: draft.cwd.clone(),
        client: draft.client.clone(),
        sensitive: false,
        rev: 0,
        deleted: None,
        share: None,
        edited_by: None,
        conflict_of: None,
        links: Vec::new(),
        content,
    }
}

/// Counts a text that is said again as used. It stays as long as the longer of both lifetimes says, and takes the
/// links that are new.
fn said_again(change: &Change<'_>, known: Memory, draft: &Draft, actor: &Actor) -> Result<Stored, StoreError> {
    super::access_log::touch(change, known.handle, change.now)?;
    let expires = known.expires.and_then(|known| draft.expires.map(|asked| asked.max(known)));
    if expires != known.expires {
        let patch = Patch { expires: Some(expires), ..Patch::default() };
        rewrite(change, &change.existing(MemoryRef::Handle(known.handle))?, &patch, actor)?;
    }
    let has = row::links_of(change.tx, known.id)?;
    let fresh = draft.links.iter().filter(|link| link.to != known.id && !has.contains(link));
    for link in fresh {
        let memory = Memory { rev: change.next_rev()?, ..known.clone() };
        links::insert(change, &memory, link.kind, MemoryRef::Id(link.to))?;
        links::noted(change, &memory, Operation::Link, actor)?;
    }
    let memory = change.existing(MemoryRef::Handle(known.handle))?;
    let tokens = LineCosts::measure(&memory, change.counter()).detail;
    Ok(Stored { memory, tokens, existed: true })
}

/// The memory that says the same in the same scope, as the person's own and as what holds now: not one that was
/// replaced, is over, is the other text of a conflict, or came from somebody else. Captured turns and imports are
/// kept as they come.
fn same_text(change: &Change<'_>, memory: &Memory, signature: u64) -> Result<Option<Memory>, StoreError> {
    if !matches!(memory.origin, Origin::User | Origin::Agent | Origin::AutoLearn) {
        return Ok(None);
    }
    let sql = format!(
        "SELECT {} FROM memories WHERE signature = ?1 AND content = ?2 AND scope = ?3 AND deleted IS NULL
         AND superseded_by IS NULL AND conflict_of IS NULL AND trust <> 'foreign' AND (expires IS NULL OR expires > ?4)
         ORDER BY handle LIMIT 1",
        row::MEMORY
    );
    let mut statement = change.tx.prepare_cached(&sql)?;
    let wanted = params![signature.cast_signed(), memory.content, memory.scope.as_str(), change.now];
    Ok(statement.query_row(wanted, row::memory).optional()?)
}

/// Whether a row is made or made anew.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    New,
    Again,
}

/// Writes every column of a memory, derived ones too. Returns the tokens of its full line.
pub(super) fn write_row(
    change: &Change<'_>,
    memory: &Memory,
    analysis: &Analysis,
    written: Written,
) -> Result<u32, StoreError> {
    const COLUMNS: &str = "id, content, summary, category, type, importance, tags, keywords, entities, scope, created, updated, \
         last_accessed, access_count, expires, origin, trust, session, cwd, client, sensitive, rev, deleted, standing, length, \
         signature, forward, detail_tokens, index_tokens, json_detail_tokens, json_index_tokens, passages, shared_by, \
         share_permission, conflict_of, edited_by, vouched, attribution_tokens";
    let places: Vec<String> = (2..=39).map(|n| format!("?{n}")).collect();
    let places = places.join(", ");
    let sql = match written {
        Written::New => format!("INSERT INTO memories (handle, {COLUMNS}) VALUES (?1, {places})"),
        Written::Again => format!("UPDATE memories SET ({COLUMNS}) = ({places}) WHERE handle = ?1"),
    };
    let costs = LineCosts::measure(memory, change.counter());
    let forward = if memory.deleted.is_some() { Vec::new() } else { analysis.doc.encode() };
    change.tx.prepare_cached(&sql)?.execute(params![
        memory.handle,
        memory.id,
        memory.content,
        memory.summary,
        memory.category.as_str(),
        memory.kind.as_str(),
        memory.importance.percent(),
        row::json(&memory.tags),
        row::json(&memory.keywords),
        row::json(&memory.entities),
        memory.scope.as_str(),
        memory.created,
        memory.updated,
        memory.last_accessed,
        memory.access_count,
        memory.expires,
        memory.origin.to_string(),
        memory.trust.as_str(),
        memory.session,
        memory.cwd,
        memory.client,
        memory.sensitive,
        memory.rev,
        memory.deleted,
        analysis.is_standing,
        analysis.doc.length,
        analysis.signature.cast_signed(),
        forward,
        costs.detail,
        costs.index,
        costs.json_detail,
        costs.json_index,
        Passage::encode_all(&costs.passages),
        memory.share.as_ref().map(|share| &share.by),
        memory.share.as_ref().map(|share| share.permission.as_str()),
        memory.conflict_of,
        memory.edited_by,
        memory.vouched.map(Trust::as_str),
        costs.attribution,
    ])?;
    session::refresh_around(change, memory)?;
    Ok(costs.detail)
}

fn update(change: &Change<'_>, reference: MemoryRef, patch: &Patch, actor: &Actor) -> Result<Stored, StoreError> {
    let before = change.existing(reference)?;
    if before.deleted.is_some() {
        return Err(StoreError::Conflict { memory: reference, problem: "is deleted; restore it first" });
    }
    if let Some(share) = &before.share {
        if share.permission == Permission::Read {
            return Err(StoreError::Conflict { memory: reference, problem: "is another user's, shared for reading" });
        }
        if (Patch { content: None, ..patch.clone() }) != Patch::default() {
            let problem = "is another user's: its text may be changed, everything else is for the owner to change";
            return Err(StoreError::Conflict { memory: reference, problem });
        }
    }
    rewrite(change, &before, patch, actor)
}

/// Writes a live memory with fields changed.
pub(super) fn rewrite(
    change: &Change<'_>,
    before: &Memory,
    patch: &Patch,
    actor: &Actor,
) -> Result<Stored, StoreError> {
    let mut memory = before.clone();
    apply(&mut memory, patch);
    memory.updated = change.now;
    memory.rev = change.next_rev()?;
    let tokens = write_row(change, &memory, &Analysis::of(&memory), Written::Again)?;
    if memory.trust != before.trust {
        links::elect_around(change, &memory)?;
    }
    history::record(change, &memory, Operation::Update, actor, Some(before))?;
    tell(change, memory.id)?;
    Ok(Stored { memory, tokens, existed: true })
}

/// A new text is summarised and scanned again; what the caller set explicitly is kept.
fn apply(memory: &mut Memory, patch: &Patch) {
    if let Some(content) = &patch.content {
        let was_derived = memory.entities == enrich::entities(&memory.content);
        let was_scored = memory.importance == enrich::importance(&memory.content);
        memory.content.clone_from(content);
        // Whoever writes a text here writes it as themselves.
        memory.edited_by = None;
        // A word of mistrust was of the text before.
        memory.vouched = memory.vouched.filter(|vouched| *vouched != Trust::Foreign);
        memory.summary = enrich::summary(content);
        if was_derived {
            memory.entities = enrich::entities(content);
        }
        if was_scored {
            memory.importance = enrich::importance(content);
        }
    }
    fn set<T: Clone>(field: &mut T, value: Option<&T>) {
        if let Some(value) = value {
            field.clone_from(value);
        }
    }
    set(&mut memory.category, patch.category.as_ref());
    set(&mut memory.kind, patch.kind.as_ref());
    set(&mut memory.importance, patch.importance.as_ref());
    set(&mut memory.tags, patch.tags.as_ref());
    set(&mut memory.keywords, patch.keywords.as_ref());
    set(&mut memory.entities, patch.entities.as_ref());
    set(&mut memory.scope, patch.scope.as_ref());
    set(&mut memory.expires, patch.expires.as_ref());
    memory.vouched = patch.vouched.or(memory.vouched);
    memory.trust = memory.earned_trust();
}

fn restore(
    change: &Change<'_>,
    reference: MemoryRef,
    before_rev: Option<u64>,
    actor: &Actor,
) -> Result<Stored, StoreError> {
    let before = change.existing(reference)?;
    refuse_foreign(&before, reference)?;
    let mut memory = match before_rev {
        Some(rev) => history::before(change.tx, before.id, rev)?
            .ok_or(StoreError::Conflict { memory: reference, problem: "has no earlier text at that change" })?,
        None if before.deleted.is_none() && !before.is_over(change.now) => {
            return Err(StoreError::Conflict { memory: reference, problem: "is not deleted, nor is it over" });
        }
        None => before.clone(),
    };
    memory.deleted = None;
    memory.handle = before.handle;
    memory.access_count = before.access_count;
    // Whoever brings it back wants it: it does not go by itself again.
    memory.expires = None;
    memory.updated = change.now;
    memory.rev = change.next_rev()?;
    let tokens = write_row(change, &memory, &Analysis::of(&memory), Written::Again)?;
    links::elect_around(change, &memory)?;
    history::record(change, &memory, Operation::Restore, actor, Some(&before))?;
    tell(change, memory.id)?;
    Ok(Stored { memory, tokens, existed: true })
}

/// Leaves word for a team server, unless the memory is to stay on this machine.
pub(super) fn tell(change: &Change<'_>, memory: MemoryId) -> Result<(), StoreError> {
    let sql =
        "INSERT OR REPLACE INTO outbox (memory) SELECT ?1 WHERE NOT EXISTS (SELECT 1 FROM private WHERE memory = ?1)";
    change.tx.prepare_cached(sql)?.execute([memory])?;
    Ok(())
}

/// Marks `old` as replaced by `new`, or by nothing.
pub(super) fn set_successor(change: &Change<'_>, old: &Memory, new: Option<Handle>) -> Result<(), StoreError> {
    let rev = change.next_rev()?;
    let sql = "UPDATE memories SET superseded_by = ?2, rev = ?3 WHERE handle = ?1";
    change.tx.prepare_cached(sql)?.execute(params![old.handle, new, rev])?;
    Ok(())
}

/// True for the one link that changes what recall answers.
pub(super) fn redirects(kind: LinkKind) -> bool {
    kind == LinkKind::Supersedes
}
