//! What learning must not see. Every text passes here before a judge or the store gets it: this is the
//! one place where a credential detector is asked.

use std::sync::LazyLock;

use regex_lite::Regex;

/// Shapes of credentials that are plain from themselves or from the words before them.
static CREDENTIAL: LazyLock<Regex> = LazyLock::new(|| {
    let source = concat!(
        r"(?i:\b(?:pass(?:word|phrase|wd|code)?|pwd|secret|api[ _-]?key|access[ _-]?key|auth[ _-]?token|token|bearer|credentials?|pin)\b",
        r"(?:\s+\w+){0,3}?\s*(?:is|was|are|:|=|->)\s*\S{4,})",
        r"|\b(?:sk|pk|rk)[-_](?:[a-z]+[-_])?[A-Za-z0-9_-]{16,}|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}",
        r"|\bAKIA[0-9A-Z]{12,}|\bAIza[\w-]{30,}|\bxox[abeprs]-[\w-]{10,}|-----BEGIN|\beyJ[\w-]{10,}\.[\w-]{10,}",
        r"|://[^\s:/@]+:[^\s@/]+@|(?i:\bbearer\s+[\w.~+/-]{16,})"
    );
    Regex::new(source).expect("the pattern is a constant, compiled in a test")
});
/// Letters from which on a word of mixed letters and digits is taken for a key.
const LONG_KEY: usize = 24;

/// The lines of a text that hold no credential.
pub fn screened(text: &str) -> String {
    text.lines().filter(|line| !is_credential(line)).collect::<Vec<_>>().join("\n")
}

/// The beginning of a text without the lines that hold a credential, `most` bytes at most. Four times as much is looked
/// at and no more, so that a client never waits for a long text; a line that would be cut there is left out whole.
pub fn screened_head(text: &str, most: usize) -> String {
    let head = text.get(..text.floor_char_boundary(4 * most)).unwrap_or_default();
    let is_cut = head.len() < text.len();
    let whole = if is_cut { head.rsplit_once('\n').map_or("", |(whole, _)| whole) } else { head };
    let mut kept = screened(whole);
    kept.truncate(kept.floor_char_boundary(most));
    kept
}

/// True when a text seems to hold a credential.
pub fn is_credential(text: &str) -> bool {
    CREDENTIAL.is_match(text) || text.split(|c: char| c.is_whitespace() || "\"'`,;()".contains(c)).any(is_key)
}

fn is_key(word: &str) -> bool {
    let has = |test: fn(&char) -> bool| word.chars().filter(test).count();
    // Paths, addresses and names of things have separators; keys hardly do.
    let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "+/=_-".contains(c));
    plain
        && word.len() >= LONG_KEY
        && has(char::is_ascii_digit) >= 3
        && has(char::is_ascii_uppercase) >= 3
        && has(char::is_ascii_lowercase) >= 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_left_out_and_talk_of_them_is_not() {
        for secret in [
            "the password for staging is hunter22",
            "API_KEY=abcd1234efgh",
            &format!("use sk-{}", "a1b2".repeat(6)),
            &format!("ghp_{}", "a1b2".repeat(8)),
            "postgres://admin:s3cret@db/ledger",
            "it is aB3dE5fG7hJ9kL1mN3pQ5rS7",
        ] {
            assert!(is_credential(secret), "{secret}");
        }
        for talk in [
            "I prefer passkeys over passwords",
            "We decided to rotate API keys every month",
            "always read src/components/LedgerSummaryTable2024View.tsx first",
            "tokens are counted by o200k_base",
        ] {
            assert!(!is_credential(talk), "{talk}");
        }
        assert_eq!(screened("I like tabs\npassword: hunter22"), "I like tabs");
    }

    #[test]
    fn a_head_is_bounded_and_no_credential_is_cut_into_something_harmless() {
        assert_eq!(screened_head("ä short\npassword: hunter22\none", 100), "ä short\none");
        let long = format!("begin\n{}", "word ".repeat(10_000));
        assert_eq!(screened_head(&long, 40), "begin", "the line that is cut is left out");
        let lines = "a line of words\n".repeat(1_000);
        assert!(screened_head(&lines, 40).len() <= 40 && lines.starts_with(&screened_head(&lines, 40)));
        // The whole of it is a key, the half that would be kept is none.
        let key = format!("first\n{}", "aB3".repeat(100));
        for most in 1..80 {
            assert!(!screened_head(&key, most).contains("aB3"), "{most}");
        }
    }
}
