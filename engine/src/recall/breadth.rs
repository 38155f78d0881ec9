//! Recognises questions about many memories by their form, and extracts their subject.
//!
//! *"in which order did I …"*, *"summarise everything about X"*, *"what changed since March"* want many rows instead of
//! the best ones in full. Only English forms are recognised; for other questions, the caller sets [`Breadth::On`].
//! `timing` recognises questions about time in seven languages.

use std::borrow::Cow;

use tessera_tables::{section, words};

use super::forms::{Form, Word, covered, first_match, forms, words_of};
use super::timing::{TimeKind, Timing};
use crate::domain::{Breadth, Purpose, RecallRequest, Timestamp};

/// Maximum rows of a broad reply if the request has the default limit.
const BROAD_LIMIT: u32 = 60;

impl RecallRequest {
    /// True if the reply should have many short rows in order of time. The form of the question is ignored in automatic
    /// recall, and if only details are requested.
    pub fn is_broad(&self) -> bool {
        match self.breadth {
            Breadth::On => true,
            Breadth::Off => false,
            Breadth::Auto => self.purpose == Purpose::Asked && first_match(FORMS, &words_of(&self.query)).is_some(),
        }
    }

    /// The subject of a query that is asked at `now`. For a question about time and for a broad question, words such as
    /// "summarise everything about" are removed.
    pub fn subject(&self, now: Timestamp) -> Cow<'_, str> {
        let timing = self.timing(now).filter(Timing::is_strict);
        Cow::Owned(self.subject_for(timing.as_ref()).into_owned())
    }

    /// The subject of a query that is or is not about time.
    pub(super) fn subject_for<'a>(&'a self, timing: Option<&'a Timing>) -> Cow<'a, str> {
        let is_broad = self.is_broad();
        match timing {
            // A broad form of a history says more precisely which words belong to the request.
            Some(timing)
                if !is_broad || timing.kind != TimeKind::History || timing.has_window() || timing.is_open() =>
            {
                Cow::Borrowed(&timing.subject)
            }
            _ if is_broad => subject_of(&self.query),
            _ => Cow::Borrowed(&self.query),
        }
    }

    /// The number of rows on a page of a broad reply; the default is higher than for other replies.
    pub(super) fn rows(&self) -> u32 {
        if self.limit == Self::DEFAULT_LIMIT { BROAD_LIMIT } else { self.limit }
    }
}

const LISTS: &str = include_str!("breadth.txt");

/// Forms of questions about many memories.
const FORMS: &[Form] = forms!(section(LISTS, "forms"));

/// Phrases that only express the request. They have the same notation as the forms of broad questions.
const REQUESTS: &[Form] = forms!(section(LISTS, "requests"));
/// Connecting words, which are removed from the ends of the subject.
const JOINING: &[&str] = words!(section(LISTS, "joining"));

/// The query without words that only express a request; the whole query if nothing would remain.
fn subject_of(query: &str) -> Cow<'_, str> {
    let words = words_of(query);
    let is_dropped = covered(&[REQUESTS], &words);
    let left: Vec<(&Word<'_>, bool)> = words.iter().zip(is_dropped).collect();
    let runs = left.split(|(_, is_dropped)| *is_dropped).map(|run| {
        let joins = |(word, _): &&(&Word<'_>, bool)| JOINING.contains(&word.folded.as_str());
        let start = run.iter().take_while(joins).count();
        let end = run.len() - run.iter().rev().take_while(joins).count();
        run.get(start..end).unwrap_or_default().iter().map(|(word, _)| word.shown)
    });
    let subject = runs.flatten().collect::<Vec<_>>().join(" ");
    if subject.is_empty() { Cow::Borrowed(query) } else { Cow::Owned(subject) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_broad(query: &str) -> bool {
        RecallRequest::new(query).is_broad()
    }

    #[test]
    fn questions_over_many_memories_are_known_by_their_form() {
        for query in [
            "in which order did I set up the servers?",
            "Can you list the order in which I brought up different aspects of the deploy, in order?",
            "Can you walk me through the order in which we moved the services across our conversations?",
            "How did my discussions about the message queue progress in order? Mention ONLY and ONLY five items.",
            "How has our caching evolved?",
            "How did my focus on different approaches to parsing shift throughout our conversations in order?",
            "Can you reconstruct the timeline of when I first mentioned each part of the trading bot?",
            "what changed since March",
            "What has changed in the ledger since last week?",
            "summarise all about the billing export",
            "Can you give me a comprehensive summary of how my roadmap has progressed so far?",
            "Could you please summarize what I learned about migrations?",
            "everything we decided on the retention of logs",
            "Tell me everything we've discussed about Postgres.",
            "tell me all about the staging cluster",
            "walk me through the migration to Postgres",
            "what is the history of our pricing?",
            "list all decisions about logging",
            "catch me up on the mobile app",
        ] {
            assert!(is_broad(query), "{query}");
        }
    }

    #[test]
    fn ordinary_questions_are_not_taken_for_one() {
        for query in [
            "which port does staging use?",
            "how did we fix the flaky test?",
            "what order of magnitude is the load?",
            "in order to deploy, which key do I need?",
            "what did I order for lunch?",
            "how do I show progress in the CLI?",
            "walk me through how to deploy",
            "summarise this file",
            "Fix the summary of the report, it lists everything twice",
            "who changed the retention of logs?",
            "why does the timeline component flicker?",
            "everything is broken since the update, what port was it?",
            "give me the id of the last order",
            "How many times have I mentioned the gym across our conversations?",
        ] {
            assert!(!is_broad(query), "{query}");
        }
        let asked = RecallRequest::new("summarise all about the export");
        assert!(!RecallRequest { purpose: Purpose::Unasked, ..asked.clone() }.is_broad());
        assert!(!RecallRequest { breadth: Breadth::Off, ..asked }.is_broad());
        assert!(RecallRequest { breadth: Breadth::On, ..RecallRequest::new("port of staging") }.is_broad());
    }

    #[test]
    fn words_of_the_request_are_not_what_is_asked_about() {
        for (query, subject) in [
            (
                "Can you list the order in which I brought up different aspects of developing my personal budget tracker \
                 throughout our conversations, in order? Mention ONLY and ONLY three items.",
                "developing my personal budget tracker",
            ),
            (
                "How did my discussions about managing message data in the chat app progress in order (mention 7 items \
                 in order)?",
                "discussions about managing message data in the chat app progress",
            ),
            ("summarise all about src/main.rs", "src/main.rs"),
            ("everything we decided on the retention of logs", "decided on the retention of logs"),
            ("summarize", "summarize"),
        ] {
            assert_eq!(subject_of(query), subject, "{query}");
        }
        let now = Timestamp::from_micros(0);
        assert_eq!(RecallRequest::new("tell me the port").subject(now), "tell me the port");
    }
}
