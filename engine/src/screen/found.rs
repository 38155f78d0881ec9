//! The credentials in a text. Placeholders of already removed credentials are ignored.

use tessera_screen::{Finding, Name};

/// In a tag, the placeholder of a secret begins like this, because tags cannot contain brackets.
pub(super) const SLUG: &str = "secret-";
/// In a tag, the end of the placeholder for a value that was not stored.
pub(super) const SLUG_DROPPED: &str = "dropped";

/// The credentials of a text, in order. Placeholders of redacted credentials are not findings, not even in tags.
pub fn findings(text: &str) -> Vec<Finding> {
    if is_plain_name(text) {
        return Vec::new();
    }
    let mut found = tessera_screen::findings(text);
    found.retain(|finding| !text.get(finding.span.clone()).is_some_and(is_slug_of_place));
    found
}

/// True if a text contains no credential.
pub fn is_clean(text: &str) -> bool {
    findings(text).is_empty()
}

/// The maximum number of letters in one part of a plain name. A token that consists only of letters has more letters
/// than this.
const LONGEST_PIECE: usize = 12;

/// True for a UUID, and for a name of short parts, as sessions, tools and projects have. It contains no credential. At
/// every prompt, hooks check only short names. This fast test avoids loading the detector for these checks.
fn is_plain_name(text: &str) -> bool {
    // Capitals within a part may be those of a token.
    let is_piece = |piece: &str| {
        let mut bytes = piece.bytes();
        let begins_well = bytes.next().is_none_or(|first| first.is_ascii_alphabetic());
        piece.len() <= LONGEST_PIECE && begins_well && bytes.all(|byte| byte.is_ascii_lowercase())
    };
    text.split(['/', '.', '_', '-']).all(is_piece) || uuid::Uuid::try_parse(text).is_ok_and(|_| text.len() == 36)
}

fn is_slug_of_place(value: &str) -> bool {
    // In a tag, a hyphen replaces the space before the value, so words before it may be joined to it.
    let value = value.trim_matches(|c: char| !c.is_alphanumeric());
    let is_words = |text: &str| text.chars().all(|c| c.is_alphabetic() || c == '-');
    let parts = value.rsplit_once(SLUG).filter(|(before, _)| is_words(before));
    parts.is_some_and(|(_, rest)| rest == SLUG_DROPPED || Name::parse(rest).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn in_a_plain_name_nothing_would_be_found(
            name in "([a-zA-Z]?[a-z]{0,11}[/._-]){0,6}[a-zA-Z]?[a-z]{0,11}",
            any in "([a-zA-Z]{0,12}[/._-]){0,6}[a-zA-Z]{0,12}",
            id: u128,
        ) {
            let id = uuid::Uuid::from_u128(id).to_string();
            for name in [&name, &id] {
                proptest::prop_assert!(is_plain_name(name));
            }
            for name in [name, id, any].iter().filter(|name| is_plain_name(name)) {
                proptest::prop_assert!(tessera_screen::findings(name).is_empty(), "{}", name);
            }
        }
    }

    #[test]
    fn a_token_of_letters_alone_is_no_plain_name() {
        assert!(!is_plain_name("PaT_AaAaaAcEgoac_"));
        let token = format!("hf_{}", "kQzWmXvTgRbNpLsJhDyFcVuKeMoGtAiBwZ");
        assert!(!is_plain_name(&token) && !is_clean(&token));
    }

    #[test]
    fn the_place_of_a_secret_in_a_tag_is_no_credential_and_all_else_is() {
        for clean in [
            "db_password=secret-s7k4q2",
            "db_password=secret-dropped",
            "密码是-secret-s7k4q2",
            "la-contraseña-es-secret-s7k4q2",
        ] {
            assert!(is_clean(clean), "{clean}");
        }
        assert!(!is_clean("db_password=secret-S7k4q!9"));
    }
}
