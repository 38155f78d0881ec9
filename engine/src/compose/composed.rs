//! Composes a memory with all its derived data, for each operation that creates or changes one.

use tessera_actions::Note;

use super::fields::{self, Beside, memory_of};
use crate::domain::{DomainError, Draft, Memory, MemoryUuid, Metadata, Patch, Share, ShortId, Timestamp};
use crate::embedding::{Embedding, Vector};
use crate::enrich;
use crate::index::{Analysis, ForwardDoc, Freshness};
use crate::pack::LineCosts;
use crate::screen::{Screened, Secret, places};
use crate::sync::Document;
use crate::text::TokenCounter;

/// A memory that is ready to be written, with its derived data. Only this module creates one.
#[derive(Debug, Clone)]
pub struct Composed {
    memory: Memory,
    is_instruction: bool,
    length: u16,
    signature: u64,
    forward: Vec<u8>,
    embedding: Vec<u8>,
    costs: LineCosts,
    has_new_terms: bool,
    has_new_costs: bool,
    secrets: Vec<Secret>,
}

impl Composed {
    /// The secrets that were removed from its texts.
    pub fn secrets(&self) -> &[Secret] {
        &self.secrets
    }

    /// Adds the secrets that were removed from its texts.
    pub(super) fn beside_secrets(mut self, secrets: &[Secret]) -> Self {
        self.secrets.extend_from_slice(secrets);
        self
    }

    /// The memory.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Returns only the memory.
    pub fn into_memory(self) -> Memory {
        self.memory
    }

    /// True for a lasting preference or rule.
    pub fn is_instruction(&self) -> bool {
        self.is_instruction
    }

    /// The number of words of the text.
    pub fn length(&self) -> u16 {
        self.length
    }

    /// A hash that is equal for two texts with the same words.
    pub fn signature(&self) -> u64 {
        self.signature
    }

    /// The stored terms, without the words of neighbouring turns; empty for a deleted memory.
    pub fn forward(&self) -> &[u8] {
        &self.forward
    }

    /// The embedding; empty if it must still be computed.
    pub fn embedding(&self) -> &[u8] {
        &self.embedding
    }

    /// Adds an embedding, if it must still be computed.
    #[must_use]
    pub fn meant(mut self, embedding: Embedding) -> Self {
        if self.embedding.is_empty() && self.memory.deleted.is_none() && !self.memory.content.is_empty() {
            self.embedding = embedding.into_bytes();
            self.has_new_terms = true;
        }
        self
    }

    /// The keys under which actions find the memory, in ascending order. They depend only on its text. None for a
    /// deleted memory.
    pub fn anchors(&self) -> Vec<i64> {
        let is_sought = self.memory.deleted.is_none() && !self.memory.is_whole_file();
        if is_sought { Note::read(&self.memory.content).keys() } else { Vec::new() }
    }

    /// The token counts of its lines.
    pub fn costs(&self) -> &LineCosts {
        &self.costs
    }

    /// False if the store already has the analysis and the embedding.
    pub fn has_new_terms(&self) -> bool {
        self.has_new_terms
    }

    /// False if the store already has the token counts.
    pub fn has_new_costs(&self) -> bool {
        self.has_new_costs
    }

    /// Compares the derived data with the stored data, so that only changes are written.
    fn beside(mut self, known: Option<&Known>) -> Self {
        let has_terms = |known: &Known| {
            (known.is_instruction, known.length, known.signature) == (self.is_instruction, self.length, self.signature)
                && known.forward == self.forward
                && known.embedding == self.embedding
        };
        // Another text may have other anchors although its terms are the same.
        let has_text = |known: &Known| known.memory.content == self.memory.content && has_terms(known);
        let (has_new_terms, has_new_costs) =
            known.map_or((true, true), |known| (!has_text(known), known.costs.as_ref() != Some(&self.costs)));
        (self.has_new_terms, self.has_new_costs) = (has_new_terms, has_new_costs);
        self
    }

    /// The same memory with another UUID, for a new memory whose UUID is already used.
    #[must_use]
    pub fn under(&self, id: MemoryUuid) -> Self {
        let mut other = self.clone();
        other.memory.id = id;
        other
    }

    /// The same memory with its ID and revision in a store. Some lines contain the ID. Their token counts are adapted
    /// to the new ID.
    #[must_use]
    pub fn placed(&self, short_id: ShortId, rev: u64) -> Self {
        let mut placed = self.clone();
        placed.costs.renumber(self.memory.short_id, short_id);
        (placed.memory.short_id, placed.memory.rev) = (short_id, rev);
        placed
    }
}

/// A stored memory with its derived data. The data is reused if the fields from which it is derived
/// have not changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// The memory.
    pub memory: Memory,
    /// True for a lasting preference or rule.
    pub is_instruction: bool,
    /// The number of words of the text.
    pub length: u16,
    /// A hash that is equal for two texts with the same words.
    pub signature: u64,
    /// The stored terms; empty for a deleted memory.
    pub forward: Vec<u8>,
    /// The embedding; empty if unknown.
    pub embedding: Vec<u8>,
    /// The token counts of the memory's lines; `None` if they were counted for an earlier version of the lines.
    pub costs: Option<LineCosts>,
}

impl Known {
    /// True if another memory has the same terms.
    fn has_terms_of(&self, other: &Memory) -> bool {
        fn terms(of: &Memory) -> impl PartialEq {
            let by = of.share.as_ref().map(|share| &share.by);
            (&of.tags, &of.keywords, &of.entities, &of.category, of.kind, &of.scope, by)
        }
        self.memory.content == other.content && terms(&self.memory) == terms(other)
    }

    /// True if another memory has the same embedding: the same text and, in a file, the same heading.
    fn means_as(&self, other: &Memory) -> bool {
        fn below(of: &Memory) -> impl PartialEq {
            of.file.as_ref().map(|file| (file.path.stem(), &file.heading, &of.keywords))
        }
        self.memory.content == other.content && below(&self.memory) == below(other)
    }

    /// True if another memory has the same reply lines, except for its ID.
    fn has_lines_of(&self, other: &Memory) -> bool {
        fn shown(of: &Memory) -> impl PartialEq {
            let words = (&of.tags, &of.entities, &of.category, &of.summary);
            (&of.share, &of.edited_by, &of.file, words, of.kind, of.importance, of.created.date())
        }
        self.memory.content == other.content && shown(&self.memory) == shown(other)
    }
}

/// The results of an analysis: whether the text is an instruction, its length, its signature and its terms.
type Terms = (bool, u16, u64, Vec<u8>);

/// Composes a memory: summary, analysis and token counts are reused or computed.
pub(super) fn compose(memory: Memory, known: Option<&Known>, counter: &impl TokenCounter) -> Composed {
    if memory.is_whole_file() {
        return whole_file(memory);
    }
    let is_kept = |known: &&Known| {
        let is_readable = memory.deleted.is_some() || is_current(&known.forward);
        is_readable && known.has_terms_of(&memory)
    };
    let terms = match known.filter(is_kept) {
        Some(known) => (known.is_instruction, known.length, known.signature, known.forward.clone()),
        None => analysed(&memory, &[]),
    };
    compose_of(terms, memory, known, counter)
}

/// Composes a memory with an existing analysis.
fn compose_of(terms: Terms, mut memory: Memory, known: Option<&Known>, counter: &impl TokenCounter) -> Composed {
    let (is_instruction, length, signature, forward) = terms;
    memory.sensitive = !places(&memory.content).is_empty();
    let summarised = known.filter(|known| known.memory.content == memory.content);
    memory.summary = summarised.map_or_else(|| enrich::summary(&memory.content), |known| known.memory.summary.clone());
    let forward = if memory.deleted.is_some() { Vec::new() } else { forward };
    let meant = known.filter(|known| memory.deleted.is_none() && known.means_as(&memory));
    let embedding = meant.map(|known| known.embedding.clone()).unwrap_or_default();
    let counted = known.filter(|known| known.has_lines_of(&memory)).and_then(|known| {
        let mut costs = known.costs.clone()?;
        costs.renumber(known.memory.short_id, memory.short_id);
        Some(costs)
    });
    let costs = counted.unwrap_or_else(|| LineCosts::measure(&memory, counter));
    Composed {
        memory,
        is_instruction,
        length,
        signature,
        forward,
        embedding,
        costs,
        has_new_terms: true,
        has_new_costs: true,
        secrets: Vec::new(),
    }
    .beside(known)
}

/// Composes the memory of a whole file. Recall and replies skip the memory of a whole file, because each section of the
/// file is a separate memory.
fn whole_file(memory: Memory) -> Composed {
    let summary = memory.file.as_ref().map(|file| file.path.to_string()).unwrap_or_default();
    let sensitive = !places(&memory.content).is_empty();
    empty(Memory { summary, sensitive, ..memory })
}

fn is_current(forward: &[u8]) -> bool {
    Freshness::of(forward).is_current() && ForwardDoc::decode(forward).is_ok()
}

fn analysed(memory: &Memory, replaced: &[u8]) -> Terms {
    let analysis = Analysis::of(memory);
    (analysis.is_instruction, analysis.doc.length, analysis.signature, analysis.doc.encode_into(replaced))
}

/// A new memory. `meant` is the embedding of the first passage of its text, if it is known.
///
/// # Errors
/// Returns an error if a field is rejected. The error names the field and the fix.
pub fn created(
    draft: &Screened<Draft>,
    meant: Option<&Vector>,
    now: Timestamp,
    counter: &impl TokenCounter,
) -> Result<Composed, DomainError> {
    Ok(compose(fields::new(draft, meant, now)?, None, counter).beside_secrets(draft.secrets()))
}

/// Fields of a memory that only an export from Tessera contains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stamps {
    /// When it was last changed.
    pub updated: Option<Timestamp>,
    /// When the memory was last returned in full.
    pub last_accessed: Option<Timestamp>,
    /// How often the memory was returned in full.
    pub access_count: u32,
    /// When it was deleted.
    pub deleted: Option<Timestamp>,
}

/// An imported memory.
///
/// # Errors
/// Returns the same errors as [`created`].
pub fn imported(
    draft: &Screened<Draft>,
    stamps: Stamps,
    now: Timestamp,
    counter: &impl TokenCounter,
) -> Result<Composed, DomainError> {
    let mut memory = fields::new(draft, None, now)?;
    memory.updated = stamps.updated.unwrap_or(now);
    (memory.access_count, memory.deleted) = (stamps.access_count, stamps.deleted);
    memory.last_accessed = stamps.last_accessed;
    Ok(compose(memory, None, counter).beside_secrets(draft.secrets()))
}

/// A memory with changed fields.
///
/// # Errors
/// Returns the same errors as [`created`].
pub fn edited(
    known: &Known,
    patch: &Screened<Patch>,
    now: Timestamp,
    counter: &impl TokenCounter,
) -> Result<Composed, DomainError> {
    let memory = Memory { updated: now, ..fields::patched(&known.memory, patch)? };
    Ok(compose(memory, Some(known), counter).beside_secrets(patch.secrets()))
}

/// A conflict copy that became an ordinary memory.
pub fn settled_apart(known: &Known, now: Timestamp, counter: &impl TokenCounter) -> Composed {
    compose(Memory { updated: now, ..fields::apart(&known.memory) }, Some(known), counter)
}

/// A deleted memory.
pub fn deleted(known: &Known, now: Timestamp, counter: &impl TokenCounter) -> Composed {
    let deleted = Some(known.memory.deleted.unwrap_or(now));
    compose(Memory { deleted, updated: now, ..known.memory.clone() }, Some(known), counter)
}

/// The content of an earlier version, with the present scope, owner and usage of the memory.
fn as_it_was(earlier: Memory, now: &Memory) -> Memory {
    let Memory { id, short_id, last_accessed, access_count, conflict_of, .. } = *now;
    let (share, file, links) = (now.share.clone(), now.file.clone(), now.links.clone());
    Memory { id, short_id, last_accessed, access_count, share, conflict_of, file, links, ..earlier }
}

/// A memory that was restored: from an earlier version, or after its deletion. Its expiry is removed unless it is in
/// the future, because the user wants to keep the memory.
pub fn restored(
    known: &Known,
    earlier: Option<Screened<Memory>>,
    now: Timestamp,
    counter: &impl TokenCounter,
) -> Composed {
    let (earlier, secrets) = earlier.map(Screened::into_parts).unzip();
    let expires = earlier.as_ref().and_then(|earlier| earlier.expires).filter(|end| *end > now);
    let earlier = earlier.map_or_else(|| known.memory.clone(), |earlier| as_it_was(earlier, &known.memory));
    let memory = Memory { deleted: None, expires, updated: now, ..earlier };
    // Removed metadata must be an explicit empty object, because other devices ignore an absent field.
    let metadata = memory.metadata.or_else(|| known.memory.metadata.as_ref().map(|_| Metadata::default()));
    let memory = Memory { metadata, ..memory };
    compose(memory, Some(known), counter).beside_secrets(&secrets.unwrap_or_default())
}

/// A memory as it was before an import changed it, including the time of its last change.
pub fn undone(known: &Known, earlier: Screened<Memory>, counter: &impl TokenCounter) -> Composed {
    let (earlier, secrets) = earlier.into_parts();
    compose(as_it_was(earlier, &known.memory), Some(known), counter).beside_secrets(&secrets)
}

/// The same memory, analysed by this version of the program. Sections of the stored data that this version does not
/// know are kept.
pub fn reanalysed(known: &Known, counter: &impl TokenCounter) -> Composed {
    again(known, known.memory.clone(), counter)
}

fn again(known: &Known, memory: Memory, counter: &impl TokenCounter) -> Composed {
    let replaced = if known.has_terms_of(&memory) { known.forward.as_slice() } else { &[] };
    compose_of(analysed(&memory, replaced), memory, Some(known), counter)
}

/// A memory of which only the content could be read.
pub fn carried(memory: Memory, counter: &impl TokenCounter) -> Composed {
    if memory.content.is_empty() {
        return emptied(memory);
    }
    compose(memory, None, counter)
}

/// A memory that arrived through sync.
#[derive(Debug, Clone)]
pub struct Arrived<'a> {
    /// Its UUID.
    pub id: MemoryUuid,
    /// Its content.
    pub document: &'a Screened<Document>,
    /// The owner of the memory, if another user shares it.
    pub share: Option<Share>,
    /// The author of the current text; `None` if it is the owner.
    pub edited_by: Option<String>,
    /// True if it is deleted.
    pub is_deleted: bool,
}

/// Composes a memory that arrived through sync. Data that only this machine has is kept when a memory arrives.
pub fn arrived(news: Arrived<'_>, known: Option<&Known>, now: Timestamp, counter: &impl TokenCounter) -> Composed {
    let Arrived { id, document, share, edited_by, is_deleted } = news;
    let here = known.map(|known| &known.memory);
    let short_id = here.map_or(ShortId::FIRST, |here| here.short_id);
    let mut memory = memory_of(
        document,
        Beside { id, short_id, summary: String::new(), stands_for_file: share.is_none(), share, edited_by },
    );
    memory.updated = now;
    memory.deleted = is_deleted.then(|| here.and_then(|here| here.deleted).unwrap_or(now));
    if let Some(here) = here {
        (memory.last_accessed, memory.access_count) = (here.last_accessed, here.access_count);
        (memory.cwd, memory.client) = (here.cwd.clone(), here.client.clone());
    }
    compose(memory, known, counter).beside_secrets(document.secrets())
}

/// The identity that remains of a permanently deleted memory.
pub fn purged(before: &Memory, now: Timestamp) -> Composed {
    emptied(Memory { deleted: Some(before.deleted.unwrap_or(now)), updated: now, ..before.clone() })
}

/// Removes every field that is not listed here, including future fields.
fn emptied(memory: Memory) -> Composed {
    let memory = Memory {
        short_id: memory.short_id,
        updated: memory.updated,
        last_accessed: memory.last_accessed,
        access_count: memory.access_count,
        origin: memory.origin,
        trust: memory.trust,
        sensitive: memory.sensitive,
        rev: memory.rev,
        deleted: memory.deleted,
        ..Memory::blank(memory.id, String::new(), memory.created)
    };
    empty(memory)
}

/// A memory without derived data.
fn empty(memory: Memory) -> Composed {
    let (forward, embedding, costs) = (Vec::new(), Vec::new(), LineCosts::default());
    let (has_new_terms, has_new_costs) = (true, true);
    Composed {
        memory,
        is_instruction: false,
        length: 0,
        signature: 0,
        forward,
        embedding,
        costs,
        has_new_terms,
        has_new_costs,
        secrets: Vec::new(),
    }
}
