//! Decides whether letters look like a word of some language, or are random.
//!
//! Also contains small functions that scan the bytes of a text.

/// How surprising a letter is after another letter, in bits (at most nine). Each row of the table is the first of two
/// letters, and each column the second: `a` to `z`, then the edge of a word (its beginning as a row, its end as a
/// column). The table counts the distinct words in this project's documents, sources and fixtures. Each word has the
/// weight of one plus the logarithm of its frequency.
const COSTS: [&[u8; 27]; 27] = [
    b"954486594963539593436778595",
    b"366626994793793994574999693",
    b"375737935945892895735999794",
    b"465525794997895896586999691",
    b"474366797995539673358675892",
    b"365633893995873994655999793",
    b"599929644996755894475999792",
    b"279929993999783995645999793",
    b"674446599974524595439597966",
    b"499729994959992999393999997",
    b"599727873987956899365999892",
    b"399527993983873899555799593",
    b"258829993997574399585999893",
    b"484336395967965898436689792",
    b"665586696954425593444648895",
    b"399739864994883593545999793",
    b"699999999993999996691967993",
    b"376528694967564895455789593",
    b"595939954967985578535979791",
    b"496728943996994894455979692",
    b"555345595994437493339999996",
    b"398919993998874899698997894",
    b"399739933997943994499999993",
    b"494947954998999399926896692",
    b"768859987996555598359969971",
    b"499919993999964979697999564",
    b"454444655775455484344659889",
];
const EDGE: usize = 26;

/// The mean information per letter of a run, in tenths of a bit. It is high for random letters.
pub(super) fn cost(run: &str) -> usize {
    let mut before = EDGE;
    let (mut sum, mut pairs) = (0, 0);
    for letter in run.bytes().map(|byte| usize::from(byte.to_ascii_lowercase().wrapping_sub(b'a'))).chain([EDGE]) {
        let letter = letter.min(EDGE);
        sum += COSTS.get(before).and_then(|row| row.get(letter)).map_or(9, |bits| usize::from(bits - b'0'));
        pairs += 1;
        before = letter;
    }
    sum * 10 / pairs
}

/// True for letters that may be a word. Fewer than three letters are neither word-like nor random.
pub(super) fn is_wordlike(run: &str) -> bool {
    let dearest = match run.len() {
        0..3 => return false,
        3..5 => 47,
        5..8 => 49,
        _ => 46,
    };
    cost(run) <= dearest
}

/// The runs of letters of a text, with camel case split, and their positions.
pub(super) fn runs(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while bytes.get(at).is_some_and(|byte| !byte.is_ascii_alphabetic()) {
            at += 1;
        }
        let start = at;
        bytes.get(start)?;
        at += 1;
        while let Some(byte) = bytes.get(at).filter(|byte| byte.is_ascii_alphabetic()) {
            let before = bytes.get(at - 1).copied().unwrap_or_default();
            let after = bytes.get(at + 1).copied().unwrap_or_default();
            let is_new = byte.is_ascii_uppercase() && (before.is_ascii_lowercase() || after.is_ascii_lowercase());
            if is_new && at > start {
                break;
            }
            at += 1;
        }
        text.get(start..at).map(|run| (start, run))
    })
}

/// The byte at a position; zero beyond the end.
pub(super) fn byte(text: &str, at: usize) -> u8 {
    text.as_bytes().get(at).copied().unwrap_or_default()
}

/// The start of the run of bytes that ends at a position. The run has a maximum length, and begins at a character.
pub(super) fn back_while(text: &str, end: usize, most: usize, holds: impl Fn(u8) -> bool) -> usize {
    let bytes = text.as_bytes().get(end.saturating_sub(most)..end).unwrap_or_default();
    let start = end - bytes.iter().rev().take_while(|byte| holds(**byte)).count();
    ceiling(text, start)
}

/// The end of the run of bytes that begins at a position. The run has a maximum length, and ends after a character.
pub(super) fn on_while(text: &str, start: usize, most: usize, holds: impl Fn(u8) -> bool) -> usize {
    let bytes = text.as_bytes().get(start..).unwrap_or_default();
    let end = start + bytes.iter().take(most).take_while(|byte| holds(**byte)).count();
    floor(text, end)
}

/// The position after spaces and tabs.
pub(super) fn after_blanks(text: &str, at: usize) -> usize {
    on_while(text, at, 64, |byte| byte == b' ' || byte == b'\t')
}

/// The position after white space.
pub(super) fn after_space(text: &str, at: usize) -> usize {
    on_while(text, at, 128, |byte| byte.is_ascii_whitespace() || byte == 0x0b)
}

/// The text from a position, limited to a number of bytes.
pub(super) fn rest(text: &str, at: usize, most: usize) -> &str {
    text.get(at..floor(text, at.saturating_add(most))).unwrap_or_default()
}

/// The last bytes of the text before a position, at most this number.
pub(super) fn head(text: &str, end: usize, most: usize) -> &str {
    text.get(ceiling(text, end.saturating_sub(most))..end).unwrap_or_default()
}

/// The character boundary at or before a position.
pub(super) fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The character boundary at or after a position.
pub(super) fn ceiling(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// True if a text begins with another, without regard to case.
pub(super) fn begins(text: &str, opening: &str) -> bool {
    text.as_bytes().get(..opening.len()).is_some_and(|head| head.eq_ignore_ascii_case(opening.as_bytes()))
}

/// True if a word is one of a space-separated list.
pub(super) fn is_among(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_from_drawn_letters() {
        for word in ["password", "required", "Passwort", "sunshine", "contrase", "authentication", "tokenizer", "horse"]
        {
            assert!(is_wordlike(word), "{word} {}", cost(word));
        }
        for drawn in ["vxssv", "qclrjf", "dllvojkvi", "thqhlodyf", "kwbaadjqfx", "rteyegdgcpe", "bktgu", "WQGZHK"] {
            assert!(!is_wordlike(drawn), "{drawn} {}", cost(drawn));
        }
    }

    #[test]
    fn runs_are_taken_apart_at_camel_humps() {
        let found: Vec<_> = runs("1fbApiKey_DB2XMLHttp").map(|(_, run)| run).collect();
        assert_eq!(found, ["fb", "Api", "Key", "DB", "XML", "Http"]);
    }
}
