//! Credentials that are known by what stands around them: assignments, headers, addresses, prose.
//!
//! One automaton finds marks: words and signs that stand near credentials. Each mark is then looked at by hand, within a
//! bounded stretch of the text, so that time grows with the length of the text and nothing else.

mod address;
mod assign;
mod blocks;
mod flags;
mod headers;
mod judge;
mod letters;
mod lines;
mod logins;
mod names;
mod nouns;
mod pairs;
mod phrases;
mod prose;
mod scan;
mod stand_in;
mod stated;
mod tables;
mod value;

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::finding::{Finding, Kind};
use crate::place::places;
use headers::Given;
use nouns::{Class, Noun};
use value::Value;

/// What a mark begins or belongs to.
#[derive(Debug, Clone, Copy)]
enum Mark {
    /// A part of a name.
    Noun,
    /// A noun of a language whose words the names of programs do not have.
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
    /// What a body of a private key has near its beginning.
    KeyBody,
    /// The seed of one-time codes.
    OtpSeed,
    /// The short name of a password.
    Short,
    /// A lock that opens to numbers in order.
    Lock,
    At,
    Oracle,
    KnownName,
    Slash,
}

/// Marks; letters in ASCII of either case.
const MARKS: &[(&str, Mark)] = &[
    ("pass", Mark::Noun),
    ("pwd", Mark::Noun),
    ("pw", Mark::Noun),
    ("psw", Mark::Noun),
    ("kennwort", Mark::Noun),
    ("wachtwoord", Mark::Noun),
    ("clave", Mark::Noun),
    ("senha", Mark::Noun),
    ("parola", Mark::Noun),
    ("mdp", Mark::Noun),
    ("secret", Mark::Noun),
    ("token", Mark::Noun),
    ("key", Mark::Noun),
    ("cred", Mark::Noun),
    ("auth", Mark::Noun),
    ("login", Mark::Noun),
    ("log in", Mark::LogIn),
    ("sign in", Mark::LogIn),
    ("anmelden", Mark::LogIn),
    ("anmeldung", Mark::LogIn),
    ("zugangsdaten", Mark::LogIn),
    ("identifiants", Mark::LogIn),
    ("credenciales", Mark::LogIn),
    ("credenziali", Mark::LogIn),
    ("wifi:", Mark::LogIn),
    ("wlan:", Mark::LogIn),
    ("identified by", Mark::Foreign),
    ("psk", Mark::Noun),
    ("redis-cli", Mark::Command),
    ("htpasswd", Mark::Command),
    ("chpasswd", Mark::Command),
    ("sudo -s", Mark::Command),
    ("net use", Mark::Command),
    ("smbclient", Mark::Command),
    ("rpcclient", Mark::Command),
    ("openssl enc", Mark::Command),
    ("ssh-keygen", Mark::Command),
    ("ldapsearch", Mark::Command),
    ("ldapmodify", Mark::Command),
    ("ldapadd", Mark::Command),
    ("xfreerdp", Mark::Command),
    ("rclone obscure", Mark::Command),
    ("http -a", Mark::UserFlag),
    ("https -a", Mark::UserFlag),
    ("account", Mark::Noun),
    ("sig=", Mark::Noun),
    ("sess", Mark::Noun),
    ("crumb", Mark::Noun),
    ("unseal", Mark::Noun),
    ("_pat", Mark::Noun),
    ("p a s s w o r d", Mark::Foreign),
    ("contraseña", Mark::Foreign),
    ("contrasena", Mark::Foreign),
    ("пароль", Mark::Foreign),
    ("Пароль", Mark::Foreign),
    ("пароля", Mark::Foreign),
    ("密码", Mark::Foreign),
    ("密碼", Mark::Foreign),
    ("口令", Mark::Foreign),
    ("パスワード", Mark::Foreign),
    ("暗証番号", Mark::Foreign),
    ("비밀번호", Mark::Foreign),
    ("암호", Mark::Foreign),
    ("密钥", Mark::Foreign),
    ("令牌", Mark::Foreign),
    ("トークン", Mark::Foreign),
    ("schlüssel", Mark::Foreign),
    ("hasło", Mark::Foreign),
    ("lösenord", Mark::Foreign),
    ("şifre", Mark::Foreign),
    ("://", Mark::Address),
    ("-----begin", Mark::Pem),
    ("ls0tls1crudjti", Mark::Encoded),
    ("eyjhdxrocyi6", Mark::Encoded),
    ("\"kty\"", Mark::JsonKey),
    ("putty-user-key-file-", Mark::Putty),
    ("basic", Mark::Scheme),
    ("bearer", Mark::Scheme),
    ("cookie", Mark::Cookie),
    (" -u", Mark::UserFlag),
    ("--user", Mark::UserFlag),
    (" -p", Mark::PasswordFlag),
    (":5432:", Mark::Pgpass),
    (":5433:", Mark::Pgpass),
    (":6432:", Mark::Pgpass),
    (":*:", Mark::Pgpass),
    ("$1$", Mark::Hash),
    ("$2a$", Mark::Hash),
    ("$2b$", Mark::Hash),
    ("$2x$", Mark::Hash),
    ("$2y$", Mark::Hash),
    ("$5$", Mark::Hash),
    ("$6$", Mark::Hash),
    ("$7$", Mark::Hash),
    ("$8$", Mark::Hash),
    ("$9$", Mark::Hash),
    ("$y$", Mark::Hash),
    ("$apr1$", Mark::Hash),
    ("$argon2", Mark::Hash),
    ("$scrypt$", Mark::Hash),
    ("$pbkdf2", Mark::Hash),
    ("{sha}", Mark::NamedHash),
    ("{ssha", Mark::NamedHash),
    ("{sha256}", Mark::NamedHash),
    ("{sha512}", Mark::NamedHash),
    ("pbkdf2:sha", Mark::NamedHash),
    ("pbkdf2_sha", Mark::NamedHash),
    ("scrypt:32768", Mark::NamedHash),
    ("seed phrase", Mark::Seed),
    ("mnemonic", Mark::Seed),
    ("recovery phrase", Mark::Seed),
    ("seed words", Mark::Seed),
    ("wallet words", Mark::Seed),
    ("secret phrase", Mark::Seed),
    ("recovery code", Mark::Codes),
    ("backup code", Mark::Codes),
    ("wiederherstellungscode", Mark::Codes),
    ("pin", Mark::Pin),
    ("puk", Mark::Pin),
    ("pin code", Mark::Pin),
    ("pin-code", Mark::Pin),
    ("door code", Mark::Pin),
    ("gate code", Mark::Pin),
    ("alarm code", Mark::Pin),
    ("garage code", Mark::Pin),
    ("entry code", Mark::Pin),
    ("lock code", Mark::Pin),
    ("one-time code", Mark::Codes),
    ("türcode", Mark::Pin),
    ("torcode", Mark::Pin),
    ("combination", Mark::Lock),
    ("combo", Mark::Lock),
    ("kombination", Mark::Lock),
    ("ibadanbgkqhkig9w0baqef", Mark::KeyBody),
    ("ibaakca", Mark::KeyBody),
    ("ageambmgbyqgsm49", Mark::KeyBody),
    ("caqawbqydk2vwbciei", Mark::KeyBody),
    ("totp seed", Mark::OtpSeed),
    ("otp seed", Mark::OtpSeed),
    ("2fa seed", Mark::OtpSeed),
    (" p: ", Mark::Short),
    ("@", Mark::At),
    ("sqlplus ", Mark::Oracle),
    ("sqlldr ", Mark::Oracle),
    ("admin/", Mark::KnownName),
    ("root/", Mark::KnownName),
    (" / ", Mark::Slash),
];

static AUTOMATON: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .prefilter(false)
        .build(MARKS.iter().map(|(mark, _)| mark))
        .ok()
});

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

/// The credentials of a text that are known by what stands around them.
pub(crate) fn findings(text: &str) -> Vec<Finding> {
    let Some(automaton) = AUTOMATON.as_ref() else { return Vec::new() };
    let mut search = Search { text, found: Vec::new(), until: 0, in_vain: 0 };
    let mut taken = None;
    for hit in automaton.find_iter(text) {
        let Some((_, mark)) = MARKS.get(hit.pattern().as_usize()) else { continue };
        let span = hit.range();
        let taken = taken.get_or_insert_with(|| places(text).into_iter().peekable());
        while taken.peek().is_some_and(|(place, _)| place.end <= span.start) {
            taken.next();
        }
        // What was taken out before is no mark, and nothing is read beyond it.
        let next = taken.peek().map_or(text.len(), |(place, _)| place.start);
        let is_due = search.in_vain < LOOKS_AT_FIRST + span.start / BYTES_A_LOOK;
        if next >= span.end && span.start >= search.until && is_due {
            search.text = text.get(..next).unwrap_or_default();
            let before = search.found.len();
            search.look(*mark, &span);
            search.in_vain += usize::from(search.found.len() == before);
        }
    }
    search.found
}

/// The credentials of a text that its sentences state.
pub(crate) fn stated(text: &str) -> Vec<Finding> {
    stated::findings(text)
}

/// How many marks may have nothing near them, and for how many bytes one more may. No text of people or programs names
/// credentials more often; what repeats their names without end costs no more than its length.
const LOOKS_AT_FIRST: usize = 400;
const BYTES_A_LOOK: usize = 32;

struct Search<'a> {
    text: &'a str,
    found: Vec<Finding>,
    /// What stands before is a credential, or a name that was looked at already.
    until: usize,
    /// How many marks had nothing near them.
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
                let is_basic = scan::begins(text.get(span.clone()).unwrap_or_default(), "basic");
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
            Mark::Pgpass => self.take_span(lines::pgpass(text, span.start), PASSWORD),
            Mark::Hash => self.take_span(lines::hash(text, span.start), HASH),
            Mark::NamedHash => self.take_span(lines::named_hash(text, span.start), HASH),
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
        // The sign of `sig=` is no part of the name.
        let is_signed = scan::byte(text, mark.end - 1) == b'=';
        let name = nouns::name_at(text, &(mark.start..mark.end - usize::from(is_signed)));
        self.until = self.until.max(name.end);
        let Some(noun) = nouns::noun_of(text, &name) else { return };
        let column = tables::column(text, &noun);
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
                // `credentials: bob:x` give a name and a password.
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

/// True when what began as `-p` goes on as `-password` or the like.
fn is_name_of_flag(text: &str, end: usize) -> bool {
    let name = text.get(end - 1..).unwrap_or_default();
    ["pass", "pw", "psw"].iter().any(|word| scan::begins(name, word))
}

/// `twilio auth x`: this provider calls so what others call a token.
fn account_token(text: &str, noun: &Noun) -> Option<Value> {
    let is_owned = scan::head(text, noun.span.start, 7).eq_ignore_ascii_case("twilio ");
    let value = is_owned.then(|| value::bare(text, scan::after_blanks(text, noun.span.end), false))??;
    let inside = text.get(value.span.clone())?;
    let is_token = inside.len() == 32 && inside.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_token && judge::is_drawn(inside)).then_some(value)
}

/// `"auth": "base64 of a name and a password"`.
fn encoded_pair(text: &str, noun: &Noun) -> Option<Value> {
    let at = scan::on_while(text, noun.span.end, 8, |byte| b"\"'\\:= ".contains(&byte));
    let value = value::bare(text, at, false)?;
    headers::is_pair(text.get(value.span.clone())?).then_some(value)
}

#[cfg(test)]
mod tests;
