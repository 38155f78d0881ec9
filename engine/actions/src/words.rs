//! Words of notes, code and commands.

/// A word with its place in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// The word, in lowercase if it is not an option.
    pub(crate) text: String,
    /// The byte offset of the word.
    pub(crate) start: usize,
    /// The byte offset after the word.
    pub(crate) end: usize,
}

/// Splits a text into words: letters, digits and underscores, with hyphens inside words and at the start of options.
/// Characters of Chinese and Japanese are not words.
pub(crate) fn split(text: &str) -> Vec<Word> {
    let mut found: Vec<Word> = Vec::new();
    let mut start = None;
    let mut before = ' ';
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let next = characters.peek().map_or(' ', |(_, c)| *c);
        let belongs = is_letter(c)
            || c == '-'
                && start.is_some()
                && (is_letter(next) && is_letter(before) || before == '-' && is_letter(next))
            || c == '-'
                && start.is_none()
                && !is_letter(before)
                && before != '-'
                && (next == '-' || next.is_ascii_alphabetic());
        match (belongs, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                push(&mut found, text, from, at);
                start = None;
            }
            _ => {}
        }
        before = c;
    }
    if let Some(from) = start {
        push(&mut found, text, from, text.len());
    }
    found
}

/// The words of a text without their places.
pub(crate) fn texts(text: &str) -> Vec<String> {
    split(text).into_iter().map(|word| word.text).collect()
}

fn push(found: &mut Vec<Word>, text: &str, start: usize, end: usize) {
    let word = text.get(start..end).unwrap_or_default();
    if word.contains(is_letter) {
        found.push(Word { text: folded(word), start, end });
    }
}

/// Words are compared in lowercase, but options as they are: `-d` and `-D` differ.
fn folded(word: &str) -> String {
    if word.starts_with('-') { word.to_owned() } else { word.to_lowercase() }
}

/// A character inside a word.
pub(crate) fn is_letter(c: char) -> bool {
    c == '_' || c.is_alphanumeric() && !is_ideograph(c)
}

/// A character of Chinese, Japanese or Korean.
pub(crate) fn is_ideograph(c: char) -> bool {
    ('\u{2e80}'..='\u{a4cf}').contains(&c)
        || ('\u{ac00}'..='\u{d7ff}').contains(&c)
        || ('\u{f900}'..='\u{faff}').contains(&c)
        || ('\u{ff00}'..='\u{ffef}').contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_hyphens_and_options() {
        assert_eq!(
            texts("plain `cargo update -p x` → --no-verify, target-cpu=native a->b -1 不要用pip装"),
            ["plain", "cargo", "update", "-p", "x", "--no-verify", "target-cpu", "native", "a", "b", "1", "pip"]
        );
    }
}
