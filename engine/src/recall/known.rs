//! The words of a question that memories hold: what may be noted of it without keeping the question.

use std::collections::BTreeSet;

use crate::index::IndexView;
use crate::text::{Lexicon, Token, TokenKind, fold, tokenize};

/// Words of a question, at most.
const MOST: usize = 12;
/// Chunks that are looked at: what is asked stands at the beginning of a longer text.
const MOST_CHUNKS: usize = 200;

/// The words of a question that at least one memory of a view holds, in the order of the question and at most twelve.
/// Words that tell little are left out. A plain word is given as it was typed, folded; of anything else exactly the
/// term that the index holds, so that nothing is told that the memories do not say.
pub fn known_words<B: AsRef<[u8]>>(view: &IndexView<'_, B>, question: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let chunks = question.split_whitespace().take(MOST_CHUNKS).flat_map(words_of);
    let words: Vec<(String, String)> = chunks.filter(|(_, term)| seen.insert(term.clone())).collect();
    let terms: Vec<&[u8]> = seen.iter().map(String::as_bytes).collect();
    let postings = view.postings(&terms);
    let held: BTreeSet<&[u8]> =
        terms.into_iter().zip(postings).filter(|(_, rows)| rows.own > 0).map(|(term, _)| term).collect();
    let known = words.iter().filter(|(_, term)| held.contains(term.as_bytes()));
    known.take(MOST).map(|(word, _)| word.clone()).collect()
}

/// The words of a chunk as they are shown, each with its term.
fn words_of(chunk: &str) -> Vec<(String, String)> {
    let lexicon = Lexicon::of_questions();
    let tells = |token: &Token| {
        matches!(token.kind, TokenKind::Word | TokenKind::Compound | TokenKind::Pair)
            && !lexicon.is_light(&token.term)
            && !lexicon.is_everyday(&token.term)
    };
    let tokens = tokenize(chunk);
    let is_plain = tokens.len() == 1;
    let telling = tokens.into_iter().filter(tells);
    telling.map(|token| (if is_plain { shown(chunk) } else { token.term.clone() }, token.term)).collect()
}

fn shown(chunk: &str) -> String {
    let folded = fold(chunk);
    let word = folded.trim_matches(|letter: char| !letter.is_alphanumeric());
    word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word).to_owned()
}
