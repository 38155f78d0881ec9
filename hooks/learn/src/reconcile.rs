//! Reconciles an extracted memory with the store: a known fact counts as used, a changed fact replaces the old one.

use std::collections::BTreeSet;

use tessera_desk::queue::Job;
use tessera_desk::use_cases::{Forget, Propose, Remember};
use tessera_desk::{Caller, Desk, Project};
use tessera_engine::Store;
use tessera_engine::domain::{
    CandidateId, Filters, Importance, Memory, MemoryRef, Origin, RecallRequest, Scope, ShortId, Timestamp, Trust,
};
use tessera_engine::enrich::is_about_here;
use tessera_engine::store::{Erase, StoreError};
use tessera_engine::text::{TokenKind, tokenize};
use tessera_hooks::ReviewChoice;
use tessera_hooks::said::runs_something;

use crate::correction::{corrected, lacks_subject};
use crate::extracted_memory::{ExtractedKind, ExtractedMemory};
use crate::extractor::Extractor;
use crate::heuristic::is_passing;
use crate::transcript::Turn;

/// The result for an extracted memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// A new memory was stored.
    Stored(ShortId),
    /// It waits for review.
    Waiting(CandidateId),
    /// It was already known, or the user dropped it.
    Known,
    /// It names no subject, so it was not stored.
    Unclear,
    /// It is uncertain, and the user wants no review.
    Uncertain,
}

/// Maximum number of memories to compare with.
const MOST_COMPARED: u32 = 8;
/// The importance of a short-lived remark. Such a memory expires after this number of days.
const PASSING_IMPORTANCE: Importance = Importance::from_percent(20);
const PASSING_DAYS: i64 = 30;
/// The minimum share of common words. Texts that share less do not say the same.
const SAME: f64 = 0.6;
/// Words of a statement that do not belong to its subject.
const FRAME: &str = "user prefer preferred use using like want always never now instead actually decided switched moved \
     migrated changed replaced dropped longer anymore please go going new keep make";

/// Where an extracted memory comes from, and which of its kind wait for review.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) job: &'a Job,
    pub(crate) turn: &'a Turn,
    pub(crate) extractor: Extractor,
    pub(crate) review: ReviewChoice,
}

/// Stores an extracted memory, adds it to the review queue, or counts the known memory as used.
pub(crate) fn reconcile(
    store: &mut Store,
    lesson: &ExtractedMemory,
    source: Source<'_>,
) -> Result<Outcome, StoreError> {
    let Source { job, turn, review, .. } = source;
    if review == ReviewChoice::Off && !lesson.is_certain() {
        return Ok(Outcome::Uncertain);
    }
    let scope = scope_of(lesson, &job.scope);
    let near = near(store, lesson, &scope)?;
    let Some(lesson) = &with_subject(lesson, &near) else { return Ok(Outcome::Unclear) };
    for known in near.iter().filter(|memory| says(&memory.content, &lesson.content)) {
        if is_own(known) && store.is_current(known.short_id)? {
            store.note_uses([(known.short_id, store.now())]);
            return Ok(Outcome::Known);
        }
    }
    let said = turn.at.unwrap_or(job.at);
    // A copied transcript repeats the statement, but the person has deleted that memory since.
    if store.was_forgotten_after(&lesson.content, &scope, said)? {
        return Ok(Outcome::Known);
    }
    // A dropped line is not learned again, unless the person explicitly asks for it.
    let was_dropped = store.was_dropped(&scope, &lesson.content)?;
    if was_dropped && !lesson.is_explicit {
        return Ok(Outcome::Known);
    }
    let line = line_of(lesson, scope.clone(), said, source, &near);
    let caller = caller(job);
    let waits = review == ReviewChoice::All || !lesson.is_certain();
    if was_dropped && waits {
        store.allow_candidate(&scope, &lesson.content)?;
    }
    let done = if waits {
        let certainty = lesson.probability.map(percent);
        let waiting = Desk::new(store, &caller).perform(Propose { line, certainty });
        waiting.map(|waiting| waiting.map_or(Outcome::Known, Outcome::Waiting))
    } else {
        let stored = Desk::new(store, &caller).perform(line);
        stored.map(|stored| if stored.existed { Outcome::Known } else { Outcome::Stored(stored.memory.short_id) })
    };
    match done {
        // The user wants no texts with credentials, so nothing is learned from this one.
        Err(StoreError::Credential { .. }) => Ok(Outcome::Known),
        // A plugin rejected it; the plugin log says so.
        Err(StoreError::Refused { .. }) => Ok(Outcome::Known),
        Ok(Outcome::Stored(id)) if was_dropped => {
            store.allow_candidate(&scope, &lesson.content)?;
            Ok(Outcome::Stored(id))
        }
        done => done,
    }
}

/// The memory that an extracted memory becomes.
fn line_of(lesson: &ExtractedMemory, scope: Scope, said: Timestamp, source: Source<'_>, near: &[Memory]) -> Remember {
    let is_passing = is_passing(lesson);
    let replaced = replaced_by(lesson, near);
    let mut tags = lesson.tags.clone();
    for tag in ["auto-learned", source.extractor.as_str(), lesson.kind.as_str()] {
        tags.extend(tag.parse().ok().filter(|tag| !tags.contains(tag)));
    }
    Remember {
        content: lesson.content.clone(),
        category: Some(lesson.category.clone().unwrap_or_else(|| lesson.kind.category())),
        importance: Some(if is_passing { PASSING_IMPORTANCE } else { lesson.importance }),
        tags,
        keywords: lesson.keywords.clone(),
        scope: Some(scope),
        created: Some(said),
        expires: is_passing.then(|| said.plus_days(PASSING_DAYS)),
        // The text may come from another source, so the user must accept it before it is injected automatically.
        owner_trust: runs_something(&lesson.content).then_some(Trust::Foreign),
        // A memory never hides another one that the user trusts more. Such a memory is marked as older instead.
        supersedes: replaced.filter(|memory| memory.trust != Trust::User).map(|memory| MemoryRef::Id(memory.id)),
        ..Remember::default()
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a percentage is between 0 and 100")]
fn percent(probability: f64) -> u8 {
    (probability.clamp(0.0, 1.0) * 100.0).round() as u8
}

/// The extracted memory with a subject. A correction without one gets the subject of the memory whose value it corrects.
/// `None` if there is not exactly one such memory.
fn with_subject(lesson: &ExtractedMemory, near: &[Memory]) -> Option<ExtractedMemory> {
    if !lacks_subject(&lesson.content) {
        return Some(lesson.clone());
    }
    let own = near.iter().filter(|memory| is_own(memory) && !memory.origin.is_captured());
    let mut found = own.filter_map(|memory| Some((memory.short_id, corrected(&lesson.content, &memory.content)?)));
    let (short_id, content) = found.next().filter(|_| found.next().is_none())?;
    Some(ExtractedMemory { content, supersedes: Some(short_id), kind: ExtractedKind::Fact, ..lesson.clone() })
}

/// Returns the caller that the worker uses to store memories of a session.
fn caller(job: &Job) -> Caller {
    let project = job.cwd.as_ref().map(|dir| Project { scope: job.scope.clone(), dir: dir.clone() });
    let (session, client) = (Some(job.session.clone()), Some("claude-code".into()));
    Caller { session, client, project, ..Caller::new(Origin::AutoLearn) }
}

/// True for the person's own memories. Returns false for a teammate's memory and for a conflict copy.
fn is_own(memory: &Memory) -> bool {
    memory.share.is_none() && memory.conflict_of.is_none()
}

/// The extractor decides. Otherwise preferences are global unless they name the project, and decisions and discoveries
/// belong to the project.
fn scope_of(lesson: &ExtractedMemory, project: &Scope) -> Scope {
    let is_personal = || lesson.kind == ExtractedKind::Preference && !is_about_here(&lesson.content);
    if lesson.is_everywhere.unwrap_or_else(is_personal) { Scope::Global } else { project.clone() }
}

/// Existing memories that may say the same as the extracted memory, or that it may replace.
pub(crate) fn near(store: &mut Store, lesson: &ExtractedMemory, scope: &Scope) -> Result<Vec<Memory>, StoreError> {
    let query = format!("{} {}", lesson.content, lesson.replaces.as_deref().unwrap_or(""));
    let mut near = similar(store, &query, scope)?;
    if let Some(short_id) = lesson.supersedes
        && !near.iter().any(|memory| memory.short_id == short_id)
    {
        near.extend(store.get(MemoryRef::ShortId(short_id))?.filter(|memory| memory.deleted.is_none()));
    }
    Ok(near)
}

/// Active memories of a scope and global ones that are similar to a text.
pub(crate) fn similar(store: &mut Store, text: &str, scope: &Scope) -> Result<Vec<Memory>, StoreError> {
    let request = RecallRequest {
        limit: MOST_COMPARED,
        filters: Filters { scopes: vec![scope.clone(), Scope::Global], ..Filters::default() },
        scope: Some(scope.clone()),
        ..RecallRequest::new(text)
    };
    let page = store.rank(&request)?.page(&request).map_err(StoreError::Domain)?;
    let mut memories = Vec::new();
    for ranked in page {
        memories.extend(store.get(MemoryRef::ShortId(ranked.short_id))?);
    }
    Ok(memories)
}

/// True if `known` already contains everything that `new` says, in the same order and with the same meaning.
fn says(known: &str, new: &str) -> bool {
    let (known_words, new_words) = (words(known), words(new));
    let common = new_words.iter().filter(|word| known_words.contains(word)).count();
    let all = known_words.len() + new_words.len() - common;
    is_negative(known) == is_negative(new)
        && !new_words.is_empty()
        && is_subsequence(&new_words, &known_words)
        && common as f64 >= SAME * all as f64
}

/// The words of a text in order, without stop words and without the word that means the user.
fn words(text: &str) -> Vec<String> {
    let tokens = tokenize(text).into_iter();
    let telling = tokens.filter(|token| !matches!(token.kind, TokenKind::Stop | TokenKind::Compound));
    telling.map(|token| token.term).filter(|term| term != "user").collect()
}

fn is_subsequence(short: &[String], long: &[String]) -> bool {
    let mut rest = long.iter();
    short.iter().all(|word| rest.any(|other| other == word))
}

fn is_negative(text: &str) -> bool {
    let folded = text.to_lowercase().replace('\u{2019}', "'");
    let words = folded.split(|c: char| !c.is_alphanumeric() && c != '\'');
    words
        .filter(|word| matches!(*word, "not" | "never" | "no" | "cannot" | "stop" | "avoid") || word.ends_with("n't"))
        .count()
        % 2
        == 1
}

/// The memory that an extracted one replaces: the memory that the extractor named; or a shorter form of the same
/// statement; or, if the person said that something changed, the memory about the same subject.
fn replaced_by<'a>(lesson: &ExtractedMemory, near: &'a [Memory]) -> Option<&'a Memory> {
    if let Some(short_id) = lesson.supersedes {
        return near.iter().find(|memory| memory.short_id == short_id);
    }
    let shorter = |memory: &&Memory| is_own(memory) && says(&lesson.content, &memory.content);
    if let Some(shorter) = near.iter().find(shorter) {
        return Some(shorter);
    }
    let gone = subject(lesson.replaces.as_deref()?);
    let about = subject(&lesson.content);
    let kept: BTreeSet<&String> = about.difference(&gone).collect();
    near.iter().find(|memory| {
        let is_statement = !memory.origin.is_captured() && is_own(memory);
        let subject = subject(&memory.content);
        let named = !gone.is_disjoint(&subject);
        let common = kept.iter().filter(|word| subject.contains(**word)).count();
        let is_alike = memory.category == lesson.kind.category();
        is_statement && (common >= 2 || (named && (common >= 1 || is_alike)))
    })
}

/// The subject of a statement: its words without phrases such as "I prefer".
fn subject(text: &str) -> BTreeSet<String> {
    let frame: BTreeSet<String> = words(FRAME).into_iter().collect();
    words(text).into_iter().filter(|word| !frame.contains(word)).collect()
}

/// Deletes what was learned from the previous turn, and its waiting lines. "Forget that" does not refer to earlier turns.
/// Returns the deleted memories.
pub(crate) fn take_back(store: &mut Store, job: &Job, before: Option<&Turn>) -> Result<Vec<ShortId>, StoreError> {
    let Some(before) = before else { return Ok(Vec::new()) };
    // If a client writes no times, the words decide.
    let is_of_it = |created: Timestamp, content: &str| match before.at {
        Some(said) => created == said,
        None => is_subsequence(&words(content), &words(&before.user)),
    };
    store.retract(|line| line.session.as_ref() == Some(&job.session) && is_of_it(line.created, &line.content))?;
    let mut ids = Vec::new();
    for short_id in store.of_session(&job.session, 200)? {
        let memory = store.get(MemoryRef::ShortId(short_id))?;
        let learned = memory.filter(|memory| memory.origin == Origin::AutoLearn);
        ids.extend(learned.filter(|memory| is_of_it(memory.created, &memory.content)).map(|memory| memory.short_id));
    }
    if ids.is_empty() {
        return Ok(ids);
    }
    let forget = Forget {
        ids: ids.iter().copied().map(MemoryRef::ShortId).collect(),
        erase: Erase::Soft,
        reason: Some("the user retracted it".into()),
    };
    match Desk::new(store, &caller(job)).perform(forget) {
        // A plugin rejected the deletion; the plugin log says so.
        Err(StoreError::Refused { .. }) => Ok(Vec::new()),
        gone => gone.map(|_| ids),
    }
}

/// IDs and texts of the existing memories that the model sees.
pub(crate) fn known(store: &mut Store, text: &str, scope: &Scope) -> Result<Vec<(ShortId, String)>, StoreError> {
    let near = similar(store, text, scope)?;
    let shown = |memory: Memory| (memory.short_id, memory.content.chars().take(300).collect());
    Ok(near.into_iter().filter(|memory| !tessera_desk::screen::holds_credential(&memory.content)).map(shown).collect())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tessera_engine::domain::{FixedClock, Timestamp};
    use tessera_engine::score::Weights;
    use tessera_engine::store::{Actor, SecretRules, StoreConfig, Usage};

    use super::*;

    fn lesson(content: &str, kind: ExtractedKind, supersedes: Option<ShortId>) -> ExtractedMemory {
        ExtractedMemory { supersedes, ..ExtractedMemory::new(kind, content.to_owned()) }
    }

    fn learned(store: &mut Store, lesson: &ExtractedMemory) -> (Outcome, Option<Timestamp>) {
        let at: Timestamp = "2026-11-20".parse().unwrap();
        let job = Job {
            session: "s".into(),
            transcript: "t".into(),
            scope: Scope::Global,
            cwd: None,
            answer: String::new(),
            subagent: None,
            claude: None,
            at,
            attempts: 0,
            not_before: None,
        };
        let turn = Turn { id: "1".into(), at: None, user: lesson.content.clone(), assistant: String::new() };
        let source = Source { job: &job, turn: &turn, extractor: Extractor::Heuristic, review: ReviewChoice::Ask };
        let outcome = reconcile(store, lesson, source).unwrap();
        let page = store.list(&tessera_engine::store::ListRequest { limit: 1, ..Default::default() }).unwrap();
        (outcome, page.memories.first().and_then(|memory| memory.expires))
    }

    fn opened(home: &std::path::Path) -> Store {
        let clock = Arc::new(FixedClock("2026-11-20".parse().unwrap()));
        let config = StoreConfig {
            home: home.join("t").into(),
            clock,
            weights: Weights::default(),
            usage: Usage::Write,
            embedding: true,
            secrets: SecretRules::default(),
        };
        Store::open(config).unwrap()
    }

    #[test]
    fn what_was_replaced_is_learned_again_when_it_is_said_again() {
        let home = tempfile::tempdir().unwrap();
        let mut store = opened(home.path());
        let short_id = |number: u32| ShortId::try_from(number).ok();
        let stored = |number: u32| Outcome::Stored(short_id(number).unwrap());
        let mut say = |content: &str, old| learned(&mut store, &lesson(content, ExtractedKind::Preference, old)).0;
        assert_eq!(say("I prefer tabs for indentation", None), stored(1));
        assert_eq!(say("I prefer spaces for indentation", short_id(1)), stored(2));
        assert_eq!(say("I prefer tabs for indentation", short_id(2)), stored(3));
        assert_eq!(say("I prefer tabs for indentation", None), Outcome::Known);
        // An extractor may name a memory that was replaced long ago. Then the statement still counts as new.
        assert_eq!(say("I prefer spaces for indentation", short_id(1)), stored(4));
        let best = similar(&mut store, "tabs or spaces for indentation?", &Scope::Global).unwrap();
        assert!(best.iter().any(|memory| memory.content == "I prefer spaces for indentation"));
    }

    #[test]
    fn a_passing_remark_has_a_lifetime_and_what_lasts_has_none() {
        let home = tempfile::tempdir().unwrap();
        let mut store = opened(home.path());
        let remark = lesson("I'm working from the Oslo office this week", ExtractedKind::Fact, None);
        assert_eq!(learned(&mut store, &remark).1, "2026-12-20".parse().ok());
        let lasting = lesson("The staging server is called heron", ExtractedKind::Fact, None);
        assert_eq!(learned(&mut store, &lasting).1, None);
        // A person who restores a remark wants to keep it.
        let own = store.get(MemoryRef::ShortId(ShortId::try_from(1).unwrap())).unwrap().unwrap();
        let forever = tessera_engine::Patch { expires: Some(None), ..Default::default() };
        store.update(MemoryRef::Id(own.id), &forever, &Actor::default()).unwrap();
        assert_eq!(learned(&mut store, &remark).0, Outcome::Known);
    }

    #[test]
    fn the_same_fact_is_known_and_its_opposite_is_not() {
        assert!(says("I prefer Svelte", "i prefer svelte."));
        assert!(says("User prefers Svelte", "I prefer Svelte"));
        assert!(says("I prefer Svelte over React", "I prefer Svelte over React!"));
        assert!(!says("I prefer Svelte over React", "I prefer React over Svelte"));
        assert!(!says("Always use mocks", "Don't always use mocks"));
        assert!(!says("The API listens on port 8480", "The API listens on port 8490"));
        assert!(!says("I prefer tabs", "I prefer tabs over spaces in Go code"));
    }
}
