//! Whether bytes look drawn by chance: no words, no counting, no placeholder.

/// Words that say an example stands here. Four letters and more: a random token has them hardly ever.
const EXAMPLES: [&[u8]; 12] = [
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

/// For each letter, those that often follow it in words and names; counted over the texts of this project.
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

/// More than this share of a token's neighbours that repeat or count up says nobody drew it.
const COUNTED: f32 = 0.45;
/// From this share of common pairs of letters on, a text is made of words.
const WORDS: f32 = 0.6;
/// Longer tokens are judged by their beginning: it tells enough, and time stays bounded.
pub(super) const JUDGED: usize = 256;

/// True for what stands where a credential would: `xxxx`, `your_token`, `abcdef123456`, `0000`.
pub(super) fn is_placeholder(token: &[u8]) -> bool {
    let token = token.get(..JUDGED).unwrap_or(token);
    let shouts = |word: &&[u8]| token.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word));
    if EXAMPLES.iter().any(shouts) || token.windows(3).any(|window| window == b"..." || window == b"***") {
        return true;
    }
    let mut core = [0; JUDGED];
    let length = alphanumeric(token, &mut core);
    let core = core.get(..length).unwrap_or_default();
    counted(core) >= COUNTED || (length >= 8 && distinct(core) <= 3.max(length / 12).min(6))
}

/// True when the letters of a token make words: `AcceptanceTimeoutSeconds`.
pub(super) fn is_words(token: &[u8]) -> bool {
    let token = token.get(..JUDGED).unwrap_or(token);
    let (mut pairs, mut common) = (0_u16, 0_u16);
    for (first, second) in token.iter().zip(token.iter().skip(1)) {
        if let (Some(first), Some(second)) = (letter(*first), letter(*second)) {
            pairs += 1;
            let follows = FOLLOWERS.get(first).is_some_and(|followers| followers.contains(&(second as u8 + b'a')));
            common += u16::from(follows);
        }
    }
    pairs > 0 && f32::from(common) >= WORDS * f32::from(pairs)
}

/// How a token looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Look {
    /// Like a word, a number, a version, a placeholder.
    Plain,
    /// Digits alone, a dozen of them or more.
    Number,
    /// Drawn by chance, but short.
    Short,
    /// A UUID, or what is written like one.
    Uuid,
    /// Drawn by chance.
    Random,
}

/// Letters and digits from which on something random is no longer short.
const LONG: usize = 18;
const LEAST: usize = 8;

/// How a token looks.
pub(super) fn look(token: &[u8]) -> Look {
    let judged = token.get(..JUDGED).unwrap_or(token);
    let letters = judged.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let digits = judged.iter().filter(|byte| byte.is_ascii_digit()).count();
    let length = letters + digits;
    if length < LEAST || length * 4 < judged.len() * 3 || is_placeholder(judged) {
        return Look::Plain;
    }
    if is_uuid(judged) {
        return Look::Uuid;
    }
    if letters == 0 {
        return if digits >= 12 { Look::Number } else { Look::Plain };
    }
    if !is_drawn(judged, letters, digits) {
        return Look::Plain;
    }
    if length >= LONG { Look::Random } else { Look::Short }
}

/// Whether letters and digits stand mixed, or letters make no words.
fn is_drawn(token: &[u8], letters: usize, digits: usize) -> bool {
    if digits == 0 {
        return letters >= 12 && !is_words(token);
    }
    let class = |byte: &u8| (byte.is_ascii_digit(), byte.is_ascii_alphanumeric());
    let changes = token.iter().zip(token.iter().skip(1)).filter(|(first, second)| {
        let ((first, first_inside), (second, second_inside)) = (class(first), class(second));
        first_inside && second_inside && first != second
    });
    let changes = changes.count();
    let length = letters + digits;
    // Words with a number at their end change once or twice; a token of the same length changes far oftener, or its
    // letters make no words.
    changes * 5 >= length && changes >= 3 || (letters >= 6 && changes >= 1 && !is_words(token) && length >= 10)
}

/// `8-4-4-4-12`, letters beyond `f` too: some providers draw them so.
pub(super) fn is_uuid(token: &[u8]) -> bool {
    let mut groups = token.split(|byte| *byte == b'-');
    let fits = |length: usize| move |group: &[u8]| group.len() == length && group.iter().all(u8::is_ascii_alphanumeric);
    [8, 4, 4, 4, 12].into_iter().all(|length| groups.next().is_some_and(fits(length))) && groups.next().is_none()
}

fn letter(byte: u8) -> Option<usize> {
    byte.is_ascii_alphabetic().then(|| usize::from(byte.to_ascii_lowercase() - b'a'))
}

/// The letters and digits of a token, small, and how many.
fn alphanumeric(token: &[u8], core: &mut [u8; JUDGED]) -> usize {
    let kept = token.iter().filter(|byte| byte.is_ascii_alphanumeric());
    core.iter_mut().zip(kept).map(|(place, byte)| *place = byte.to_ascii_lowercase()).count()
}

fn distinct(core: &[u8]) -> usize {
    let mut seen = [false; 256];
    core.iter()
        .filter(|byte| seen.get_mut(usize::from(**byte)).is_some_and(|seen| !std::mem::replace(seen, true)))
        .count()
}

/// The share of bytes that repeat the one before or count up from it, or from the one before that where two rows of
/// signs go side by side: `a1b2c3`.
fn counted(core: &[u8]) -> f32 {
    let follows = |first: u8, second: u8| second == first || second == first.wrapping_add(1);
    let beside = core.windows(2).filter(|pair| matches!(pair, [first, second] if follows(*first, *second))).count();
    let across = core
        .windows(4)
        .filter(|four| matches!(four, [a, b, c, d] if c.wrapping_sub(*a) == 1 && d.wrapping_sub(*b) == 1));
    let share = |count: usize| count as f32 / core.len().max(1) as f32;
    share(beside).max(share(across.count()))
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
            "AbCdEfGhIjKlMnOpQrStUvWxYz123456",
            "your_token_12ab34cd",
            "catppuccin_mocha",
            "sonnet-20241022",
            "EXAMPLEKEY1a2b3c",
            "****************",
            "password",
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
            ("k3v9x2qa7w", Look::Short),
            ("9541537460897512", Look::Number),
        ] {
            assert_eq!(look(token.as_bytes()), expected, "{token}");
        }
    }
}
