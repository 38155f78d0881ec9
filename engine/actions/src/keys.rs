//! The keys under which a store finds the notes that may bind to an action.
//!
//! A note has few keys, so that a table of all keys is small. An action has many keys.

use std::collections::BTreeSet;

use crate::action::{Action, hash};
use crate::note::{Kind, Note, Term};
use crate::path;
use crate::stance::{Stance, is_empty_word};

/// Maximum keys of a note.
const MOST_OF_NOTE: usize = 32;
/// Maximum keys of an action.
const MOST_OF_ACTION: usize = 4_000;

impl Note {
    /// The keys of the note, in ascending order. A note without advice has no keys.
    pub fn keys(&self) -> Vec<i64> {
        if self.cues.iter().all(|count| *count == 0) {
            return Vec::new();
        }
        let places = self.places.iter().flat_map(|place| literals(&place.pattern)).map(|part| path_key(&part));
        let names = self.terms.iter().filter(|term| matches!(term.kind, Kind::Code | Kind::Flag));
        let plain = self.terms.iter().filter(|term| term.kind == Kind::Plain && term.stance != Stance::Open);
        let words = names.chain(plain).filter(|term| !is_empty_word(&term.word)).map(|term| word_key(&term.word));
        let pairs = self.terms.windows(2).filter_map(|pair| match pair {
            [one, two]
                if is_common(one) && !is_empty_word(&two.word) || is_common(two) && !is_empty_word(&one.word) =>
            {
                Some(pair_key(&one.word, &two.word))
            }
            _ => None,
        });
        let mut keys = BTreeSet::new();
        for key in places.chain(words).chain(pairs) {
            if keys.len() == MOST_OF_NOTE {
                break;
            }
            keys.insert(key);
        }
        keys.into_iter().collect()
    }
}

impl Action {
    /// The keys of notes that may bind to the action.
    pub fn keys(&self) -> Vec<i64> {
        let files = self.writes.iter().chain(&self.names);
        let parts = files.flat_map(|file| {
            let extension = path::name(file).rsplit_once('.').map(|(_, extension)| [".", extension].concat());
            file.split('/').map(str::to_owned).chain(extension).collect::<Vec<_>>()
        });
        let parts = parts.map(|part| path_key(&part));
        let words = self.commands.hashes().chain(self.code.hashes());
        let mut keys = BTreeSet::new();
        for key in parts.chain(words.map(u64::cast_signed)) {
            if keys.len() == MOST_OF_ACTION {
                break;
            }
            keys.insert(key);
        }
        keys.into_iter().collect()
    }
}

fn is_common(term: &Term) -> bool {
    term.kind == Kind::Common
}

fn word_key(word: &str) -> i64 {
    hash(std::iter::once(word)).cast_signed()
}

fn pair_key(one: &str, two: &str) -> i64 {
    hash([one, two].into_iter()).cast_signed()
}

fn path_key(part: &str) -> i64 {
    hash(["/", part].into_iter()).cast_signed()
}

/// The part of a pattern that every matching path contains: the last part without wildcards, otherwise the extensions.
fn literals(pattern: &str) -> Vec<String> {
    let is_plain =
        |part: &&str| !part.is_empty() && !part.contains(['*', '{', '?', '[', '<']) && ![".", ".."].contains(part);
    if let Some(part) = pattern.trim_end_matches("/...").split('/').rfind(is_plain) {
        return vec![part.to_owned()];
    }
    let extension = pattern.rsplit_once('.').map_or("", |(_, extension)| extension);
    let alternatives = extension.trim_matches(['{', '}']).split(',').map(str::trim);
    alternatives.filter(|part| !part.is_empty() && !part.contains('*')).map(|part| [".", part].concat()).collect()
}
