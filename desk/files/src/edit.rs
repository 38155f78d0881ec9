//! Text operations of the commands: strings in, strings out.

use crate::error::FileError;
use crate::path::RelativePath;
use crate::reply::{Reply, numbered};

/// The largest line number that fits into six columns.
const MOST_LINES: usize = 999_999;
/// The number of lines shown above and below a change.
const AROUND: usize = 2;
/// If a text occurs several times, the error lists the line numbers, at most this many.
const MOST_PLACES: usize = 100;
/// The maximum number of characters of the search text in an error.
const MOST_ECHO: usize = 2000;

/// Shows a text, or the requested lines. Lines are counted from 1, the last one is included, and -1 means the end.
pub(crate) fn shown(text: &str, path: &RelativePath, range: Option<(i64, i64)>) -> Result<Reply, FileError> {
    let count = text.split('\n').count();
    if count > MOST_LINES {
        return Err(FileError::TooManyLines { path: path.spelled().to_owned() });
    }
    let (first, last) = match range {
        None => (1, count),
        Some((first, last)) => {
            let first = usize::try_from(first.max(1)).unwrap_or(usize::MAX);
            let last = if last == -1 { count } else { usize::try_from(last.max(0)).unwrap_or(usize::MAX) };
            (first, last.min(count))
        }
    };
    let header = format!("Here's the content of {} with line numbers:", path.spelled());
    Ok(Reply::lines(header, rows(text, first, last), first))
}

/// Replaces a text that occurs once, and shows the result.
pub(crate) fn replaced(text: &str, path: &RelativePath, old: &str, new: &str) -> Result<(String, Reply), FileError> {
    if old.is_empty() {
        return Err(FileError::EmptyOld);
    }
    let Some((before, after)) = text.split_once(old) else {
        return Err(FileError::NoMatch { old: echo(old), path: path.spelled().to_owned() });
    };
    if after.contains(old) {
        return Err(FileError::Several { old: echo(old), lines: places(text, old) });
    }
    let edited = [before, new, after].concat();
    let first = before.matches('\n').count() + 1;
    let last = first + new.matches('\n').count();
    let from = first.saturating_sub(AROUND).max(1);
    let to = (last + AROUND).min(edited.split('\n').count());
    let header =
        "The memory file has been edited. Here is the snippet showing the change (with line numbers):".to_owned();
    let snippet = Reply::lines(header, rows(&edited, from, to), from);
    Ok((edited, snippet))
}

/// Inserts a text after a line; 0 is the top. After the command, the inserted text always ends in a newline.
pub(crate) fn inserted(text: &str, line: i64, insert: &str) -> Result<String, FileError> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let refused = FileError::InsertLine { line, lines: lines.len() };
    let Some((above, below)) = usize::try_from(line).ok().and_then(|line| lines.split_at_checked(line)) else {
        return Err(refused);
    };
    let mut edited = above.concat();
    if !edited.is_empty() && !edited.ends_with('\n') {
        edited.push('\n');
    }
    edited.push_str(insert.trim_end_matches('\n'));
    edited.push('\n');
    edited.push_str(&below.concat());
    if !edited.ends_with('\n') {
        edited.push('\n');
    }
    Ok(edited)
}

fn rows(text: &str, first: usize, last: usize) -> Vec<String> {
    let lines = text.split('\n').enumerate().map(|(at, line)| (at + 1, line));
    lines
        .skip(first.saturating_sub(1))
        .take_while(|(number, _)| *number <= last)
        .map(|(number, line)| numbered(number, line))
        .collect()
}

/// The search text as shown in an error; a long text is shortened.
fn echo(old: &str) -> String {
    match old.char_indices().nth(MOST_ECHO) {
        Some((end, _)) => format!("{}…", old.get(..end).unwrap_or_default()),
        None => old.to_owned(),
    }
}

/// The line numbers where the text begins, one per occurrence, including overlapping ones.
fn places(text: &str, old: &str) -> String {
    let mut numbers = Vec::new();
    let mut line = 1;
    let mut from = 0;
    let mut step = 0;
    while let Some(at) = text.get(from + step..).and_then(|rest| rest.find(old)) {
        let start = from + step + at;
        line += text.get(from..start).unwrap_or_default().matches('\n').count();
        if numbers.len() == MOST_PLACES {
            numbers.push("…".to_owned());
            break;
        }
        numbers.push(line.to_string());
        from = start;
        step = text.get(start..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
    }
    numbers.join(", ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{inserted, replaced};
    use crate::path::RelativePath;

    fn lines(text: &str) -> Vec<&str> {
        text.split_inclusive('\n').map(|line| line.strip_suffix('\n').unwrap_or(line)).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn inserting_moves_lines_and_changes_none(text in "[aé\r\n]{0,12}", insert in "[xy\n]{0,6}", line in -1_i64..8) {
            let before = lines(&text);
            match inserted(&text, line, &insert) {
                Ok(edited) => {
                    let at = usize::try_from(line).unwrap();
                    let new: Vec<&str> = insert.trim_end_matches('\n').split('\n').collect();
                    prop_assert!(edited.ends_with('\n'));
                    prop_assert_eq!(lines(&edited), [&before[..at], &new, &before[at..]].concat());
                }
                Err(_) => prop_assert!(!(0..=i64::try_from(before.len()).unwrap()).contains(&line)),
            }
        }

        #[test]
        fn replacing_changes_one_place_and_shows_all_of_it(text in "[ab\n]{0,14}", old in "[ab\n]{1,3}", new in "[xy\n]{0,8}") {
            let path = RelativePath::parse("/memories/a.txt", "memories").unwrap();
            match replaced(&text, &path, &old, &new) {
                Ok((edited, reply)) => {
                    prop_assert_eq!(text.matches(old.as_str()).count(), 1);
                    prop_assert_eq!(&edited, &text.replace(&old, &new));
                    let shown: Vec<&str> = reply.rows.iter().map(|row| &row[7..]).collect();
                    let shown = shown.join("\n");
                    prop_assert!(shown.contains(&new) && edited.contains(&shown));
                }
                Err(error) => {
                    prop_assert_ne!(text.matches(old.as_str()).count(), 1, "{}", error);
                    // One number per occurrence, overlapping ones included.
                    let places = (0..text.len()).filter(|at| text[*at..].starts_with(&old));
                    let numbers: Vec<String> = places.map(|at| (text[..at].matches('\n').count() + 1).to_string()).collect();
                    let is_told = numbers.is_empty() || error.to_string().contains(&format!("in lines: {}. ", numbers.join(", ")));
                    prop_assert!(is_told, "{}", error);
                }
            }
        }
    }
}
