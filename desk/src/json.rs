//! Repairs JSON from clients. If a client cuts a text within a character, the JSON contains half of a surrogate pair.

use std::borrow::Cow;

/// Replaces each half of a surrogate pair (`\ud83d` without `\ude00`) by a replacement character, because parsers
/// reject it. JavaScript writes such a half if a text was cut between the two halves.
pub fn whole_characters(text: &str) -> Cow<'_, str> {
    let mut made = String::new();
    let (mut kept, mut at) = (0, 0);
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('\\')) {
        at += found;
        match unit(text, at) {
            Some(0xd800..=0xdbff) if matches!(unit(text, at + 6), Some(0xdc00..=0xdfff)) => at += 12,
            Some(0xd800..=0xdfff) => {
                made.push_str(text.get(kept..at).unwrap_or_default());
                made.push_str("\\ufffd");
                at += 6;
                kept = at;
            }
            Some(_) => at += 6,
            // The next character is escaped, so a second `\` begins nothing.
            None => at += 1 + text.get(at + 1..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8),
        }
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    made.push_str(text.get(kept..).unwrap_or_default());
    Cow::Owned(made)
}

/// Returns the code unit of an escape sequence such as `\u1234` at a position.
fn unit(text: &str, at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_characters_are_replaced_and_everything_else_stays() {
        for same in [r#""a\ud83d\ude00b""#, r#""\\ud83d""#, r#""\n\u0041\"""#, "\"ü\\", "", r"\u12", r"\ud83"] {
            assert!(matches!(whole_characters(same), Cow::Borrowed(text) if text == same), "{same}");
        }
        for (cut, whole) in [
            (r#""a\ud83d""#, r#""a\ufffd""#),
            (r#""\ude00\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\ud83d\ud83d\ude00 \ud83dx""#, r#""\ufffd\ud83d\ude00 \ufffdx""#),
            (r#""\\\ud83d""#, r#""\\\ufffd""#),
        ] {
            assert_eq!(whole_characters(cut), whole);
            serde_json::from_str::<String>(&whole_characters(cut)).unwrap();
        }
    }
}
