//! Characters that show nothing: the one list of them, for folding, cutting and showing.

/// True for a character that a reader cannot see: Unicode's `Default_Ignorable_Code_Point` (zero-width
/// characters, marks of direction, variation selectors, fillers, tags) and the marks of annotations.
pub fn is_invisible(c: char) -> bool {
    !c.is_ascii()
        && matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// True for an invisible character that spelling needs: joiners of Indic, Arabic and emoji sequences, and
/// the selectors of text and emoji forms. A terminal that gets them shows what was written.
pub fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')
}

/// True where a joiner stands between two characters that need it: letters of the Arabic and Indic scripts, and parts of an emoji.
/// Elsewhere it could only hide something.
pub fn joins(before: Option<char>, joiner: char, after: Option<char>) -> bool {
    let (Some(before), true) = (before, is_joiner(joiner)) else { return false };
    let is_selector = matches!(joiner, '\u{fe0e}' | '\u{fe0f}');
    if is_selector {
        return is_emoji(before) || after == Some('\u{20e3}');
    }
    let both = |is: fn(char) -> bool| is(before) && after.is_some_and(is);
    both(is_joined_script) || both(is_emoji)
}

/// True for the scripts in which joiners tell two spellings apart.
fn is_joined_script(c: char) -> bool {
    matches!(c, '\u{600}'..='\u{77f}' | '\u{860}'..='\u{dff}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

/// True for what emoji sequences consist of, selectors included.
fn is_emoji(c: char) -> bool {
    matches!(c, '\u{203c}'..='\u{3299}' | '\u{1f000}'..='\u{1faff}' | '\u{fe0e}' | '\u{fe0f}')
}

/// Text as it may stand on a terminal: control characters, marks of direction and whatever else cannot be seen are
/// made visible, but for the joiners that spelling needs.
pub fn shown(text: &str) -> String {
    let is_hidden = |c: char| (c.is_control() && c != '\n' && c != '\t') || (is_invisible(c) && !is_joiner(c));
    text.chars().map(|c| if is_hidden(c) { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
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
