//! Texts that are said and not stored: logs, errors, reasons. What is found in them is kept nowhere.

use std::borrow::Cow;

use tessera_screen::Place;

use super::found::findings;

/// A text in which no credential stands that was found: each is named by what it was.
pub fn dropped(text: &str) -> Cow<'_, str> {
    let found = findings(text);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut kept, mut at) = (String::with_capacity(text.len()), 0);
    for finding in found {
        kept.push_str(text.get(at..finding.span.start).unwrap_or_default());
        kept.push_str(&Place { name: None, kind: finding.kind.as_str().to_owned() }.to_string());
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
        assert!(dropped(&token).starts_with("[secret dropped: "), "a name with digits is looked at");
        assert!(matches!(dropped("nothing here"), Cow::Borrowed("nothing here")));
    }
}
