//! The shape of a value, and whether it comes from a program, a vocabulary or a random generator.

use super::letters;

/// The number of characters of each kind in a value.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Shape {
    pub(super) length: usize,
    pub(super) lower: usize,
    pub(super) upper: usize,
    pub(super) digits: usize,
    /// All ASCII characters except letters, digits, white space, and the characters `_`, `-`, `.` and `/`, which join
    /// the words of names.
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

/// The percentage of letters and digits that are in texts which can be words.
pub(super) fn words_in_hundred(value: &str) -> usize {
    let counted = value.bytes().filter(u8::is_ascii_alphanumeric).count();
    if counted == 0 {
        return 0;
    }
    // Short pieces of letters in both cases are not words: `uUgSisJuedEW`.
    let (pieces, letters) =
        letters::runs(value).fold((0, 0), |(pieces, letters), (_, run)| (pieces + 1, letters + run.len()));
    let is_of_both =
        value.bytes().any(|byte| byte.is_ascii_lowercase()) && value.bytes().any(|byte| byte.is_ascii_uppercase());
    if is_of_both && letters < pieces * 3 {
        return 0;
    }
    let in_words: usize =
        letters::runs(value).filter(|(_, run)| letters::is_wordlike(run)).map(|(_, run)| run.len()).sum();
    in_words * 100 / counted
}

/// An identifier: a letter, then letters, digits and separators.
pub(super) fn is_name(value: &str) -> bool {
    value.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// True for an expression of a program: calls, members, paths, comparisons.
pub(super) fn is_expression(value: &str) -> bool {
    const OPENINGS: &str = "process.env os.environ os.getenv getenv env. ENV self. this. config. settings. args. options. request. \
         req. params. data.";
    let bytes = value.as_bytes();
    let is_call = value.split_once('(').is_some_and(|(name, _)| {
        let name = name.trim_end_matches('!');
        let is_snake = name.contains(['_', '.']) && words_in_hundred(name) >= 40;
        is_path_of_names(name) && (is_snake || value.rsplit(')').next().is_some_and(ends_call))
    }) || value.contains(")(");
    let is_index = value.find('[').is_some_and(|at| at > 0 && value.get(..at).is_some_and(is_path_of_names));
    let is_path = value.starts_with(['/', '~']) && value.get(1..).is_some_and(|rest| rest.contains('/'))
        || value.starts_with("./")
        || value.starts_with("../")
        || value.contains(":\\");
    let is_address = value.contains("://");
    // `name).await.map(Some`, `secret).await?`: the rest of a call that began before.
    let is_end_of_call = (value.contains(").") || value.ends_with(")?")) && words_in_hundred(value) >= 50;
    OPENINGS.split(' ').any(|opening| value.starts_with(opening))
        || is_end_of_call
        || is_call
        || is_index
        || is_path
        || is_address
        || is_constant(value)
        || is_number(value)
        || is_argument(value)
        || value.contains("::")
        || value.contains("->")
        || bytes.first() == Some(&b'&')
            && is_path_of_names(value.get(1..).unwrap_or_default())
            && words_in_hundred(value) >= 50
        || value.contains('.') && is_path_of_names(value) && words_in_hundred(value) >= 60
}

/// `listener=myListener`, `access_token=`: a name, an equals sign, and an argument.
pub(super) fn is_argument(value: &str) -> bool {
    value.split_once('=').is_some_and(|(name, _)| name.len() > 2 && is_name(name) && words_in_hundred(name) >= 60)
}

/// `DOT11_AUTH_ALGO_RSNA`: words in capitals.
pub(super) fn is_constant(value: &str) -> bool {
    let parts: Vec<&str> = value.split('_').collect();
    let is_word = |part: &&str| {
        part.starts_with(|first: char| first.is_ascii_uppercase())
            && part.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    };
    parts.len() > 2 && parts.iter().all(is_word)
}

/// True for number literals of programs, such as `0x80090033_u32`, which are shorter than keys.
fn is_number(value: &str) -> bool {
    let digits = value.trim_start_matches(['-', '+']);
    let digits = digits.strip_prefix("0x").unwrap_or(digits).trim_end_matches("size");
    let kind = digits.trim_end_matches(|last: char| last.is_ascii_digit());
    let body = kind.strip_suffix(['i', 'u', 'f']).unwrap_or(digits).trim_end_matches('_');
    let is_hexadecimal = value.contains("0x") && body.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'_');
    let is_decimal = body.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    value.len() <= 24 && !body.is_empty() && (is_hexadecimal || is_decimal)
}

/// The text after the last closing bracket of a call; all of it if there is none.
fn ends_call(behind: &str) -> bool {
    behind.is_empty() || behind.starts_with(['.', ';', ',', '?', ':']) || behind.contains('(')
}

/// Names joined by dots: `config.password`, `a.b`.
fn is_path_of_names(value: &str) -> bool {
    !value.is_empty() && value.split('.').all(|part| is_name(part.trim_start_matches('$')))
}

/// Names of algorithms, formats and units that look like words with digits.
pub(super) fn is_technical(value: &str) -> bool {
    const TERMS: &str = "sha1 sha256 sha384 sha512 sha3 md5 argon2 argon2id argon2i bcrypt scrypt pbkdf2 base64 base64url base32 \
         base58 utf8 utf-8 oauth2 oauth1 http2 ed25519 curve25519 x25519 aes128 aes256 aes rsa2048 rsa4096 x509 \
         pkcs1 pkcs8 pkcs12 rs256 hs256 es256 hs512 p256 1password log4j k8s blake3 blake2b chacha20";
    let lower = value.to_ascii_lowercase();
    let head = lower.split(['-', '_', '/']).next().unwrap_or_default();
    if letters::is_among(TERMS, &lower) || letters::is_among(TERMS, head) {
        return true;
    }
    // `128-bit`, `v1.2.3`, `2026-11-24`, `15min`, `#42`, `3x`.
    let rest = lower.trim_start_matches(['v', '#', '~', '<', '>', '=']);
    let measure = rest.trim_start_matches(|digit: char| digit.is_ascii_digit() || ".:-+,x/".contains(digit));
    let digits = rest.len() - measure.len();
    // A name with a version: `jackson-0.11.2`.
    let version = lower.rsplit(['-', '_', ':', '@', '/']).next().unwrap_or_default();
    let is_version = version.split('.').count() >= 3 && version.split('.').all(|part| part.parse::<u16>().is_ok());
    if is_version && version.len() < lower.len() {
        return true;
    }
    is_place_in_file(&lower)
        || digits > 0
            && (measure.is_empty()
                || digits <= 5 && measure.len() <= 5 && measure.bytes().all(|byte| byte.is_ascii_lowercase()))
}

/// `write.rs:161-171`: lines of a file.
fn is_place_in_file(lower: &str) -> bool {
    let (file, lines) = lower.split_once(':').unwrap_or((lower, ""));
    let is_file = file.rsplit_once('.').is_some_and(|(name, ending)| {
        words_in_hundred(name) > 60
            && (1..=5).contains(&ending.len())
            && ending.bytes().all(|byte| byte.is_ascii_lowercase())
    });
    is_file && lines.bytes().all(|byte| byte.is_ascii_digit() || b"-,:l".contains(&byte))
}

/// True for a random value, from a machine or a password manager: no words, no name, no sequence.
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

/// True for eight, four, four, four and twelve hexadecimal digits.
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
    fn what_a_program_computes_is_no_credential() {
        for value in [
            "process.env.TOKEN",
            "os.environ[\"X\"]",
            "getpass.getpass()",
            "config.password",
            "self.token",
            "/run/secrets/x",
            "Secret::new(x)",
            "request.form['a']",
            "&password",
            "https://a.example/b",
        ] {
            assert!(is_expression(value), "{value}");
        }
        for value in ["aB3(x)9", "x.Y7k-9q", "l!25z4+m7*z*$"] {
            assert!(!is_expression(value), "{value}");
        }
    }

    #[test]
    fn drawn_values_and_terms() {
        for value in ["9f1cb4ae46ec494b2e2bb8198addfca2", "WDEuTf1qBEwEkzCZXerONT8", "gjhvvkcxtu3499311045", "k3Xq9Lm2"]
        {
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
