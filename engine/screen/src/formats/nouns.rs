//! Words for a credential in names and prose: `apiKey`, `ACCESS_TOKEN`, `stripe secret`.

use tessera_tables::{field, section, words};

use super::providers::{self, Provider};
use crate::LISTS;

/// The maximum number of bytes of a word that are checked.
pub(super) const LONGEST_WORD: usize = 64;

/// Maximum length of a provider's name.
const LONGEST_NAME: usize = 24;

/// A word for a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Noun {
    Key,
    Token,
    Secret,
    /// An ID that belongs to a secret, and is public. Alone, it gives no access.
    ClientId,
}

const NOUNS: [(&[u8], Noun); 15] = [
    (b"token", Noun::Token),
    (b"secret", Noun::Secret),
    (b"key", Noun::Key),
    (b"access", Noun::Key),
    (b"private", Noun::Key),
    (b"credential", Noun::Secret),
    (b"pat", Noun::Token),
    (b"apikey", Noun::Key),
    (b"license", Noun::Key),
    (b"unseal", Noun::Key),
    (b"reporter_id", Noun::Key),
    (b"clientid", Noun::ClientId),
    (b"client_id", Noun::ClientId),
    (b"client.id", Noun::ClientId),
    (b"client-id", Noun::ClientId),
];

/// Stems that form one word with `key`: `apikey`, but not `monkey`.
const STEMS: &[&str] = words!(field(section(LISTS, "keys"), "stems"));

/// A name with one of these parts is not secret.
const PUBLIC: [&[u8]; 5] = [b"public", b"fingerprint", b"etag", b"correlation", b"commit"];

/// After one of these words, a word for a credential is not secret: `cache key`, `next_page_token`.
const OTHERS: &[&str] = words!(field(section(LISTS, "keys"), "others"));

/// Words that may follow the word for a credential in a name: `TOKEN_PROD`.
const TAILS: &[&str] = words!(field(section(LISTS, "keys"), "tails"));

/// The credential in a name: the last word that means a credential, unless a following word makes it a name of
/// something else.
pub(super) fn noun_in(word: &[u8]) -> Option<Noun> {
    let word = word.get(word.len().saturating_sub(LONGEST_WORD)..)?;
    let (end, noun, shouts) = (0..word.len()).rev().find_map(|at| noun_at(word, at))?;
    let tail = word.get(end..).unwrap_or_default();
    let letters = tail.iter().position(u8::is_ascii_alphabetic).unwrap_or(tail.len());
    let rest = tail.get(letters..).unwrap_or_default();
    let rest = rest.strip_suffix(b"_").unwrap_or(rest);
    let glued = shouts && letters == 0 && rest.iter().all(u8::is_ascii_lowercase);
    let plain = rest.is_empty()
        || rest.eq_ignore_ascii_case(b"s")
        || (rest.len() == 1 && letters > 0)
        || TAILS.iter().any(|tail| rest.eq_ignore_ascii_case(tail.as_bytes()));
    (plain || glued).then_some(noun)
}

/// True for a word that is also the beginning of some tokens: `key-8f2b…`.
pub(super) fn is_prefix(word: &[u8]) -> bool {
    [&b"key"[..], b"token", b"secret", b"access", b"private", b"pubkey"].contains(&word)
}

/// True if a name contains a word for a credential.
pub(super) fn is_spoken_of(name: &[u8]) -> bool {
    (0..name.len()).any(|at| noun_at(name, at).is_some())
}

/// True if a name, or the word before it, shows that the value nearby is not a credential.
pub(super) fn is_other(before: &[u8], name: &[u8]) -> bool {
    let holds = |text: &[u8]| PUBLIC.iter().any(|word| parts(text, word).next().is_some());
    let is_named = |name: &[u8], at: usize| noun_at(name, at).is_some();
    let within = |other: &[u8]| parts(name, other).any(|end| is_named(name, end) || is_named(name, end + 1));
    let right_before = |other: &[u8]| is_named(name, 0) && parts(before, other).any(|end| end == before.len());
    holds(before)
        || holds(name)
        || OTHERS.iter().map(|other| other.as_bytes()).any(|other| within(other) || right_before(other))
}

/// The end positions of a word in a text, wherever the word is a separate part.
fn parts<'a>(text: &'a [u8], word: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    (word.len()..=text.len()).filter(move |end| {
        let start = end - word.len();
        let part = text.get(start..*end).unwrap_or_default();
        part.eq_ignore_ascii_case(word) && is_turn(text, start) && is_turn(text, *end)
    })
}

/// True at the beginning and the end of a name, at the beginning and the end of letters, and where the case of letters
/// changes.
fn is_turn(name: &[u8], at: usize) -> bool {
    let (Some(before), Some(after)) = (at.checked_sub(1).and_then(|at| name.get(at)), name.get(at)) else {
        return true;
    };
    !before.is_ascii_alphabetic()
        || !after.is_ascii_alphabetic()
        || before.is_ascii_uppercase() != after.is_ascii_uppercase()
}

/// The word for a credential that begins at a position: its end, its kind, and whether it is in capitals.
fn noun_at(word: &[u8], at: usize) -> Option<(usize, Noun, bool)> {
    let rest = word.get(at..)?;
    if !b"tskapclur".contains(&rest.first()?.to_ascii_lowercase()) {
        return None;
    }
    let (letters, noun) = NOUNS
        .iter()
        .find(|(letters, _)| rest.get(..letters.len()).is_some_and(|head| head.eq_ignore_ascii_case(letters)))?;
    let end = at + letters.len();
    let begins = letters.len() > 3 || begins_word(word, at);
    (begins && ends_word(word, end)).then(|| (end, *noun, word.get(end - 1).is_some_and(u8::is_ascii_uppercase)))
}

fn ends_word(word: &[u8], end: usize) -> bool {
    let (Some(last), Some(next)) = (end.checked_sub(1).and_then(|at| word.get(at)), word.get(end)) else { return true };
    if !next.is_ascii_alphabetic() || last.is_ascii_uppercase() != next.is_ascii_uppercase() {
        return true;
    }
    let plural = next.eq_ignore_ascii_case(&b's') && word.get(end + 1).is_none_or(|after| !after.is_ascii_alphabetic());
    plural
        || NOUNS.iter().any(|(letters, _)| {
            word.get(end..end + letters.len()).is_some_and(|head| head.eq_ignore_ascii_case(letters))
        })
}

fn begins_word(word: &[u8], at: usize) -> bool {
    let (Some(before), Some(first)) = (at.checked_sub(1).and_then(|at| word.get(at)), word.get(at)) else {
        return true;
    };
    if !before.is_ascii_alphabetic() || (before.is_ascii_lowercase() && first.is_ascii_uppercase()) {
        return true;
    }
    let head = word.get(..at).unwrap_or_default();
    let from = head.iter().rposition(|byte| !byte.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
    let stem = head.get(from..).unwrap_or_default();
    let ends = |known: &&str| {
        let end = stem.len().checked_sub(known.len()).and_then(|at| stem.get(at..));
        end.is_some_and(|end| end.eq_ignore_ascii_case(known.as_bytes()))
    };
    STEMS.iter().any(ends) || provider_of([b"", b"", stem]) > Provider::None
}

/// The provider whose name is in the words: `new_relic`, `geocodifySECRET`, `message-bird`.
pub(super) fn provider_in(words: &[u8]) -> Provider {
    let mut best = Provider::None;
    let (mut before, mut earlier): (&[u8], &[u8]) = (b"", b"");
    // The syntax of a property option: `-Dsonar.login=…`.
    let words = words.strip_prefix(b"-D").unwrap_or(words);
    for word in words.split(|byte| !byte.is_ascii_alphanumeric()).filter(|word| is_name(word)) {
        let turns = |pair: &[u8]| matches!(pair, [a, b] if !a.is_ascii_uppercase() && b.is_ascii_uppercase());
        let turn = word.windows(2).position(turns).map_or(word.len(), |at| at + 1);
        let head = word.get(..turn).unwrap_or(word);
        let stem = NOUNS.iter().find_map(|(noun, _)| {
            let at = head.len().checked_sub(noun.len())?;
            head.get(at..)?.eq_ignore_ascii_case(noun).then(|| head.get(..at))?
        });
        let whole = if head.len() < word.len() { word } else { b"" };
        for parts in [
            [b"", b"", head],
            [b"", before, head],
            [earlier, before, head],
            [b"", b"", stem.unwrap_or_default()],
            [b"", b"", whole],
        ] {
            best = best.max(provider_of(parts));
        }
        if best == Provider::Telling {
            break;
        }
        (earlier, before) = (before, word);
    }
    best
}

/// True if a part of a name can be a word: it is not too long, and contains two neighbouring letters.
fn is_name(part: &[u8]) -> bool {
    part.len() > 1 && part.len() <= LONGEST_WORD && part.windows(2).any(|pair| pair.iter().all(u8::is_ascii_alphabetic))
}

/// The provider whose name consists of these parts, in any case.
fn provider_of(parts: [&[u8]; 3]) -> Provider {
    let mut name = [0; LONGEST_NAME];
    let length = parts.iter().map(|part| part.len()).sum();
    if length > name.len() || parts.last().is_none_or(|last| last.is_empty()) {
        return Provider::None;
    }
    for (place, byte) in name.iter_mut().zip(parts.into_iter().flatten()) {
        *place = byte.to_ascii_lowercase();
    }
    providers::named(name.get(..length).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_credentials_are_told_from_other_names() {
        for (word, expected) in [
            ("api_key", Some(Noun::Key)),
            ("apikey", Some(Noun::Key)),
            ("geocodifySECRET", Some(Noun::Secret)),
            ("ACCESS_TOKEN", Some(Noun::Token)),
            ("infuraKEYwithspecial", Some(Noun::Key)),
            ("GITHUB_PAT", Some(Noun::Token)),
            ("uclassifykey", Some(Noun::Key)),
            ("tokens", Some(Noun::Token)),
            ("SECRET_KEY_PROD", Some(Noun::Key)),
            ("monkey", None),
            ("keyboard", None),
            ("tokenizer", None),
            ("token_count", None),
            ("credentialsId", None),
            ("key_length", None),
            ("secretary", None),
            ("accessibility", None),
            ("path", None),
            ("max_tokens_used", None),
        ] {
            assert_eq!(noun_in(word.as_bytes()), expected, "{word}");
        }
    }

    #[test]
    fn providers_are_found_in_names() {
        for (words, expected) in [
            ("datadog_api", Provider::Telling),
            ("new_relic_key", Provider::Telling),
            ("geocodifySECRET", Provider::Telling),
            ("uclassifykey", Provider::Telling),
            ("github", Provider::Word),
            ("the build", Provider::None),
        ] {
            assert_eq!(provider_in(words.as_bytes()), expected, "{words}");
        }
    }
}
