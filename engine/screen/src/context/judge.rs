//! Whether a value is a credential: its shape, and what values are that stand for one.

use super::letters;

/// How many of what kind of characters a value has.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Shape {
    pub(super) length: usize,
    pub(super) lower: usize,
    pub(super) upper: usize,
    pub(super) digits: usize,
    /// All others in ASCII but `_`, `-`, `.` and `/`, which join the words of names.
    pub(super) symbols: usize,
    pub(super) joints: usize,
    pub(super) spaces: usize,
    pub(super) foreign: usize,
}

impl Shape {
    pub(super) fn of(value: &str) -> Self {
        let mut shape = Self::default();
        for character in value.chars() {
            shape.length += 1;
            let count = match character {
                'a'..='z' => &mut shape.lower,
                'A'..='Z' => &mut shape.upper,
                '0'..='9' => &mut shape.digits,
                '_' | '-' | '.' | '/' => &mut shape.joints,
                ' ' | '\t' | '\n' | '\r' => &mut shape.spaces,
                _ if character.is_ascii() => &mut shape.symbols,
                _ => &mut shape.foreign,
            };
            *count += 1;
        }
        shape
    }

    pub(super) fn letters(self) -> usize {
        self.lower + self.upper
    }
}

/// Of the letters and digits of a value, how many in a hundred belong to what could be words.
pub(super) fn words_in_hundred(value: &str) -> usize {
    let counted = value.bytes().filter(u8::is_ascii_alphanumeric).count();
    if counted == 0 {
        return 0;
    }
    let in_words: usize =
        letters::runs(value).filter(|(_, run)| letters::is_wordlike(run)).map(|(_, run)| run.len()).sum();
    in_words * 100 / counted
}

/// Words that stand where a credential will: whole, or as a part of a name.
const STAND_INS: [&str; 42] = [
    "example", "changeme", "change", "placeholder", "redacted", "dummy", "your", "insert", "replace", "todo", "fixme",
    "foobar", "sample", "masked", "fake", "invalid", "short", "goes", "here", "enter", "xxx", "removed", "hidden",
    "scrubbed", "filtered", "omitted", "none", "null", "undefined", "required", "optional", "unset", "missing", "tbd",
    "bogus", "mock", "signature", "bad", "somepassword", "mypassword", "yourpassword", "notset",
];
/// Whole values that everyone writes in examples.
const EXAMPLES: [&str; 30] = [
    "secret", "supersecret", "topsecret", "password", "passwd", "pass", "passwort", "test", "admin", "root", "guest",
    "user", "username", "hunter", "string", "token", "foo", "bar", "demo", "default", "value", "mysecret", "postgres",
    "opensesame", "letmein", "login", "key", "apikey", "swordfish", "qwerty",
];

/// True of what stands in the place of a credential: templates, names of variables, stars, rows of one character or in
/// order, words that say so.
pub(super) fn is_stand_in(value: &str) -> bool {
    let shape = Shape::of(value);
    shape.length == 0
        || is_template(value)
        || is_monotone(value, shape.length)
        || is_in_order(value)
        || says_so(value)
        || value.contains("...")
        || value.contains('…')
}

/// Values that a program fills in.
fn is_template(value: &str) -> bool {
    const OPENINGS: [&str; 16] = [
        "${", "$(", "{{", "<%", "#{", "%(", "@{", "[[", "$env", "!secret", "!vault", "ENC[", "op://", "vault:", "file:",
        "arn:",
    ];
    const INSIDE: [&str; 6] = ["${", "$(", "{{", "<%=", "#{", "%s"];
    let is_wrapped = |open, close| value.starts_with(open) && value.ends_with(close) && value.len() > 2;
    OPENINGS.iter().any(|opening| value.starts_with(opening))
        || INSIDE.iter().any(|inside| value.contains(inside))
        || is_wrapped('<', '>')
        || is_wrapped('{', '}')
        || is_wrapped('[', ']')
        || is_wrapped('%', '%')
        || value.starts_with("[secret ")
        || is_variable(value)
        || value.strip_prefix('%').is_some_and(|rest| rest.strip_suffix('%').is_some_and(is_name))
}

/// `$NAME`, `\$name[`, `$name->x`, `$name/x`.
fn is_variable(value: &str) -> bool {
    let Some(rest) = value.trim_start_matches('\\').strip_prefix('$') else { return false };
    let name = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let is_begun = rest.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    is_begun && rest.get(name..).is_some_and(|after| after.is_empty() || after.starts_with(['[', '(', '.', ':', '/', '-', '\\']))
}

/// A name of a program: a letter, then letters, digits and joints.
pub(super) fn is_name(value: &str) -> bool {
    value.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Rows of the same character: `xxxxxxxx`, `****`, `0000`.
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

/// Letters and digits in their order: `abcdef123456`, `a1b2c3d4`, `AbCdEfGh`.
fn is_in_order(value: &str) -> bool {
    let plain: Vec<u8> = value.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_lowercase()).collect();
    if plain.len() < 6 {
        return false;
    }
    let mut is_ordered = vec![false; plain.len()];
    for by in 1..=3 {
        for is_next in [is_after, is_before] {
            mark_rows(&plain, by, is_next, &mut is_ordered);
        }
    }
    is_ordered.iter().filter(|ordered| **ordered).count() * 100 >= plain.len() * 60
}

fn is_after(first: u8, second: u8) -> bool {
    first.wrapping_add(1) == second || matches!((first, second), (b'9', b'0') | (b'9', b'a') | (b'z', b'a'))
}

fn is_before(first: u8, second: u8) -> bool {
    is_after(second, first)
}

/// Marks what stands in a row of three steps or more, each so many characters wide.
fn mark_rows(plain: &[u8], by: usize, is_next: fn(u8, u8) -> bool, is_ordered: &mut [bool]) {
    let mut row = 0;
    for (at, (first, second)) in plain.iter().zip(plain.iter().skip(by)).enumerate() {
        row = if is_next(*first, *second) { row + 1 } else { 0 };
        let is_row = row > 2 || row == 2 && by == 1;
        let marked = if is_row { is_ordered.get_mut(at + 1 - row..=at + by) } else { None };
        marked.into_iter().flatten().for_each(|ordered| *ordered = true);
    }
}

/// True when the words of a value say that it is none.
fn says_so(value: &str) -> bool {
    let plain = unleet(value);
    if EXAMPLES.contains(&plain.as_str()) {
        return true;
    }
    // Long values that a machine drew hold any four letters by chance.
    letters::runs(value).any(|(start, run)| {
        let edge = |at: Option<usize>| {
            at.and_then(|at| value.as_bytes().get(at)).is_none_or(|byte| !byte.is_ascii_digit() && *byte != b'+')
        };
        let is_whole = edge(start.checked_sub(1)) && edge(Some(start + run.len()));
        let lower = run.to_ascii_lowercase();
        STAND_INS.iter().any(|stand_in| {
            lower == *stand_in && (is_whole || stand_in.len() > 5) || stand_in.len() > 6 && lower.contains(stand_in)
        })
    })
}

/// A value in small letters, with the signs that are written for letters taken back.
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

/// True of what a program computes: calls, members, paths, comparisons.
pub(super) fn is_expression(value: &str) -> bool {
    const OPENINGS: [&str; 18] = [
        "process.env", "os.environ", "os.getenv", "getenv", "env.", "ENV", "self.", "this.", "config.", "settings.", "args.",
        "options.", "request.", "req.", "params.", "await ", "new ", "data.",
    ];
    let bytes = value.as_bytes();
    let is_call = value.find('(').is_some_and(|at| {
        at > 0 && value.get(..at).is_some_and(is_path_of_names) && value.rsplit(')').next().is_some_and(ends_call)
    });
    let is_index = value.find('[').is_some_and(|at| at > 0 && value.get(..at).is_some_and(is_path_of_names));
    let is_path = value.starts_with(['/', '~']) && value.get(1..).is_some_and(|rest| rest.contains('/'))
        || value.starts_with("./")
        || value.starts_with("../")
        || value.contains(":\\");
    let is_address = value.contains("://");
    OPENINGS.iter().any(|opening| value.starts_with(opening))
        || is_call
        || is_index
        || is_path
        || is_address
        || value.contains("::")
        || value.contains("->")
        || bytes.first() == Some(&b'&') && is_path_of_names(value.get(1..).unwrap_or_default())
        || value.contains('.') && is_path_of_names(value) && words_in_hundred(value) >= 60
}

/// What may stand behind the last closing bracket of a call; all of it where there is none.
fn ends_call(behind: &str) -> bool {
    behind.is_empty() || behind.starts_with(['.', ';', ',', '?', ':']) || behind.contains('(')
}

/// Names joined by dots: `config.password`, `a.b`.
fn is_path_of_names(value: &str) -> bool {
    !value.is_empty() && value.split('.').all(|part| is_name(part.trim_start_matches('$')))
}

/// Names of algorithms, formats, and units, that look like words with digits.
pub(super) fn is_technical(value: &str) -> bool {
    const TERMS: [&str; 44] = [
        "sha1", "sha256", "sha384", "sha512", "sha3", "md5", "argon2", "argon2id", "argon2i", "bcrypt", "scrypt", "pbkdf2",
        "base64", "base64url", "base32", "base58", "utf8", "utf-8", "oauth2", "oauth1", "http2", "ed25519", "curve25519",
        "x25519", "aes128", "aes256", "aes", "rsa2048", "rsa4096", "x509", "pkcs1", "pkcs8", "pkcs12", "rs256", "hs256",
        "es256", "hs512", "p256", "1password", "log4j", "k8s", "blake3", "blake2b", "chacha20",
    ];
    let lower = value.to_ascii_lowercase();
    let head = lower.split(['-', '_', '/']).next().unwrap_or_default();
    if TERMS.contains(&lower.as_str()) || TERMS.contains(&head) {
        return true;
    }
    // `128-bit`, `v1.2.3`, `2026-11-24`, `15min`, `#42`, `3x`.
    let rest = lower.trim_start_matches(|first: char| matches!(first, 'v' | '#' | '~' | '<' | '>' | '='));
    let measure = rest.trim_start_matches(|digit: char| digit.is_ascii_digit() || ".:-+,x/".contains(digit));
    let digits = rest.len() - measure.len();
    // A name with a version behind it: `jackson-0.11.2`.
    let version = lower.rsplit(['-', '_', ':', '@', '/']).next().unwrap_or_default();
    let is_version = version.split('.').count() >= 3 && version.split('.').all(|part| part.parse::<u16>().is_ok());
    if is_version && version.len() < lower.len() {
        return true;
    }
    digits > 0 && (measure.is_empty() || measure.len() <= 5 && measure.bytes().all(|byte| byte.is_ascii_lowercase()))
}

/// True of a value that only a machine would draw, or a manager of passwords: no words, no name, no order.
pub(super) fn is_drawn(value: &str) -> bool {
    let shape = Shape::of(value);
    if shape.spaces > 0 || shape.foreign > 0 {
        return false;
    }
    let kinds = [shape.lower, shape.upper, shape.digits].iter().filter(|count| **count > 0).count();
    let in_words = words_in_hundred(value);
    match shape.length {
        0..6 => false,
        6..12 => kinds >= 2 && shape.digits > 0 && in_words < 45,
        _ if shape.digits == 0 => in_words == 0 && (kinds == 2 || letters::cost(value) >= 54),
        _ => shape.letters() > 0 && in_words <= 50,
    }
}

/// True of eight, four, four, four and twelve hexadecimal digits.
pub(super) fn is_uuid(value: &str) -> bool {
    value.len() == 36
        && value.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_the_place_of_a_credential_is_none() {
        for value in [
            "", "xxxxxxxxxxxx", "****", "<password>", "${PASS}", "$PASS", "%PASS%", "{{ x }}", "changeme", "CHANGE_ME",
            "your-api-key", "YOUR_KEY_HERE", "abcdef123456", "0123456789abcdef", "a1b2c3d4e5f6", "super$ecret", "s3cr3t",
            "AbCdEfGhIjKl", "p@ssw0rd", "[REDACTED]", "example-token", "hf_xxxxxxxx", "#{secret}", "sk-EXAMPLE", "[secret s7",
        ] {
            assert!(is_stand_in(value), "{value}");
        }
        for value in ["Passw0rd*1053", "hunter2x9", "vxssv$mkdil", "Tr0ub4dor&3", "9f1cb4ae46ec494b2e2bb8198addfca2"] {
            assert!(!is_stand_in(value), "{value}");
        }
    }

    #[test]
    fn what_a_program_computes_is_no_credential() {
        for value in [
            "process.env.TOKEN", "os.environ[\"X\"]", "getpass.getpass()", "config.password", "self.token", "/run/secrets/x",
            "Secret::new(x)", "request.form['a']", "&password", "https://a.example/b",
        ] {
            assert!(is_expression(value), "{value}");
        }
        for value in ["aB3(x)9", "x.Y7k-9q", "l!25z4+m7*z*$"] {
            assert!(!is_expression(value), "{value}");
        }
    }

    #[test]
    fn drawn_values_and_terms() {
        for value in ["9f1cb4ae46ec494b2e2bb8198addfca2", "WDEuTf1qBEwEkzCZXerONT8", "gjhvvkcxtu3499311045", "k3Xq9Lm2"] {
            assert!(is_drawn(value), "{value}");
        }
        for value in ["authentication-token", "calculateAuthenticationTokenExpiry", "required", "my_secret_name_2"] {
            assert!(!is_drawn(value), "{value}");
        }
        for term in ["sha256", "v1.2.3", "128-bit", "2026-11-24", "15min", "argon2id", "10.20.0.5", "09:30"] {
            assert!(is_technical(term), "{term}");
        }
        for value in ["hunter22", "k3Xq9Lm2", "3aXq9"] {
            assert!(!is_technical(value), "{value}");
        }
    }
}
