//! Irregular English forms that no stemmer folds. Forms that are also words of their own
//! (left, found, saw, lives, felt, rose, ground, wound, bore, lay, …) are left out on purpose.

use tessera_tables::pairs;

/// Sorted by form: (form, base form).
const IRREGULAR: &[(&str, &str)] = pairs!(include_str!("irregular.txt"));

/// The base form of an irregular form.
pub(super) fn base_form(folded: &str) -> Option<&'static str> {
    let at = IRREGULAR.binary_search_by_key(&folded, |(form, _)| form).ok()?;
    IRREGULAR.get(at).map(|(_, base)| *base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_goes_one_step() {
        assert!(IRREGULAR.is_sorted_by_key(|(form, _)| form));
        assert!(IRREGULAR.iter().all(|(_, base)| base_form(base).is_none()));
        assert_eq!(base_form("went"), Some("go"));
        assert_eq!(base_form("left"), None);
    }
}
