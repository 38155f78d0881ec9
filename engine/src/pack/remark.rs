//! Remarks about memories that were requested by ID.

use crate::text::{O200k, TokenCounter};

/// What a reply says about some of the requested memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remark {
    /// They do not exist.
    Missing,
    /// They are deleted, so the reply does not contain them.
    Deleted,
    /// Their time is over.
    Expired,
    /// Their texts need more tokens than the budget has.
    Long,
}

impl Remark {
    /// A line of a text reply. If it has more tokens than `most`, it contains only the number of the memories.
    pub(super) fn line(self, names: &[String], most: u32) -> String {
        let (label, several) = match self {
            Self::Missing => ("No memory", "do not exist"),
            Self::Deleted => ("Deleted", "are deleted"),
            Self::Expired => ("Expired", "are expired"),
            Self::Long => ("Longer than max_tokens", "are longer than max_tokens"),
        };
        shortest(format!("{label}: {}.\n", names.join(", ")), format!("{} {several}.\n", names.len()), most)
    }

    /// A member of a JSON reply. If it has more tokens than `most`, its value is the number of the memories.
    pub(super) fn member(self, names: &[String], most: u32) -> String {
        let key = match self {
            Self::Missing => "missing",
            Self::Deleted => "deleted",
            Self::Expired => "expired",
            Self::Long => "too_long",
        };
        shortest(format!(",\"{key}\":{}\n", serde_json::json!(names)), format!(",\"{key}\":{}\n", names.len()), most)
    }
}

fn shortest(long: String, short: String, most: u32) -> String {
    if O200k.count(&long) <= most { long } else { short }
}
