//! Tables of Markdown with a column of passwords.

use super::assign::{self, Bond};
use super::nouns::{Class, Noun};
use super::value::Value;
use super::{judge, scan, stand_in};

const MOST_ROWS: usize = 40;
const LONGEST: usize = 4096;

/// The credentials of a column, where a noun is its head.
pub(super) fn column(text: &str, noun: &Noun) -> Vec<Value> {
    let head = scan::head(text, noun.span.start, 300).rsplit('\n').next().unwrap_or_default();
    let is_cell = |part: &str| part.chars().all(|character| " \t*_`".contains(character));
    let before = head.rsplit('|').next().unwrap_or_default();
    let behind = scan::rest(text, noun.span.end, 16).split('|').next().unwrap_or_default();
    let is_head = head.trim_start().starts_with('|') && is_cell(before) && is_cell(behind);
    if !is_head || !matches!(noun.class, Class::Password | Class::Secret | Class::Token) {
        return Vec::new();
    }
    let place = head.matches('|').count();
    let line = noun.span.end + scan::rest(text, noun.span.end, 300).find('\n').map_or(LONGEST, |at| at + 1);
    let mut at = line;
    let mut found = Vec::new();
    for (number, row) in scan::rest(text, line, LONGEST).split_inclusive('\n').take(MOST_ROWS).enumerate() {
        let is_rule = row.bytes().all(|byte| b"|-: \t\r\n".contains(&byte));
        if !row.trim_start().starts_with('|') || (number == 0) != is_rule {
            break;
        }
        found.extend(cell(row, place).filter(|_| number > 0).and_then(|(from, inside)| {
            let span = at + from..at + from + inside.len();
            is_given(inside, noun.class).then_some(Value { span, is_quoted: false })
        }));
        at += row.len();
    }
    found
}

/// The content of a cell, and where in its row it begins.
fn cell(row: &str, place: usize) -> Option<(usize, &str)> {
    let (bar, _) = row.match_indices('|').nth(place.checked_sub(1)?)?;
    let whole = row.get(bar + 1..)?.split('|').next()?;
    let marks: &[char] = &[' ', '\t', '`', '\r', '\n'];
    let start = whole.len() - whole.trim_start_matches(marks).len();
    Some((bar + 1 + start, whole.trim_matches(marks)))
}

fn is_given(inside: &str, class: Class) -> bool {
    inside.len() >= 4
        && !inside.contains(char::is_whitespace)
        && !inside.starts_with(['(', '[', '<', '{'])
        && !stand_in::is_stand_in(inside)
        && !judge::is_technical(inside)
        && !judge::is_expression(inside)
        && if class == Class::Password {
            assign::is_password(inside, false, Bond::Sign)
        } else {
            inside.len() >= 12 && judge::is_drawn(inside)
        }
}

#[cfg(test)]
mod tests {
    use super::super::nouns;
    use super::*;

    fn cells(text: &str) -> Vec<&str> {
        let at = text.to_ascii_lowercase().find("pass").unwrap();
        let noun = nouns::noun_of(text, &nouns::name_at(text, &(at..at + 4)));
        noun.map(|noun| column(text, &noun)).unwrap_or_default().into_iter().map(|value| &text[value.span]).collect()
    }

    #[test]
    fn the_cells_below_a_noun_are_taken() {
        let text = "| host | user | Password |\n|---|---|---|\n| nas | root | `k9mV2xq7` |\n| oak | (in vault) | |\n";
        assert_eq!(cells(text), ["k9mV2xq7"]);
        assert!(cells("| name | password policy |\n|---|---|\n| admin | 16 characters |\n").is_empty());
        assert!(cells("| column | type |\n|---|---|\n| password | varchar(255) |\n").is_empty());
        assert!(cells("| password | k9mV2xq7 |\n").is_empty());
    }
}
