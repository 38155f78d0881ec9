//! Texts that were looked through already: what is said of many memories alike is not looked through for each.

use std::cell::RefCell;
use std::collections::BTreeSet;

use tessera_screen::Finding;

use super::found::findings;

/// Bytes of a text that is noted, at most: longer ones are hardly said twice.
const LONGEST: usize = 128;

/// Texts in which no credential was found.
#[derive(Debug, Default)]
pub struct Looked<'a> {
    whole: Option<&'a str>,
    said: RefCell<BTreeSet<String>>,
}

impl<'a> Looked<'a> {
    /// Looks a text through, and gives what was found in it.
    pub fn through(text: &'a str) -> (Self, Vec<Finding>) {
        let found = findings(text);
        (Self { whole: Some(text).filter(|_| found.is_empty()), said: RefCell::default() }, found)
    }

    /// True when a text holds no credential.
    pub(super) fn is_clean(&self, text: &str) -> bool {
        if self.whole == Some(text) || self.said.borrow().contains(text) {
            return true;
        }
        let is_clean = findings(text).is_empty();
        if is_clean && text.len() <= LONGEST {
            self.said.borrow_mut().insert(text.to_owned());
        }
        is_clean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_looked_through_is_clean_only_where_nothing_was_found() {
        let token = format!("ghp_{}", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5");
        let text = format!("the token is {token}");
        let (looked, found) = Looked::through(&text);
        assert_eq!(found.len(), 1);
        for _ in 0..2 {
            assert!(!looked.is_clean(&text) && !looked.is_clean(&token) && looked.is_clean("the token is"));
        }
        let (looked, found) = Looked::through("uses tabs");
        assert!(found.is_empty() && looked.is_clean("uses tabs") && !looked.is_clean(&text));
    }
}
