//! The values that an export writes into a note of a memory: lists, JSON and the UUIDs of linked memories.
//!
//! In one text, they can read like a password (`keywords: [db pass is, runbook]`), and a mask over them would change the
//! structure of the note. So the search for credentials in the whole text leaves them out, and each value is screened
//! alone. All other text is searched as in files that people write.

use std::ops::Range;

use crate::domain::MemoryUuid;

/// The fields of a note whose values the search leaves out. The memory of the note contains these values.
pub(super) const FIELDS: [&str; 3] = ["entities", "keywords", "metadata"];

/// The line before and after the front matter.
const FENCE: &str = "---\n";

/// The text of an exported note, with spaces in place of the values, so that all positions stay the same; `None` if the
/// text is no such note.
pub(super) fn without_values(text: &str) -> Option<String> {
    let (front, _) = text.strip_prefix(FENCE)?.split_once(&format!("\n{FENCE}"))?;
    let is_id = |text: &str| text.trim_matches('"').parse::<MemoryUuid>().is_ok();
    let has_id = front.lines().filter_map(|line| line.strip_prefix("id: ")).any(is_id);
    if !has_id || !front.lines().any(|line| line == "type: memory") {
        return None;
    }
    let mut searched = String::with_capacity(text.len());
    for (at, line) in text.split_inclusive('\n').scan(0, |end, line| {
        *end += line.len();
        Some((*end - line.len(), line))
    }) {
        let value = if at < FENCE.len() + front.len() { value_of(line) } else { uuid_in(line) };
        let Range { start, end } = value.unwrap_or_default();
        searched.push_str(line.get(..start).unwrap_or_default());
        searched.extend(std::iter::repeat_n(' ', end - start));
        searched.push_str(line.get(end..).unwrap_or_default());
    }
    Some(searched)
}

/// The value in a line of the front matter, if it is a list or JSON as an export writes it.
fn value_of(line: &str) -> Option<Range<usize>> {
    let (key, value) = line.trim_end().split_once(": ")?;
    let is_list = value.starts_with('[') && value.ends_with(']') && ["entities", "keywords", "tags"].contains(&key);
    let is_json = value.starts_with("\"{") && value.ends_with("}\"") && key == "metadata";
    (is_list || is_json).then(|| key.len() + 2..key.len() + 2 + value.len())
}

/// The UUID in a line such as `- supersedes [[name|title]] (UUID)`.
fn uuid_in(line: &str) -> Option<Range<usize>> {
    let line = line.trim_end();
    let (head, uuid) = line.strip_prefix("- ")?.strip_suffix(')')?.rsplit_once("]] (")?;
    let is_target = head.contains(" [[") && uuid.parse::<MemoryUuid>().is_ok();
    is_target.then(|| line.len() - 1 - uuid.len()..line.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_values_that_an_export_writes_are_left_out() {
        let id = "0192f3c4-0000-7000-8000-000000000001";
        let front =
            format!("type: memory\nid: \"{id}\"\nkeywords: [db pass is, a]\npasswords: [b]\nmetadata: \"{{}}\"\n");
        let body = format!("keywords: [c]\n- part_of [[x|The pass is]] ({id})\n- password ({id})\n");
        let text = format!("---\n{front}---\n\n{body}");
        let searched = without_values(&text).unwrap();
        assert_eq!(searched.len(), text.len());
        let left = searched.split_inclusive('\n').map(str::trim_end).collect::<Vec<_>>();
        assert_eq!(
            left,
            [
                "---",
                "type: memory",
                &format!("id: \"{id}\""),
                "keywords:",
                "passwords: [b]",
                "metadata:",
                "---",
                "",
                "keywords: [c]",
                &format!("- part_of [[x|The pass is]] ({})", " ".repeat(36)),
                &format!("- password ({id})"),
            ]
        );
        assert_eq!(without_values("---\ntype: note\nkeywords: [a]\n---\n"), None);
        assert_eq!(without_values("keywords: [a]\n"), None);
        assert_eq!(without_values(&text.replace(&format!("\"{id}\""), "5")), None);
    }
}
