//! Matches a question against forms of questions.
//!
//! A form is a list of words. A word matches itself, and `a|b` matches either word. `~4` matches at most four words. `^`
//! matches the beginning of a sentence or a request, and `$` the end of the question. `!a|b` means that the next word is
//! neither `a` nor `b`.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;

/// A word of a question.
pub(super) struct Word<'a> {
    /// The word as written.
    pub(super) shown: &'a str,
    /// The word in lower case, without accents.
    pub(super) folded: String,
    /// True for the first word of a sentence or of a request.
    is_first: bool,
}

/// The first 400 words of a question.
pub(super) fn words_of(query: &str) -> Vec<Word<'_>> {
    let mut words: Vec<Word<'_>> = Vec::new();
    let mut is_first = true;
    for part in query.split_whitespace().take(400) {
        let shown = part.trim_matches(|c: char| !c.is_alphanumeric());
        let folded = folded(shown);
        // `can you summarise` and `please summarise` count like `summarise` at the beginning.
        let is_polite =
            matches!(folded.as_str(), "please" | "can" | "could" | "would" | "you" | "ok" | "hey" | "so" | "now");
        if !folded.is_empty() {
            words.push(Word { shown, folded, is_first });
            is_first &= is_polite;
        }
        is_first |= part.ends_with(['.', '!', '?', ':', ';', '—']);
    }
    words
}

/// A word in lower case, without accents, so that a form matches a word that is typed without them.
fn folded(word: &str) -> String {
    let word = word.to_lowercase().replace('’', "'");
    if word.is_ascii() { word } else { word.nfd().filter(|c| !matches!(c, '\u{300}'..='\u{36f}')).nfc().collect() }
}

/// The words that the first matching form covers.
pub(super) fn first_match(forms: &[&str], words: &[Word<'_>]) -> Option<Range<usize>> {
    forms.iter().find_map(|form| {
        let parts: Vec<&str> = form.split(' ').collect();
        (0..words.len()).find_map(|start| Some(start..end_of(&parts, words, start)?))
    })
}

/// The words that each form covers, at every position where it matches.
pub(super) fn all_matches(forms: &[&str], words: &[Word<'_>]) -> Vec<Range<usize>> {
    let of = |form: &&str| {
        let parts: Vec<&str> = form.split(' ').collect();
        (0..words.len()).filter_map(move |start| Some(start..end_of(&parts, words, start)?)).collect::<Vec<_>>()
    };
    forms.iter().flat_map(of).collect()
}

/// For each word, whether a form of one of the lists covers it.
pub(super) fn covered(lists: &[&[&str]], words: &[Word<'_>]) -> Vec<bool> {
    let mut is_covered = vec![false; words.len()];
    for said in lists.iter().flat_map(|forms| all_matches(forms, words)) {
        is_covered.get_mut(said).into_iter().flatten().for_each(|covered| *covered = true);
    }
    is_covered
}

/// The position at which a form ends if it begins at the word `at`.
fn end_of(parts: &[&str], words: &[Word<'_>], at: usize) -> Option<usize> {
    let Some((part, rest)) = parts.split_first() else { return Some(at) };
    let word = words.get(at);
    if *part == "^" {
        return word.filter(|word| word.is_first).and_then(|_| end_of(rest, words, at));
    }
    if let Some(most) = part.strip_prefix('~').and_then(|most| most.parse::<usize>().ok()) {
        return (at..=(at + most).min(words.len())).find_map(|next| end_of(rest, words, next));
    }
    if let Some(not) = part.strip_prefix('!') {
        let is_that = word.is_some_and(|word| not.split('|').any(|one| one == word.folded));
        return if is_that { None } else { end_of(rest, words, at) };
    }
    let fits = part.split('|').any(|one| word.map_or(one == "$", |word| word.folded == one));
    if fits { end_of(rest, words, (at + 1).min(words.len())) } else { None }
}
