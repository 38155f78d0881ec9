//! Texts that are displayed but not stored: logs, errors, reasons. Credentials in such texts are redacted, and their
//! values are not stored.

use std::borrow::Cow;

use tessera_screen::Place;

use super::found::findings;

/// A text whose found credentials are replaced by their kind.
pub fn dropped(text: &str) -> Cow<'_, str> {
    without(text, false)
}

/// Does the same as [`dropped`], and keeps the number of lines, even if a credential spans several lines.
pub fn dropped_in_lines(text: &str) -> Cow<'_, str> {
    without(text, true)
}

fn without(text: &str, keeps_lines: bool) -> Cow<'_, str> {
    let found = findings(text);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut kept, mut at) = (String::with_capacity(text.len()), 0);
    for finding in found {
        kept.push_str(text.get(at..finding.span.start).unwrap_or_default());
        kept.push_str(&Place { name: None, kind: finding.kind.as_str().to_owned() }.to_string());
        let lines = text.get(finding.span.clone()).unwrap_or_default().matches('\n').count();
        kept.extend(std::iter::repeat_n('\n', if keeps_lines { lines } else { 0 }));
        at = finding.span.end;
    }
    kept.push_str(text.get(at..).unwrap_or_default());
    Cow::Owned(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_is_named_and_all_else_stays() {
        let token = format!("ghp_{}", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5".get(..36).unwrap());
        let text = format!("ä: bad value {token}, line 3");
        let said = dropped(&text);
        assert!(said.starts_with("ä: bad value [secret dropped: ") && said.ends_with(", line 3"), "{said}");
        assert!(!said.contains(&token));
        assert_eq!(dropped(&said), said, "a place stays as it is");
        assert!(dropped(&token).starts_with("[secret dropped: "), "a word with digits is scanned for credentials");
        let key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\nafter";
        let shown = dropped_in_lines(key);
        assert!(shown.starts_with("[secret dropped: ") && shown.split('\n').nth(3) == Some("after"), "{shown}");
        assert!(matches!(dropped("nothing here"), Cow::Borrowed("nothing here")));
    }
}
