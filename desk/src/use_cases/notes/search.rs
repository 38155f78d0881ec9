//! Finds notes by text and name.

use std::collections::{BTreeMap, BTreeSet};

use tessera_engine::Store;
use tessera_engine::domain::{
    Breadth, Filters, MemoryRef, MemoryUuid, RecallRequest, Scope, ShortId, Tag, Timestamp, TokenBudget,
};
use tessera_engine::screen::dropped;
use tessera_engine::store::{ListRequest, NoteRow, StoreError};
use tessera_markdown::key::folded;

use super::recent::first_words;
use super::rows::{NotesReply, Row, Within, address, changed, fields, name, page_of, path, said};
use super::{Part, recent};
use crate::caller::Caller;
use crate::desk::{Effect, UseCase};

/// Maximum parts that are searched for their notes.
const MOST_PARTS: u32 = 4_000;
/// Memories per page when memories with a tag are listed.
const TAGGED_AT_ONCE: u32 = 200;
const TAGGED_PAGES: usize = 100;

/// Finds notes by a question, by name, and by tags (`tag:x` in the question, or separately).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchNotes {
    /// The question; empty or `*` for all notes.
    pub query: String,
    /// The folder or scope; all, if absent.
    pub project: Option<String>,
    /// Any of these types.
    pub types: Vec<String>,
    /// All of these tags.
    pub tags: Vec<Tag>,
    /// Only notes that changed after this time, such as `7d` or `2026-11-01`.
    pub after_date: Option<String>,
    /// The requested rows.
    pub part: Part,
    /// The budget and the form.
    pub within: Within,
}

impl UseCase for SearchNotes {
    type Outcome = NotesReply;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<NotesReply, StoreError> {
        let mut wanted = Wanted::of(&self.query, self.project.as_deref());
        wanted.types.extend(self.types);
        wanted.tags.extend(self.tags);
        wanted.since = recent::since(self.after_date.as_deref(), "after_date", store.now())?;
        let found = found(store, caller, &wanted)?;
        page_of(&found, self.part, |found| row(store, found), (self.within, caller))
    }
}

fn row(store: &Store, found: &Found) -> Result<Row, StoreError> {
    let note = &found.note;
    let best = match found.best {
        Some(short_id) => store.get(MemoryRef::ShortId(short_id))?.map(|memory| said(&memory.content)),
        None => None,
    };
    let best = best.map_or_else(|| first_words(store, note), Ok)?;
    let score = format!("{:.2}", found.score);
    let (title, kind) = (name(&note.title), name(&note.kind));
    let text = format!("- {title} [{kind}] {score} {} {}: {best}", address(note), path(note));
    let mut json = fields(note);
    json.insert("score".into(), ((found.score * 1_000.0).round() / 1_000.0).into());
    json.insert("best".into(), best.into());
    if let Some(short_id) = found.best {
        json.insert("id".into(), short_id.get().into());
    }
    Ok(Row { text, json: json.into() })
}

/// The search criteria.
#[derive(Debug, Clone, Default)]
pub(super) struct Wanted {
    question: String,
    project: Option<String>,
    types: Vec<String>,
    tags: Vec<Tag>,
    since: Option<Timestamp>,
}

impl Wanted {
    /// Extracts tags and types from a question: `tag:x`, `type:decision`.
    pub(super) fn of(query: &str, project: Option<&str>) -> Self {
        let mut wanted = Self { project: project.map(str::to_owned), ..Self::default() };
        let mut words = Vec::new();
        for word in query.split_whitespace() {
            let tag = word.strip_prefix("tag:").or_else(|| word.strip_prefix("tags:"));
            let kind = word.strip_prefix("type:").filter(|kind| !kind.is_empty());
            match (tag.map(Tag::list), kind) {
                (Some(Ok(tags)), _) if !tags.is_empty() => wanted.tags.extend(tags),
                (_, Some(kind)) => wanted.types.push(kind.to_owned()),
                _ => words.push(word),
            }
        }
        wanted.question = words.join(" ");
        if wanted.question == "*" {
            wanted.question.clear();
        }
        wanted
    }
}

/// A found note.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) note: NoteRow,
    /// 0 to 1.
    score: f64,
    /// The best part.
    best: Option<ShortId>,
}

/// Returns the matching notes, best first. Without a question, returns all notes that pass the filters, newest first.
pub(super) fn found(store: &mut Store, caller: &Caller, wanted: &Wanted) -> Result<Vec<Found>, StoreError> {
    let mut notes = recent::notes(store, wanted.project.as_deref())?;
    let is_new = |note: &NoteRow| wanted.since.is_none_or(|since| changed(note) >= since);
    notes.retain(|note| recent::is_of(note, &wanted.types) && is_new(note));
    if !wanted.tags.is_empty() {
        let tagged = tagged(store, &wanted.tags)?;
        notes.retain(|note| has_all(note, &wanted.tags) || tagged.contains(note.file.path.as_str()));
    }
    if wanted.question.is_empty() {
        return Ok(notes.into_iter().map(|note| Found { note, score: 1.0, best: None }).collect());
    }
    let said = by_words(store, caller, wanted)?;
    let names = store.names_of_notes()?;
    let question = Question::of(&wanted.question);
    let none = Vec::new();
    let mut found: Vec<Found> = Vec::new();
    for note in notes {
        let part = said.get(&note.file.id);
        let named = question.names(&note, names.get(&note.file.id).unwrap_or(&none));
        let score = part.map_or(0.0, |(score, _)| *score).max(named);
        if score > 0.0 {
            found.push(Found { score, best: part.map(|(_, short_id)| *short_id), note });
        }
    }
    // They are sorted by time; equal scores keep this order.
    found.sort_by(|one, other| other.score.total_cmp(&one.score));
    Ok(found)
}

/// Searches for files. Returns each file with its best section and the score of this section. Low-confidence matches
/// count only if there are no others.
fn by_words(
    store: &mut Store,
    caller: &Caller,
    wanted: &Wanted,
) -> Result<BTreeMap<MemoryUuid, (f64, ShortId)>, StoreError> {
    let folders = recent::folders(store, wanted.project.as_deref())?;
    let scopes: BTreeSet<Scope> = folders.into_iter().map(|folder| folder.scope).collect();
    let request = RecallRequest {
        budget: TokenBudget::DEFAULT,
        profile: caller.profile,
        limit: MOST_PARTS,
        filters: Filters { scopes: scopes.into_iter().collect(), ..Filters::default() },
        breadth: Breadth::Off,
        ..RecallRequest::new(dropped(&wanted.question).into_owned())
    };
    let page = store.rank(&request)?.page(&request)?;
    let short_ids: Vec<ShortId> = page.iter().map(|ranked| ranked.short_id).collect();
    let files = store.files_of_parts(&short_ids)?;
    let mut best: BTreeMap<MemoryUuid, (f64, ShortId)> = BTreeMap::new();
    for ranked in &page {
        if let Some(file) = files.get(&ranked.short_id) {
            // The first is the best.
            best.entry(*file).or_insert((ranked.score, ranked.short_id));
        }
    }
    Ok(best)
}

fn has_all(note: &NoteRow, tags: &[Tag]) -> bool {
    tags.iter().all(|tag| note.tags.iter().any(|own| own.parse::<Tag>().is_ok_and(|own| own == *tag)))
}

/// The paths of files with a part that has all of these tags.
fn tagged(store: &Store, tags: &[Tag]) -> Result<BTreeSet<String>, StoreError> {
    let mut paths = BTreeSet::new();
    let filters = Filters { tags: tags.iter().take(1).cloned().collect(), ..Filters::default() };
    let mut request = ListRequest { filters, limit: TAGGED_AT_ONCE, ..ListRequest::default() };
    for _ in 0..TAGGED_PAGES {
        let page = store.list(&request)?;
        for memory in page.memories {
            if let Some(file) = memory.file.filter(|_| tags.iter().all(|tag| memory.tags.contains(tag))) {
                paths.insert(file.path.as_str().to_owned());
            }
        }
        if page.next.is_none() {
            break;
        }
        request.after = page.next;
    }
    Ok(paths)
}

/// A question, normalised for comparison with names.
struct Question {
    whole: String,
    words: Vec<String>,
}

impl Question {
    fn of(question: &str) -> Self {
        let quotes = ['"', '\'', '?', '!', '.', ',', ';', ':', '(', ')', '。', '？', '！', '、', '“', '”', '「', '」'];
        let bare = question.trim().trim_start_matches("memory://").trim_matches(quotes);
        let whole = folded(bare);
        let words = whole.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        Self { words: words.map(str::to_owned).collect(), whole }
    }

    /// How well a note's names match: 0 for not at all, 1 for equal.
    fn names(&self, note: &NoteRow, names: &[String]) -> f64 {
        if self.words.is_empty() {
            return 0.0;
        }
        let own = [folded(&note.title), folded(&note.permalink)];
        own.iter().chain(names).map(|name| self.names_as(name)).fold(0.0, f64::max)
    }

    fn names_as(&self, name: &str) -> f64 {
        const SAME: f64 = 1.0;
        const BEGINNING: f64 = 0.9;
        const WITHIN: f64 = 0.8;
        const ALL_WORDS: f64 = 0.75;
        const SAYS_NAME: f64 = 0.7;
        if name == self.whole {
            return SAME;
        }
        let words: Vec<&str> =
            name.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let is_word = |wanted: &String| words.contains(&wanted.as_str());
        if let Some(at) = name.find(&self.whole)
            && (!self.whole.is_ascii() || self.words.iter().all(is_word))
        {
            return if at == 0 { BEGINNING } else { WITHIN };
        }
        if self.words.iter().all(is_word) {
            return ALL_WORDS;
        }
        let is_asked = |word: &&str| self.words.iter().any(|asked| asked == word);
        let says_it = match words.as_slice() {
            [_, _, ..] => words.iter().all(is_asked),
            // A single word is a name in a question without spaces.
            [one] => !one.is_ascii() && one.chars().count() > 1 && self.whole.contains(one),
            [] => false,
        };
        if says_it { SAYS_NAME } else { 0.0 }
    }
}
