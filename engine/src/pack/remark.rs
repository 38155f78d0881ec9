//! Remarks of a reply: about memories that were requested by ID, and about lines of the review queue.

use crate::text::{O200k, TokenCounter};

/// What a reply says about some of the requested memories, or about lines of the review queue.
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
    /// Lines of the review queue that match the question.
    Unreviewed,
}

impl Remark {
    /// A line of a text reply. If it has more tokens than `most`, it contains only the number of the memories. Lines of
    /// the review queue are optional, so it contains as many of them as fit, or nothing.
    pub(super) fn line(self, names: &[String], most: u32) -> String {
        let (label, several) = match self {
            Self::Missing => ("No memory", "do not exist"),
            Self::Deleted => ("Deleted", "are deleted"),
            Self::Expired => ("Expired", "are expired"),
            Self::Long => ("Longer than max_tokens", "are longer than max_tokens"),
            Self::Unreviewed => {
                return fitting(names, most, |names| format!("Unreviewed, may be wrong: {}\n", names.join("; ")));
            }
        };
        shortest(format!("{label}: {}.\n", names.join(", ")), format!("{} {several}.\n", names.len()), most)
    }

    /// A member of a JSON reply. If it has more tokens than `most`, its value is the number of the memories. Lines of the
    /// review queue are optional, so it contains as many of them as fit, or nothing.
    pub(super) fn member(self, names: &[String], most: u32) -> String {
        let key = match self {
            Self::Missing => "missing",
            Self::Deleted => "deleted",
            Self::Expired => "expired",
            Self::Long => "too_long",
            Self::Unreviewed => {
                return fitting(names, most, |names| format!(",\"unreviewed\":{}\n", serde_json::json!(names)));
            }
        };
        shortest(format!(",\"{key}\":{}\n", serde_json::json!(names)), format!(",\"{key}\":{}\n", names.len()), most)
    }
}

/// The text with as many of the first names as fit. Empty if not even one fits.
fn fitting(names: &[String], most: u32, text: impl Fn(&[String]) -> String) -> String {
    let fits = |text: &String| O200k.count(text) <= most;
    let shorter = (1..=names.len()).rev().filter_map(|count| names.get(..count));
    shorter.map(text).find(fits).unwrap_or_default()
}

fn shortest(long: String, short: String, most: u32) -> String {
    if O200k.count(&long) <= most { long } else { short }
}
