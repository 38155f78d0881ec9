//! Converts texts to terms, with one analyzer for memories and queries. Also counts tokens exactly.

mod classes;
mod count;
mod lexicon;
mod normalize;
mod pieces;
mod sentences;
mod stem;
mod stopwords;
mod tokenize;

pub use classes::{is_digit, is_letter, is_lower, is_upper, is_word};
pub use count::{O200k, Remembered, TokenCounter, number_tokens};
pub use lexicon::{Lexicon, WordRelation};
pub use normalize::{is_invisible, is_joiner, joins, shown, without_case_and_space};
pub use pieces::pieces;
pub use sentences::sentences;
pub use stopwords::is_stop_word;
pub use tokenize::{Token, TokenKind, tokenize};

/// The version of the analyzer. If another version of the analyzer computed the stored terms, Tessera computes them
/// again.
pub const ANALYZER_VERSION: u32 = 1;

/// Maximum bytes of a term. A longer term is cut, and gets a hash of the complete term.
pub const MAX_TERM_BYTES: usize = 64;

pub use normalize::fold;
