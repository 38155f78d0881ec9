//! Recognises a statement that retracts something in an older one, or repeats the older one with another value, in the
//! opposite order, or negated. Such a statement updates the older one, whatever the classifier says about the pair. If
//! its words also say that it replaces the older one as a whole, it supersedes the older one.

use std::collections::BTreeSet;

use super::explicit::replaces;
use super::phrases::CHANGE_TERMS;
use super::statement::{Cue, Statement};

/// The minimum number of terms of a subject.
const LEAST: usize = 2;

/// What the words of two statements decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restated {
    /// The new statement replaces the old one as a whole.
    Replaces,
    /// The new statement updates the old one. The old one may contain something that is still true.
    Updates,
    /// They are about numbered things with different numbers, such as `Crane 7` and `Crane 8`.
    Elsewhere,
}

/// Compares two statements. Returns `None` if their words do not decide.
pub(super) fn restates(new: &Statement, old: &Statement) -> Option<Restated> {
    let is_settled = [new, old].into_iter().all(|one| {
        !one.is_question && ![Cue::Addition, Cue::Unsettled, Cue::Passing].into_iter().any(|cue| one.has(cue))
    });
    if is_settled && replaces(new, old) { Some(Restated::Replaces) } else { updates(new, old, is_settled) }
}

fn updates(new: &Statement, old: &Statement, is_settled: bool) -> Option<Restated> {
    if is_settled && retracts(new, old) {
        return Some(Restated::Updates);
    }
    let (subject, older) = (subject(new), subject(old));
    let same_words = subject.iter().collect::<BTreeSet<_>>() == older.iter().collect::<BTreeSet<_>>();
    if older.is_empty() || !same_words || new.places != old.places {
        return None;
    }
    if is_numbered_otherwise(new, old) {
        return Some(Restated::Elsewhere);
    }
    let is_turned = new.values == old.values && (subject != older || new.has(Cue::Negation) != old.has(Cue::Negation));
    (is_settled && older.len() >= LEAST && (is_turned || has_other_value(new, old))).then_some(Restated::Updates)
}

/// True if the new statement says that something in the old one is no longer used, and both share another term:
/// "Feature flags moved from Unleash to Flagsmith".
fn retracts(new: &Statement, old: &Statement) -> bool {
    let gone = |term: &&String| old.terms.contains_key(*term) && !old.retracted.contains(*term);
    let is_shared =
        |term: &&String| old.terms.contains_key(*term) && !new.retracted.contains(*term) && !is_change_term(term);
    new.retracted.iter().any(|term| gone(&term))
        && new.terms.keys().any(|term| is_shared(&term))
        && new.places == old.places
}

/// True if both statements are about numbered things, and the numbers differ.
fn is_numbered_otherwise(new: &Statement, old: &Statement) -> bool {
    !new.has(Cue::Change) && !new.numbering.is_empty() && !old.numbering.is_empty() && new.numbering != old.numbering
}

/// True for the term of a word that shows a change. Such a term does not belong to the subject.
fn is_change_term(term: &str) -> bool {
    CHANGE_TERMS.binary_search(&term).is_ok()
}

/// The terms of a statement in order, without words that show a change.
fn subject(statement: &Statement) -> Vec<&String> {
    let mut terms: Vec<(&u32, &String)> = statement.terms.iter().map(|(term, at)| (at, term)).collect();
    terms.sort();
    terms.into_iter().map(|(_, term)| term).filter(|term| !is_change_term(term)).collect()
}

/// True if the new statement has another value of a kind for which the old one has a value.
fn has_other_value(new: &Statement, old: &Statement) -> bool {
    new.values.difference(&old.values).any(|(kind, _)| old.values.iter().any(|(other, _)| other == kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relation::phrases::CHANGE;
    use crate::text::{TokenKind, tokenize};
    #[test]
    fn the_terms_of_change_are_the_stems_of_the_words_of_change() {
        let tokens = CHANGE.iter().flat_map(|phrase| tokenize(phrase));
        let stems: BTreeSet<String> =
            tokens.filter(|token| token.kind == TokenKind::Word).map(|token| token.term).collect();
        assert!(stems.iter().map(String::as_str).eq(CHANGE_TERMS.iter().copied()), "{stems:?}");
    }

    #[test]
    fn the_same_subject_with_another_value_order_or_polarity_is_a_restatement() {
        let is_restated = |old: &str, new: &str| restates(&Statement::read(new), &Statement::read(old));
        for (old, new) in [
            ("The checkout service listens on port 7070", "The checkout service now listens on port 7171"),
            ("The gateway listens on 7070", "the gateway listens on 7272 instead of 7070"),
            ("I prefer pnpm over npm", "I prefer npm over pnpm"),
            ("Backups run at 02:00", "Backups run at 04:30"),
            ("The worker listens on 9310 on the office box", "The worker listens on 9411 on the office box"),
            ("Use mocks in unit tests", "Don't use mocks in unit tests"),
            ("Der Standup ist um 9:30 Uhr", "Der Standup ist jetzt um 10:00 Uhr"),
            ("Feature flags are in Unleash", "Feature flags moved from Unleash to Flagsmith"),
            ("The docs site is built with Hugo", "The docs site is built with Astro instead of Hugo"),
            ("Alerts go to the Slack channel #ops", "Alerts now go to PagerDuty instead of Slack"),
            ("I use Helix as my editor, no longer Vim", "I no longer use Helix, I am back on Vim"),
            ("Die Suche läuft mit Solr", "Die Suche läuft jetzt mit Meilisearch statt Solr"),
        ] {
            let restated = is_restated(old, new);
            assert!(matches!(restated, Some(Restated::Updates | Restated::Replaces)), "{old} / {new}");
        }
        let other = ("Slack messages to customers need a review", "Alerts now go to PagerDuty instead of Slack");
        assert_eq!(is_restated(other.0, other.1), None);
        for (old, new) in [
            ("Crane 7 of the harbour is serviced", "Crane 8 of the harbour is serviced"),
            ("Crane 7 of the harbour is serviced at 9:00", "Crane 8 of the harbour is serviced at 10:00"),
            ("Ticket 4711 of the shop is closed", "Ticket 4712 of the shop is closed"),
            ("The search of region 17 listens on port 8431", "The search of region 18 listens on port 9999"),
        ] {
            assert_eq!(is_restated(old, new), Some(Restated::Elsewhere), "{old} / {new}");
        }
        for (old, new) in [
            ("The checkout service listens on port 7070", "The mailer listens on port 7171"),
            ("Staging listens on port 7070", "Production listens on port 7171"),
            ("The gateway listens on 7070", "The gateway also listens on 7171"),
            ("The gateway listens on 7070", "Maybe the gateway listens on 7171"),
            ("Backups run at 02:00", "Backups run at 02:00"),
            ("Port 7070", "Port 7171"),
        ] {
            assert_eq!(is_restated(old, new), None, "{old} / {new}");
        }
    }
}
