//! Folding: the normalised form in which different spellings of a word are equal.
//!
//! Also lists the invisible characters, for folding, cutting and displaying.

use unicode_normalization::UnicodeNormalization;

/// Returns the text compatibility-normalised, in lowercase, and without Latin, Greek, Cyrillic and Arabic diacritics.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut folded = String::with_capacity(text.len());
    for c in text.nfkd().filter(|c| !is_dropped_mark(*c)).nfc() {
        match c {
            'ß' | 'ẞ' => folded.push_str("ss"),
            'ς' => folded.push('σ'),
            'ı' | 'İ' => folded.push('i'),
            'أ' | 'إ' | 'آ' | 'ٱ' => folded.push('ا'),
            'ى' => folded.push('ي'),
            'ø' | 'Ø' => folded.push('o'),
            'ł' | 'Ł' => folded.push('l'),
            _ => folded.extend(c.to_lowercase()),
        }
    }
    folded
}

/// Marks that people omit in searches: combining diacritics, Arabic vowel points and tatweel, and invisible formatting.
fn is_dropped_mark(c: char) -> bool {
    is_invisible(c) || matches!(c, '\u{0300}'..='\u{036f}' | '\u{064b}'..='\u{065f}' | '\u{0670}' | '\u{0640}')
}

/// The text in lowercase, with single spaces. Two texts with the same result differ only in case and white space.
pub fn without_case_and_space(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// True for an invisible character: Unicode's `Default_Ignorable_Code_Point` (zero-width characters, directional marks,
/// variation selectors, fillers, tags) and annotation marks.
pub fn is_invisible(c: char) -> bool {
    !c.is_ascii()
        && matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// True for an invisible character that spelling needs: joiners of Indic, Arabic and emoji sequences, and text and
/// emoji selectors. It is displayed.
pub fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')
}

/// True if a joiner is between two characters that need it: letters of Arabic and Indic scripts, or parts of an emoji.
/// In other places, an invisible joiner could only hide something.
pub fn joins(before: Option<char>, joiner: char, after: Option<char>) -> bool {
    let (Some(before), true) = (before, is_joiner(joiner)) else { return false };
    let is_selector = matches!(joiner, '\u{fe0e}' | '\u{fe0f}');
    if is_selector {
        return is_emoji(before) || after == Some('\u{20e3}');
    }
    let both = |is: fn(char) -> bool| is(before) && after.is_some_and(is);
    both(is_joined_script) || both(is_emoji)
}

/// True for scripts in which joiners distinguish spellings.
fn is_joined_script(c: char) -> bool {
    matches!(c, '\u{600}'..='\u{77f}' | '\u{860}'..='\u{dff}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

/// True for parts of emoji sequences, including selectors.
fn is_emoji(c: char) -> bool {
    matches!(c, '\u{203c}'..='\u{3299}' | '\u{1f000}'..='\u{1faff}' | '\u{fe0e}' | '\u{fe0f}')
}

/// Text for a terminal: control characters, directional marks and other invisible characters are made visible, except
/// necessary joiners.
pub fn shown(text: &str) -> String {
    let is_hidden = |c: char| (c.is_control() && c != '\n' && c != '\t') || (is_invisible(c) && !is_joiner(c));
    text.chars().map(|c| if is_hidden(c) { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_word_fold_together() {
        for (a, b) in [
            ("Café", "cafe\u{301}"),
            ("STRASSE", "straße"),
            ("ﬁle", "FILE"),
            ("ＡＢＣ", "abc"),
            ("مُحَمَّد", "محمد"),
            ("Ёлка", "елка"),
            ("zero\u{200b}width", "zerowidth"),
            ("葛\u{e0100}城", "葛城"),
            ("\u{61c}شمس", "شمس"),
        ] {
            assert_eq!(fold(a), fold(b), "{a} {b}");
        }
    }
}

#[cfg(test)]
mod invisible_tests {
    use super::*;

    #[test]
    fn what_shows_nothing_is_told_from_what_does() {
        for c in [
            '\u{200b}',
            '\u{200c}',
            '\u{200d}',
            '\u{2060}',
            '\u{ad}',
            '\u{61c}',
            '\u{fe00}',
            '\u{fe0f}',
            '\u{e0100}',
            '\u{e01ef}',
            '\u{115f}',
            '\u{1160}',
            '\u{3164}',
            '\u{ffa0}',
            '\u{e0041}',
            '\u{202e}',
            '\u{2066}',
        ] {
            assert!(is_invisible(c), "{}", c.escape_unicode());
        }
        for c in ['a', ' ', '\n', 'é', '\u{301}', '한', 'ᄀ', 'क', '👩', '\u{3000}', '\u{a0}', '‹'] {
            assert!(!is_invisible(c), "{}", c.escape_unicode());
        }
    }
}
