//! When two names are one to some file system: those of macOS and Windows take no notice of case, some take none of
//! how an accent is written. A folder that holds both names cannot be copied there.

use unicode_normalization::UnicodeNormalization;

/// The same for all names that some file system takes for one.
pub(crate) fn folded(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    // Upper case first, so that `ß` meets `ss`.
    name.nfd().collect::<String>().to_uppercase().to_lowercase().nfc().collect()
}

/// Whether both are names of one file somewhere, though they differ.
pub(crate) fn are_twins(one: &str, other: &str) -> bool {
    one != other && folded(one) == folded(other)
}

#[cfg(test)]
mod tests {
    use super::are_twins;

    #[test]
    fn names_that_differ_in_case_or_accents_alone_are_twins() {
        assert!(are_twins("Notes.md", "notes.MD"));
        assert!(are_twins("caf\u{e9}.md", "cafe\u{301}.md"));
        assert!(are_twins("STRASSE", "straße"));
        assert!(!are_twins("a.md", "a.md"));
        assert!(!are_twins("a.md", "b.md"));
        assert!(!are_twins("cafe.md", "caf\u{e9}.md"));
    }
}
