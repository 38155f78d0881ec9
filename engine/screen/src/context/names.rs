//! Random user names that belong to a password, such as the ID of a key pair.
//!
//! User names such as `app`, `bob` and `svc-reports` consist of ordinary words. Such names are not redacted, because
//! they are useful to readers. A random name was issued with the password and is useless without it.
//!
//! Also handles Markdown tables with a column of passwords.

use super::assign::Bond;
use super::nouns::{Class, Noun};
use super::value::Value;
use super::{assign, judge, letters, stand_in, value};

const FURTHEST: usize = 250;

/// The random name before a password or its noun, in the syntax of programs.
pub(super) fn drawn_before(text: &str, noun: usize) -> Option<Value> {
    const NOUNS: [&str; 4] = ["user", "uid", "-u ", "login"];
    let head = letters::head(text, noun, FURTHEST);
    let from = noun - head.len();
    let lower = head.to_ascii_lowercase();
    let (at, name) = NOUNS.iter().filter_map(|name| lower.rfind(name).map(|at| (from + at, *name))).max()?;
    let is_option = matches!(letters::byte(text, at.wrapping_sub(1)), b'-') || name == "-u ";
    // `User Id`, `user_name`, `userID`.
    let most = if name == "-u " { 0 } else { 8 };
    let end = letters::on_while(text, at + name.len(), most, |byte| byte.is_ascii_alphabetic() || byte == b'_');
    let end = if letters::begins(letters::rest(text, end, 3), " id") { end + 3 } else { end };
    let closed = letters::on_while(text, end, 4, |byte| b"\"'\\]".contains(&byte));
    let blanks = letters::after_blanks(text, closed);
    let sign = letters::on_while(text, blanks, 3, |byte| b"=:>,".contains(&byte));
    if sign == blanks && !is_option {
        return None;
    }
    let at = letters::after_blanks(text, sign);
    let value = if value::is_quote(text, at) { value::quoted(text, at)? } else { value::bare(text, at, false)? };
    let inside = text.get(value.span.clone())?;
    (value.span.end <= noun && is_drawn(inside)).then_some(value)
}

/// True for a name that is neither a word, nor a word with a number, nor a path of words.
pub(super) fn is_drawn(name: &str) -> bool {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.@\\".contains(&byte));
    let name = name.split('@').next().unwrap_or_default();
    is_plain
        && (6..=64).contains(&name.len())
        && !stand_in::is_stand_in(name)
        && !judge::is_technical(name)
        && !judge::is_expression(name)
        && !judge::is_constant(name)
        && judge::words_in_hundred(name) < 40
        && (judge::is_drawn(name)
            || letters::cost(name) >= 55
            || letters::runs(name).any(|(_, run)| run.len() >= 6 && letters::cost(run) >= 55))
}

const MOST_ROWS: usize = 40;
const LONGEST: usize = 4096;

/// Returns the credentials in a table column whose header is the noun.
pub(super) fn column(text: &str, noun: &Noun) -> Vec<Value> {
    let head = letters::head(text, noun.span.start, 300).rsplit('\n').next().unwrap_or_default();
    let is_cell = |part: &str| part.chars().all(|character| " \t*_`".contains(character));
    let before = head.rsplit('|').next().unwrap_or_default();
    let behind = letters::rest(text, noun.span.end, 16).split('|').next().unwrap_or_default();
    let is_head = head.trim_start().starts_with('|') && is_cell(before) && is_cell(behind);
    if !is_head || !matches!(noun.class, Class::Password | Class::Secret | Class::Token) {
        return Vec::new();
    }
    let place = head.matches('|').count();
    let line = noun.span.end + letters::rest(text, noun.span.end, 300).find('\n').map_or(LONGEST, |at| at + 1);
    let mut at = line;
    let mut found = Vec::new();
    for (number, row) in letters::rest(text, line, LONGEST).split_inclusive('\n').take(MOST_ROWS).enumerate() {
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

/// The content of a cell, and its position in the row.
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
    use super::*;

    #[test]
    fn names_that_people_choose_are_told_from_drawn_ones() {
        for name in [
            "app",
            "bob",
            "svc-reports",
            "admin",
            "postgres",
            "deploy_bot",
            "ada.lovelace",
            "root2",
            "jenkins",
            "kubernetes",
        ] {
            assert!(!is_drawn(name), "{name}");
        }
        for name in ["gnqSJAoB7x", "kwbaadjqfx", "968d498b21", "wfNfrbrbbu"] {
            assert!(is_drawn(name), "{name}");
        }
    }

    #[test]
    fn a_drawn_name_is_found_in_front_of_its_password() {
        for text in [
            "Server=db;User Id=kwbaadjqfx;",
            "user = 'kwbaadjqfx'  # of the app\n",
            "{\"username\": \"kwbaadjqfx\", ",
            "psexec \\\\10.0.0.1 -u kwbaadjqfx ",
            "Connect -User kwbaadjqfx ",
        ] {
            let found = drawn_before(text, text.len()).map(|value| &text[value.span]);
            assert_eq!(found, Some("kwbaadjqfx"), "{text}");
        }
        for text in ["user kwbaadjqfx forgot the ", "user = app, kwbaadjqfx ", "uid=1000(bob) "] {
            assert_eq!(drawn_before(text, text.len()), None, "{text}");
        }
    }
}

#[cfg(test)]
mod tables_tests {
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
