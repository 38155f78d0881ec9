//! Relations between memories: whether a new memory updates an older one.
//!
//! A memory *updates* an older one if the older one is no longer true as a whole, or if the new one amends it. The
//! older one stays visible, but the newer one comes first. This module is pure: it decides from texts, embeddings and
//! the index.

mod candidates;
mod compared;
mod explicit;
mod pair;
mod phrases;
mod restated;
mod statement;

pub use candidates::{Candidate, candidates};
pub use compared::{CERTAIN, Compared, ComparedWhen, Comparison, found_links, is_compared};
pub use pair::{Beside, FEATURES, Features, Holders};
pub use restated::Restated;

use statement::Statement;

use crate::embedding::as_read;

/// True if two texts have the same words in the same order. One text may be the opposite of a similar one, and
/// embeddings do not show this.
pub fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.to_lowercase(), other.to_lowercase());
    words(&one).eq(words(&other))
}

/// The words of a text in order, without punctuation and quotes.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let bare = |word| str::trim_matches(word, ['.', ',', ';', ':', '!', '?', '"', '\'', '(', ')']);
    text.split_whitespace().map(bare).filter(|word| !word.is_empty())
}

/// A text, prepared for comparisons.
#[derive(Debug, Clone)]
pub struct PreparedText(Statement);

impl PreparedText {
    /// Reads a text. The names of secrets are random, so they are left out.
    pub fn read(text: &str) -> Self {
        Self(Statement::read(&as_read(text)))
    }

    /// The terms of the text, sorted.
    pub fn terms(&self) -> impl Iterator<Item = &str> {
        self.0.terms.keys().map(String::as_str)
    }

    /// How this text restates an older one. `None` if the words do not decide.
    pub fn restates(&self, older: &Self) -> Option<Restated> {
        restated::restates(&self.0, &older.0)
    }

    /// The features of the pairs of this text and each older one.
    pub fn features(&self, older: &[(Self, Beside)], holders: &Holders) -> Vec<Features> {
        let older: Vec<(&Statement, Beside)> = older.iter().map(|(text, beside)| (&text.0, *beside)).collect();
        pair::features(&self.0, &older, holders)
    }
}
