//! Lines of the review queue in a reply. They are optional: a reply contains as many as fit into a part of its budget.

use serde::Serialize;

use crate::text::{O200k, TokenCounter};

/// A line that waits for review, as a reply shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct UnreviewedLine {
    /// Its ID.
    pub id: String,
    /// Its text in one line, perhaps cut at its end.
    pub content: String,
}

/// The first lines that fit, and how a text reply shows them. Nothing if not even one fits.
pub(super) fn as_text(lines: &[UnreviewedLine], most: u32) -> Option<(&[UnreviewedLine], String)> {
    let shown = |line: &UnreviewedLine| format!("{} \"{}\"", line.id, line.content);
    fitting(lines, most, |lines| {
        let shown: Vec<String> = lines.iter().map(shown).collect();
        format!("Unreviewed, may be wrong: {}\n", shown.join("; "))
    })
}

/// The first lines that fit, and the member of a JSON reply with them. Nothing if not even one fits.
pub(super) fn as_json(lines: &[UnreviewedLine], most: u32) -> Option<(&[UnreviewedLine], String)> {
    fitting(lines, most, |lines| format!(",\"unreviewed\":{}\n", serde_json::json!(lines)))
}

fn fitting(
    lines: &[UnreviewedLine],
    most: u32,
    render: impl Fn(&[UnreviewedLine]) -> String,
) -> Option<(&[UnreviewedLine], String)> {
    let shorter = (1..=lines.len()).rev().filter_map(|count| lines.get(..count));
    shorter.map(|lines| (lines, render(lines))).find(|(_, text)| O200k.count(text) <= most)
}
