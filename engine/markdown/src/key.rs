//! The normalised form of names for comparison.

use unicode_normalization::UnicodeNormalization as _;

/// Folds a name: case, composition of letters, and `_`, `-` and white space make no difference.
///
/// ```
/// assert_eq!(tessera_markdown::key::folded("Staging_Data-base"), "staging data base");
/// ```
pub fn folded(name: &str) -> String {
    let lower: String = name.nfc().flat_map(char::to_lowercase).nfc().collect();
    let words = lower.split(|letter: char| letter == '_' || letter == '-' || letter.is_whitespace());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}
