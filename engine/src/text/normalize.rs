//! Folding: the form in which two spellings of a word are one.

use unicode_normalization::UnicodeNormalization;

use super::invisible::is_invisible;

/// Compatibility-normalised, lower case, without Latin, Greek, Cyrillic and Arabic diacritics.
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

/// Marks that people leave out when they search: combining diacritics, Arabic vowel points and
/// the stretching tatweel, and invisible formatting.
fn is_dropped_mark(c: char) -> bool {
    is_invisible(c) || matches!(c, '\u{0300}'..='\u{036f}' | '\u{064b}'..='\u{065f}' | '\u{0670}' | '\u{0640}')
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
