//! Recognises questions about time: "what did we decide last week?", "latest decisions", "timeline of the rewrite".
//!
//! Such a question selects memories by the time of their creation, orders them by time, or both. The forms of these
//! questions are in `timing.txt`, in the seven languages of `tessera_calendar`.

use std::collections::BTreeSet;

use jiff::Zoned;
use jiff::tz::TimeZone;
use tessera_calendar::{Mention, Window, mention};
use tessera_tables::{section, words};

use super::forms::{Form, Word, all_matches, covered, first_match, forms, words_of};
use crate::domain::{Breadth, Filters, Packing, Purpose, RecallRequest, Scope, Sort, Timestamp};
use crate::text::{TokenKind, tokenize};

const LISTS: &str = include_str!("timing.txt");

/// The forms of one kind of question: for languages with spaces, and for languages without.
struct Forms(&'static [Form], &'static [&'static str]);

const ASKS: Forms = Forms(forms!(section(LISTS, "asks")), words!(section(LISTS, "asks dense")));
const CHANGED: Forms = Forms(forms!(section(LISTS, "changed")), words!(section(LISTS, "changed dense")));
const LATEST: Forms = Forms(forms!(section(LISTS, "latest")), words!(section(LISTS, "latest dense")));
const OLDEST: Forms = Forms(forms!(section(LISTS, "oldest")), words!(section(LISTS, "oldest dense")));
const NEWEST_FIRST: Forms = Forms(forms!(section(LISTS, "newest first")), words!(section(LISTS, "newest first dense")));
const OLDEST_FIRST: Forms = Forms(forms!(section(LISTS, "oldest first")), words!(section(LISTS, "oldest first dense")));
const RECORDS: Forms = Forms(forms!(section(LISTS, "records")), words!(section(LISTS, "records dense")));
const EVERYWHERE: Forms = Forms(forms!(section(LISTS, "everywhere")), words!(section(LISTS, "everywhere dense")));
const REQUESTS: Forms = Forms(forms!(section(LISTS, "requests")), words!(section(LISTS, "requests dense")));
const PARTICLES: &[&str] = words!(section(LISTS, "particles"));
const COUNTS: [(u32, &[&str]); 10] = [
    (2, words!(section(LISTS, "two"))),
    (3, words!(section(LISTS, "three"))),
    (4, words!(section(LISTS, "four"))),
    (5, words!(section(LISTS, "five"))),
    (6, words!(section(LISTS, "six"))),
    (7, words!(section(LISTS, "seven"))),
    (8, words!(section(LISTS, "eight"))),
    (9, words!(section(LISTS, "nine"))),
    (10, words!(section(LISTS, "ten"))),
    (20, words!(section(LISTS, "twenty"))),
];

/// The number of rows of a question for the latest memories that names no number.
const LATEST_ROWS: u32 = 8;
/// The number of phrases in a question that may name a window. The first one counts.
const MAX_WINDOWS: usize = 3;
/// Words between two windows that are one window together.
const JOINTS: [&str; 16] =
    ["and", "or", "&", "und", "oder", "sowie", "et", "ou", "y", "o", "e", "和", "或", "と", "や", "与"];
/// Words before the subject of a question.
const ABOUT: [&str; 10] = ["about", "on", "regarding", "concerning", "uber", "zu", "zum", "sobre", "sur", "concernant"];
/// A longer window hardly selects memories about a subject.
const LONGEST_WINDOW_DAYS: i64 = 100;
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
            () if is(&NEWEST_FIRST) => Some(TimeOrder::Newest),
            () if is(&OLDEST_FIRST) => Some(TimeOrder::Oldest),
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
            subject: subject_of(&outside, count),
        })
    }

    /// True if the subject is the name of a project: all its words are words of the last part of the name. The name of
    /// the current project may be a short form: `dash` for "dashboard".
    pub(super) fn names(&self, scope: &str, current: Option<&Scope>) -> bool {
        let last = scope.rsplit(['/', ':']).next().unwrap_or(scope).replace(['-', '_', '.'], " ");
        let words = |text: &str| -> Vec<String> {
            let tokens = tokenize(text).into_iter().filter(|token| token.kind != TokenKind::Stop);
            tokens.map(|token| token.term).collect()
        };
        let (subject, name) = (words(&self.subject), words(&last));
        let is_current = current.is_some_and(|current| current.as_str() == scope);
        let is_word = |word: &String| {
            let is_short =
                |known: &String| is_current && known.len() >= LEAST_PREFIX && word.starts_with(known.as_str());
            name.iter().any(|known| known == word || is_short(known))
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

    /// True if memories must be in the window. A question such as "who joined us in May?" or "incidents this year" only
    /// prefers them.
    pub(super) fn is_strict(&self) -> bool {
        let longest = LONGEST_WINDOW_DAYS * 86_400_000_000;
        let is_long = self.from.zip(self.to).is_some_and(|(from, to)| to.as_micros() - from.as_micros() > longest);
        !self.has_window() || self.is_open() || self.kind != TimeKind::Select || self.is_about_records && !is_long
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
        // Most questions name no window. They do not wait until the time zone is read from its file.
        let timing = if is_free { Timing::read(&self.query, now, &TimeZone::UTC)? } else { return None };
        if timing.has_window() { Timing::read(&self.query, now, &TimeZone::system()) } else { Some(timing) }
    }
}

impl Forms {
    fn are_in(&self, query: &str, words: &[Word<'_>]) -> bool {
        first_match(self.0, words).is_some() || self.1.iter().any(|text| query.contains(text))
    }
}

/// The window that a question names, and the question without the phrases that name windows. Windows that are joined by
/// a word such as `and` are one window.
fn window_and_rest(query: &str, now: &Zoned) -> (Option<Window>, String) {
    let mut window: Option<Window> = None;
    let mut rest = query.to_owned();
    let mut end = 0;
    for _ in 0..MAX_WINDOWS {
        let Some(Mention { window: found, range }) = mention(&rest, now) else { break };
        let joint = rest.get(end..range.start).unwrap_or_default().trim();
        window = Some(match window {
            None => found,
            Some(first) if JOINTS.contains(&joint) => Window {
                from: first.from.zip(found.from).map(|(a, b)| a.min(b)),
                to: first.to.zip(found.to).map(|(a, b)| a.max(b)),
            },
            Some(first) => first,
        });
        end = range.start;
        rest.replace_range(range, " ");
    }
    (window, rest)
}

/// The number of wanted memories: `the last three notes`. Only a number next to the word for the latest counts.
fn count_of(query: &str) -> Option<u32> {
    let words = words_of(query);
    if query.chars().any(is_dense) {
        return COUNTS
            .iter()
            .find(|(_, names)| names.iter().any(|name| !name.is_ascii() && query.contains(name)))
            .map(|(count, _)| *count);
    }
    let said = all_matches(LATEST.0, &words).into_iter();
    let near = said.flat_map(|said| said.start.saturating_sub(1)..said.end.max(said.start + 2));
    let number = |word: &Word<'_>| {
        let named = COUNTS.iter().find(|(_, names)| names.contains(&word.folded.as_str())).map(|(count, _)| *count);
        named.or_else(|| word.folded.parse().ok().filter(|count| (1..=50).contains(count)))
    };
    near.filter_map(|at| words.get(at)).find_map(number)
}

/// A question without the words of the request and of the number of wanted memories. If nothing is left, the words
/// after `about`.
fn subject_of(query: &str, count: Option<u32>) -> String {
    if query.chars().any(is_dense) {
        return dense_subject(query);
    }
    let words = words_of(query);
    let is_dropped = covered(&[REQUESTS.0, EVERYWHERE.0], &words);
    let counts = COUNTS.iter().find(|(number, _)| Some(*number) == count).map_or(&[][..], |(_, names)| names);
    let is_left = |(word, is_dropped): &(&Word<'_>, bool)| !is_dropped && !counts.contains(&word.folded.as_str());
    let left: Vec<&str> = words.iter().zip(is_dropped).filter(is_left).map(|(word, _)| word.shown).collect();
    if !left.is_empty() {
        return left.join(" ");
    }
    let about = words.iter().position(|word| ABOUT.contains(&word.folded.as_str())).map_or(words.len(), |at| at + 1);
    words.iter().skip(about).map(|word| word.shown).collect::<Vec<_>>().join(" ")
}

/// The subject of a question in a script without spaces.
fn dense_subject(query: &str) -> String {
    let cleared = REQUESTS.1.iter().fold(query.to_owned(), |text, request| text.replace(request, " "));
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let parts = cleared.split(|c: char| !is_part(c)).map(|part| {
        let mut part = part.trim_matches(|c: char| c.is_ascii_digit());
        while let Some(shorter) = PARTICLES.iter().find_map(|end| part.strip_prefix(end).or(part.strip_suffix(end))) {
            part = shorter;
        }
        part
    });
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// True for a character of a script without spaces.
fn is_dense(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &str) -> Option<Timing> {
        Timing::read(query, "2026-11-25T15:30:00Z".parse().unwrap(), &TimeZone::UTC)
    }

    #[test]
    fn questions_about_time_have_a_kind_an_order_and_a_subject() {
        use TimeKind::{Changed, History, Latest, Select};
        use TimeOrder::{Newest, Oldest};
        for (query, kind, order, count, subject) in [
            ("what did we decide last week?", Select, None, None, ""),
            ("what did we note about the label printer on Monday?", Select, None, None, "label printer"),
            ("yesterday?", Select, None, None, ""),
            ("what changed since Friday?", Changed, Some(Newest), None, ""),
            ("what's new in the gateway this week?", Changed, Some(Newest), None, "gateway"),
            ("what changed in October, oldest first", Changed, Some(Oldest), None, ""),
            ("latest decisions about caching", Latest, Some(Newest), None, "caching"),
            ("last 5 decisions about Python 3", Latest, Some(Newest), Some(5), "Python 3"),
            ("what did we decide today or yesterday about memory?", Select, None, None, "memory"),
            ("all notes in reverse chronological order", History, Some(Newest), None, ""),
            ("last three notes about the shop, newest first", Latest, Some(Newest), Some(3), "shop"),
            ("my last three notes", Latest, Some(Newest), Some(3), ""),
            ("timeline of the login rewrite", History, Some(Oldest), None, "login rewrite"),
            ("Was haben wir am Montag beschlossen?", Select, None, None, ""),
            ("les deux dernières décisions sur la passerelle", Latest, Some(Newest), Some(2), "passerelle"),
            ("¿Qué ha cambiado en la pasarela desde el viernes?", Changed, Some(Newest), None, "pasarela"),
            ("últimas decisões sobre o cache", Latest, Some(Newest), None, "cache"),
            ("最新的决定是什么？", Latest, Some(Newest), None, ""),
            ("先週のビーコンのメモを見せて", Select, None, None, "ビーコン"),
        ] {
            let found = read(query).unwrap_or_else(|| panic!("{query}"));
            assert_eq!((found.kind, found.order, found.count), (kind, order, count), "{query}");
            assert_eq!(found.subject.trim(), subject, "{query}");
        }
    }

    #[test]
    fn other_questions_are_not_about_time() {
        for query in [
            "which port does staging use?",
            "since when do we use Postgres?",
            "when was the DNS switched?",
            "what is due next Tuesday?",
            "which version is the latest release?",
            "why do we never use the :latest tag?",
            "May I deploy?",
            "Seit wann nutzen wir Postgres?",
        ] {
            assert_eq!(read(query), None, "{query}");
        }
        assert!(!read("who joined us in May 2023?").unwrap().is_strict());
        assert!(!read("incidents this year").unwrap().is_strict());
        assert!(read("what did we decide in May 2023?").unwrap().is_strict());
    }

    #[test]
    fn a_subject_that_is_the_name_of_a_project_restricts_the_scopes() {
        let timing = |query: &str| read(query).unwrap();
        assert!(timing("what did we note about the erp sync in October?").names("github.com/acme/erp-sync", None));
        assert!(!timing("what did we note about the erp export in October?").names("github.com/acme/erp-sync", None));
        assert!(!timing("what did we note in October?").names("github.com/acme/erp-sync", None));
        let scope = |name: &str| name.parse::<Scope>().unwrap();
        let here = timing("what did we decide last week?").within(BTreeSet::new(), Some(&scope("shop")));
        assert_eq!(here.scopes, [scope("shop"), Scope::Global]);
        let all = timing("what did we decide last week in all projects?").within(BTreeSet::new(), Some(&scope("shop")));
        assert_eq!(all.scopes, []);
        let named =
            timing("latest notes about the shop").within(BTreeSet::from(["shop".to_owned()]), Some(&scope("shop")));
        assert!(named.scopes == [scope("shop")] && named.is_open());
        let dash = timing("what did we note about the dashboard yesterday?");
        assert!(dash.names("dash", Some(&scope("dash"))) && !dash.names("dash", None));
    }
}
