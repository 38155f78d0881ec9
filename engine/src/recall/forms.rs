//! Matches a question against forms of questions.
//!
//! A form is a list of words. A word matches itself, and `a|b` matches either word. `~4` matches at most four words. `^`
//! matches the beginning of a sentence or a request, and `$` the end of the question. `!a|b` means that the next word is
//! neither `a` nor `b`.
#![expect(clippy::indexing_slicing, reason = "evaluated at compile time: a wrong index is a compile error")]

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

/// A form, and what a question must contain to match it. Most forms are excluded by this at once.
pub(super) struct Form {
    text: &'static str,
    /// The bits of the words of the first and of the last part that a word must match. All bits if no part is of this
    /// kind.
    needs: [u64; 2],
}

/// Parses a list of forms as `&'static [Form]`.
macro_rules! forms {
    ($list:expr) => {{
        const TEXTS: &[&str] = tessera_tables::words!($list);
        const FORMS: [$crate::recall::forms::Form; TEXTS.len()] = $crate::recall::forms::Form::of_all(TEXTS);
        &FORMS as &'static [$crate::recall::forms::Form]
    }};
}
pub(super) use forms;

/// The end of a question, as forms write it.
const END: &str = "$";

/// One of 64 bits for a word.
const fn bit(word: &[u8], from: usize, to: usize) -> u64 {
    let (mut hash, mut at) = (0xcbf2_9ce4_8422_2325_u64, from);
    while at < to {
        hash = (hash ^ word[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    1 << (hash >> 58)
}

impl Form {
    const NONE: Self = Self { text: "", needs: [u64::MAX; 2] };

    const fn of(text: &'static str) -> Self {
        let (bytes, mut needs, mut is_first, mut at) = (text.as_bytes(), [u64::MAX; 2], true, 0);
        while at < bytes.len() {
            let (part, mut word, mut bits) = (at, at, 0);
            while at < bytes.len() && bytes[at] != b' ' {
                if bytes[at] == b'|' {
                    bits |= bit(bytes, word, at);
                    word = at + 1;
                }
                at += 1;
            }
            if !matches!(bytes[part], b'^' | b'~' | b'!') {
                needs[1] = bits | bit(bytes, word, at);
                if is_first {
                    needs[0] = needs[1];
                }
                is_first = false;
            }
            at += 1;
        }
        Self { text, needs }
    }

    /// The forms of a list.
    pub(super) const fn of_all<const N: usize>(texts: &[&'static str]) -> [Self; N] {
        let (mut forms, mut at) = ([Self::NONE; N], 0);
        while at < N {
            forms[at] = Self::of(texts[at]);
            at += 1;
        }
        forms
    }

    /// The forms of a list that words may match, given the bits of the words; each in its parts.
    fn possible(forms: &'static [Self], bits: u64) -> impl Iterator<Item = Vec<&'static str>> {
        let possible = forms.iter().filter(move |form| form.needs.iter().all(|needs| needs & bits != 0));
        possible.map(|form| form.text.split(' ').collect())
    }
}

/// The bits of the words of a question and of its end.
fn bits_of(words: &[Word<'_>]) -> u64 {
    let texts = words.iter().map(|word| word.folded.as_bytes()).chain([END.as_bytes()]);
    texts.fold(0, |bits, text| bits | bit(text, 0, text.len()))
}

/// The words that the first matching form covers.
pub(super) fn first_match(forms: &'static [Form], words: &[Word<'_>]) -> Option<Range<usize>> {
    Form::possible(forms, bits_of(words))
        .find_map(|parts| (0..words.len()).find_map(|start| Some(start..end_of(&parts, words, start)?)))
}

/// The words that each form covers, at every position where it matches.
pub(super) fn all_matches(forms: &'static [Form], words: &[Word<'_>]) -> Vec<Range<usize>> {
    let of = |parts: Vec<&str>| {
        (0..words.len()).filter_map(|start| Some(start..end_of(&parts, words, start)?)).collect::<Vec<_>>()
    };
    Form::possible(forms, bits_of(words)).flat_map(of).collect()
}

/// For each word, whether a form of one of the lists covers it.
pub(super) fn covered(lists: &[&'static [Form]], words: &[Word<'_>]) -> Vec<bool> {
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
    let fits = part.split('|').any(|one| word.map_or(one == END, |word| word.folded == one));
    if fits { end_of(rest, words, (at + 1).min(words.len())) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMS: &[Form] = forms!(
        "^ list|show ~3 decisions, what changed, !not latest $, ^ ~2 end|finish $, ~4 who, ab|abc|b, summary ~9 of"
    );

    /// The first form that matches without looking at the bits.
    fn slowly(words: &[Word<'_>]) -> Option<Range<usize>> {
        FORMS.iter().find_map(|form| {
            let parts: Vec<&str> = form.text.split(' ').collect();
            (0..words.len()).find_map(|start| Some(start..end_of(&parts, words, start)?))
        })
    }

    #[test]
    fn the_bits_exclude_no_form_that_matches() {
        let some = [
            "list",
            "show",
            "the",
            "decisions",
            "what",
            "changed",
            "not",
            "latest",
            "finish",
            "end",
            "b",
            "abc",
            "of",
            "summary.",
            "who",
            "x",
        ];
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..5_000 {
            let text: Vec<&str> = (0..random.usize(0..6)).filter_map(|_| random.choice(some)).collect();
            let text = text.join(" ");
            let words = words_of(&text);
            assert_eq!(first_match(FORMS, &words), slowly(&words), "{text}");
            let all = all_matches(FORMS, &words);
            assert_eq!(all.iter().min_by_key(|range| range.start).is_some(), slowly(&words).is_some(), "{text}");
        }
    }
}
