//! Whether bytes look random: no words, no sequence, no placeholder.

use super::alphabet::counted;

/// Texts that mark an example. A random token rarely contains one of these texts.
const EXAMPLES: [&[u8]; 14] = [
    b"...",
    b"***",
    b"example",
    b"placeholder",
    b"xxxx",
    b"changeme",
    b"redacted",
    b"dummy",
    b"sample",
    b"replace",
    b"insert",
    b"your_",
    b"your-",
    b"yourtoken",
];

/// Parts of public keys that vendors print in documentation or ship in every copy of a program: those of Stripe,
/// jwt.io, the Azure Storage and Cosmos DB emulators, and YouTube.
const PUBLISHED: [&[u8]; 6] = [
    b"4eC39HqLyjWDarjtT1zdp7dc",
    b"BQokikJOvBiI2HlWgH4olfQ2",
    b"SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV",
    b"Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1",
    b"C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM",
    b"SyAO_FJ2SlqU8Q4STEHLGCilw",
];

/// For each letter, the letters that often follow it in words and names. The pairs were counted in the texts of this
/// project.
const FOLLOWERS: [&[u8]; 26] = [
    b"bcdgiklmnprstuy",
    b"aelou",
    b"aehklort",
    b"aeios",
    b"acdefgilmnpqrstvwx",
    b"aefior",
    b"ehirs",
    b"aeio",
    b"acdeglmnoprstv",
    b"",
    b"eis",
    b"adeilostuy",
    b"aeiopu",
    b"acdegikost",
    b"cdklmnoprstuw",
    b"aeilorstu",
    b"u",
    b"acdegimnorstuy",
    b"acehikopstu",
    b"acehiorstuy",
    b"belmnprst",
    b"aei",
    b"aehinor",
    b"t",
    b"s",
    b"e",
];

/// If at least this share of neighbouring bytes are equal or consecutive, a token is not random.
const COUNTED: f32 = 0.45;
/// If at least this share of the letter pairs is common in words, a token consists of words.
const WORDS: f32 = 0.6;
/// Longer tokens are judged by their beginning, so that the time stays limited.
pub(super) const JUDGED: usize = 256;

/// True for an obvious placeholder: `xxxx`, `your_token`, a key with EXAMPLE in it.
pub(super) fn is_masked(token: &[u8]) -> bool {
    let token = token.get(..counted(JUDGED)).unwrap_or(token);
    let mut core = [0; JUDGED];
    let core = kept(token, &mut core, u8::is_ascii_alphanumeric);
    says_so(token) || core.len() >= 8 && distinct(core) <= 3.max(core.len() / 12).min(6)
}

/// True for a placeholder: `xxxx`, `your_token`, `abcdef123456`, `0000`.
pub(super) fn is_placeholder(token: &[u8]) -> bool {
    let token = token.get(..counted(JUDGED)).unwrap_or(token);
    if says_so(token) {
        return true;
    }
    let mut core = [0; JUDGED];
    let core = kept(token, &mut core, u8::is_ascii_alphanumeric);
    let length = core.len();
    counting(core) >= COUNTED
        || counts_in_both(token)
        || counts_in_pairs(core)
        || (length >= 8 && distinct(core) <= 3.max(length / 12).min(6))
}

/// True if a token contains a word that marks examples, or a published key.
fn says_so(token: &[u8]) -> bool {
    (0..token.len()).any(|at| {
        let rest = token.get(at..).unwrap_or_default();
        let first = rest.first().map_or(0, u8::to_ascii_lowercase);
        let begins = |word: &&[u8]| rest.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word));
        (b"epxcrdsiy.*".contains(&first) && EXAMPLES.iter().any(begins))
            || PUBLISHED.iter().any(|published| rest.starts_with(published))
    })
}

/// True for a token made of words, with very few digits: `AcceptanceTimeoutSeconds`.
pub(super) fn is_words(token: &[u8]) -> bool {
    let token = token.get(..JUDGED).unwrap_or(token);
    token.iter().filter(|byte| byte.is_ascii_digit()).count() * 16 < token.len() && are_words(token)
}

/// True if the letters of a token form words.
fn are_words(token: &[u8]) -> bool {
    let (mut pairs, mut common) = (0_u16, 0_u16);
    for (first, second) in token.iter().zip(token.iter().skip(1)) {
        if let (Some(first), Some(second)) = (letter(*first), letter(*second)) {
            pairs += 1;
            let follows = FOLLOWERS.get(usize::from(first - b'a')).is_some_and(|known| known.contains(&second));
            common += u16::from(follows);
        }
    }
    pairs > 0 && f32::from(common) >= WORDS * f32::from(pairs)
}

/// The look of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Look {
    /// The text is a word, a number, a version, or a placeholder.
    Plain,
    /// Only digits, a dozen or more.
    Number,
    /// Letters and digits without a separator; they may be a word and a number.
    Mixed,
    /// The text is random, but so short that it may be a word.
    Brief,
    /// Random and short.
    Short,
    /// A UUID, or a similar form.
    Uuid,
    /// Random.
    Random,
}

/// Minimum letters and digits of a long random token.
const LONG: usize = 18;
/// Minimum letters and digits of a random token that is not very short.
const SHORT: usize = 12;
const LEAST: usize = 8;

/// The look of a token.
pub(super) fn look(token: &[u8]) -> Look {
    let judged = token.get(..counted(JUDGED)).unwrap_or(token);
    let letters = judged.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let digits = judged.iter().filter(|byte| byte.is_ascii_digit()).count();
    let length = letters + digits;
    if length < LEAST || length * 2 < judged.len() || is_number_of_a_program(judged) {
        return Look::Plain;
    }
    let look = if is_uuid(judged) {
        Look::Uuid
    } else if letters == 0 {
        if digits >= SHORT { Look::Number } else { Look::Plain }
    } else if is_drawn(judged, letters, digits) {
        match length {
            LONG.. => Look::Random,
            SHORT.. => Look::Short,
            _ => Look::Brief,
        }
    } else if is_mixed(judged) {
        Look::Mixed
    } else {
        Look::Plain
    };
    // Tested last, because most words are already plain.
    if look > Look::Plain && is_placeholder(judged) { Look::Plain } else { look }
}

/// True for a token that begins with `0x`, such as an error code or the address of a wallet. The key of a wallet is
/// longer.
fn is_number_of_a_program(token: &[u8]) -> bool {
    const WALLET_KEY: usize = 66;
    token.starts_with(b"0x") && token.len() != WALLET_KEY
}

/// True if letters and digits are mixed, or the letters form no words.
fn is_drawn(token: &[u8], letters: usize, digits: usize) -> bool {
    let length = letters + digits;
    let together = |pair: &(&u8, &u8)| pair.0.is_ascii_alphanumeric() && pair.1.is_ascii_alphanumeric();
    let pairs = token.iter().zip(token.iter().skip(1)).filter(together);
    let (mut changes, mut turns) = (0, 0);
    for (first, second) in pairs {
        changes += usize::from(first.is_ascii_digit() != second.is_ascii_digit());
        turns += usize::from(sort(*first) != sort(*second));
    }
    let is_hex = token.iter().all(|byte| byte.is_ascii_hexdigit() || !byte.is_ascii_alphanumeric());
    // Words with a number at the end change between letters and digits once or twice. A token changes more often, or is
    // longer than such a number, or its letters form no words.
    (changes >= 3 && changes * 5 >= length)
        || (digits > 0 && length >= 12 && turns * 5 >= length * 2)
        || (changes >= 2 && digits >= 6 && length >= 24)
        || (is_hex && changes >= 2 && length >= 12)
        || (letters >= 4 && changes >= 1 && length >= 10 && longest_part(token) >= 8 && !are_words(token))
        || (digits >= 3 && is_grouped(token))
        || (letters >= 12 && longest_part(token) >= 12 && !are_words(token))
}

/// The letters and digits of the longest part without a separator.
fn longest_part(token: &[u8]) -> usize {
    token.split(|byte| !byte.is_ascii_alphanumeric()).map(<[u8]>::len).max().unwrap_or_default()
}

/// Three or more parts of equal length joined by hyphens.
fn is_grouped(token: &[u8]) -> bool {
    let mut parts = token.split(|byte| *byte == b'-').map(<[u8]>::len);
    let first = parts.next().unwrap_or_default();
    (4..=12).contains(&first) && parts.clone().count() >= 2 && parts.all(|length| length == first)
}

/// The kind of a byte: digit, lower-case letter or upper-case letter.
fn sort(byte: u8) -> u8 {
    u8::from(byte.is_ascii_uppercase()) + 2 * u8::from(byte.is_ascii_digit())
}

/// True if a part without a separator has at least twelve characters, among them four letters and four digits.
fn is_mixed(token: &[u8]) -> bool {
    token.split(|byte| !byte.is_ascii_alphanumeric()).filter(|part| part.len() >= 12).any(|part| {
        let digits = part.iter().filter(|byte| byte.is_ascii_digit()).count();
        digits >= 4 && part.len() - digits >= 4
    })
}

/// True for a UUID in groups of 8, 4, 4, 4 and 12 characters. Letters beyond `f` and a longer last group are allowed,
/// because some providers use them.
fn is_uuid(token: &[u8]) -> bool {
    let mut groups = token.split(|byte| *byte == b'-');
    let fits = |length: std::ops::RangeInclusive<usize>| {
        move |group: &[u8]| length.contains(&group.len()) && group.iter().all(u8::is_ascii_alphanumeric)
    };
    [8..=8, 4..=4, 4..=4, 4..=4, 12..=16].into_iter().all(|length| groups.next().is_some_and(fits(length)))
        && groups.next().is_none()
}

fn letter(byte: u8) -> Option<u8> {
    byte.is_ascii_alphabetic().then_some(byte.to_ascii_lowercase())
}

/// The bytes of a token that pass a filter, in lowercase.
fn kept<'a>(token: &[u8], place: &'a mut [u8; JUDGED], sort: fn(&u8) -> bool) -> &'a [u8] {
    let kept = token.iter().filter(|byte| sort(byte));
    let length = place.iter_mut().zip(kept).map(|(place, byte)| *place = byte.to_ascii_lowercase()).count();
    place.get(..length).unwrap_or_default()
}

fn distinct(core: &[u8]) -> usize {
    let mut seen = [false; 256];
    core.iter()
        .filter(|byte| seen.get_mut(usize::from(**byte)).is_some_and(|seen| !std::mem::replace(seen, true)))
        .count()
}

/// The share of bytes that repeat the previous one or count up from it.
fn counting(core: &[u8]) -> f32 {
    let counts = |pair: &&[u8]| matches!(pair, [first, second] if second == first || *second == first.wrapping_add(1));
    core.windows(2).filter(counts).count() as f32 / core.len().max(1) as f32
}

/// True if pairs of characters count up: `000102030405`.
fn counts_in_pairs(core: &[u8]) -> bool {
    let pairs = core.chunks_exact(2).zip(core.chunks_exact(2).skip(1));
    let counts = |(first, second): &(&[u8], &[u8])| matches!((first, second), ([a, b], [c, d]) if a == c && *d == b.wrapping_add(1));
    core.len() >= 12 && pairs.filter(counts).count() * 2 * 10 >= core.len() * 6
}

/// True if the letters alone and the digits alone count up or down: `a1b2c3`, `AbC1dEf2`.
fn counts_in_both(token: &[u8]) -> bool {
    let (mut letters, mut digits) = ([0; JUDGED], [0; JUDGED]);
    let letters = kept(token, &mut letters, u8::is_ascii_alphabetic);
    let digits = kept(token, &mut digits, u8::is_ascii_digit);
    let steps = |by: u8| {
        let counts = move |pair: &&[u8]| matches!(pair, [first, second] if second.wrapping_sub(*first) == by);
        letters.windows(2).filter(counts).count() + digits.windows(2).filter(counts).count()
    };
    let pairs = (letters.len() + digits.len()).saturating_sub(2);
    pairs >= 10 && steps(1).max(steps(u8::MAX)) * 10 >= pairs * 6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_numbers_and_placeholders_are_plain() {
        for plain in [
            "calculateAuthenticationTokenExpiry",
            "AbstractAuthenticationProviderFactoryBean",
            "2026-11-24T09:30:00Z",
            "v1.2.3-rc1",
            "x86_64-unknown-linux-gnu",
            "xxxxxxxxxxxxxxxx",
            "00000000000000000000000000000000",
            "abcdef0123456789abcdef0123456789",
            "a1b2c3d4e5f6g7h8i9j0",
            "000102030405060708090A0B0C0D0E0F",
            "AbCdEfGhIjKlMnOpQrStUvWxYz123456",
            "your_token_12ab34cd",
            "catppuccin_mocha",
            "sonnet-20241022",
            "EXAMPLEKEY1a2b3c",
            "****************",
            "password",
            "-9223372036854775808i64",
            "",
        ] {
            assert_eq!(look(plain.as_bytes()), Look::Plain, "{plain}");
        }
    }

    #[test]
    fn what_was_drawn_by_chance_looks_so() {
        for (token, expected) in [
            ("8f2b61c9d07e4a35b1c28e90f6a7d413", Look::Random),
            ("bwmyqzukcbmgmvfboyadoblbdhztfsqx", Look::Random),
            ("Qx7RtLw2ZpKd9VbNs4Ty", Look::Random),
            ("4f1c9a7e-52b8-4d03-9e61-c08a7b35f2d4", Look::Uuid),
            ("k3v9x2qa7w", Look::Brief),
            ("k3v9x2qa7wz5", Look::Short),
            ("9541537460897512", Look::Number),
        ] {
            assert_eq!(look(token.as_bytes()), expected, "{token}");
        }
    }
}
