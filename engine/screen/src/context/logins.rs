//! A name and a password together: `login: admin / x`, `auth = ('bob', 'x')`, `log in with bob:x`.

use super::assign::Bond;
use super::nouns::Noun;
use super::value::Value;
use super::{assign, judge, letters, stand_in, value};

const FURTHEST: usize = 160;
/// Words between a noun and the name, each with a following space.
const BEFORE_NAME: [&str; 10] = ["is ", "with ", "using ", "as ", "mit ", "are ", "avec ", "con ", "[", "user "];
/// Words between the name and the password.
const BETWEEN: [&str; 10] =
    [" and ", " with ", " using ", " password ", " pw ", " und ", " mit ", " et ", " y ", " e "];

/// The password after a noun and a user name.
pub(super) fn value_of(text: &str, noun: &Noun) -> Option<Value> {
    if letters::rest(text, noun.span.end, 2) == "::" {
        return None;
    }
    let rest = letters::rest(text, noun.span.end, FURTHEST);
    let line = rest.lines().next().unwrap_or_default();
    let mut offset = line.find(|character: char| !character.is_whitespace() && !"\"':=(<>*`".contains(character))?;
    for filler in BEFORE_NAME {
        if line.get(offset..).is_some_and(|tail| letters::begins(tail, filler)) {
            offset += filler.len();
        }
    }
    // `auth` and `account` are ordinary words. Only a symbol makes the following text a login.
    let noun_text = text.get(noun.span.clone()).unwrap_or_default().to_ascii_lowercase();
    let is_common = noun_text.ends_with("auth") || noun_text.ends_with("account");
    let lead = line.get(..offset)?;
    if is_common && !lead.contains([':', '=', '(']) && !lead.ends_with(" is ") {
        return None;
    }
    let tail = line.get(offset..)?;
    let name = tail.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"._@-+\\".contains(byte)).count();
    if !(2..=64).contains(&name) {
        return None;
    }
    let after = tail.get(name..)?;
    let start = noun.span.end + offset + name;
    if let Some(between) = BETWEEN.iter().find(|between| letters::begins(after, between)) {
        return password(text, start + between.len());
    }
    let gap = after.bytes().take_while(|byte| b" \"'`,/:|".contains(byte)).count();
    let between = after.get(..gap)?;
    // A mail address is a name, whatever follows.
    if between == " " && tail.get(..name)?.contains('@') {
        return password(text, start + 1);
    }
    if !between.contains(['/', ':', ',', '|']) || between.contains("::") {
        return None;
    }
    let quote = between.char_indices().next_back().filter(|(_, last)| "\"'`".contains(*last));
    password(text, start + quote.map_or(gap, |(place, _)| place))
}

/// The password that begins here, recognised only by its form.
pub(super) fn password(text: &str, at: usize) -> Option<Value> {
    let value = if value::is_quote(text, at) { value::quoted(text, at)? } else { value::bare(text, at, false)? };
    let inside = text.get(value.span.clone())?;
    let bond = if value.is_quoted { Bond::Sign } else { Bond::Beside };
    let is_reference = inside.starts_with(['*', '&', '|']) && judge::words_in_hundred(inside) >= 50;
    let is_one = inside.len() >= 4
        && !is_reference
        && !stand_in::is_stand_in(inside)
        && !judge::is_technical(inside)
        && !judge::is_expression(inside)
        && !inside.starts_with(['(', '[', '{', '<', '-'])
        && assign::is_password(inside, value.is_quoted, bond);
    is_one.then_some(value)
}
