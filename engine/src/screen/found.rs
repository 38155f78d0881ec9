//! What is found in a text, without what was taken out of it before.

use tessera_screen::{Finding, Name};

/// How the place of a secret begins in a name without spaces, which takes no brackets.
pub(super) const SLUG: &str = "secret-";
/// The rest of it where nothing was kept.
pub(super) const SLUG_DROPPED: &str = "dropped";

/// The credentials of a text, in order. Places where one was taken out before are none, in a tag neither.
pub fn findings(text: &str) -> Vec<Finding> {
    let mut found = tessera_screen::findings(text);
    found.retain(|finding| !text.get(finding.span.clone()).is_some_and(is_slug_of_place));
    found
}

/// True when a text holds no credential.
pub fn is_clean(text: &str) -> bool {
    findings(text).is_empty()
}

fn is_slug_of_place(value: &str) -> bool {
    // In a tag a hyphen stands for the space before it: words before the place may be taken for a part of it.
    let value = value.trim_matches(|c: char| !c.is_alphanumeric());
    let is_words = |text: &str| text.chars().all(|c| c.is_alphabetic() || c == '-');
    let parts = value.rsplit_once(SLUG).filter(|(before, _)| is_words(before));
    parts.is_some_and(|(_, rest)| rest == SLUG_DROPPED || Name::parse(rest).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_secret_in_a_tag_is_no_credential_and_all_else_is() {
        for clean in [
            "db_password=secret-s7k4q",
            "db_password=secret-dropped",
            "密码是-secret-s7k4q",
            "la-contraseña-es-secret-s7k4q",
        ] {
            assert!(is_clean(clean), "{clean}");
        }
        assert!(!is_clean("db_password=secret-S7k4q!9"));
    }
}
