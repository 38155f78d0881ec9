//! Cuts a text into the pieces that are encoded separately, like o200k_base's pattern.
//!
//! The alternatives are tried in order; the first that matches determines the end of the piece:
//! ```text
//! [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! \p{N}{1,3}
//!  ?[^\s\p{L}\p{N}]+[\r\n/]*
//! \s*[\r\n]+
//! \s+(?!\S)
//! \s+
//! ```
//! Written by hand, it needs neither a compiled pattern nor backtracking: where the pattern would backtrack, the
//! scanner has stored the position. Every character is visited only a few times.

use crate::text::classes::{Class, class};

/// The pieces of a text in order. Joined, they are the text.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let (piece, after) = rest.split_at_checked(length(rest, first)).unwrap_or((rest, ""));
        rest = after;
        Some(piece)
    })
}

/// Returns the length in bytes of a text's first piece. `first` is the first character of the text.
fn length(text: &str, first: char) -> usize {
    let inner = text.get(first.len_utf8()..).unwrap_or_default();
    let prefixed = |word: Option<usize>| word.map(|word| first.len_utf8() + word);
    match class(first) {
        Class::Upper | Class::Lower | Class::Letter => lower_word(text).or_else(|| upper_word(text)).unwrap_or(1),
        // A mark may stand before a word as well as inside.
        Class::Mark => prefixed(lower_word(inner)).or_else(|| lower_word(text)).unwrap_or(1),
        Class::Number => run(text, 3, |class, _| class == Class::Number),
        Class::Break => white_space(text),
        Class::Space | Class::Other => {
            let word = prefixed(lower_word(inner).or_else(|| upper_word(inner)));
            word.or_else(|| symbols(text, first)).unwrap_or_else(|| white_space(text))
        }
    }
}

/// The length in bytes of a run of `wanted` characters, at most `most` of them.
fn run(text: &str, most: usize, wanted: impl Fn(Class, char) -> bool) -> usize {
    text.chars().take(most).take_while(|character| wanted(class(*character), *character)).map(char::len_utf8).sum()
}

/// The first alternative of the pattern, after the optional character before a word: letters,
/// the last of them not upper-case, and an optional contraction.
fn lower_word(text: &str) -> Option<usize> {
    let mut at = 0;
    // The end of the last character in both sets, to which the pattern would backtrack.
    let mut both = None;
    for character in text.chars() {
        match class(character) {
            Class::Upper => at += character.len_utf8(),
            Class::Letter | Class::Mark => {
                at += character.len_utf8();
                both = Some(at);
            }
            Class::Lower => {
                let tail = text.get(at..).unwrap_or_default();
                let lower = |class, _| matches!(class, Class::Lower | Class::Letter | Class::Mark);
                both = Some(at + run(tail, usize::MAX, lower));
                break;
            }
            _ => break,
        }
    }
    both.map(|end| end + contraction(text.get(end..).unwrap_or_default()))
}

/// The second alternative of the pattern, if the first does not match: the length of a run of upper-case letters and an
/// optional contraction.
fn upper_word(text: &str) -> Option<usize> {
    let end = run(text, usize::MAX, |class, _| class == Class::Upper);
    (end > 0).then(|| end + contraction(text.get(end..).unwrap_or_default()))
}

/// The length in bytes of a contraction at the start of a text, such as `'s`, `'LL` or `'ſ`.
fn contraction(text: &str) -> usize {
    let Some(letters) = text.strip_prefix('\'') else { return 0 };
    let mut letters = letters.chars();
    match (letters.next(), letters.next()) {
        (Some('s' | 'S' | 't' | 'T' | 'm' | 'M' | 'd' | 'D'), _) => 2,
        (Some('ſ'), _) => 1 + 'ſ'.len_utf8(),
        (Some('r' | 'R' | 'v' | 'V'), Some('e' | 'E')) | (Some('l' | 'L'), Some('l' | 'L')) => 3,
        _ => 0,
    }
}

/// The length of an optional space, symbols, and the line ends and slashes after them.
fn symbols(text: &str, first: char) -> Option<usize> {
    let space = usize::from(first == ' ');
    let symbols = run(text.get(space..)?, usize::MAX, |class, _| matches!(class, Class::Other | Class::Mark));
    let end = space + symbols;
    let behind = |_, character| matches!(character, '\r' | '\n' | '/');
    (symbols > 0).then(|| end + run(text.get(end..).unwrap_or_default(), usize::MAX, behind))
}

/// The length of a piece of white space. It ends after its last line end. If it has no line end, the piece is all of
/// the white space. If text follows and there are several characters, the last one is omitted, because it may belong to
/// the next piece.
fn white_space(text: &str) -> usize {
    let (mut end, mut last, mut lines) = (0, 0, 0);
    for character in text.chars() {
        match class(character) {
            Class::Break => lines = end + 1,
            Class::Space => {}
            _ => break,
        }
        last = character.len_utf8();
        end += last;
    }
    match end {
        _ if lines > 0 => lines,
        _ if end == text.len() || end == last => end,
        _ => end - last,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expected: Expect) {
        let found: Vec<&str> = pieces(text).collect();
        assert_eq!(found.concat(), text);
        expected.assert_eq(&format!("{found:?}"));
    }

    #[test]
    fn words_take_one_character_before_them_and_a_contraction() {
        check("It's we'll THEY'VE don'T x'y", expect![[r#"["It's", " we'll", " THEY'VE", " don'T", " x", "'y"]"#]]);
        check("HTTPServer ABC aBC", expect![[r#"["HTTPServer", " ABC", " a", "BC"]"#]]);
        check("a'ſ A'ſx b'lL b'rE b're", expect![[r#"["a'ſ", " A'ſ", "x", " b'lL", " b'rE", " b're"]"#]]);
        check("-x --x \tx\u{a0}x\n\nx", expect![[r#"["-x", " --", "x", " ", "\tx", "\u{a0}x", "\n\n", "x"]"#]]);
    }

    #[test]
    fn a_word_ends_where_the_pattern_would_have_gone_back_to() {
        check("あABC ABあC あ's", expect![[r#"["あ", "ABC", " ABあ", "C", " あ's"]"#]]);
        check("\u{301}ABC \u{301}abc A\u{301}B", expect![[r#"["\u{301}", "ABC", " \u{301}abc", " A\u{301}", "B"]"#]]);
        check("\u{301}\u{301} \u{301}", expect![[r#"["\u{301}\u{301}", " \u{301}"]"#]]);
    }

    #[test]
    fn digits_are_cut_in_threes() {
        check("1234567 12a ٣٤٥٦", expect![[r#"["123", "456", "7", " ", "12", "a", " ", "٣٤٥", "٦"]"#]]);
    }

    #[test]
    fn symbols_take_a_space_before_and_lines_behind() {
        check("a /* b */\r\n//\n\n c", expect![[r#"["a", " /*", " b", " */\r\n//\n\n", " c"]"#]]);
        check("\u{a0}! \t!", expect![[r#"["\u{a0}", "!", " ", "\t", "!"]"#]]);
    }

    #[test]
    fn white_space_ends_at_its_last_line_or_one_before_what_follows() {
        check("a   b", expect![[r#"["a", "  ", " b"]"#]]);
        check("a  \n \r\n  b  ", expect![[r#"["a", "  \n \r\n", " ", " b", "  "]"#]]);
        check(" 1\u{2028}\u{3000}1", expect![[r#"[" ", "1", "\u{2028}", "\u{3000}", "1"]"#]]);
    }
}
