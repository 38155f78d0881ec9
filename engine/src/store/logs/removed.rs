//! Texts that were removed for good, looked for in other texts: all of them in one pass.

use std::collections::{BTreeMap, BTreeSet};

use aho_corasick::{AhoCorasick, MatchKind};

/// Bytes of a line from which on it tells its text from others.
const TELLING: usize = 16;

/// The texts, ready to be looked for.
pub(crate) struct Removed {
    automaton: Option<AhoCorasick>,
    /// For each pattern: the text that it is, or of which texts it is a line.
    patterns: Vec<Pattern>,
    /// For each text, how many of its lines tell it.
    lines: Vec<usize>,
}

#[derive(Default)]
struct Pattern {
    is_whole: bool,
    line_of: BTreeSet<usize>,
}

impl Removed {
    /// `texts` as they were stored.
    pub(crate) fn of(texts: &[String]) -> Self {
        let mut patterns: BTreeMap<String, Pattern> = BTreeMap::new();
        let mut lines = Vec::with_capacity(texts.len());
        for (at, text) in texts.iter().enumerate() {
            let whole = folded(text);
            if !whole.is_empty() {
                patterns.entry(whole).or_default().is_whole = true;
            }
            // A heading may be of many texts.
            let is_telling = |line: &String| line.len() >= TELLING && !line.starts_with('#');
            let telling: BTreeSet<String> = text.lines().map(folded).filter(is_telling).collect();
            lines.push(telling.len());
            for line in telling {
                patterns.entry(line).or_default().line_of.insert(at);
            }
        }
        let automaton = AhoCorasick::builder().match_kind(MatchKind::Standard).build(patterns.keys()).ok();
        Self { automaton, patterns: patterns.into_values().collect(), lines }
    }

    /// True where a text says one of them, whole or by most of its lines: a line alone, such as a heading, may be of many texts.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        let Some(automaton) = &self.automaton else { return false };
        let text = folded(text);
        let mut seen = BTreeSet::new();
        let mut found: BTreeMap<usize, usize> = BTreeMap::new();
        for hit in automaton.find_overlapping_iter(&text) {
            if !seen.insert(hit.pattern()) {
                continue;
            }
            let Some(pattern) = self.patterns.get(hit.pattern().as_usize()) else { continue };
            if pattern.is_whole {
                return true;
            }
            for of in &pattern.line_of {
                let count = found.entry(*of).or_default();
                *count += 1;
                if self.lines.get(*of).is_some_and(|all| *count * 2 > *all) {
                    return true;
                }
            }
        }
        false
    }
}

/// A text with one space for each run of white space: logs and queued turns break lines where they like.
fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_whole_or_by_most_of_its_lines_and_not_by_one_that_many_share() {
        let note = "## Open questions of the week\n\nThe zebra lives on birch\nThe okapi lives on alder now";
        let removed = Removed::of(&[note.to_owned(), "short".to_owned(), " ".to_owned()]);
        assert!(removed.is_in(note) && removed.is_in(&note.replace('\n', " \t ")));
        assert!(removed.is_in("it said: The zebra lives on birch, and\nThe okapi lives on alder now"));
        assert!(!removed.is_in("## Open questions of the week\n\nNone."));
        assert!(removed.is_in("in short") && !removed.is_in("sho rt") && !removed.is_in(""));
        assert!(!Removed::of(&[]).is_in("anything"));
    }
}
