//! Tokens that are known by their own look: prefix, alphabet, length, checksum.

use crate::finding::Finding;

pub(crate) fn findings(_text: &str) -> Vec<Finding> {
    Vec::new()
}
