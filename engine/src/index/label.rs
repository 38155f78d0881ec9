//! Labels: the values for filters, stored as terms that no text can contain.

use xxhash_rust::xxh3::xxh3_64;

use crate::domain::{Category, MemoryType, Scope, Tag};
use crate::text::fold;

/// A property of a memory that can be filtered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label<'a> {
    /// Its category.
    Category(&'a Category),
    /// Its type.
    Type(MemoryType),
    /// One of its tags.
    Tag(&'a Tag),
    /// An entity of the memory, in lowercase and without accents.
    Entity(&'a str),
    /// Its scope.
    Scope(&'a Scope),
    /// The user who shared it.
    SharedBy(&'a str),
}

/// Terms of a text never begin with this control character.
const MARK: char = '\u{1}';
/// A blob stores the length of a term in one byte.
const MOST_BYTES: usize = 255;

impl Label<'_> {
    /// The label's term in an index. A label of more than 255 bytes is cut, and a hash of the complete label is added.
    pub fn term(&self) -> String {
        let mut term = self.whole();
        if term.len() > MOST_BYTES {
            let hash = xxh3_64(term.as_bytes());
            term.truncate(term.floor_char_boundary(MOST_BYTES - 16));
            term.push_str(&format!("{hash:016x}"));
        }
        term
    }

    fn whole(&self) -> String {
        match self {
            Self::Category(category) => format!("{MARK}c{category}"),
            Self::Type(kind) => format!("{MARK}y{kind}"),
            Self::Tag(tag) => format!("{MARK}t{tag}"),
            Self::Entity(name) => format!("{MARK}e{}", fold(name)),
            Self::Scope(scope) => format!("{MARK}s{scope}"),
            Self::SharedBy(user) => format!("{MARK}u{user}"),
        }
    }

    /// True for a term that is a label.
    pub(crate) fn is_label(term: &[u8]) -> bool {
        term.first() == Some(&1)
    }
}
