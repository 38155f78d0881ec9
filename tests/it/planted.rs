//! Credentials that are made up for a test, and where they stand in bytes: as they are, and in other spellings.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use aho_corasick::AhoCorasick;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

/// A credential that nobody has.
pub(crate) struct Planted {
    pub(crate) number: usize,
    pub(crate) kind: &'static str,
    pub(crate) value: String,
    said: fn(&str) -> String,
}

impl Planted {
    /// What somebody says with it.
    pub(crate) fn sentence(&self) -> String {
        (self.said)(&self.value)
    }
}

impl fmt::Display for Planted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.number, self.kind, self.value)
    }
}

const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz";
const CAPITALS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &str = "0123456789";

struct Maker(fastrand::Rng);

impl Maker {
    /// Letters drawn from sets, one of each at least.
    fn drawn(&mut self, sets: &[&str], length: usize) -> String {
        let all: Vec<char> = sets.concat().chars().collect();
        loop {
            let text: String = (0..length).map(|_| all[self.0.usize(..all.len())]).collect();
            if sets.iter().all(|set| text.chars().any(|c| set.contains(c))) {
                return text;
            }
        }
    }

    fn mixed(&mut self, length: usize) -> String {
        self.drawn(&[LETTERS, CAPITALS, DIGITS], length)
    }

    fn password(&mut self) -> String {
        let length = 11 + self.0.usize(..6);
        format!("{}{}", self.drawn(&[LETTERS, CAPITALS], 2), self.drawn(&[LETTERS, CAPITALS, DIGITS, "!#%+?"], length))
    }
}

type Kind = (&'static str, fn(&mut Maker) -> String, fn(&str) -> String);

/// Kinds of credentials: how one looks, and what is said with it. No prefix stands here whole: these are tokens of nobody,
/// and no scanner of a repository needs to ask.
const KINDS: [Kind; 24] = [
    ("password", Maker::password, |v| format!("the staging password is {v}")),
    ("password", Maker::password, |v| format!("DB_PASSWORD={v}")),
    ("password", Maker::password, |v| format!("das Passwort lautet {v}")),
    ("password", Maker::password, |v| format!("la contraseña es {v}")),
    ("password", Maker::password, |v| format!("le mot de passe est {v}")),
    ("password", Maker::password, |v| format!("密码是 {v}")),
    ("password", Maker::password, |v| format!("パスワードは {v}")),
    ("password", Maker::password, |v| format!("password: {v}")),
    ("connection", |m| m.mixed(14), |v| format!("postgres://app:{v}@db.acme.dev/ledger")),
    ("basic auth", |m| m.mixed(14), |v| format!("https://deploy:{v}@git.acme.dev/x.git")),
    ("curl", |m| m.mixed(16), |v| format!("curl -u admin:{v} https://api.acme.dev")),
    ("bearer", |m| m.mixed(40), |v| format!("Authorization: Bearer {v}")),
    ("API key", |m| m.mixed(32), |v| format!("api_key = {v}")),
    ("client secret", |m| m.mixed(32), |v| format!("client_secret: {v}")),
    ("GitHub", |m| format!("gh{}_{}", "p", m.mixed(36)), |v| format!("CI pushes with {v}")),
    ("GitLab", |m| format!("gl{}-{}", "pat", m.mixed(20)), |v| format!("the runner has {v}")),
    ("AWS", |m| format!("AK{}{}", "IA", m.drawn(&[CAPITALS, "234567"], 16)), |v| format!("we deploy with {v}")),
    (
        "Slack",
        |m| format!("xo{}-{}-{}-{}", "xb", m.drawn(&[DIGITS], 12), m.drawn(&[DIGITS], 12), m.mixed(24)),
        |v| format!("the bot posts as {v}"),
    ),
    ("Stripe", |m| format!("sk_{}_{}", "live", m.mixed(24)), |v| format!("payments use {v}")),
    ("Google", |m| format!("AI{}{}", "za", m.mixed(35)), |v| format!("maps use {v}")),
    ("SendGrid", |m| format!("S{}.{}.{}", "G", m.mixed(22), m.mixed(43)), |v| format!("mail goes by {v}")),
    ("npm", |m| format!("np{}_{}", "m", m.mixed(36)), |v| format!("publish with {v}")),
    ("JWT", |m| format!("ey{}.eyJ{}.{}", "JhbGciOiJIUzI1NiJ9", m.mixed(40), m.mixed(43)), |v| format!("session {v}")),
    ("private key", |m| m.mixed(64), |v| format!("-----BEGIN {0}-----\nMII{v}\n{v}\n-----END {0}-----", "PRIVATE KEY")),
];

/// Credentials of many kinds, the same for the same seed.
pub(crate) fn planted(count: usize, seed: u64) -> Vec<Planted> {
    let mut maker = Maker(fastrand::Rng::with_seed(seed));
    let make = |number: usize| {
        let (kind, value, said) = KINDS[number % KINDS.len()];
        Planted { number, kind, value: value(&mut maker), said }
    };
    (0..count).map(make).collect()
}

/// The spellings in which a value may stand somewhere.
fn spellings(value: &str) -> Vec<Vec<u8>> {
    let mut all = vec![value.as_bytes().to_vec(), value.to_lowercase().into_bytes()];
    let quoted = serde_json::to_string(value).unwrap();
    all.push(quoted.trim_matches('"').as_bytes().to_vec());
    all.push(value.encode_utf16().flat_map(u16::to_le_bytes).collect());
    all.push(value.encode_utf16().flat_map(u16::to_be_bytes).collect());
    all.push(value.bytes().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect());
    all.push(value.bytes().flat_map(|byte| format!("%{byte:02X}").into_bytes()).collect());
    // At each of the three places where it may begin among the bytes that make four letters, without those at its ends
    // that its neighbours share.
    for before in 0..3 {
        let text = STANDARD_NO_PAD.encode([vec![0; before], value.as_bytes().to_vec()].concat());
        let (first, last) = ([0, 2, 3][before], text.len() - 2);
        all.push(text.as_bytes()[first..last].to_vec());
    }
    // A piece of it, where it was cut or spread over pages.
    all.extend(value.as_bytes().chunks_exact(16).map(<[u8]>::to_vec));
    all
}

/// Where credentials stand in bytes.
pub(crate) struct Search<'a> {
    secrets: &'a [Planted],
    whose: Vec<usize>,
    words: AhoCorasick,
}

impl<'a> Search<'a> {
    pub(crate) fn of(secrets: &'a [Planted]) -> Self {
        let all: Vec<(usize, Vec<u8>)> = secrets
            .iter()
            .enumerate()
            .flat_map(|(at, secret)| spellings(&secret.value).into_iter().map(move |spelling| (at, spelling)))
            .collect();
        // A piece that several have is the beginning of their kind.
        let mut whose = HashMap::<&[u8], BTreeSet<usize>>::new();
        for (at, spelling) in &all {
            whose.entry(spelling).or_default().insert(*at);
        }
        let is_own: Vec<bool> = all.iter().map(|(_, spelling)| whose[spelling.as_slice()].len() == 1).collect();
        let all: Vec<(usize, Vec<u8>)> =
            all.into_iter().zip(is_own).filter(|(_, is_own)| *is_own).map(|(one, _)| one).collect();
        let words = AhoCorasick::new(all.iter().map(|(_, spelling)| spelling)).unwrap();
        Self { secrets, whose: all.into_iter().map(|(at, _)| at).collect(), words }
    }

    /// Those that stand in some bytes, in whatever spelling.
    pub(crate) fn found_in(&self, bytes: &[u8]) -> Vec<&'a Planted> {
        let mut found: Vec<usize> =
            self.words.find_overlapping_iter(bytes).map(|hit| self.whose[hit.pattern().as_usize()]).collect();
        found.sort_unstable();
        found.dedup();
        found.into_iter().map(|at| &self.secrets[at]).collect()
    }
}
