//! Names of credentials: `SMTP_PASSWORD`, `dbPassword`, `api key`, `spring.datasource.password`.

use std::ops::Range;

use super::letters;
use crate::place::Kind;

/// The kind of values of a noun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// A value that people choose: any text that is not an ordinary word.
    Password,
    /// Chosen or random.
    Secret,
    /// Random.
    Token,
    /// A name and a password follow.
    Login,
    /// The name of a header; a scheme and a credential follow it.
    Header,
}

/// A noun in a text.
#[derive(Debug, Clone)]
pub(super) struct Noun {
    /// The complete name that contains the noun.
    pub(super) span: Range<usize>,
    pub(super) class: Class,
    pub(super) kind: Kind,
}

const PASSWORD: Kind = Kind::new("password");
pub(super) const PASSPHRASE: Kind = Kind::new("passphrase");
const SECRET: Kind = Kind::new("secret");
const TOKEN: Kind = Kind::new("token");
const API_KEY: Kind = Kind::new("API key");
const ACCESS_KEY: Kind = Kind::new("access key");
const PRIVATE_KEY: Kind = Kind::new("private key");
const KEY: Kind = Kind::new("key");
const LOGIN: Kind = Kind::new("password");
const SESSION: Kind = Kind::new("session cookie");
const SIGNATURE: Kind = Kind::new("signature");

const LONGEST: usize = 64;

/// The whole name that contains a mark.
pub(super) fn name_at(text: &str, mark: &Range<usize>) -> Range<usize> {
    let start = letters::back_while(text, mark.start, LONGEST, |byte| is_part(byte) || byte == b'.');
    let mut end = letters::on_while(text, mark.end, LONGEST, is_part);
    while letters::byte(text, end) == b'.'
        && letters::byte(text, end + 1).is_ascii_alphabetic()
        && end - start < 2 * LONGEST
    {
        end = letters::on_while(text, end + 1, LONGEST, is_part);
    }
    start..end
}

/// The noun in a name, if there is one: `password_hash` and `tokenizer` have none.
pub(super) fn noun_of(text: &str, name: &Range<usize>) -> Option<Noun> {
    let trimmed = text.get(name.clone())?.trim_end_matches(['-', '_']);
    let end = name.start + trimmed.len();
    let start = end - trimmed.trim_start_matches(['-', '.']).len();
    let words: Vec<String> = letters::runs(trimmed).map(|(_, run)| run.to_ascii_lowercase()).collect();
    let before = before(text, start);
    let (class, kind) = class_of(&words, before.as_deref())?;
    Some(Noun { span: start..end, class, kind })
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// The word before a name, in lower case, separated by one space or hyphen: `API` of `API key`.
fn before(text: &str, start: usize) -> Option<String> {
    let gap = letters::byte(text, start.checked_sub(1)?);
    if gap != b' ' && gap != b'-' && gap != b'_' {
        return None;
    }
    let first = letters::back_while(text, start - 1, 24, |byte| byte.is_ascii_alphanumeric());
    let word = text.get(first..start - 1)?.trim_end_matches(|last: char| last.is_ascii_digit());
    (!word.is_empty()).then(|| word.to_ascii_lowercase())
}

/// Words after a noun that do not change its meaning.
const TRAILING: &str = "value val string str plain plaintext prod production dev test live staging sandbox base old new current \
     default raw combo local main root";
/// Words before `key` that make it a secret.
const KEY_OWNERS: &str = "api access secret private auth account shared license licence encryption encrypt signing sign master \
     storage subscription consumer app application service client server session deploy admin webhook hmac aes \
     jwt personal developer live prod production sandbox integration insert query ingest rest crypt cipher \
     wallet unseal registration device provision token sdk oauth bot function host primary secondary user \
     stream seed preshared io authentication security recovery";
const MERGED_KEYS: &str =
    "apikey accesskey secretkey privatekey authkey accountkey sharedkey licensekey streamkey masterkey";
/// Words which show that a name is public, or that it is not the name of a credential.
const DENIERS: &str = "public pub publickey csrf xsrf forgot primarykey foreign hashed partition cache sort anti is has \
     authenticity jsonwebtoken";

fn class_of(words: &[String], before: Option<&str>) -> Option<(Class, Kind)> {
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    if words.iter().chain(before.iter()).any(|word| letters::is_among(DENIERS, word)) {
        return None;
    }
    while words.len() > 1 && words.last().is_some_and(|last| letters::is_among(TRAILING, last)) {
        words.pop();
    }
    let last = *words.last()?;
    let owner = words.len().checked_sub(2).and_then(|at| words.get(at).copied()).or(before);
    // A second pass over a text is not a password.
    let counted = "one two three single multi first second third next last final each every per dry full hot";
    if last == "pass" && owner.is_some_and(|owner| letters::is_among(counted, owner)) {
        return None;
    }
    if is_password(last) {
        return Some((Class::Password, if last.ends_with("phrase") { PASSPHRASE } else { PASSWORD }));
    }
    if last.ends_with("secret") || last == "secrets" && words.len() > 1 {
        return Some((Class::Secret, SECRET));
    }
    if last.ends_with("token") {
        return Some((Class::Token, TOKEN));
    }
    if MERGED_KEYS.split(' ').any(|merged| last.ends_with(merged)) {
        return Some((Class::Token, if last.ends_with("apikey") { API_KEY } else { ACCESS_KEY }));
    }
    match last {
        "key" => key(owner?),
        "credential" | "credentials" | "creds" | "cred" => Some((Class::Secret, SECRET)),
        "crumb" | "pat" | "unseal" => Some((Class::Token, TOKEN)),
        "login" | "auth" | "account" if owner != Some("o") => Some((Class::Login, LOGIN)),
        "authorization" => Some((Class::Header, TOKEN)),
        "sig" | "signature" => Some((Class::Token, SIGNATURE)),
        "sessionid" | "sessid" | "phpsessid" | "jsessionid" | "session" | "cookie" => Some((Class::Token, SESSION)),
        "id" if owner.is_some_and(|owner| owner == "session" || owner == "sess") => Some((Class::Token, SESSION)),
        _ => None,
    }
}

fn key(owner: &str) -> Option<(Class, Kind)> {
    let kind = match owner {
        "api" => API_KEY,
        "access" | "account" | "shared" => ACCESS_KEY,
        "private" => PRIVATE_KEY,
        "wifi" | "wlan" | "wpa" | "fi" | "network" => return Some((Class::Password, PASSWORD)),
        owner if letters::is_among(KEY_OWNERS, owner) => KEY,
        // `MyProviderApi key`: an owner that ends with such a word.
        owner if ["api", "access", "secret", "private"].iter().any(|end| owner.ends_with(end)) => ACCESS_KEY,
        _ => return None,
    };
    Some((Class::Token, kind))
}

fn is_password(word: &str) -> bool {
    const WHOLE: &str = "pass pwd pw passwd psw pword passw kennwort clave senha parola mdp requirepass masterauth passe userpass \
         psk storepass keypass dbpass sshpass rootpass adminpass smtppass passcode passcodes wachtwoord";
    const ENDS: &str = "password passwd passwort passphrase pwd kennwort losenord";
    letters::is_among(WHOLE, word) || ENDS.split(' ').any(|end| word.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(name: &str) -> Option<Class> {
        let start = name.to_ascii_lowercase();
        let at = ["pass", "pwd", "secret", "token", "key", "clave", "auth", "sess"]
            .iter()
            .find_map(|mark| start.find(mark).map(|at| at..at + mark.len()));
        noun_of(name, &name_at(name, &at.unwrap())).map(|noun| noun.class)
    }

    #[test]
    fn names_of_credentials_are_told_from_names_of_other_things() {
        for name in
            ["PGPASSWORD", "dbPassword", "spring.datasource.password", "usernamePassword", "passwd", "SmtpPassword2"]
        {
            assert_eq!(class(name), Some(Class::Password), "{name}");
        }
        for name in
            ["api_key", "fbApiKey", "apikey", "accessToken", "_authToken", "GH_TOKEN", "x-api-key", "SharedAccessKey"]
        {
            assert_eq!(class(name), Some(Class::Token), "{name}");
        }
        for name in [
            "password_hash",
            "passwordField",
            "token_count",
            "max_tokens",
            "tokenizer",
            "secretKeyRef",
            "monkey",
            "key",
            "public_key",
            "csrf-token",
            "compass",
            "password.length",
            "key_length",
            "keySelector",
            "author",
            "foreign_key",
        ] {
            assert_eq!(class(name), None, "{name}");
        }
    }
}
