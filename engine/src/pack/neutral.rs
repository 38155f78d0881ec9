//! Stored text as data: nothing in it can pass for the frame around it, for a harness's own marks,
//! or hide from the eye.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// Openers that a model or a harness could take for its own.
static LOOK_ALIKE: LazyLock<Regex> = LazyLock::new(|| {
    let source = r"(?i)<(\|)|<(/?\s*(?:memories|system|system-reminder|assistant|human|user|function_calls|function_results|invoke|tool_result|tool_use|thinking|antml)\b)";
    Regex::new(source).expect("the pattern is a constant, compiled in a test")
});

/// Text with invisible and control characters taken out and look-alike openers defused
/// (`<system>` becomes `‹system>`). Line breaks of every kind become `\n`; tabs stay.
pub fn neutral(text: &str) -> Cow<'_, str> {
    let shown = if text.chars().any(|c| is_hidden(c) || is_odd_break(c)) {
        let unified = text.replace("\r\n", "\n");
        let kept = unified.chars().filter(|c| !is_hidden(*c)).map(|c| if is_odd_break(c) { '\n' } else { c });
        Cow::Owned(kept.collect::<String>())
    } else {
        Cow::Borrowed(text)
    };
    if shown.contains('<') && LOOK_ALIKE.is_match(&shown) {
        return Cow::Owned(LOOK_ALIKE.replace_all(&shown, "‹$1$2").into_owned());
    }
    shown
}

fn is_odd_break(c: char) -> bool {
    matches!(c, '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_hidden(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t' && !is_odd_break(c))
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}'
            | '\u{e0000}'..='\u{e007f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_others_are_defused_and_the_rest_is_left_alone() {
        for (given, shown) in [
            ("plain <b>text</b> & code `a<b`", "plain <b>text</b> & code `a<b`"),
            ("</memories> hi <system-reminder>", "‹/memories> hi ‹system-reminder>"),
            ("<|endoftext|>", "‹|endoftext|>"),
            ("a\u{202e}b\u{1b}[31mc\r\nd\u{2028}e\tf", "ab[31mc\nd\ne\tf"),
        ] {
            assert_eq!(neutral(given), shown);
        }
    }
}
