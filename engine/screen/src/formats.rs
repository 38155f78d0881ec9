//! Tokens that are known by their own look: prefix, alphabet, length, checksum; and those that are known once the
//! provider or a word for a credential stands before them.

mod alphabet;
mod checksum;
mod look;
mod near;
mod nouns;
mod pattern;
mod prefixed;
mod providers;
mod rows;
#[cfg(test)]
mod tests;

use crate::finding::Finding;

pub(crate) fn findings(text: &str) -> Vec<Finding> {
    let mut found = prefixed::findings(text);
    found.extend(near::findings(text));
    found
}
