//! Placeholders instead of credentials: templates, asterisks, sequences, and words such as "example".

use super::{judge, letters};

/// Words of placeholders, alone or as a part of a name.
const STAND_INS: &str = "example changeme change placeholder redacted dummy your insert replace todo fixme foobar sample masked \
     fake invalid short goes here enter xxx removed hidden scrubbed filtered omitted none null undefined \
     required optional unset missing tbd bogus mock signature bad somepassword mypassword yourpassword notset";
/// Complete values that are common in examples.
const EXAMPLES: &str = "secret supersecret topsecret password passwd pass passwort test admin root guest user username hunter \
     string token foo bar demo default value mysecret postgres opensesame letmein login key apikey swordfish \
     qwerty";

/// The claims of the example JWT in documentation: the subject 1234567890 with the name John Doe.
const DOCUMENTED_CLAIMS: &str = ".eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6Ikpv";

/// True for a placeholder: templates, names of variables, asterisks, repetitions, sequences, and words such as
/// "example".
pub(super) fn is_stand_in(value: &str) -> bool {
    let shape = judge::Shape::of(value);
    shape.length == 0
        || is_template(value)
        || is_monotone(value, shape.length)
        || is_in_order(value)
        || says_so(value)
        || value.contains(DOCUMENTED_CLAIMS)
        || value.contains("...")
        || value.contains('…')
}

/// True for templates, names of variables, and repetitions of one character. Such a text is never a secret.
pub(super) fn is_template_or_row(value: &str) -> bool {
    let length = value.chars().count();
    length == 0 || is_template(value) || length >= 4 && is_monotone(value, length) || value.contains("...")
}

/// True for a template, in which a program fills in the value.
fn is_template(value: &str) -> bool {
    const OPENINGS: [&str; 16] = [
        "${", "$(", "{{", "<%", "#{", "%(", "@{", "[[", "$env", "!secret", "!vault", "ENC[", "op://", "vault:",
        "file:", "arn:",
    ];
    const INSIDE: [&str; 10] = ["[:", "[a-z", "[A-Z", "[0-9", "[^", "${", "$(", "{{", "<%=", "#{"];
    let is_wrapped = |open, close| value.starts_with(open) && value.ends_with(close) && value.len() > 2;
    OPENINGS.iter().any(|opening| value.starts_with(opening))
        || INSIDE.iter().any(|inside| value.contains(inside))
        || is_wrapped('<', '>')
        || is_wrapped('{', '}')
        || is_wrapped('[', ']')
        || is_wrapped('%', '%')
        || value.starts_with("[secret ")
        || is_variable(value)
        || value.contains("%s") && (value.len() <= 4 || judge::words_in_hundred(value) > 50)
        || has_slot(value)
        || value.strip_prefix('%').is_some_and(|rest| rest.strip_suffix('%').is_some_and(judge::is_name))
}

/// `/v1/{mount}/login`: a name in braces.
fn has_slot(value: &str) -> bool {
    value.match_indices('{').any(|(at, _)| {
        let inside = value.get(at + 1..).and_then(|rest| rest.split_once('}')).map(|(inside, _)| inside);
        inside.is_some_and(|inside| inside.len() > 2 && judge::is_name(inside) && judge::words_in_hundred(inside) > 50)
    })
}

/// True for a variable such as `$NAME`, `\$name[`, `$name->x`, `$name/x`.
fn is_variable(value: &str) -> bool {
    let Some(rest) = value.trim_start_matches('\\').strip_prefix('$') else { return false };
    let name = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let is_begun = rest.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    // `$Kx9mQ2vT4` begins with the symbol but is not a variable.
    let is_drawn = name == rest.len() && rest.len() > 8 && judge::words_in_hundred(rest) < 30;
    is_begun
        && !is_drawn
        && rest
            .get(name..)
            .is_some_and(|after| after.is_empty() || after.starts_with(['[', '(', '.', ':', '/', '-', '\\']))
}

/// Repetitions of one character: `xxxxxxxx`, `****`, `0000`.
fn is_monotone(value: &str, length: usize) -> bool {
    let mut in_rows = 0;
    let (mut last, mut row) = ('\0', 0);
    for character in value.chars().chain(['\0']) {
        if character == last {
            row += 1;
        } else {
            in_rows += if row >= 4 { row } else { 0 };
            (last, row) = (character, 1);
        }
    }
    let mut distinct = value.chars().filter(|character| *character != '-').collect::<Vec<_>>();
    distinct.sort_unstable();
    distinct.dedup();
    in_rows * 10 > length * 3 || distinct.len() <= 2.min(length.saturating_sub(2))
}

/// Letters and digits in sequence: `abcdef123456`, `a1b2c3d4`, `AbCdEfGh`.
fn is_in_order(value: &str) -> bool {
    let plain: Vec<u8> =
        value.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_lowercase()).collect();
    // Text between letters of other scripts is not a sequence.
    if plain.len() < 6 || !value.is_ascii() {
        return false;
    }
    let letters: Vec<u8> = plain.iter().copied().filter(u8::is_ascii_lowercase).collect();
    // Hexadecimal digits have few letters, which are often in sequence by chance.
    let is_wide = letters.iter().any(|letter| *letter > b'f');
    is_mostly_in_order(&plain) || letters.len() >= 6 && is_wide && is_mostly_in_order(&letters)
}

fn is_mostly_in_order(plain: &[u8]) -> bool {
    let mut is_ordered = vec![false; plain.len()];
    // People alter keys for notes with short sequences. A long key is an example only if most of it counts up.
    let is_long = plain.len() >= 32 && plain.iter().all(u8::is_ascii_hexdigit);
    for by in 1..=3 {
        for is_next in [is_after, is_before].into_iter().take(if is_long && by > 1 { 1 } else { 2 }) {
            mark_rows(plain, by, is_next, &mut is_ordered);
        }
    }
    is_ordered.iter().filter(|ordered| **ordered).count() * 100 >= plain.len() * 60
}

fn is_after(first: u8, second: u8) -> bool {
    first.wrapping_add(1) == second || matches!((first, second), (b'9', b'0' | b'a') | (b'z', b'a'))
}

fn is_before(first: u8, second: u8) -> bool {
    is_after(second, first)
}

/// Sets a flag for each character of a sequence such as `abc` or `123`. It compares characters that are `by` positions
/// apart.
fn mark_rows(plain: &[u8], by: usize, is_next: fn(u8, u8) -> bool, is_ordered: &mut [bool]) {
    let mut row = 0;
    for (at, (first, second)) in plain.iter().zip(plain.iter().skip(by)).enumerate() {
        row = if is_next(*first, *second) { row + 1 } else { 0 };
        let is_row = row > 2 || row == 2 && by == 1;
        let marked = if is_row { is_ordered.get_mut(at + 1 - row..=at + by) } else { None };
        marked.into_iter().flatten().for_each(|ordered| *ordered = true);
    }
}

/// True if the words of a value show that it is a placeholder.
fn says_so(value: &str) -> bool {
    // `Password?` asks, and `Password*` is the label of a field.
    let plain = unleet(value.trim_end_matches(['?', '*', ':']));
    if letters::is_among(EXAMPLES, &plain) {
        return true;
    }
    // `mysecretpassword`, `password123`, `my_password`.
    let is_plain =
        value.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-.".contains(&byte));
    let word = value.trim_end_matches(|last: char| last.is_ascii_digit());
    let is_example = ["secret", "pass", "token", "test"].contains(&word) && value.len() - word.len() <= 3;
    if is_example {
        return true;
    }
    let named = ["password", "passwort", "passwd"].iter().any(|noun| value.contains(noun));
    if is_plain && named && value.bytes().filter(u8::is_ascii_digit).count() <= 3 {
        return true;
    }
    // Long random values contain any four letters by chance.
    letters::runs(letters::rest(value, 0, 128)).any(|(start, run)| {
        let edge = |at: Option<usize>| {
            at.and_then(|at| value.as_bytes().get(at)).is_none_or(|byte| !byte.is_ascii_digit() && *byte != b'+')
        };
        let is_whole = edge(start.checked_sub(1)) && edge(Some(start + run.len()));
        let lower = run.to_ascii_lowercase();
        STAND_INS.split(' ').any(|stand_in| {
            lower == stand_in && (is_whole || stand_in.len() > 5) || stand_in.len() > 6 && lower.contains(stand_in)
        })
    })
}

/// Converts a value to lowercase, and replaces digits and symbols by the letters for which they stand.
fn unleet(value: &str) -> String {
    let letter = |byte: u8| match byte {
        b'$' | b'5' => Some('s'),
        b'0' => Some('o'),
        b'1' | b'!' | b'|' => Some('l'),
        b'3' => Some('e'),
        b'@' | b'4' => Some('a'),
        b'7' => Some('t'),
        byte if byte.is_ascii_alphabetic() => Some(char::from(byte.to_ascii_lowercase())),
        b'_' | b'-' | b'.' | b' ' => None,
        byte => Some(char::from(byte)),
    };
    let value = value.trim_start_matches('$');
    value.bytes().take(32).filter_map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_the_place_of_a_credential_is_none() {
        for value in [
            "",
            "xxxxxxxxxxxx",
            "****",
            "<password>",
            "${PASS}",
            "$PASS",
            "%PASS%",
            "{{ x }}",
            "changeme",
            "CHANGE_ME",
            "your-api-key",
            "YOUR_KEY_HERE",
            "abcdef123456",
            "0123456789abcdef",
            "a1b2c3d4e5f6",
            "super$ecret",
            "s3cr3t",
            "AbCdEfGhIjKl",
            "p@ssw0rd",
            "[REDACTED]",
            "example-token",
            "hf_xxxxxxxx",
            "#{secret}",
            "sk-EXAMPLE",
            "[secret s7",
        ] {
            assert!(is_stand_in(value), "{value}");
        }
        for value in ["Passw0rd*1053", "hunter2x9", "vxssv$mkdil", "Tr0ub4dor&3", "9f1cb4ae46ec494b2e2bb8198addfca2"] {
            assert!(!is_stand_in(value), "{value}");
        }
    }
}
