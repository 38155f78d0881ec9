//! Dates named in a query, matched against when a memory was made.

use std::sync::LazyLock;

use jiff::civil::Date;
use regex_lite::Regex;

use super::Weights;
use crate::domain::Timestamp;

/// The dates that a query names.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DateHints {
    hints: Vec<Hint>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Hint {
    /// A month, of a year and with a day if they were named.
    Month { year: Option<i16>, month: i8, day: Option<i8> },
    /// A year alone.
    Year(i16),
    /// From one day to another, both included.
    Span(Date, Date),
}

const MONTHS: &str = "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?";
const MONTH_KEYS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

static ISO: LazyLock<Regex> = LazyLock::new(|| compiled(r"\b((?:19|20)\d\d)-(\d\d)(?:-(\d\d))?\b"));
static DAY_MONTH: LazyLock<Regex> = LazyLock::new(|| {
    compiled(&format!(r"(?i)\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({MONTHS})\b\.?(?:,? ((?:19|20)\d\d)\b)?"))
});
static MONTH_DAY: LazyLock<Regex> = LazyLock::new(|| {
    compiled(&format!(r"(?i)\b({MONTHS})\b\.?(?: (\d{{1,2}})(?:st|nd|rd|th)?\b)?(?:,? ((?:19|20)\d\d)\b)?"))
});
static YEAR: LazyLock<Regex> = LazyLock::new(|| compiled(r"\b((?:19|20)\d\d)\b"));
static RELATIVE: LazyLock<Regex> =
    LazyLock::new(|| compiled(r"(?i)\b(today|yesterday|this week|last week|this month|last month)\b"));

fn compiled(source: &str) -> Regex {
    Regex::new(source).expect("the patterns are constants, compiled in a test")
}

impl DateHints {
    /// Reads the dates of a query asked at `now`: `May 2023`, `3 March`, `2026-03-02`, `2024`,
    /// `yesterday`, `last week`. English only; `may` and `mar…` need a capital or a number beside them.
    pub fn read(query: &str, now: Timestamp) -> Self {
        // Most questions name no date, and a pattern that is not asked need not be compiled.
        let mut hints = Self::default();
        let folded = query.to_ascii_lowercase();
        let has = |marks: &[&str]| marks.iter().any(|mark| folded.contains(mark));
        let has_month = has(&MONTH_KEYS);
        if has_month || has(&["19", "20"]) {
            hints.read_calendar(query, has_month);
        }
        if has(&["today", "yesterday", "this ", "last "])
            && let Some(word) = RELATIVE.find(query)
        {
            hints.hints.extend(relative(word.as_str(), now.date()));
        }
        hints
    }

    fn read_calendar(&mut self, query: &str, has_month: bool) {
        let number = |text: Option<regex_lite::Match<'_>>| text.and_then(|m| m.as_str().parse::<i16>().ok());
        let day = |text: Option<regex_lite::Match<'_>>| {
            number(text).and_then(|n| i8::try_from(n).ok()).filter(|d| (1..=31).contains(d))
        };
        for hit in ISO.captures_iter(query) {
            if let Some(month) = day(hit.get(2)).filter(|month| *month <= 12) {
                self.hints.push(Hint::Month { year: number(hit.get(1)), month, day: day(hit.get(3)) });
            }
        }
        let mut named = Vec::new();
        if has_month {
            named.extend(DAY_MONTH.captures_iter(query).map(|hit| (hit.get(2), day(hit.get(1)), number(hit.get(3)))));
        }
        if has_month && named.is_empty() {
            named.extend(MONTH_DAY.captures_iter(query).map(|hit| (hit.get(1), day(hit.get(2)), number(hit.get(3)))));
        }
        for (name, day, year) in named {
            let Some(name) = name.map(|m| m.as_str()) else { continue };
            let is_word_of_its_own = day.is_none() && year.is_none() && !name.starts_with(char::is_uppercase);
            if let Some(month) = month_number(name).filter(|_| !is_word_of_its_own) {
                self.hints.push(Hint::Month { year, month, day });
            }
        }
        if self.hints.is_empty() {
            self.hints.extend(YEAR.captures_iter(query).filter_map(|hit| number(hit.get(1))).map(Hint::Year));
        }
    }

    /// True when the query names no date.
    pub fn is_empty(&self) -> bool {
        self.hints.is_empty()
    }

    /// How well a memory made at `created` (minutes since 1970) agrees: the best of the hints.
    pub fn score(&self, created: u32, weights: &Weights) -> f64 {
        if self.hints.is_empty() {
            return 0.0;
        }
        let made = Timestamp::from_micros(i64::from(created) * 60_000_000).date();
        self.hints.iter().map(|hint| hint.score(made, weights)).fold(0.0, f64::max)
    }
}

impl Hint {
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

fn month_number(name: &str) -> Option<i8> {
    let key = name.get(..3)?.to_ascii_lowercase();
    let at = MONTH_KEYS.iter().position(|month| *month == key)?;
    i8::try_from(at + 1).ok()
}

fn relative(word: &str, today: Date) -> Option<Hint> {
    use jiff::ToSpan;
    let monday = today.checked_sub(i64::from(today.weekday().to_monday_zero_offset()).days()).ok()?;
    let (first, last) = match word.to_ascii_lowercase().as_str() {
        "today" => (today, today),
        "yesterday" => (today.yesterday().ok()?, today.yesterday().ok()?),
        "this week" => (monday, today),
        "last week" => (monday.checked_sub(7.days()).ok()?, monday.yesterday().ok()?),
        "this month" => (today.first_of_month(), today),
        _ => {
            let before = today.first_of_month().yesterday().ok()?;
            (before.first_of_month(), before)
        }
    };
    Some(Hint::Span(first, last))
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
            ("notes of last month", "2026-10-01", 3.0),
            ("you may march on", "2026-03-02", 0.0),
            ("no date here", "2026-03-02", 0.0),
        ] {
            assert!((score(query, created) - expected).abs() < 1e-9, "{query} {created} {}", score(query, created));
        }
    }
}
