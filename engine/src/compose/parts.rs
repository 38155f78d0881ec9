//! Splits a file into memories, one per part, and matches the parts with the existing memories.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tessera_markdown::{Note, Part, PartKind};

use super::composed::{Composed, Known, compose};
use super::fields;
use super::noted::{Filed, Told};
use crate::domain::{
    Category, DomainError, Draft, InFile, MAX_NAME_CHARS, MAX_TAGS, Memory, MemoryUuid, Tag, Timestamp,
};
use crate::screen::Screened;
use crate::text::TokenCounter;

/// The minimum share of common words if a changed text is at the same place in the file.
const LIKE_IN_PLACE: f64 = 0.25;
/// The minimum share of common words if a changed text is at another place in the file.
const LIKE_ANYWHERE: f64 = 0.6;
/// Maximum number of compared pairs of texts. In a long file of which almost everything changed, each new text is
/// compared only with the old texts near it.
const MOST_PAIRS: usize = 20_000;

/// The memory for a part of a file. If a file was exported from a memory, its first section gets the memory's data.
pub fn part_draft(filed: &Filed, note: &Note, part: &Part, text: &str, told: Option<&Told>) -> Draft {
    let draft = drafted(filed, note, part, text);
    let Some(told) = told else { return draft };
    Draft {
        id: Some(told.id),
        category: draft.category.or_else(|| told.category.clone()),
        kind: told.kind,
        importance: told.importance,
        keywords: told.keywords.clone(),
        entities: told.entities.clone(),
        expires: told.expires,
        metadata: told.metadata.clone(),
        ..draft
    }
}

fn drafted(filed: &Filed, note: &Note, part: &Part, text: &str) -> Draft {
    let content = text.get(part.text.clone()).unwrap_or_default().to_owned();
    // Headings that every note has say nothing about the content.
    let is_telling = |heading: &&String| {
        **heading != note.title && !["observations", "relations"].contains(&heading.to_lowercase().as_str())
    };
    let heading = part.headings.last().filter(is_telling);
    let category = part.category.as_deref().and_then(|category| category.parse::<Category>().ok());
    Draft {
        id: None,
        category,
        tags: tags_of(part.tags.iter().chain(&note.tags)),
        keywords: names_of(std::iter::once(&note.title).chain(part.headings.iter())),
        file: Some(InFile {
            path: filed.path.clone(),
            heading: heading.map(|heading| clipped(heading)),
            is_whole: false,
        }),
        ..draft_of(filed, content)
    }
}

/// The memory for a whole file.
pub fn file_draft(filed: &Filed, id: MemoryUuid, note: &Note, content: String) -> Draft {
    Draft {
        id: Some(id),
        category: Some(Category::default()),
        kind: Some(crate::domain::MemoryType::default()),
        importance: Some(crate::domain::Importance::from_percent(50)),
        tags: tags_of(note.tags.iter()),
        file: Some(InFile::whole(filed.path.clone())),
        ..draft_of(filed, content)
    }
}

fn draft_of(filed: &Filed, content: String) -> Draft {
    Draft {
        scope: filed.scope.clone(),
        created: Some(filed.created),
        origin: filed.origin.clone(),
        owner_trust: filed.owner_trust,
        session: filed.session.clone(),
        client: filed.client.clone(),
        ..Draft::new(content)
    }
}

/// Returns only the valid tags of a file, because a file may contain any text as a tag.
fn tags_of<'a>(said: impl Iterator<Item = &'a String>) -> Vec<Tag> {
    let mut seen = BTreeSet::new();
    let tags = said.filter_map(|tag| tag.parse::<Tag>().ok()).filter(|tag| seen.insert(tag.clone()));
    tags.take(MAX_TAGS).collect()
}

fn names_of<'a>(said: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let names = said.map(|name| clipped(name)).filter(|name| !name.trim().is_empty() && seen.insert(name.clone()));
    names.take(16).collect()
}

fn clipped(name: &str) -> String {
    name.chars().filter(|character| *character != '\0').take(MAX_NAME_CHARS).collect()
}

/// Composes a part, or a whole file: as a new memory, or in place of an existing one. An unchanged text keeps its
/// author. `changed` is the time of a new memory's last change, if the file states it.
///
/// # Errors
/// Returns an error if a field is rejected. The error names the field.
pub fn filed(
    known: Option<&Known>,
    draft: &Screened<Draft>,
    changed: Option<Timestamp>,
    now: Timestamp,
    counter: &impl TokenCounter,
) -> Result<Composed, DomainError> {
    let mut memory = fields::new(draft, None, now)?;
    memory.updated = changed.unwrap_or(now).min(now);
    if let Some(before) = known.map(|known| &known.memory) {
        let is_same_text = before.content == memory.content;
        let is_said = |category: &Option<Category>| category.is_some();
        memory = Memory {
            id: before.id,
            short_id: before.short_id,
            summary: before.summary.clone(),
            created: before.created,
            updated: now,
            last_accessed: before.last_accessed,
            access_count: before.access_count,
            links: before.links.clone(),
            conflict_of: before.conflict_of,
            rev: before.rev,
            category: if is_same_text && !is_said(&draft.category) { before.category.clone() } else { memory.category },
            importance: if is_same_text && draft.importance.is_none() { before.importance } else { memory.importance },
            ..memory
        };
        if is_same_text {
            (memory.origin, memory.owner_trust) = (before.origin.clone(), before.owner_trust);
            (memory.session, memory.client) = (before.session.clone(), before.client.clone());
        }
        memory.trust = memory.earned_trust();
    }
    Ok(compose(memory, known, counter).beside_secrets(draft.secrets()))
}

/// The memory of a file after the file was renamed.
pub fn moved(known: &Known, memory: Memory, now: Timestamp, counter: &impl TokenCounter) -> Composed {
    compose(Memory { updated: now, ..memory }, Some(known), counter)
}

/// True if nothing changed, so that nothing needs to be written.
pub fn is_as_it_was(before: &Memory, now: &Memory) -> bool {
    let told = Memory { updated: before.updated, summary: before.summary.clone(), ..now.clone() };
    *before == Memory { rev: before.rev, ..told }
}

/// The features by which a part is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartText<'a> {
    /// True for an observation.
    pub is_observation: bool,
    /// Its text.
    pub text: &'a str,
}

impl<'a> PartText<'a> {
    /// The features of a part.
    pub fn of(part: &Part, text: &'a str) -> Self {
        let is_observation = part.kind == PartKind::Observation;
        Self { is_observation, text: text.get(part.text.clone()).unwrap_or_default() }
    }
}

/// Matches each new part with an old one. Step 1: equal texts are matched. Step 2: between two matched sections,
/// similar sections are matched. If there is only one new and one old section between two matched sections, they are
/// matched too. Step 3: very similar sections are matched, even if their positions differ. No old part is used twice.
pub fn known_again(before: &[PartText<'_>], now: &[PartText<'_>]) -> Vec<Option<usize>> {
    let mut found = same_texts(before, now);
    let mut taken: Vec<bool> = vec![false; before.len()];
    for at in found.iter().flatten() {
        if let Some(taken) = taken.get_mut(*at) {
            *taken = true;
        }
    }
    if found.iter().all(Option::is_some) {
        return found;
    }
    for (gap, olds) in gaps(&found, before.len()) {
        let olds: Vec<usize> = olds.filter(|at| taken.get(*at) == Some(&false)).collect();
        let is_alone = gap.len() == 1 && olds.len() == 1;
        pair(&mut found, &mut taken, before, now, (gap.collect(), olds), if is_alone { 0.0 } else { LIKE_IN_PLACE });
    }
    let left: Vec<usize> = (0..now.len()).filter(|at| found.get(*at) == Some(&None)).collect();
    let olds: Vec<usize> = (0..before.len()).filter(|at| taken.get(*at) == Some(&false)).collect();
    pair(&mut found, &mut taken, before, now, (left, olds), LIKE_ANYWHERE);
    found
}

fn same_texts(before: &[PartText<'_>], now: &[PartText<'_>]) -> Vec<Option<usize>> {
    let mut there: BTreeMap<(bool, &str), VecDeque<usize>> = BTreeMap::new();
    for (at, part) in before.iter().enumerate() {
        there.entry((part.is_observation, part.text)).or_default().push_back(at);
    }
    now.iter().map(|part| there.get_mut(&(part.is_observation, part.text))?.pop_front()).collect()
}

/// The groups of new sections without a match, each with the old sections that may match.
fn gaps(found: &[Option<usize>], most: usize) -> Vec<(std::ops::Range<usize>, std::ops::Range<usize>)> {
    let mut gaps = Vec::new();
    let mut at = 0;
    while at < found.len() {
        if found.get(at).is_some_and(Option::is_some) {
            at += 1;
            continue;
        }
        let begin = at;
        while found.get(at) == Some(&None) {
            at += 1;
        }
        let after = begin.checked_sub(1).and_then(|at| found.get(at).copied().flatten()).map_or(0, |at| at + 1);
        let until = found.get(at).copied().flatten().unwrap_or(most);
        gaps.push((begin..at, after..until.max(after)));
    }
    gaps
}

/// Matches sections, the most similar pairs first.
fn pair(
    found: &mut [Option<usize>],
    taken: &mut [bool],
    before: &[PartText<'_>],
    now: &[PartText<'_>],
    (news, olds): (Vec<usize>, Vec<usize>),
    least: f64,
) {
    let words = |parts: &[PartText<'_>], at: usize| -> BTreeSet<String> {
        let text = parts.get(at).map(|part| part.text.to_lowercase()).unwrap_or_default();
        text.split(|character: char| !character.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    if news.is_empty() || olds.is_empty() {
        return;
    }
    let old_words: Vec<_> = olds.iter().map(|at| words(before, *at)).collect();
    let mut pairs = Vec::new();
    // All old parts, or a window of them that moves along with the new ones.
    let window = (MOST_PAIRS / news.len()).max(1);
    for (at, new) in news.iter().enumerate() {
        let new_words = words(now, *new);
        let middle = at * olds.len() / news.len();
        let near = olds.iter().zip(&old_words).skip(middle.saturating_sub(window / 2)).take(window.max(1));
        let all_or_near: Vec<_> =
            if window >= olds.len() { olds.iter().zip(&old_words).collect() } else { near.collect() };
        for (old, old_words) in all_or_near {
            let is_same_kind =
                now.get(*new).map(|part| part.is_observation) == before.get(*old).map(|part| part.is_observation);
            let likeness = shared(&new_words, old_words);
            if is_same_kind && likeness >= least {
                pairs.push((likeness, *new, *old));
            }
        }
    }
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    for (_, new, old) in pairs {
        if let (Some(place), Some(taken)) = (found.get_mut(new), taken.get_mut(old))
            && place.is_none()
            && !*taken
        {
            (*place, *taken) = (Some(old), true);
        }
    }
}

/// The share of words that two texts have in common.
fn shared(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    let all = one.union(other).count();
    if all == 0 { 0.0 } else { one.intersection(other).count() as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts<'a>(texts: &[&'a str]) -> Vec<PartText<'a>> {
        texts.iter().map(|text| PartText { is_observation: true, text }).collect()
    }

    fn again(before: &[&str], now: &[&str]) -> Vec<Option<usize>> {
        known_again(&parts(before), &parts(now))
    }

    #[test]
    fn what_stayed_is_known_wherever_it_stands_and_an_edit_by_its_place() {
        let before = ["likes tabs", "uses Python with types", "works in Lisbon"];
        assert_eq!(again(&before, &before), [Some(0), Some(1), Some(2)]);
        assert_eq!(again(&before, &["works in Lisbon", "likes tabs"]), [Some(2), Some(0)]);
        let edited = ["likes tabs", "writes Rust", "works in Lisbon"];
        assert_eq!(again(&before, &edited), [Some(0), Some(1), Some(2)], "alone in its place");
        let added = ["likes tabs", "is new here", "uses Python with strict types", "works in Lisbon"];
        assert_eq!(again(&before, &added), [Some(0), None, Some(1), Some(2)]);
        assert_eq!(again(&before, &["something else", "and another"]), [None, None]);
    }

    #[test]
    fn a_long_file_of_which_all_is_new_is_compared_in_no_time_and_small_edits_are_known() {
        let before: Vec<String> = (0..3_000).map(|n| format!("number {n} of {n} was {}", n * 7)).collect();
        let now: Vec<String> = before.iter().map(|text| format!("{text} before")).collect();
        let [before, now] = [&before, &now].map(|texts| texts.iter().map(String::as_str).collect::<Vec<_>>());
        let known = again(&before, &now);
        let right = known.iter().enumerate().filter(|(at, known)| **known == Some(*at)).count();
        assert!(right > 2_900, "{right}");
    }

    #[test]
    fn equal_texts_are_told_apart_by_their_order_and_none_is_taken_twice() {
        assert_eq!(again(&["a", "a", "b"], &["a", "b", "a", "a"]), [Some(0), Some(2), Some(1), None]);
        let one = [PartText { is_observation: false, text: "a" }];
        assert_eq!(known_again(&one, &parts(&["a"])), [None], "an observation is no paragraph");
    }

    #[test]
    fn what_moved_and_was_edited_is_known_by_most_of_its_words() {
        let before = ["the staging database runs on port 5433", "backups at two", "x y z"];
        let now = ["x y z", "q", "backups at two", "the staging database now runs on port 5433"];
        assert_eq!(again(&before, &now), [Some(2), None, Some(1), Some(0)]);
    }
}
