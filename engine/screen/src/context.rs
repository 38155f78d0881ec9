//! Credentials recognised by their surroundings: assignments, headers, addresses, prose.
//!
//! First, marks are found: words and symbols near credentials. Each mark is then checked by code within a limited part of
//! the text, so the time is linear in the length of the text.

use std::ops::Range;

use headers::Given;
use nouns::{Class, Noun};
use tessera_tables::names;
use value::Value;

use crate::place::{Finding, Kind, places};

mod address;
mod assign;
mod blocks;
mod flags;
mod headers;
mod judge;
mod letters;
mod logins;
mod marks;
mod names;
mod nouns;
mod pairs;
mod phrases;
mod prose;
mod stand_in;
mod stated;
mod value;

names! {
/// The meaning of a mark. Each variant has the name of its section in `marks.txt`.
enum Mark {
    /// A part of a name.
    Noun,
    /// A noun that does not occur in program code, because its language is not used there.
    Foreign,
    LogIn,
    Address,
    Pem,
    Encoded,
    JsonKey,
    Putty,
    Scheme,
    Cookie,
    UserFlag,
    PasswordFlag,
    Command,
    Pgpass,
    Hash,
    NamedHash,
    Seed,
    Codes,
    Pin,
    /// A text that occurs near the beginning of the body of a private key.
    KeyBody,
    /// The seed of one-time codes.
    OtpSeed,
    /// A short name of a password.
    Short,
    /// A lock with a combination.
    Lock,
    At,
    Oracle,
    KnownName,
    Slash,
}
}

const PASSWORD: Kind = Kind::new("password");
const NAME: Kind = Kind::new("user name");
const CONNECTION: Kind = Kind::new("connection password");
const PRIVATE_KEY: Kind = Kind::new("private key");
const BASIC: Kind = Kind::new("basic auth");
const BEARER: Kind = Kind::new("bearer token");
const TOKEN: Kind = Kind::new("token");
const COOKIE: Kind = Kind::new("session cookie");
const HASH: Kind = Kind::new("password hash");
const SEED: Kind = Kind::new("seed phrase");
const CODE: Kind = Kind::new("recovery code");
const OTP: Kind = Kind::new("one-time code seed");
const PIN: Kind = Kind::new("PIN");

/// The credentials recognised by their surroundings.
pub(crate) fn findings(text: &str) -> Vec<Finding> {
    let mut search = Search { text, found: Vec::new(), until: 0, in_vain: 0 };
    let mut taken = None;
    for (mark, span) in marks::marks(text) {
        let taken = taken.get_or_insert_with(|| places(text).into_iter().peekable());
        while taken.peek().is_some_and(|(place, _)| place.end <= span.start) {
            taken.next();
        }
        // An already removed credential is not a mark, and nothing is read beyond it.
        let next = taken.peek().map_or(text.len(), |(place, _)| place.start);
        let is_due = search.in_vain < LOOKS_AT_FIRST + span.start / BYTES_A_LOOK;
        if next >= span.end && span.start >= search.until && is_due {
            search.text = text.get(..next).unwrap_or_default();
            let before = search.found.len();
            search.look(mark, &span);
            search.in_vain += usize::from(search.found.len() == before);
        }
    }
    search.found
}

/// Finds credentials in sentences.
pub(crate) fn stated(text: &str) -> Vec<Finding> {
    stated::findings(text)
}

/// The maximum number of unsuccessful checks. A longer text allows more of them: one more for this number of bytes. No
/// ordinary text contains more words for credentials. If a text only repeats such words, the limit keeps the cost
/// proportional to its length.
const LOOKS_AT_FIRST: usize = 400;
const BYTES_A_LOOK: usize = 32;

struct Search<'a> {
    text: &'a str,
    found: Vec<Finding>,
    /// Marks before this position are skipped: they are in a credential, or in an already checked name.
    until: usize,
    /// The number of marks without a credential.
    in_vain: usize,
}

impl Search<'_> {
    fn look(&mut self, mark: Mark, span: &Range<usize>) {
        let text = self.text;
        match mark {
            Mark::Noun => self.noun(span),
            Mark::Foreign => {
                let noun = Noun { span: span.clone(), class: Class::Password, kind: PASSWORD };
                let value = prose::foreign_value(text, &noun).or_else(|| prose::value_of(text, &noun));
                self.take(value, PASSWORD);
            }
            Mark::Address => self.take(address::password(text, span.end), CONNECTION),
            Mark::Pem => self.take_span(blocks::pem(text, span.start), PRIVATE_KEY),
            Mark::Encoded => self.take_span(blocks::encoded(text, span.start), PRIVATE_KEY),
            Mark::JsonKey => self.take_span(blocks::json_key(text, span.start, span.end), PRIVATE_KEY),
            Mark::Putty => self.take_span(blocks::putty(text, span.start), PRIVATE_KEY),
            Mark::Scheme => {
                let is_basic = letters::begins(text.get(span.clone()).unwrap_or_default(), "basic");
                self.take(headers::scheme(text, span.start, span.end), if is_basic { BASIC } else { BEARER });
            }
            Mark::Cookie => {
                let cookies = headers::cookies(text, span.end);
                cookies.into_iter().for_each(|cookie| self.take(Some(cookie), COOKIE));
            }
            Mark::UserFlag => self.take(flags::of_user(text, span.end), PASSWORD),
            Mark::PasswordFlag if is_name_of_flag(text, span.end) => self.noun(&(span.end - 1..span.end + 1)),
            Mark::LogIn => {
                let noun = Noun { span: span.clone(), class: Class::Login, kind: PASSWORD };
                let value = logins::value_of(text, &noun);
                self.take(value.or_else(|| prose::value_used(text, span.start)), PASSWORD);
            }
            Mark::PasswordFlag => {
                if let Some(command) = flags::command_of(text, span.end) {
                    self.take(names::drawn_before(text, span.start), NAME);
                    self.take(flags::of_password(text, span.end, command), PASSWORD);
                }
            }
            Mark::Command => self.take(flags::of_command(text, span.start, span.end), PASSWORD),
            Mark::Pgpass => self.take_span(blocks::pgpass(text, span.start), PASSWORD),
            Mark::Hash => self.take_span(blocks::hash(text, span.start), HASH),
            Mark::NamedHash => self.take_span(blocks::named_hash(text, span.start), HASH),
            Mark::Seed => self.take_span(phrases::seed(text, span.end), SEED),
            Mark::Codes => {
                let codes = phrases::codes(text, span.end);
                codes.into_iter().for_each(|code| self.take_span(Some(code), CODE));
            }
            Mark::Pin => self.take_span(phrases::pin(text, span.start, span.end), PIN),
            Mark::KeyBody => self.take_span(blocks::body(text, span.start), PRIVATE_KEY),
            Mark::OtpSeed => {
                let noun = Noun { span: span.clone(), class: Class::Token, kind: OTP };
                self.take(assign::value_of(text, &noun).or_else(|| prose::value_of(text, &noun)), OTP);
            }
            Mark::Short => self.take(pairs::behind_short(text, span.start, span.end), PASSWORD),
            Mark::Lock => self.take_span(phrases::combination(text, span.start, span.end), CODE),
            Mark::At => self.take(pairs::around_at(text, span.start), CONNECTION),
            Mark::Oracle => self.take(pairs::of_oracle(text, span.end), CONNECTION),
            Mark::KnownName => self.take(pairs::of_known_name(text, span.start, span.end), PASSWORD),
            Mark::Slash => self.take(pairs::behind_slash(text, span.start, span.end), PASSWORD),
        }
    }

    fn noun(&mut self, mark: &Range<usize>) {
        let text = self.text;
        // The sign of `sig=` is not part of the name.
        let is_signed = letters::byte(text, mark.end - 1) == b'=';
        let name = nouns::name_at(text, &(mark.start..mark.end - usize::from(is_signed)));
        self.until = self.until.max(name.end);
        let Some(noun) = nouns::noun_of(text, &name) else { return };
        let column = names::column(text, &noun);
        if !column.is_empty() {
            return column.into_iter().for_each(|value| self.found.push(Finding { span: value.span, kind: noun.kind }));
        }
        match noun.class {
            Class::Header => match headers::authorization(text, noun.span.end) {
                Some(Given::Basic(value)) => self.take(Some(value), BASIC),
                Some(Given::Bearer(value)) => self.take(Some(value), BEARER),
                Some(Given::Other(value)) => self.take(Some(value), TOKEN),
                None => {}
            },
            Class::Login => {
                let value = encoded_pair(text, &noun).or_else(|| logins::value_of(text, &noun));
                let value = value.or_else(|| assign::value_of(text, &noun)).or_else(|| account_token(text, &noun));
                self.take(value.or_else(|| prose::value_before(text, &noun)), noun.kind);
            }
            Class::Password | Class::Secret | Class::Token => {
                // `credentials: bob:x` is a name and a password.
                let pair = (noun.class == Class::Secret).then(|| logins::value_of(text, &noun)).flatten();
                let value = pair.or_else(|| assign::value_of(text, &noun)).or_else(|| prose::value_of(text, &noun));
                let value = value.or_else(|| prose::value_below(text, &noun));
                let is_phrase = noun.kind == nouns::PASSPHRASE && value.is_none();
                if let Some(span) = is_phrase.then(|| phrases::passphrase(text, noun.span.end)).flatten() {
                    return self.take_span(Some(span), noun.kind);
                }
                let is_asked = noun.class == Class::Password && value.is_none();
                let value = value.or_else(|| is_asked.then(|| prose::answer_to(text, &noun)).flatten());
                if noun.class == Class::Password {
                    self.take(names::drawn_before(text, noun.span.start), NAME);
                    self.take(prose::value_replaced(text, &noun), noun.kind);
                }
                let before = || prose::value_before(text, &noun).filter(|_| noun.class == Class::Password);
                self.take(value.or_else(before), noun.kind);
            }
        }
    }

    fn take(&mut self, value: Option<Value>, kind: Kind) {
        self.take_span(value.map(|value| value.span), kind);
    }

    fn take_span(&mut self, span: Option<Range<usize>>, kind: Kind) {
        if let Some(span) = span {
            self.until = self.until.max(span.end);
            self.found.push(Finding { span, kind });
        }
    }
}

/// True if this `-p` is only the beginning of a longer option such as `-password`.
fn is_name_of_flag(text: &str, end: usize) -> bool {
    let name = text.get(end - 1..).unwrap_or_default();
    ["pass", "pw", "psw"].iter().any(|word| letters::begins(name, word))
}

/// `twilio auth x`: for this provider, `auth` means a token.
fn account_token(text: &str, noun: &Noun) -> Option<Value> {
    let is_owned = letters::head(text, noun.span.start, 7).eq_ignore_ascii_case("twilio ");
    let value = is_owned.then(|| value::bare(text, letters::after_blanks(text, noun.span.end), false))??;
    let inside = text.get(value.span.clone())?;
    let is_token = inside.len() == 32 && inside.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_token && judge::is_drawn(inside)).then_some(value)
}

/// Finds `"auth": "…"`, with the base64 form of a name and a password.
fn encoded_pair(text: &str, noun: &Noun) -> Option<Value> {
    let at = letters::on_while(text, noun.span.end, 8, |byte| b"\"'\\:= ".contains(&byte));
    let value = value::bare(text, at, false)?;
    headers::is_pair(text.get(value.span.clone())?).then_some(value)
}

#[cfg(test)]
mod tests;
