//! Changes stored text so that it cannot imitate parts of the reply or special tags of a client, and contains no hidden
//! characters.

use std::borrow::Cow;

use tessera_tables::words;

use crate::text::{fold, is_invisible, joins};

/// Names of special tags that a model or a client might accept, such as `<system>`. The character after a tag's name
/// must not be a letter or digit.
const MARKS: &[&str] = words!(include_str!("marks.txt"));
/// How many characters after a `<` are checked. This number of characters is enough for the longest tag, even with some
/// additional white space.
const LOOKED_AT: usize = 48;
/// The replacement of `<` at the beginning of a special tag.
const DEFUSED: char = '‹';

/// Removes invisible and control characters. Also replaces the opening character of imitated tags (`<system>` becomes
/// `‹system>`), even if they contain spaces or other forms of Latin letters. All line breaks become `\n`; tabs stay.
pub fn neutral(text: &str) -> Cow<'_, str> {
    let shown = if text.chars().any(|c| is_hidden(c) || is_odd_break(c)) {
        Cow::Owned(without_hidden(&text.replace("\r\n", "\n")))
    } else {
        Cow::Borrowed(text)
    };
    let openers = || shown.match_indices(is_opener).filter(|(at, opener)| opens_mark(shown.get(at + opener.len()..)));
    if openers().next().is_none() {
        return shown;
    }
    let mut defused = String::with_capacity(shown.len() + 8);
    let mut done = 0;
    for (at, opener) in openers() {
        defused.push_str(shown.get(done..at).unwrap_or_default());
        defused.push(DEFUSED);
        done = at + opener.len();
    }
    defused.push_str(shown.get(done..).unwrap_or_default());
    Cow::Owned(defused)
}

fn without_hidden(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if is_odd_break(c) {
            kept.push('\n');
        } else if !is_hidden(c) || joins(kept.chars().next_back(), c, chars.peek().copied()) {
            kept.push(c);
        }
    }
    kept
}

/// Like [`neutral`], in one line: every run of white space becomes one space.
pub fn neutral_line(text: &str) -> String {
    let shown = neutral(text);
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A fast check that tells whether [`neutral`] may change a text. Always returns true for a text that would change.
pub(crate) fn may_be_changed(text: &str) -> bool {
    text.chars().any(|c| is_opener(c) || is_hidden(c) || is_odd_break(c))
}

/// The less-than sign, and characters that become one under compatibility normalisation.
fn is_opener(c: char) -> bool {
    matches!(c, '<' | '\u{ff1c}' | '\u{fe64}')
}

/// True if the text after an opening character imitates a tag.
fn opens_mark(rest: Option<&str>) -> bool {
    let head: String = rest.unwrap_or_default().chars().take(LOOKED_AT).collect();
    let folded = fold(&head);
    if folded.starts_with('|') {
        return true;
    }
    let name = folded.trim_start();
    let name = name.strip_prefix('/').unwrap_or(name).trim_start();
    let goes_on = |after: &str| after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    MARKS.iter().any(|mark| name.strip_prefix(mark).is_some_and(|after| !goes_on(after)))
}

fn is_odd_break(c: char) -> bool {
    matches!(c, '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_hidden(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t' && !is_odd_break(c)) || is_invisible(c)
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
            ("Vec<User> and <users> and <systemd>", "Vec‹User> and <users> and <systemd>"),
            ("می\u{200c}خواهم", "می\u{200c}خواهم"),
            (
                "क्\u{200d}ष 👩\u{200d}👩\u{200d}👧 ❤\u{fe0f}\u{200d}🔥 1\u{fe0f}\u{20e3}",
                "क्\u{200d}ष 👩\u{200d}👩\u{200d}👧 ❤\u{fe0f}\u{200d}🔥 1\u{fe0f}\u{20e3}",
            ),
            ("pass\u{200d}word क\u{200d} \u{200c}क a\u{fe0f}", "password क क a"),
        ] {
            assert_eq!(neutral(given), shown);
        }
    }

    #[test]
    fn no_spelling_of_a_mark_passes() {
        for given in [
            "< /memories >",
            "<\u{200b}/memories>",
            "</\u{200d}memories>",
            "<mem\u{ad}ories>",
            "</mem\u{e0041}ories>",
            "<\u{fe0f}system>",
            "＜/memories＞",
            "＜／memories>",
            "﹤system>",
            "<ｓｙｓｔｅｍ>",
            "<\n/ MEMORIES",
            "</additionalContext>",
            "<additionalContext >",
            "<local-command-stdout>",
            "</local-command-stderr>",
            "<｜im_start｜>",
            "<bash-stdout>",
            "<tool_result>",
            "<invoke name=\"x\">",
            "<function_results>",
        ] {
            let shown = neutral(given);
            assert!(shown.starts_with(DEFUSED), "{given:?} is shown as {shown:?}");
        }
    }

    #[test]
    fn what_cannot_be_seen_is_not_shown() {
        let hidden = "a\u{200b}\u{200c}\u{200d}\u{2060}\u{ad}\u{61c}\u{fe00}\u{fe0f}\u{e0100}\u{e01ef}\u{3164}\u{115f}\u{ffa0}\u{e0041}b";
        assert_eq!(neutral(hidden), "ab");
        assert!(
            may_be_changed(hidden) && may_be_changed("a\rb") && may_be_changed("<") && !may_be_changed("a\tb\né 用")
        );
    }
}
