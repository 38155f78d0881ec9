//! Recognises questions about time: "what did we decide last week?", "latest decisions", "timeline of the rewrite".
//!
//! Such a question selects memories by the time of their creation, orders them by time, or both. The forms of these
//! questions are in `timing.txt`, in the seven languages of `tessera_calendar`.

use std::collections::BTreeSet;

use jiff::Zoned;
use jiff::tz::TimeZone;
use tessera_calendar::{Window, mention};
use tessera_tables::{section, words};

use super::forms::{Word, all_matches, first_match, words_of};
use crate::domain::{Breadth, Filters, Packing, Purpose, RecallRequest, Scope, Sort, Timestamp};
use crate::text::{TokenKind, tokenize};

const LISTS: &str = include_str!("timing.txt");

/// The forms of one kind of question: for languages with spaces, and for languages without.
struct Forms(&'static [&'static str], &'static [&'static str]);

const ASKS: Forms = Forms(words!(section(LISTS, "asks")), words!(section(LISTS, "asks dense")));
const CHANGED: Forms = Forms(words!(section(LISTS, "changed")), words!(section(LISTS, "changed dense")));
const LATEST: Forms = Forms(words!(section(LISTS, "latest")), words!(section(LISTS, "latest dense")));
const OLDEST: Forms = Forms(words!(section(LISTS, "oldest")), words!(section(LISTS, "oldest dense")));
const NEWEST_FIRST: Forms = Forms(words!(section(LISTS, "newest first")), words!(section(LISTS, "newest first dense")));
const OLDEST_FIRST: Forms = Forms(words!(section(LISTS, "oldest first")), words!(section(LISTS, "oldest first dense")));
const RECORDS: Forms = Forms(words!(section(LISTS, "records")), words!(section(LISTS, "records dense")));
const EVERYWHERE: Forms = Forms(words!(section(LISTS, "everywhere")), words!(section(LISTS, "everywhere dense")));
const REQUESTS: Forms = Forms(words!(section(LISTS, "requests")), words!(section(LISTS, "requests dense")));
const COUNTS: [(u32, &[&str]); 5] = [
    (2, words!(section(LISTS, "two"))),
    (3, words!(section(LISTS, "three"))),
    (4, words!(section(LISTS, "four"))),
    (5, words!(section(LISTS, "five"))),
    (10, words!(section(LISTS, "ten"))),
];

/// The number of rows of a question for the latest memories that names no number.
const LATEST_ROWS: u32 = 8;
/// The number of phrases in a question that may name a window. The first one counts.
const MAX_WINDOWS: usize = 3;
/// A word of the subject may continue a word of a project's name with at least this number of bytes.
const LEAST_PREFIX: usize = 4;

/// The order of memories in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeOrder {
    /// The newest first.
    Newest,
    /// The oldest first.
    Oldest,
}

/// What a question about time asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeKind {
    /// Memories of a window.
    Select,
    /// What changed or is new.
    Changed,
    /// The latest memories.
    Latest,
    /// A history, or the first memories.
    History,
}

/// A question about time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    /// What it asks for.
    pub kind: TimeKind,
    /// The first moment of the window; open if absent.
    pub from: Option<Timestamp>,
    /// The end of the window, exclusive; open if absent.
    pub to: Option<Timestamp>,
    /// The order that the question names. Without one, the rows of a window are in order of time.
    pub order: Option<TimeOrder>,
    /// The number of wanted memories.
    pub count: Option<u32>,
    /// True if the question is about notes and events, and not only names a date.
    pub is_about_records: bool,
    /// True if the question names all projects.
    pub is_everywhere: bool,
    /// The scopes of the wanted memories; all, if empty.
    pub scopes: Vec<Scope>,
    /// The question without its words about time and without the words of the request; empty if nothing is left.
    pub subject: String,
}

impl Timing {
    /// Recognises a question about time, asked at `now` in a time zone. Returns `None` for other questions.
    pub fn read(query: &str, now: Timestamp, zone: &TimeZone) -> Option<Self> {
        let now = jiff::Timestamp::from_microsecond(now.as_micros()).ok()?.to_zoned(zone.clone());
        let words = words_of(query);
        let is = |forms: &Forms| forms.are_in(query, &words);
        let (window, outside) = window_and_rest(query, &now);
        // In `did we decide last week`, the word `last` belongs to the window.
        let is_latest = LATEST.are_in(&outside, &words_of(&outside));
        if is(&ASKS) && !is_latest {
            return None;
        }
        let kind = match () {
            () if is(&CHANGED) => Some(TimeKind::Changed),
            () if is_latest => Some(TimeKind::Latest),
            () if is(&OLDEST) => Some(TimeKind::History),
            () => None,
        };
        let named = match () {
            () if is(&OLDEST_FIRST) => Some(TimeOrder::Oldest),
            () if is(&NEWEST_FIRST) => Some(TimeOrder::Newest),
            () => None,
        };
        if kind.is_none() && window.is_none() && named.is_none() {
            return None;
        }
        let order = named.or(match kind {
            Some(TimeKind::Changed | TimeKind::Latest) => Some(TimeOrder::Newest),
            Some(TimeKind::History) => Some(TimeOrder::Oldest),
            _ => None,
        });
        let kind = kind.unwrap_or(if named.is_some() { TimeKind::History } else { TimeKind::Select });
        let instant = |time: jiff::civil::DateTime| {
            time.to_zoned(zone.clone()).map(|time| Timestamp::from_micros(time.timestamp().as_microsecond())).ok()
        };
        let window = window.unwrap_or_default();
        let count = if kind == TimeKind::Latest { count_of(&outside) } else { None };
        Some(Self {
            kind,
            from: window.from.and_then(instant),
            to: window.to.and_then(instant),
            order,
            count,
            is_about_records: is(&RECORDS),
            is_everywhere: is(&EVERYWHERE),
            scopes: Vec::new(),
            subject: subject_of(&outside),
        })
    }

    /// True if the subject is the name of a project: all its words are words of the last part of the name.
    pub(super) fn names(&self, scope: &str) -> bool {
        let last = scope.rsplit(['/', ':']).next().unwrap_or(scope).replace(['-', '_', '.'], " ");
        let words = |text: &str| -> Vec<String> {
            let tokens = tokenize(text).into_iter().filter(|token| token.kind != TokenKind::Stop);
            tokens.map(|token| token.term).collect()
        };
        let (subject, name) = (words(&self.subject), words(&last));
        let is_word = |word: &String| {
            name.iter().any(|known| known == word || known.len() >= LEAST_PREFIX && word.starts_with(known.as_str()))
        };
        !subject.is_empty() && scope != Scope::Global.as_str() && subject.iter().all(is_word)
    }

    /// Restricts the question to scopes: to those that its subject names, otherwise to the current project and global
    /// memories. A subject that names a project is removed.
    #[must_use]
    pub(super) fn within(self, named: BTreeSet<String>, current: Option<&Scope>) -> Self {
        let current = current.filter(|_| !self.is_everywhere);
        let named: Vec<Scope> = named.iter().filter_map(|name| name.parse().ok()).collect();
        match current {
            _ if self.is_everywhere => self,
            Some(scope) if named.contains(scope) => {
                Self { scopes: vec![scope.clone()], subject: String::new(), ..self }
            }
            _ if !named.is_empty() => Self { scopes: named, subject: String::new(), ..self },
            Some(scope) => Self { scopes: vec![scope.clone(), Scope::Global], ..self },
            None => self,
        }
    }

    /// True if the question names a window.
    pub fn has_window(&self) -> bool {
        self.from.is_some() || self.to.is_some()
    }

    /// True if the question has no subject, so that all memories match.
    pub(super) fn is_open(&self) -> bool {
        !tokenize(&self.subject).iter().any(|token| token.kind != TokenKind::Stop)
    }

    /// The question for all memories of its window.
    #[must_use]
    pub(super) fn without_subject(self) -> Self {
        Self { subject: String::new(), ..self }
    }

    /// True if memories must be in the window. A question such as "who joined us in May?" only prefers them.
    pub(super) fn is_strict(&self) -> bool {
        !self.has_window() || self.is_open() || self.is_about_records || self.kind != TimeKind::Select
    }

    /// The order in which rows are chosen; `None` for the order by relevance.
    pub(super) fn ranked(&self) -> Option<TimeOrder> {
        match (self.is_open(), self.kind, self.order) {
            (true, _, Some(TimeOrder::Oldest)) => Some(TimeOrder::Oldest),
            (true, ..) => Some(TimeOrder::Newest),
            (false, TimeKind::Latest | TimeKind::Changed, Some(order)) if !self.has_window() => Some(order),
            (false, ..) => None,
        }
    }

    /// The order of the shown rows.
    pub(super) fn shown(&self) -> TimeOrder {
        self.order.unwrap_or(TimeOrder::Oldest)
    }

    /// The number of wanted memories; `None` for as many as fit.
    pub(super) fn rows(&self) -> Option<u32> {
        let is_latest = self.kind == TimeKind::Latest && !self.has_window();
        self.count.or(is_latest.then_some(LATEST_ROWS))
    }

    /// The request for the memories of this question, in its window and its scopes.
    pub(super) fn narrowed(&self, request: &RecallRequest) -> RecallRequest {
        let since = request.filters.since.max(self.from);
        let until = match (request.filters.until, self.to) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let scope = if self.is_everywhere { None } else { request.scope.clone() };
        let asked = &request.filters.scopes;
        let scopes = if asked.is_empty() { self.scopes.clone() } else { asked.clone() };
        let filters = Filters { scopes, since, until, ..request.filters.clone() };
        RecallRequest { filters, scope, ..request.clone() }
    }
}

impl RecallRequest {
    /// The question about time that this request asks. Requests with another order or layout are not recognised, and
    /// automatic recall is not either.
    pub(super) fn timing(&self, now: Timestamp) -> Option<Timing> {
        let is_free = self.purpose == Purpose::Asked
            && self.sort == Sort::Hybrid
            && self.packing == Packing::Dual
            && self.breadth != Breadth::Off;
        is_free.then(|| Timing::read(&self.query, now, &TimeZone::system())).flatten()
    }
}

impl Forms {
    fn are_in(&self, query: &str, words: &[Word<'_>]) -> bool {
        first_match(self.0, words).is_some() || self.1.iter().any(|text| query.contains(text))
    }
}

/// The window that a question names first, and the question without the phrases that name windows.
fn window_and_rest(query: &str, now: &Zoned) -> (Option<Window>, String) {
    let mut window = None;
    let mut rest = query.to_owned();
    for _ in 0..MAX_WINDOWS {
        let Some(found) = mention(&rest, now) else { break };
        window.get_or_insert(found.window);
        rest.replace_range(found.range, " ");
    }
    (window, rest)
}

/// The number of wanted memories: `the last three notes`.
fn count_of(query: &str) -> Option<u32> {
    let words = words_of(query);
    let by_name = COUNTS.iter().find(|(_, names)| {
        words.iter().any(|word| names.contains(&word.folded.as_str()))
            || names.iter().any(|name| !name.is_ascii() && query.contains(name))
    });
    let number = || words.iter().find_map(|word| word.folded.parse().ok().filter(|count| (1..=50).contains(count)));
    by_name.map(|(count, _)| *count).or_else(number)
}

/// A question without the words of the request.
fn subject_of(query: &str) -> String {
    if query.chars().any(is_dense) {
        let cleared = REQUESTS.1.iter().fold(query.to_owned(), |text, request| text.replace(request, " "));
        return cleared
            .split(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_' | '.' | '/'))
            .collect::<Vec<_>>()
            .join(" ");
    }
    let words = words_of(query);
    let mut is_dropped = vec![false; words.len()];
    for said in all_matches(REQUESTS.0, &words).into_iter().chain(all_matches(EVERYWHERE.0, &words)) {
        is_dropped.get_mut(said).into_iter().flatten().for_each(|dropped| *dropped = true);
    }
    let left = words.iter().zip(is_dropped).filter(|(_, is_dropped)| !is_dropped).map(|(word, _)| word.shown);
    left.collect::<Vec<_>>().join(" ")
}

/// True for a character of a script without spaces.
fn is_dense(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}
