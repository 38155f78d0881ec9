//! Screened values, and the secrets that were removed from them.

use std::ops::{Deref, Range};

use tessera_screen::{Finding, Kind, Name, Place, merged, places};

use super::found::{SLUG, SLUG_DROPPED, findings, is_clean};
use super::known::{KnownValues, called, is_like_a_password};
use super::looked::Looked;
use super::probable::probable;
use super::texts::{Part, Texts};
use crate::domain::{MemoryUuid, Timestamp};
use crate::sync::{Action, Op};
#[cfg(feature = "sqlite")]
use crate::threads::{mapped, processors};

/// A shorter value is replaced only where it was found, because elsewhere it may be an ordinary word.
pub(super) const LEAST_REPEATED: usize = 6;

/// The kind of a text that a person marked as secret.
pub const MARKED: Kind = Kind::new("marked secret");

/// A credential that was removed from a text. The value is encrypted, so this code cannot read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// Its name in the text.
    pub name: Name,
    /// Its kind, in words.
    pub kind: String,
    /// A keyed hash. Equal values have equal hashes under the same key.
    pub mark: Vec<u8>,
    /// The value, encrypted for its memory.
    pub sealed: Vec<u8>,
}

/// Stores the secrets that are removed from texts.
pub trait Keeper {
    /// The error type of a keeper that cannot store a secret.
    type Error;

    /// Stores a value for a memory; `None` if it is discarded.
    ///
    /// # Errors
    /// Returns an error if the value cannot be stored, or if the settings reject texts with credentials. Then nothing
    /// is stored.
    fn keep(&mut self, memory: MemoryUuid, kind: &str, value: &str) -> Result<Option<Secret>, Self::Error>;
}

/// A value whose texts were screened and contain no known credential.
#[derive(Debug, Clone, PartialEq)]
pub struct Screened<T> {
    value: T,
    secrets: Vec<Secret>,
}

impl<T: Texts> Screened<T> {
    /// A value that contains no credential; `None` otherwise.
    pub fn clean(value: T) -> Option<Self> {
        let mut is_clean = true;
        value.each_text(&mut |part, text| is_clean &= part != Part::Whole && findings(text).is_empty());
        (is_clean && called(&value).is_empty()).then_some(Self { value, secrets: Vec::new() })
    }
}

impl<T> Screened<T> {
    /// The removed secrets.
    pub fn secrets(&self) -> &[Secret] {
        &self.secrets
    }

    /// The value and the secrets.
    pub fn into_parts(self) -> (T, Vec<Secret>) {
        (self.value, self.secrets)
    }

    /// Adds secrets that were removed earlier.
    #[must_use]
    pub fn beside(mut self, secrets: &[Secret]) -> Self {
        self.secrets.extend_from_slice(secrets);
        self
    }

    /// Accepts a value that is derived only from this screened value. So it contains no credentials either.
    pub(crate) fn follow<U>(&self, value: U) -> Screened<U> {
        Screened { value, secrets: self.secrets.clone() }
    }
}

impl Screened<Action> {
    /// Converts the value to an action that creates or changes a memory.
    pub fn of<T: Into<Action>>(said: Screened<T>) -> Self {
        Self { value: said.value.into(), secrets: said.secrets }
    }

    /// Returns the sync change that requests this action.
    pub fn asked(&self, op_id: MemoryUuid, memory: MemoryUuid, base_rev: u64, at: Timestamp) -> Screened<Op> {
        self.follow(Op { op_id, memory, base_rev, at, action: self.value.clone(), told_again: false })
    }
}

impl<T> Deref for Screened<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// Screens all texts of a value for a memory, for example of a draft, a patch or a document.
///
/// # Errors
/// Returns an error if the keeper rejects a text or cannot store a credential.
pub fn screened<T: Texts, K: Keeper>(value: T, memory: MemoryUuid, keeper: &mut K) -> Result<Screened<T>, K::Error> {
    screened_for(value, memory, keeper, &KnownValues::default())
}

/// Screens a part of an already screened text. All findings of the whole text are also removed from its parts.
///
/// # Errors
/// Returns an error if the keeper rejects a text or cannot store a credential.
pub fn screened_beside<T: Texts, K: Keeper>(
    value: T,
    memory: MemoryUuid,
    keeper: &mut K,
    looked: &Looked<'_>,
) -> Result<Screened<T>, K::Error> {
    screened_by(value, memory, keeper, looked.known(), &|text| looked.is_clean(text), ProbableSecrets::default())
}

/// Screens a value with known credentials, which are found without surrounding words.
///
/// # Errors
/// Returns an error if the keeper rejects a text or cannot store a credential.
pub fn screened_for<T: Texts, K: Keeper>(
    value: T,
    memory: MemoryUuid,
    keeper: &mut K,
    known: &KnownValues,
) -> Result<Screened<T>, K::Error> {
    screened_closely(value, memory, keeper, known, ProbableSecrets::default())
}

/// Does the same as [`screened_for`], and also removes probable secrets from the main text of the value. This is for
/// new texts; texts that were screened before are not read by the classifiers again.
///
/// # Errors
/// Returns an error if the keeper rejects a text or cannot store a credential.
pub fn screened_closely<T: Texts, K: Keeper>(
    value: T,
    memory: MemoryUuid,
    keeper: &mut K,
    known: &KnownValues,
    probable: ProbableSecrets,
) -> Result<Screened<T>, K::Error> {
    screened_by(value, memory, keeper, known, &|text| is_clean(text) && !known.stands_in(text), probable)
}

/// The probable secrets of the main text of a value. Finding them takes milliseconds, so callers look for them before a
/// transaction begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProbableSecrets {
    text: String,
    found: Vec<Finding>,
}

impl ProbableSecrets {
    /// Looks for them in a value.
    pub fn of(value: &impl Texts) -> Self {
        let said = value.words_beside().map(|(text, _)| (text, probable(text)));
        let said = said.filter(|(_, found)| !found.is_empty());
        said.map(|(text, found)| Self { text: text.to_owned(), found }).unwrap_or_default()
    }

    /// Finds the probable secrets of several items on all processors. Items without a value have none.
    #[cfg(feature = "sqlite")]
    pub(crate) fn of_each<I: Sync, T: Texts>(items: &[I], value: impl Fn(&I) -> Option<&T> + Sync) -> Vec<Self> {
        mapped(items, processors(), |item| value(item).map(Self::of).unwrap_or_default())
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The number of secrets.
    pub fn count(&self) -> usize {
        self.found.len()
    }

    /// The texts of the secrets.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        self.found.iter().filter_map(|finding| self.text.get(finding.span.clone()))
    }

    /// Without those whose text is excepted.
    #[must_use]
    pub fn without(mut self, is_excepted: impl Fn(&str) -> bool) -> Self {
        let text = &self.text;
        self.found.retain(|finding| !text.get(finding.span.clone()).is_some_and(&is_excepted));
        self
    }

    /// The findings of a text, if it is the main text.
    fn in_text(&self, text: &str) -> &[Finding] {
        if text == self.text { &self.found } else { &[] }
    }
}

fn screened_by<T: Texts, K: Keeper>(
    value: T,
    memory: MemoryUuid,
    keeper: &mut K,
    known: &KnownValues,
    is_clean: &dyn Fn(&str) -> bool,
    probable: ProbableSecrets,
) -> Result<Screened<T>, K::Error> {
    let mut whole = Vec::new();
    value.each_text(&mut |part, text| {
        if part == Part::Whole || !probable.in_text(text).is_empty() || !is_clean(text) {
            whole.push((part, text.to_owned()));
        }
    });
    let called = called(&value);
    if whole.is_empty() && called.is_empty() {
        return Ok(Screened { value, secrets: Vec::new() });
    }
    let mut taken = Taken { memory, keeper, probable, values: Vec::new(), secrets: Vec::new() };
    for (part, text) in &whole {
        taken.note(*part, text)?;
        for (value, kind) in known.in_text(text).filter(|_| *part != Part::Identity) {
            taken.take(kind, value)?;
        }
    }
    for (word, kind) in &called {
        taken.take(kind, word)?;
    }
    taken.note_pieces(&value);
    let mut value = value;
    let Taken { values, secrets, probable, .. } = taken;
    value.change_texts(&mut |part, text| {
        let mut here = found_in(text, &probable);
        if part != Part::Identity {
            // Part of a tag or of a category is often an ordinary word.
            let marked = known.marked_in(text).into_iter().filter(|span| part != Part::Slug || is_apart(text, span));
            here.extend(marked.map(|span| Finding { span, kind: MARKED }));
        }
        replaced(part, text, &here, &values).or_else(|| piece_replaced(part, text, known))
    });
    Ok(Screened { value, secrets })
}

/// A found value and its replacement.
struct Found {
    value: String,
    place: Place,
}

struct Taken<'k, K> {
    memory: MemoryUuid,
    keeper: &'k mut K,
    probable: ProbableSecrets,
    values: Vec<Found>,
    secrets: Vec<Secret>,
}

impl<K: Keeper> Taken<'_, K> {
    fn note(&mut self, part: Part, text: &str) -> Result<(), K::Error> {
        if part == Part::Whole {
            return self.take("text", text);
        }
        for finding in found_in(text, &self.probable) {
            self.take(finding.kind.as_str(), text.get(finding.span).unwrap_or_default())?;
        }
        Ok(())
    }

    /// Keywords, names and tags that are parts of a value would reveal it. Such words are removed but not stored,
    /// because they are useless alone.
    fn note_pieces(&mut self, said: &impl Texts) {
        let words = said.words_beside().map(|(_, words)| words).unwrap_or_default();
        for word in words.into_iter().filter(|word| is_like_a_password(word)) {
            let holds = |found: &&Found| found.value.len() > word.len() && found.value.contains(word);
            if let Some(kind) = self.values.iter().find(holds).map(|found| found.place.kind.clone()) {
                self.values.push(Found { value: word.to_owned(), place: Place { name: None, kind } });
            }
        }
    }

    fn take(&mut self, kind: &str, value: &str) -> Result<(), K::Error> {
        if self.values.iter().any(|found| found.value == value) {
            return Ok(());
        }
        let secret = self.keeper.keep(self.memory, kind, value)?;
        let name = secret.as_ref().map(|secret| secret.name.clone());
        self.values.push(Found { value: value.to_owned(), place: Place { name, kind: kind.to_owned() } });
        self.secrets.extend(secret);
        Ok(())
    }
}

/// The credentials of a text, and its probable secrets. Those that overlap are one finding.
fn found_in(text: &str, probable: &ProbableSecrets) -> Vec<Finding> {
    let found = findings(text);
    let probable = probable.in_text(text);
    if probable.is_empty() { found } else { merged(found.into_iter().chain(probable.iter().cloned()).collect()) }
}

/// A text in which all found values are replaced, including repetitions.
fn replaced(part: Part, text: &str, here: &[Finding], values: &[Found]) -> Option<String> {
    let found = |value: &str| values.iter().find(|found| found.value == value);
    let mut spans: Vec<(Range<usize>, &Found)> = if part == Part::Whole {
        found(text).map(|found| (0..text.len(), found)).into_iter().collect()
    } else {
        let value = |finding: &Finding| found(text.get(finding.span.clone())?);
        here.iter().filter_map(|finding| Some((finding.span.clone(), value(finding)?))).collect()
    };
    let is_long = |found: &Found| found.value.len() >= LEAST_REPEATED;
    let is_marked = |found: &Found| part == Part::Slug && found.place.kind == MARKED.as_str();
    let repeated = values.iter().filter(|found| part != Part::Identity && (is_long(found) || is_marked(found)));
    for found in repeated {
        spans.extend(again(text, &found.value).map(|span| (span, found)));
        if part == Part::Slug {
            spans.extend(again(text, &as_slug(&found.value)).map(|span| (span, found)));
        }
    }
    spans.sort_by_key(|(span, _)| (span.start, std::cmp::Reverse(span.end)));
    let taken = places(text);
    let (mut written, mut at) = (String::new(), 0);
    for (span, found) in spans {
        let is_place = taken.iter().any(|(place, _)| place.start < span.end && span.start < place.end);
        if is_place {
            continue;
        }
        if span.start < at {
            // Two values overlap; the rest of the second one is removed with the first.
            at = at.max(span.end);
            continue;
        }
        written.push_str(text.get(at..span.start).unwrap_or_default());
        match part {
            Part::Slug => written.push_str(&slug(&found.place)),
            _ => written.push_str(&found.place.to_string()),
        }
        at = span.end;
    }
    (at > 0).then(|| written + text.get(at..).unwrap_or_default())
}

/// The replacement of a word that is a part of a known value. Such a part is not stored, because it is useless alone.
fn piece_replaced(part: Part, text: &str, known: &KnownValues) -> Option<String> {
    let place = Place { name: None, kind: known.piece(text)?.to_owned() };
    Some(if part == Part::Slug { slug(&place) } else { place.to_string() })
}

/// The replacement in a tag, which cannot contain brackets.
fn slug(place: &Place) -> String {
    place.name.as_ref().map_or_else(|| format!("{SLUG}{SLUG_DROPPED}"), |name| format!("{SLUG}{name}"))
}

/// A value as it would appear in a tag or category: lower-case words joined by hyphens.
fn as_slug(value: &str) -> String {
    value.to_lowercase().split_whitespace().collect::<Vec<_>>().join("-")
}

/// The positions of a value as a whole word.
pub(super) fn again<'t>(text: &'t str, value: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
    text.match_indices(value).map(|(start, value)| start..start + value.len()).filter(|span| is_apart(text, span))
}

/// True for a range that does not cut a word.
pub(super) fn is_apart(text: &str, span: &Range<usize>) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let value = text.get(span.clone()).unwrap_or_default();
    let before = text.get(..span.start).and_then(|head| head.chars().next_back());
    let after = text.get(span.end..).and_then(|rest| rest.chars().next());
    let (first, last) = (value.chars().next(), value.chars().next_back());
    !(is_word(before) && is_word(first) || is_word(after) && is_word(last))
}

/// True if a text contains a value as a whole word.
pub fn stands_in(text: &str, value: &str) -> bool {
    again(text, value).next().is_some()
}

/// True for a letter of a script that writes no spaces between words: Thai, Lao, Burmese, Khmer, Chinese, Japanese.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c), 0xE00..=0xEFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x3040..=0x30FF | 0x3400..=0x9FFF | 0x2_0000..=0x3_FFFF)
}

/// A text in which a value replaces the placeholders of its name; `None` if there are none.
pub fn put_back(part: Part, text: &str, name: &str, value: &str) -> Option<String> {
    if part == Part::Slug {
        let slug = format!("{SLUG}{name}");
        return text.contains(&slug).then(|| text.replace(&slug, &as_slug(value)));
    }
    let is_named = |place: &Place| place.name.as_ref().is_some_and(|has| has.as_str() == name);
    let spans: Vec<Range<usize>> =
        places(text).into_iter().filter(|(_, place)| is_named(place)).map(|(span, _)| span).collect();
    let mut restored = text.to_owned();
    spans.iter().rev().for_each(|span| restored.replace_range(span.clone(), value));
    (!spans.is_empty()).then_some(restored)
}
