//! Times as people write them, in English, German, French, Spanish, Portuguese, Chinese and Japanese.
//!
//! [`option`] parses the value of an option, such as `since Monday` or `7d`. [`mention`] finds the time that a question
//! names, as in "what did we decide last week?". Both use one grammar (`parser`, `window`) over the words in
//! `words.txt`. The text is parsed once per language, so the words of two languages never mix.
//!
//! Conventions: weeks begin on Monday. `last week` is the whole previous week, and `the last 7 days` begin at midnight
//! seven days ago. A weekday is the latest one before today. A month, a week or a date without a year is the latest one
//! that has begun. [`Toward::Future`] turns all of these around, as for an expiry.

mod civil;
mod dates;
mod fold;
mod mention;
mod option;
mod parser;
mod token;
mod units;
mod value;
mod window;
mod words;

use jiff::civil::DateTime;

pub use mention::{Mention, mention};
pub use option::option;

/// A window of time, in local time. A missing bound is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Window {
    /// The first moment.
    pub from: Option<DateTime>,
    /// The end, exclusive.
    pub to: Option<DateTime>,
}

impl Window {
    /// True for a time of day, such as `14:30`: the window of a minute or a second.
    pub fn is_moment(&self) -> bool {
        let longest = jiff::SignedDuration::from_mins(1);
        self.from.zip(self.to).is_some_and(|(from, to)| to.duration_since(from) <= longest)
    }
}

/// Which times an expression without a year or a date means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toward {
    /// The latest one: `Friday` was last Friday.
    Past,
    /// The next one, as for an expiry.
    Future,
}

/// Why a text is not a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// It is empty.
    #[error("is empty")]
    Empty,
    /// It is not understood.
    #[error("is not a time")]
    Unknown,
    /// It is a beginning without an end, such as `last`.
    #[error("is not complete")]
    Incomplete,
    /// It is a number without a unit.
    #[error("is a number without a unit; add one, as in 3d")]
    NoUnit,
    /// It uses the words of several languages.
    #[error("mixes two languages")]
    Mixed,
    /// The month does not have this day.
    #[error("names a day that does not exist")]
    NoSuchDay,
    /// There is no such month.
    #[error("names a month that does not exist")]
    NoSuchMonth,
    /// There is no such calendar week.
    #[error("names a week that does not exist")]
    NoSuchWeek,
    /// There is no such quarter.
    #[error("names a quarter that does not exist")]
    NoSuchQuarter,
    /// There is no such time of day.
    #[error("names a time of day that does not exist")]
    NoSuchTime,
    /// The time zone is not an offset.
    #[error("has an unknown time zone; use Z or an offset such as +01:00")]
    NoSuchZone,
    /// A 24-hour time with `am` or `pm`.
    #[error("has a 24-hour time together with am or pm")]
    TwoClocks,
    /// The day and the month can be exchanged.
    #[error("may be day/month or month/day")]
    Ambiguous,
    /// The date is on another weekday.
    #[error("names a date that is not on this weekday")]
    OtherWeekday,
    /// The date stops after `T`.
    #[error("has no time after the T")]
    CutOff,
    /// It has no beginning, such as `before Friday`.
    #[error("has no beginning")]
    NoBeginning,
    /// It has no end, such as `since Friday`.
    #[error("has no end")]
    NoEnd,
    /// The year or the length is too large.
    #[error("is outside the supported range of dates")]
    OutOfRange,
}
