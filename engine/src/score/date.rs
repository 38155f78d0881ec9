//! Dates in a query, compared with a memory's creation time.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use regex_lite::{Captures, Match, Regex};

use super::Weights;
use crate::domain::Timestamp;
use crate::text::tokenize;

/// The dates in a query.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DateHints {
    hints: Vec<Hint>,
    words: BTreeSet<String>,
    relative: BTreeSet<String>,
    /// The time zone of the dates. The time zone is read once, and only if the query contains a date.
    zone: Option<TimeZone>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Hint {
    /// A month, with year and day if given.
    Month { year: Option<i16>, month: i8, day: Option<i8> },
    /// Only a year.
    Year(i16),
    /// From one day to another, both included.
    Span(Date, Date),
}

const MONTHS: &str = "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?";
/// Months and their abbreviations that are also ordinary words. They count as months only with a day, a year or a
/// capital letter.
const ALSO_WORDS: [&str; 5] = ["may", "mar", "march", "sep", "dec"];
/// Each phrase with a relative date contains one of these words.
const RELATIVE_WORDS: [&str; 12] =
    ["today", "yesterday", "week", "month", "quarter", "year", "spring", "summer", "autumn", "fall", "winter", "ago"];
const MONTH_NAMES: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

static ISO: LazyLock<Regex> = LazyLock::new(|| compiled(r"\b((?:19|20)\d\d)-(\d\d)(?:-(\d\d))?\b"));
static DAY_MONTH: LazyLock<Regex> = LazyLock::new(|| {
    compiled(&format!(r"(?i)\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({MONTHS})\b\.?(?:,? ((?:19|20)\d\d)\b)?"))
});
static MONTH_DAY: LazyLock<Regex> = LazyLock::new(|| {
    compiled(&format!(r"(?i)\b({MONTHS})\b\.?(?: (\d{{1,2}})(?:st|nd|rd|th)?\b)?(?:,? ((?:19|20)\d\d)\b)?"))
});
static YEAR: LazyLock<Regex> = LazyLock::new(|| compiled(r"\b((?:19|20)\d\d)\b"));
static RELATIVE: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?i)\b(?:(today|yesterday)|(this|last|past|previous) (week|month|quarter|year|spring|summer|autumn|fall|winter)|in (?:the |early |late )?(spring|summer|autumn|winter)|(a|an|one|two|three|four|five|six|\d{1,2}) (day|week|month)s? ago)\b",
    )
});

fn compiled(source: &str) -> Regex {
    Regex::new(source).expect("the patterns are constants, and a test compiles them")
}

/// True if a sentence begins after this text.
fn begins_sentence(before: &str) -> bool {
    before.trim_end().chars().next_back().is_none_or(|last| matches!(last, '.' | '!' | '?' | ':'))
}

impl DateHints {
    /// Parses the dates in a query asked at `now`: `May 2023`, `3 March`, `2026-03-02`, `2024`, `yesterday`, `last
    /// week`, `this year`, `in the spring`, `two months ago`. The dates are in the machine's time zone. Only English is
    /// supported. `may` and `mar…` are months only with a capital letter or a number. At the beginning of a sentence,
    /// `May` is a month only with a number.
    pub fn read(query: &str, now: Timestamp) -> Self {
        // Most questions contain no date, so the patterns are compiled only if needed.
        let mut hints = Self::default();
        let folded = query.to_ascii_lowercase();
        let has = |marks: &[&str]| marks.iter().any(|mark| folded.contains(mark));
        let has_month = folded.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(is_month);
        if has_month || has(&["19", "20"]) {
            hints.read_calendar(query, has_month);
        }
        if has(&RELATIVE_WORDS)
            && let Some(phrase) = RELATIVE.captures(query)
        {
            let part = |at| phrase.get(at).map(|part| part.as_str().to_ascii_lowercase());
            let hint = relative(&[1, 2, 3, 4, 5, 6].map(part), now.date_in(TimeZone::system()));
            // `in spring` may be about a thing named Spring; the other phrases only name a time.
            if hint.is_some() && phrase.get(4).is_none() {
                let terms = phrase.get(0).map(|phrase| tokenize(phrase.as_str())).into_iter().flatten();
                hints.relative.extend(terms.map(|token| token.term));
            }
            hint.into_iter().for_each(|hint| hints.add(hint, phrase.get(0)));
        }
        hints
    }

    fn read_calendar<'a>(&mut self, query: &'a str, has_month: bool) {
        let number = |text: Option<Match<'a>>| text.and_then(|m| m.as_str().parse::<i16>().ok());
        let day =
            |text: Option<Match<'a>>| number(text).and_then(|n| i8::try_from(n).ok()).filter(|d| (1..=31).contains(d));
        for hit in ISO.captures_iter(query) {
            if let Some(month) = day(hit.get(2)).filter(|month| *month <= 12) {
                let hint = Hint::Month { year: number(hit.get(1)), month, day: day(hit.get(3)) };
                self.add(hint, hit.get(0));
            }
        }
        let mut named = Vec::new();
        if has_month {
            let parts = |hit: Captures<'a>| (hit.get(2), day(hit.get(1)), number(hit.get(3)), hit.get(0));
            named.extend(DAY_MONTH.captures_iter(query).map(parts));
        }
        if has_month && named.is_empty() {
            let parts = |hit: Captures<'a>| (hit.get(1), day(hit.get(2)), number(hit.get(3)), hit.get(0));
            named.extend(MONTH_DAY.captures_iter(query).map(parts));
        }
        for (name, day, year, whole) in named {
            let Some(name) = name.map(|m| m.as_str()) else { continue };
            // "May I", "MAY": at the beginning of a sentence, or in a word in capitals, a capital letter is not a sign
            // of a month.
            let begins = whole.is_some_and(|hit| begins_sentence(query.get(..hit.start()).unwrap_or_default()));
            let is_no_month = ALSO_WORDS.contains(&name) || name == "MAY" || (name == "May" && begins);
            let is_word_of_its_own = day.is_none() && year.is_none() && is_no_month;
            if let Some(month) = month_number(name).filter(|_| !is_word_of_its_own) {
                self.add(Hint::Month { year, month, day }, whole);
            }
        }
        if self.hints.is_empty() {
            for hit in YEAR.captures_iter(query) {
                number(hit.get(1)).into_iter().for_each(|year| self.add(Hint::Year(year), hit.get(0)));
            }
        }
    }

    fn add(&mut self, hint: Hint, phrase: Option<Match<'_>>) {
        let terms = phrase.map(|phrase| tokenize(phrase.as_str())).into_iter().flatten().map(|token| token.term);
        self.words.extend(terms);
        self.hints.push(hint);
        self.zone.get_or_insert_with(TimeZone::system);
    }

    /// Converts the dates to periods from each date until `now`, as for `since March`.
    #[must_use]
    pub fn until(self, now: Timestamp) -> Self {
        let today = now.date_in(TimeZone::system());
        let hints = self.hints.iter().filter_map(|hint| Some(Hint::Span(hint.start(today)?, today)));
        Self { hints: hints.collect(), ..self }
    }

    /// The start of the first day of a period.
    pub fn beginning(&self) -> Option<Timestamp> {
        let spans = self.hints.iter().filter_map(|hint| match hint {
            Hint::Span(first, _) => Some(*first),
            _ => None,
        });
        spans.min()?.to_string().parse().ok()
    }

    /// The terms of the query that belong to its dates.
    pub fn words(&self) -> &BTreeSet<String> {
        &self.words
    }

    /// The terms of `last month` and similar phrases. In the text of a memory, such a phrase refers to the time of
    /// writing.
    pub fn relative_words(&self) -> &BTreeSet<String> {
        &self.relative
    }

    /// True if a date is more precise than a year.
    pub fn is_close(&self) -> bool {
        self.hints.iter().any(|hint| !matches!(hint, Hint::Year(_)))
    }

    /// True if the query contains no date.
    pub fn is_empty(&self) -> bool {
        self.hints.is_empty()
    }

    /// How well the time of creation (minutes since 1970) agrees with the best date of the query.
    pub fn score(&self, created: u32, weights: &Weights) -> f64 {
        if self.hints.is_empty() {
            return 0.0;
        }
        let zone = self.zone.clone().unwrap_or(TimeZone::UTC);
        let made = Timestamp::from_micros(i64::from(created) * 60_000_000).date_in(zone);
        self.hints.iter().map(|hint| hint.score(made, weights)).fold(0.0, f64::max)
    }
}

impl Hint {
    /// Its first day. For a month without a year, the latest such month that has begun.
    fn start(self, today: Date) -> Option<Date> {
        match self {
            Self::Span(first, _) => Some(first),
            Self::Year(year) => Date::new(year, 1, 1).ok(),
            Self::Month { year, month, day } => {
                let first = Date::new(year.unwrap_or(today.year()), month, day.unwrap_or(1)).ok()?;
                if year.is_none() && first > today { first.checked_sub(1.years()).ok() } else { Some(first) }
            }
        }
    }

    fn score(self, made: Date, weights: &Weights) -> f64 {
        match self {
            Self::Span(first, last) if (first..=last).contains(&made) => weights.month + weights.day,
            Self::Year(year) if made.year() == year => weights.year,
            Self::Month { year, month, day }
                if made.month() == month && year.is_none_or(|year| year == made.year()) =>
            {
                let is_near = day.is_some_and(|day| (made.day() - day).abs() <= 1);
                weights.month + if is_near { weights.day } else { 0.0 }
            }
            _ => 0.0,
        }
    }
}

/// True for the name of a month, or its abbreviation, in lower case.
fn is_month(word: &str) -> bool {
    MONTH_NAMES.iter().any(|name| *name == word || name.get(..3) == Some(word)) || word == "sept"
}

fn month_number(name: &str) -> Option<i8> {
    let key = name.get(..3)?.to_ascii_lowercase();
    let at = MONTH_NAMES.iter().position(|month| month.starts_with(&key))?;
    i8::try_from(at + 1).ok()
}

/// Returns the dates to which a phrase refers on the given current day. The parts of the phrase that a pattern found,
/// in this order: `today` or `yesterday`, `this` or `last`, the unit after it, the season, a number, and the unit
/// before `ago`.
fn relative(phrase: &[Option<String>; 6], today: Date) -> Option<Hint> {
    match phrase.each_ref().map(Option::as_deref) {
        [Some("today"), ..] => Some(Hint::Span(today, today)),
        [Some(_), ..] => today.yesterday().ok().map(|day| Hint::Span(day, day)),
        [_, Some("past"), Some("week"), ..] => days_back(7, today),
        [_, Some("past"), Some("month"), ..] => days_back(30, today),
        [_, Some(which), Some(unit), ..] => span_of(unit, which == "this", today),
        [_, _, _, Some(season), ..] => season_of(season, today),
        [.., Some(number), Some(unit)] => ago(number, unit, today),
        _ => None,
    }
}

/// The period that began this number of days ago and ends today.
fn days_back(days: i64, today: Date) -> Option<Hint> {
    today.checked_sub(days.days()).ok().map(|first| Hint::Span(first, today))
}

/// The current period of this unit, or the previous one. The current week, month or quarter ends today. A year always
/// has all of its days.
fn span_of(unit: &str, is_current: bool, today: Date) -> Option<Hint> {
    let first = match unit {
        "week" => today.checked_sub(i64::from(today.weekday().to_monday_zero_offset()).days()).ok()?,
        "month" => today.first_of_month(),
        "quarter" => today.first_of_month().checked_sub(i64::from((today.month() - 1) % 3).months()).ok()?,
        "year" => return Some(Hint::Year(if is_current { today.year() } else { today.year() - 1 })),
        season => return season_of(season, today),
    };
    if is_current {
        return Some(Hint::Span(first, today));
    }
    let last = first.yesterday().ok()?;
    let first = match unit {
        "week" => first.checked_sub(7.days()).ok()?,
        "month" => last.first_of_month(),
        _ => first.checked_sub(3.months()).ok()?,
    };
    Some(Hint::Span(first, last))
}

/// The latest season of this name that has begun. Seasons are those of the northern hemisphere, in whole months.
fn season_of(season: &str, today: Date) -> Option<Hint> {
    let month = match season {
        "spring" => 3,
        "summer" => 6,
        "autumn" | "fall" => 9,
        _ => 12,
    };
    let this_year = Date::new(today.year(), month, 1).ok()?;
    let first = if this_year <= today { this_year } else { this_year.checked_sub(1.years()).ok()? };
    let last = first.checked_add(3.months()).ok()?.yesterday().ok()?;
    Some(Hint::Span(first, last))
}

/// The days around a number of days, weeks or months ago.
fn ago(number: &str, unit: &str, today: Date) -> Option<Hint> {
    let words = ["one", "two", "three", "four", "five", "six"];
    let number: i64 = match number {
        "a" | "an" => 1,
        word => match words.iter().position(|known| *known == word) {
            Some(at) => i64::try_from(at + 1).ok()?,
            None => word.parse().ok()?,
        },
    };
    let (back, reach) = match unit {
        "day" => (number.days(), 1.days()),
        "week" => (number.weeks(), 4.days()),
        _ => (number.months(), 16.days()),
    };
    let day = today.checked_sub(back).ok()?;
    Some(Hint::Span(day.checked_sub(reach).ok()?, day.checked_add(reach).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(query: &str, created: &str) -> f64 {
        let now = "2026-11-20".parse().unwrap();
        let made: Timestamp = created.parse().unwrap();
        DateHints::read(query, now).score(made.minutes(), &Weights::default())
    }

    #[test]
    fn dates_of_a_query_are_matched_at_the_grain_they_are_named_in() {
        for (query, created, expected) in [
            ("What happened in May 2023?", "2023-05-20", 2.0),
            ("What happened in May 2023?", "2024-05-20", 0.0),
            ("what did we decide in March?", "2026-03-02", 2.0),
            ("the deploy on 3 March 2026", "2026-03-02", 3.0),
            ("the deploy on March 3rd, 2026", "2026-03-09", 2.0),
            ("since 2026-03-02", "2026-03-03", 3.0),
            ("plans of 2024", "2024-12-31", 0.3),
            ("what broke yesterday", "2026-11-19", 3.0),
            ("what broke last week", "2026-11-11", 3.0),
            ("what broke in the past week", "2026-11-13", 3.0),
            ("what broke in the past week", "2026-11-12", 0.0),
            ("what broke in the past month", "2026-10-21", 3.0),
            ("what broke in the past month", "2026-10-20", 0.0),
            ("notes of last month", "2026-10-01", 3.0),
            ("what went live in november", "2026-11-02", 2.0),
            ("incidents this year", "2026-02-01", 0.3),
            ("what we did last quarter", "2026-09-30", 3.0),
            ("what we did last quarter", "2026-06-30", 0.0),
            ("who joined last summer", "2026-08-31", 3.0),
            ("what broke in winter", "2026-01-15", 3.0),
            ("two weeks ago", "2026-11-07", 3.0),
            ("the meeting a month ago", "2026-10-12", 3.0),
            ("you may march on", "2026-03-02", 0.0),
            ("May I use tabs? May we?", "2026-05-02", 0.0),
            ("you MAY use tabs", "2026-05-02", 0.0),
            ("it broke in May", "2026-05-02", 2.0),
            ("no date here", "2026-03-02", 0.0),
        ] {
            assert!((score(query, created) - expected).abs() < 1e-9, "{query} {created} {}", score(query, created));
        }
    }

    #[test]
    fn a_date_after_since_is_a_beginning() {
        let since = |query: &str, created: &str| {
            let now = "2026-11-20".parse().unwrap();
            let made: Timestamp = created.parse().unwrap();
            DateHints::read(query, now).until(now).score(made.minutes(), &Weights::default()) > 0.0
        };
        for (query, before, first) in [
            ("what changed since March", "2026-02-28", "2026-03-01"),
            ("what changed since December", "2025-11-30", "2025-12-01"),
            ("what changed since 3 March 2025", "2025-03-02", "2025-03-03"),
            ("what is new since 2025", "2024-12-31", "2025-01-01"),
            ("what changed since last month", "2026-09-30", "2026-10-01"),
        ] {
            assert!(!since(query, before) && since(query, first) && since(query, "2026-11-20"), "{query}");
        }
        assert!(!since("what changed", "2026-11-20"));
    }

    #[test]
    fn the_words_of_a_relative_date_are_known_and_a_season_keeps_its_name() {
        let words = |query: &str| -> Vec<String> {
            let hints = DateHints::read(query, "2026-11-20".parse().unwrap());
            hints.relative_words().iter().cloned().collect()
        };
        assert_eq!(words("what did we decide last month?"), ["last", "month"]);
        assert_eq!(words("the outage two weeks ago"), ["ago", "two", "week"]);
        assert_eq!(words("which beans do we wire in Spring?"), Vec::<String>::new());
        assert_eq!(words("the plan of May 2023"), Vec::<String>::new());
    }
}
