//! A memory with everything that a store keeps beside it, by what happened to it.

use super::fields::{self, Beside, memory_of};
use crate::domain::{DomainError, Draft, Memory, MemoryUuid, Metadata, Patch, Share, ShortId, Timestamp};
use crate::enrich;
use crate::index::{Analysis, ForwardDoc, Freshness};
use crate::meaning::Meaning;
use crate::pack::LineCosts;
use crate::screen::{Screened, Secret, places};
use crate::sync::Document;
use crate::text::TokenCounter;

/// A memory as it is to be written, with what is derived from it. Only this room makes one.
#[derive(Debug, Clone)]
pub struct Composed {
    memory: Memory,
    is_standing: bool,
    length: u16,
    signature: u64,
    forward: Vec<u8>,
    meaning: Vec<u8>,
    costs: LineCosts,
    has_new_terms: bool,
    has_new_costs: bool,
    secrets: Vec<Secret>,
}

impl Composed {
    /// What was taken out of its texts, to be kept beside it.
    pub fn secrets(&self) -> &[Secret] {
        &self.secrets
    }

    /// The same with what was taken out of its texts.
    pub(super) fn beside_secrets(mut self, secrets: &[Secret]) -> Self {
        self.secrets.extend_from_slice(secrets);
        self
    }

    /// What it says.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The same, where nothing else of it is asked for any more.
    pub fn into_memory(self) -> Memory {
        self.memory
    }

    /// True for a lasting wish or rule.
    pub fn is_standing(&self) -> bool {
        self.is_standing
    }

    /// Words of the text.
    pub fn length(&self) -> u16 {
        self.length
    }

    /// Equal for two texts of the same words.
    pub fn signature(&self) -> u64 {
        self.signature
    }

    /// The forward blob, without the words around it; empty for a deleted memory.
    pub fn forward(&self) -> &[u8] {
        &self.forward
    }

    /// What it means, as vectors; empty where that has to be found out.
    pub fn meaning(&self) -> &[u8] {
        &self.meaning
    }

    /// The same with what somebody found its text to mean, where that has to be found out.
    #[must_use]
    pub fn meant(mut self, meaning: Meaning) -> Self {
        if self.meaning.is_empty() && self.memory.deleted.is_none() && !self.memory.content.is_empty() {
            self.meaning = meaning.into_bytes();
            self.has_new_terms = true;
        }
        self
    }

    /// What its lines cost.
    pub fn costs(&self) -> &LineCosts {
        &self.costs
    }

    /// False where what the analysis gives is what the store holds: it need not be written.
    pub fn has_new_terms(&self) -> bool {
        self.has_new_terms
    }

    /// False where what the lines cost is what the store holds.
    pub fn has_new_costs(&self) -> bool {
        self.has_new_costs
    }

    /// Notes what of it a store holds already.
    fn beside(mut self, known: Option<&Known>) -> Self {
        let has_terms = |known: &Known| {
            (known.is_standing, known.length, known.signature) == (self.is_standing, self.length, self.signature)
                && known.forward == self.forward
                && known.meaning == self.meaning
        };
        let (has_new_terms, has_new_costs) =
            known.map_or((true, true), |known| (!has_terms(known), known.costs.as_ref() != Some(&self.costs)));
        (self.has_new_terms, self.has_new_costs) = (has_new_terms, has_new_costs);
        self
    }

    /// The same under another id: of one that is new, where its own is somebody else's.
    #[must_use]
    pub fn under(&self, id: MemoryUuid) -> Self {
        let mut other = self.clone();
        other.memory.id = id;
        other
    }

    /// The same at its place in a store: lines that name the ID cost what it costs.
    #[must_use]
    pub fn placed(&self, short_id: ShortId, rev: u64) -> Self {
        let mut placed = self.clone();
        placed.costs.renumber(self.memory.short_id, short_id);
        (placed.memory.short_id, placed.memory.rev) = (short_id, rev);
        placed
    }
}

/// A memory as a store holds it. What was derived is taken over where nothing that it follows from changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// What it says.
    pub memory: Memory,
    /// True for a lasting wish or rule.
    pub is_standing: bool,
    /// Words of the text.
    pub length: u16,
    /// Equal for two texts of the same words.
    pub signature: u64,
    /// The forward blob; empty for a deleted memory.
    pub forward: Vec<u8>,
    /// What it means, as vectors; empty where that is not known.
    pub meaning: Vec<u8>,
    /// What its lines cost; `None` where they were counted as they are not shown any more.
    pub costs: Option<LineCosts>,
}

impl Known {
    /// True when the analysis follows from what another memory says as well.
    fn has_terms_of(&self, other: &Memory) -> bool {
        fn terms(of: &Memory) -> impl PartialEq {
            let by = of.share.as_ref().map(|share| &share.by);
            (&of.tags, &of.keywords, &of.entities, &of.category, of.kind, &of.scope, by)
        }
        self.memory.content == other.content && terms(&self.memory) == terms(other)
    }

    /// True when another memory means the same: it has the same text, and where a file says it, it stands below the same.
    fn means_as(&self, other: &Memory) -> bool {
        fn below(of: &Memory) -> impl PartialEq {
            of.file.as_ref().map(|file| (file.path.stem(), &file.heading, &of.keywords))
        }
        self.memory.content == other.content && below(&self.memory) == below(other)
    }

    /// True when another memory is shown in the same lines, but for its number.
    fn has_lines_of(&self, other: &Memory) -> bool {
        fn shown(of: &Memory) -> impl PartialEq {
            let words = (&of.tags, &of.entities, &of.category, &of.summary);
            (&of.share, &of.edited_by, &of.file, words, of.kind, of.importance, of.created.date())
        }
        self.memory.content == other.content && shown(&self.memory) == shown(other)
    }
}

/// Standing, length, signature and forward blob, as an analysis gives them.
type Terms = (bool, u16, u64, Vec<u8>);

/// The way to a composed memory: summary, analysis and counts, each taken over or made.
pub(super) fn compose(memory: Memory, known: Option<&Known>, counter: &impl TokenCounter) -> Composed {
    if memory.is_whole_file() {
        return whole_file(memory);
    }
    let is_kept = |known: &&Known| {
        let is_readable = memory.deleted.is_some() || is_current(&known.forward);
        is_readable && known.has_terms_of(&memory)
    };
    let terms = match known.filter(is_kept) {
        Some(known) => (known.is_standing, known.length, known.signature, known.forward.clone()),
        None => analysed(&memory, &[]),
    };
    compose_of(terms, memory, known, counter)
}

/// The same where the analysis is at hand.
fn compose_of(terms: Terms, mut memory: Memory, known: Option<&Known>, counter: &impl TokenCounter) -> Composed {
    let (is_standing, length, signature, forward) = terms;
    memory.sensitive = !places(&memory.content).is_empty();
    let summarised = known.filter(|known| known.memory.content == memory.content);
    memory.summary = summarised.map_or_else(|| enrich::summary(&memory.content), |known| known.memory.summary.clone());
    let forward = if memory.deleted.is_some() { Vec::new() } else { forward };
    let meant = known.filter(|known| memory.deleted.is_none() && known.means_as(&memory));
    let meaning = meant.map(|known| known.meaning.clone()).unwrap_or_default();
    let counted = known.filter(|known| known.has_lines_of(&memory)).and_then(|known| {
        let mut costs = known.costs.clone()?;
        costs.renumber(known.memory.short_id, memory.short_id);
        Some(costs)
    });
    let costs = counted.unwrap_or_else(|| LineCosts::measure(&memory, counter));
    Composed {
        memory,
        is_standing,
        length,
        signature,
        forward,
        meaning,
        costs,
        has_new_terms: true,
        has_new_costs: true,
        secrets: Vec::new(),
    }
    .beside(known)
}

/// What stands for a file: nobody finds it, and no line of a reply shows it. Its parts are memories of their own.
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
    (analysis.is_standing, analysis.doc.length, analysis.signature, analysis.doc.encode_into(replaced))
}

/// A new memory.
///
/// # Errors
/// Naming the field that is refused, and the fix.
pub fn created(draft: &Screened<Draft>, now: Timestamp, counter: &impl TokenCounter) -> Result<Composed, DomainError> {
    Ok(compose(fields::new(draft, now)?, None, counter).beside_secrets(draft.secrets()))
}

/// What only an export of ours knows of a memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stamps {
    /// When it was last changed.
    pub updated: Option<Timestamp>,
    /// When it was last delivered in full.
    pub last_accessed: Option<Timestamp>,
    /// How often it was.
    pub access_count: u32,
    /// When it was deleted.
    pub deleted: Option<Timestamp>,
}

/// A memory of an import.
///
/// # Errors
/// As [`created`].
pub fn imported(
    draft: &Screened<Draft>,
    stamps: Stamps,
    now: Timestamp,
    counter: &impl TokenCounter,
) -> Result<Composed, DomainError> {
    let mut memory = fields::new(draft, now)?;
    memory.updated = stamps.updated.unwrap_or(now);
    (memory.access_count, memory.deleted) = (stamps.access_count, stamps.deleted);
    memory.last_accessed = stamps.last_accessed;
    Ok(compose(memory, None, counter).beside_secrets(draft.secrets()))
}

/// A memory with fields changed.
///
/// # Errors
/// As [`created`].
pub fn edited(
    known: &Known,
    patch: &Screened<Patch>,
    now: Timestamp,
    counter: &impl TokenCounter,
) -> Result<Composed, DomainError> {
    let memory = Memory { updated: now, ..fields::patched(&known.memory, patch)? };
    Ok(compose(memory, Some(known), counter).beside_secrets(patch.secrets()))
}

/// The other text of a conflict, as a memory like any other.
pub fn settled_apart(known: &Known, now: Timestamp, counter: &impl TokenCounter) -> Composed {
    compose(Memory { updated: now, ..fields::apart(&known.memory) }, Some(known), counter)
}

/// A memory out of recall.
pub fn deleted(known: &Known, now: Timestamp, counter: &impl TokenCounter) -> Composed {
    let deleted = Some(known.memory.deleted.unwrap_or(now));
    compose(Memory { deleted, updated: now, ..known.memory.clone() }, Some(known), counter)
}

/// What an earlier row said, as the memory that it is by now: where it stands, whose it is and how it was used are no part of what
/// it says.
fn as_it_was(earlier: Memory, now: &Memory) -> Memory {
    let Memory { id, short_id, last_accessed, access_count, conflict_of, .. } = *now;
    let (share, file, links) = (now.share.clone(), now.file.clone(), now.links.clone());
    Memory { id, short_id, last_accessed, access_count, share, conflict_of, file, links, ..earlier }
}

/// A memory that was brought back: as it was before some change, or before it was deleted. Whoever does so wants it: it does not go
/// by itself again, unless it was to end at a time that is still to come.
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
    // Silence takes nothing away elsewhere: that there was none is said.
    let metadata = memory.metadata.or_else(|| known.memory.metadata.as_ref().map(|_| Metadata::default()));
    let memory = Memory { metadata, ..memory };
    compose(memory, Some(known), counter).beside_secrets(&secrets.unwrap_or_default())
}

/// A memory as it was before an import changed it, down to when that was: as if nobody had touched it.
pub fn undone(known: &Known, earlier: Screened<Memory>, counter: &impl TokenCounter) -> Composed {
    let (earlier, secrets) = earlier.into_parts();
    compose(as_it_was(earlier, &known.memory), Some(known), counter).beside_secrets(&secrets)
}

/// The same memory, analysed by this program. What else is in its blob stays.
pub fn reanalysed(known: &Known, counter: &impl TokenCounter) -> Composed {
    again(known, known.memory.clone(), counter)
}

fn again(known: &Known, memory: Memory, counter: &impl TokenCounter) -> Composed {
    let replaced = if known.has_terms_of(&memory) { known.forward.as_slice() } else { &[] };
    compose_of(analysed(&memory, replaced), memory, Some(known), counter)
}

/// A memory of which only what it says could be read.
pub fn carried(memory: Memory, counter: &impl TokenCounter) -> Composed {
    if memory.content.is_empty() {
        return emptied(memory);
    }
    compose(memory, None, counter)
}

/// News of a memory, as the sync decided it.
#[derive(Debug, Clone)]
pub struct Arrived<'a> {
    /// The memory.
    pub id: MemoryUuid,
    /// What it says.
    pub document: &'a Screened<Document>,
    /// Whose it is, if another user shares it.
    pub share: Option<Share>,
    /// Who wrote the text as it is, if not the owner.
    pub edited_by: Option<String>,
    /// True when it is out of recall.
    pub is_deleted: bool,
}

/// A memory that arrived; what only this machine knows of it stays.
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

/// What is left of a memory that is removed for good: its identity.
pub fn purged(before: &Memory, now: Timestamp) -> Composed {
    emptied(Memory { deleted: Some(before.deleted.unwrap_or(now)), updated: now, ..before.clone() })
}

/// Whatever is not named here is gone: a field that comes later too.
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

/// A memory beside which nothing is kept.
fn empty(memory: Memory) -> Composed {
    let (forward, meaning, costs) = (Vec::new(), Vec::new(), LineCosts::default());
    let (has_new_terms, has_new_costs) = (true, true);
    Composed {
        memory,
        is_standing: false,
        length: 0,
        signature: 0,
        forward,
        meaning,
        costs,
        has_new_terms,
        has_new_costs,
        secrets: Vec::new(),
    }
}
