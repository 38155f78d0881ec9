//! Tables with a column of secrets, with or without a rule below their head.

use std::ops::Range;

use super::line::{Line, place_of};
use super::nouns::Stated;
use super::value;
use super::words::Sort;

/// The most rows that are read.
const MOST_ROWS: usize = 60;

/// The cells below a noun that is the head of a column.
pub(super) fn column(lines: &[Line<'_>], number: usize, noun: &Stated) -> Vec<Range<usize>> {
    let Some(head) = lines.get(number) else { return Vec::new() };
    let separator = ['|', '\t', ';'].into_iter().find(|sign| is_cell(head, noun, *sign));
    let fits = matches!(noun.sort, Sort::Password | Sort::Phrase | Sort::Key | Sort::Pin);
    let Some(separator) = separator.filter(|_| fits) else { return Vec::new() };
    let place = head.head(noun.span.start).matches(separator).count();
    let count = head.head(head.span.end).matches(separator).count();
    let mut found = Vec::new();
    for row in lines.iter().skip(number + 1).take(MOST_ROWS) {
        let text = row.head(row.span.end);
        if text.matches(separator).count() != count {
            break;
        }
        let Some(cell) = text.split(separator).nth(place) else { break };
        let inside = value::trimmed(cell.trim());
        let is_rule = inside.bytes().all(|byte| b"-: ".contains(&byte));
        let is_given = (3..=80).contains(&inside.chars().count())
            && inside.split_whitespace().count() <= 3
            && !value::is_none(row, noun, inside)
            && !noun.is_other(&inside.split_whitespace().next().unwrap_or_default().to_lowercase());
        if !is_rule && is_given {
            let start = row.span.start + place_of(inside, text);
            found.push(start..start + inside.len());
        }
    }
    found
}

/// True where the noun is a whole cell of a row with other cells.
fn is_cell(line: &Line<'_>, noun: &Stated, separator: char) -> bool {
    let text = line.head(line.span.end);
    let is_wide = if separator == '|' { text.trim_start().starts_with('|') } else { text.contains(separator) };
    let is_wide = is_wide && !line.is_code();
    let is_empty = |part: Option<&str>| {
        part.is_some_and(|part| part.chars().all(|letter| letter.is_whitespace() || "*_`\"".contains(letter)))
    };
    is_wide
        && is_empty(line.head(noun.span.start).rsplit(separator).next())
        && is_empty(line.rest(noun.span.end).split(separator).next())
}
