//! Names that go with a password and are drawn themselves: the first half of a pair of keys.
//!
//! `app`, `bob` and `svc-reports` are words and stay: who reads the text wants to know them. What nobody would choose as a
//! name was given out with the password, and is of use to nobody but who has both.

use super::value::{self, Value};
use super::{judge, letters, scan, stand_in};

const FURTHEST: usize = 250;

/// The drawn name that stands before a password or its noun, in a syntax that a program reads.
pub(super) fn drawn_before(text: &str, noun: usize) -> Option<Value> {
    const NOUNS: [&str; 4] = ["user", "uid", "-u ", "login"];
    let head = scan::head(text, noun, FURTHEST);
    let from = noun - head.len();
    let lower = head.to_ascii_lowercase();
    let (at, name) = NOUNS.iter().filter_map(|name| lower.rfind(name).map(|at| (from + at, *name))).max()?;
    let is_option = matches!(scan::byte(text, at.wrapping_sub(1)), b'-') || name == "-u ";
    // `User Id`, `user_name`, `userID`.
    let most = if name == "-u " { 0 } else { 8 };
    let end = scan::on_while(text, at + name.len(), most, |byte| byte.is_ascii_alphabetic() || byte == b'_');
    let end = if scan::begins(scan::rest(text, end, 3), " id") { end + 3 } else { end };
    let closed = scan::on_while(text, end, 4, |byte| b"\"'\\]".contains(&byte));
    let blanks = scan::after_blanks(text, closed);
    let sign = scan::on_while(text, blanks, 3, |byte| b"=:>,".contains(&byte));
    if sign == blanks && !is_option {
        return None;
    }
    let at = scan::after_blanks(text, sign);
    let value = if value::is_quote(text, at) { value::quoted(text, at)? } else { value::bare(text, at, false)? };
    let inside = text.get(value.span.clone())?;
    (value.span.end <= noun && is_drawn(inside)).then_some(value)
}

/// True of a name that is no word, no word with a number, and no path of words.
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
