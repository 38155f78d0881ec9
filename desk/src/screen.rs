//! Removes lines with credentials from texts for automatic learning and from the small files of hooks.

use std::path::Path;

use tessera_engine::screen::{findings, is_clean};

/// The beginning of a private key. If the text was cut, the end of the key may be missing.
const BEGUN: &str = "-----BEGIN";

/// Returns the lines of a text that contain no credential and no part of a credential.
pub fn screened(text: &str) -> String {
    let found = findings(text);
    let (mut kept, mut at) = (Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        let span = at..at + line.len();
        at = span.end;
        if !found.iter().any(|finding| finding.span.start < span.end && span.start < finding.span.end) {
            kept.push(line.trim_end_matches(['\n', '\r']));
        }
    }
    kept.join("\n")
}

/// The beginning of a text without credential lines, at most `most` bytes. Scans at most four times the requested
/// length, so a client never waits for a long text. A line that was cut is omitted.
pub fn screened_head(text: &str, most: usize) -> String {
    let head = text.get(..text.floor_char_boundary(4 * most)).unwrap_or_default();
    let is_cut = head.len() < text.len();
    let whole = if is_cut { head.rsplit_once('\n').map_or("", |(whole, _)| whole) } else { head };
    // A multi-line key may be cut, and only its beginning identifies it.
    let whole = match whole.rfind(BEGUN).filter(|_| is_cut) {
        Some(begin) if !whole.get(begin..).is_some_and(|rest| rest.contains("-----END")) => whole.get(..begin),
        _ => Some(whole),
    };
    let mut kept = screened(whole.unwrap_or_default());
    kept.truncate(kept.floor_char_boundary(most));
    kept
}

/// True if a text seems to contain a credential.
pub fn holds_credential(text: &str) -> bool {
    !is_clean(text)
}

/// True if a file or directory name seems to contain a credential.
pub fn names_credential(path: &Path) -> bool {
    path.to_str().is_some_and(holds_credential)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_a_credential_are_left_out_and_talk_of_them_is_not() {
        for secret in [
            "the password for staging is hunter2!X9",
            "API_KEY=qX7pL2vN9dRt",
            &format!("ghp_{}", "a1B2".repeat(9)),
            "postgres://admin:s3cret!pw@db/ledger",
        ] {
            assert!(holds_credential(secret), "{secret}");
        }
        for talk in [
            "I prefer passkeys over passwords",
            "We decided to rotate API keys every month",
            "always read src/components/LedgerSummaryTable2024View.tsx first",
            "tokens are counted by o200k_base",
        ] {
            assert!(!holds_credential(talk), "{talk}");
        }
        assert_eq!(screened("I like tabs\npassword: hunter2!X9"), "I like tabs");
        let key = format!("{BEGUN} PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----", "MIIEvQIBADANBgkq".repeat(4));
        let kept = screened(&format!("before\n{key}\nafter"));
        assert!(kept.starts_with("before\n") && kept.ends_with("\nafter") && !kept.contains("MIIE"), "{kept}");
    }

    #[test]
    fn a_head_is_bounded_and_no_credential_is_cut_into_something_harmless() {
        assert_eq!(screened_head("ä short\npassword: hunter2!X9\none", 100), "ä short\none");
        let long = format!("begin\n{}", "word ".repeat(10_000));
        assert_eq!(screened_head(&long, 40), "begin", "a line that does not fit completely is omitted");
        let lines = "a line of words\n".repeat(1_000);
        assert!(screened_head(&lines, 40).len() <= 40 && lines.starts_with(&screened_head(&lines, 40)));
        let key = format!("first\n{BEGUN} RSA PRIVATE KEY-----\n{}", "Qx7\n".repeat(200));
        for most in 1..80 {
            assert!(!screened_head(&key, most).contains("Qx7"), "{most}");
        }
    }
}
