//! A name and a password together: `login: admin / admin123`, `log in as bob with x`.
//!
//! Also finds secrets in a column of a table, with or without a line below its header.

use std::ops::Range;

use super::line::{Line, place_of};
use super::nouns::Stated;
use super::words::Sort;
use super::{PASSWORD, value};
use crate::place::Finding;

/// Words before a name and a password.
const LOGINS: &str = "login logins log sign user username account credential credentials creds auth bind benutzer usuario identifiants zugang вход логин";

/// Adds the passwords after user names and after options of commands.
pub(super) fn find(line: &Line<'_>, found: &mut Vec<Finding>) {
    let text = line.head(line.span.end);
    if ![" -", "/", ":", "with"].iter().any(|sign| text.contains(sign)) || line.is_code() {
        return;
    }
    let is_login = line.words.iter().any(|word| LOGINS.split_ascii_whitespace().any(|login| login == word.lower));
    let words: Vec<&str> = text.split_whitespace().collect();
    let of_login = || behind_slash(&words).or_else(|| behind_with(&words)).or_else(|| behind_colon(&words));
    let taken = of_command(&words).or_else(|| is_login.then(of_login).flatten());
    let Some(word) = taken.map(value::trimmed).filter(|word| is_given(word)) else { return };
    let start = line.span.start + place_of(word, text);
    found.push(Finding { span: start..start + word.len(), kind: PASSWORD });
}

/// The value of a command's password option, which may be any word.
fn of_command<'a>(words: &[&'a str]) -> Option<&'a str> {
    const COMMANDS: [(&str, &str); 3] = [("sshpass", "-p"), ("redis-cli", "-a"), ("ldapsearch", "-w")];
    let (_, option) =
        COMMANDS.iter().find(|(command, _)| words.iter().any(|word| word.trim_matches('`') == *command))?;
    let at = words.iter().position(|word| word == option)?;
    words.get(at + 1).copied().filter(|word| !word.starts_with(['\'', '"', '-']))
}

/// Finds pairs such as `basic auth on staging is acme:x`.
fn behind_colon<'a>(words: &[&'a str]) -> Option<&'a str> {
    let at = words.windows(2).position(|two| matches!(two, ["is", pair] if pair.matches(':').count() == 1))?;
    let (name, password) = words.get(at + 1)?.split_once(':')?;
    let is_port = password.bytes().all(|byte| byte.is_ascii_digit());
    (is_name(name) && !is_port && password.bytes().any(|byte| byte.is_ascii_digit())).then_some(password)
}

/// The password after a name and a separator: `login: admin / x`, `login: admin/x`, `credential for the FTP: bob / x`.
fn behind_slash<'a>(words: &[&'a str]) -> Option<&'a str> {
    let lead = words.iter().position(|word| word.len() > 2 && word.ends_with([':', '=']))?;
    let rest = words.get(lead + 1..)?;
    match rest {
        [name, "/" | "|" | ":", password, ..] if is_name(name) => Some(password),
        [pair, ..] if lead == 0 && is_of_login(words.first()?) => {
            let (name, password) = pair.split_once('/')?;
            (is_name(name) && !password.contains('/')).then_some(password)
        }
        _ => None,
    }
}

/// The password in `log into grafana as viewer with x`.
fn behind_with<'a>(words: &[&'a str]) -> Option<&'a str> {
    let at = words.windows(4).position(|four| match four {
        [by, name, with, _] => *by == "as" && *with == "with" && is_name(name),
        _ => false,
    })?;
    words.get(at + 3).copied()
}

fn is_of_login(word: &str) -> bool {
    let name = word.trim_end_matches([':', '=']).to_lowercase();
    LOGINS.split_ascii_whitespace().any(|login| login == name)
}

fn is_name(word: &str) -> bool {
    word.len() >= 2 && word.chars().all(|letter| letter.is_alphanumeric() || "._-@+".contains(letter))
}

fn is_given(word: &str) -> bool {
    const OTHERS: [&str; 14] =
        ["a", "an", "the", "your", "my", "his", "her", "google", "email", "password", "sso", "github", "no", "full"];
    let length = word.chars().count();
    (4..=60).contains(&length)
        && !OTHERS.contains(&word.to_lowercase().as_str())
        && !word.starts_with(['$', '<', '{', '/', '~'])
        && !word.contains(['/', '(', '{', '<', '*'])
}

/// Maximum rows.
const MOST_ROWS: usize = 60;

/// The cells in the column of which the noun is the header.
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

/// True if the noun is a complete cell, and its row has other cells.
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
