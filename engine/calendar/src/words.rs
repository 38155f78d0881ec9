//! The words of time in seven languages.

use std::str::FromStr;

use tessera_tables::{pairs, section};

const LISTS: &str = include_str!("words.txt");

/// One language, and how its text is divided into words.
pub(crate) struct Language {
    /// Sorted phrases, each with its readings.
    phrases: &'static [(&'static str, &'static str)],
    /// True for a script without spaces.
    pub(crate) is_dense: bool,
    /// True if names of weekdays and months begin with a capital letter.
    pub(crate) has_capitals: bool,
    /// Whether its texts contain kana.
    pub(crate) kana: Kana,
}

/// Whether the texts of a language contain kana.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kana {
    /// It does not say anything.
    Unknown,
    /// A text with kana is in another language.
    Never,
    /// A long text without kana is in another language.
    Usual,
}

/// The supported languages: English, German, French, Spanish, Portuguese, Chinese and Japanese.
pub(crate) static LANGUAGES: [Language; 7] = [
    Language { phrases: pairs!(section(LISTS, "en")), is_dense: false, has_capitals: true, kana: Kana::Unknown },
    Language { phrases: pairs!(section(LISTS, "de")), is_dense: false, has_capitals: true, kana: Kana::Unknown },
    Language { phrases: pairs!(section(LISTS, "fr")), is_dense: false, has_capitals: false, kana: Kana::Unknown },
    Language { phrases: pairs!(section(LISTS, "es")), is_dense: false, has_capitals: false, kana: Kana::Unknown },
    Language { phrases: pairs!(section(LISTS, "pt")), is_dense: false, has_capitals: false, kana: Kana::Unknown },
    Language { phrases: pairs!(section(LISTS, "zh")), is_dense: true, has_capitals: false, kana: Kana::Never },
    Language { phrases: pairs!(section(LISTS, "ja")), is_dense: true, has_capitals: false, kana: Kana::Usual },
];

impl Language {
    /// The readings of a phrase. Most phrases have one.
    pub(crate) fn readings(&self, phrase: &str) -> Option<Vec<Reading>> {
        let at = self.phrases.binary_search_by(|(known, _)| known.cmp(&phrase)).ok()?;
        let (_, readings) = self.phrases.get(at)?;
        Some(readings.split(' ').filter_map(|reading| reading.parse().ok()).collect())
    }

    /// True if a phrase of several words begins with this word.
    pub(crate) fn may_continue(&self, word: &str) -> bool {
        // No character of a phrase sorts before the space, so such phrases follow the word itself.
        let at = self.phrases.partition_point(|(known, _)| *known <= word);
        let next = self.phrases.get(at).and_then(|(known, _)| known.strip_prefix(word));
        next.is_some_and(|rest| rest.starts_with(' '))
    }
}

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Fortnight,
    Month,
    Quarter,
    Year,
}

impl Unit {
    /// True for units shorter than a day.
    pub(crate) fn is_short(self) -> bool {
        matches!(self, Self::Second | Self::Minute | Self::Hour)
    }
}

/// Which unit is meant, counted from the current one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    BeforeLast,
    Last,
    This,
    Next,
    AfterNext,
}

impl Which {
    /// The number of units after the current one.
    pub(crate) fn offset(self) -> i64 {
        match self {
            Self::BeforeLast => -2,
            Self::Last => -1,
            Self::This => 0,
            Self::Next => 1,
            Self::AfterNext => 2,
        }
    }
}

/// How a time bounds a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Since,
    After,
    Before,
    Until,
}

/// What a word or a phrase means. `Before` and `After` a time are different words in some languages: `avant lundi`,
/// `月曜日以前`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// An article or another word without a meaning of its own.
    The,
    /// A preposition that a time follows: `on`, `in`.
    On,
    /// A preposition that a time of day follows.
    At,
    From,
    To,
    Between,
    BetweenEnd,
    And,
    /// A bound before its time.
    Side(Side),
    /// A bound after its time.
    SideEnd(Side),
    Which(Which),
    /// `the past week`: a length that ends now.
    Past,
    /// `ago`, after a length.
    Back,
    /// `il y a`: `ago` before a length.
    BackIn,
    /// `from now`, after a length.
    Ahead,
    /// `in`, before a length.
    AheadIn,
    Start,
    StartEnd,
    End,
    EndEnd,
    /// The first day (`false`) or the last day of the current unit, in one word: `Jahresende`.
    EdgeOf(bool, Unit),
    /// `mid`: the second ten days of a month.
    Mid,
    /// A part of a month: days 1 to 10, 11 to 20, or the rest.
    Third(i8),
    /// A number of days from today.
    Day(i64),
    /// `tonight` (0), or `last night` as one word (-1).
    Night(i64),
    /// A part of a day, from hour to hour. After 24 comes the next day.
    Part(i8, i8),
    Noon,
    Midnight,
    Am,
    Pm,
    /// `o'clock`
    Clock,
    Unit(Unit),
    /// A unit in one word with `last`, `this` or `next`: `先週`.
    UnitOf(Which, Unit),
    /// `KW`, before a number.
    WeekLabel,
    WeekMark,
    MonthMark,
    DayMark,
    QuarterMark,
    /// The year before the first year of a Japanese era.
    Era(i16),
    /// `第`, before a number.
    OrdinalMark,
    Weekend,
    Weekday(i8),
    Month(i8),
    /// A season that begins in this month.
    Season(i8),
    Number(i64),
    Ordinal(i64),
    Half,
    /// A word that means repetition: `every`.
    Habit,
    /// A word for something that is recorded: `notes`.
    Record,
    /// A word about the future: `due`.
    Plan,
    /// A title after a name: `さん`.
    Title,
    /// A word that ends a time, because it cannot continue a name.
    Link,
}

impl FromStr for Reading {
    type Err = ();

    /// Parses a reading as written in the table.
    fn from_str(text: &str) -> Result<Self, ()> {
        if let Some(reading) = plain(text).or_else(|| unit(text).map(Self::Unit)) {
            return Ok(reading);
        }
        if let Some((which, rest)) = ["before-last-", "last-", "this-", "next-", "after-next-"]
            .iter()
            .zip(WHICH)
            .find_map(|(prefix, which)| Some((which, text.strip_prefix(prefix)?)))
        {
            return unit(rest).map(|unit| Self::UnitOf(which, unit)).ok_or(());
        }
        let edge = text.strip_prefix("end-of-").map(|unit| (true, unit));
        if let Some((is_end, rest)) = edge.or_else(|| text.strip_prefix("start-of-").map(|unit| (false, unit))) {
            return unit(rest).map(|unit| Self::EdgeOf(is_end, unit)).ok_or(());
        }
        let number = |prefix: &str| text.strip_prefix(prefix).and_then(|rest| rest.parse::<i64>().ok());
        let small = |prefix: &str| number(prefix).and_then(|number| i8::try_from(number).ok());
        if let Some((from, to)) = text.strip_prefix("part").and_then(|hours| hours.split_once('-')) {
            let hours = from.parse().ok().zip(to.parse().ok());
            return hours.map(|(from, to)| Self::Part(from, to)).ok_or(());
        }
        let numbered = small("wd").map(Self::Weekday);
        let numbered = numbered.or_else(|| small("season").map(Self::Season));
        let numbered = numbered.or_else(|| number("day").map(Self::Day));
        let numbered = numbered.or_else(|| number("night").map(Self::Night));
        let numbered = numbered.or_else(|| small("third").map(Self::Third));
        let numbered = numbered.or_else(|| number("era").and_then(|year| i16::try_from(year).ok()).map(Self::Era));
        let numbered = numbered.or_else(|| small("m").map(Self::Month));
        let numbered = numbered.or_else(|| number("n").map(Self::Number));
        numbered.or_else(|| number("o").map(Self::Ordinal)).ok_or(())
    }
}

const WHICH: [Which; 5] = [Which::BeforeLast, Which::Last, Which::This, Which::Next, Which::AfterNext];

fn unit(text: &str) -> Option<Unit> {
    Some(match text {
        "second" => Unit::Second,
        "minute" => Unit::Minute,
        "hour" => Unit::Hour,
        "day" => Unit::Day,
        "week" => Unit::Week,
        "fortnight" => Unit::Fortnight,
        "month" => Unit::Month,
        "quarter" => Unit::Quarter,
        "year" => Unit::Year,
        _ => return None,
    })
}

fn plain(text: &str) -> Option<Reading> {
    Some(match text {
        "the" => Reading::The,
        "on" => Reading::On,
        "at" => Reading::At,
        "mid" => Reading::Mid,
        "plan" => Reading::Plan,
        "title" => Reading::Title,
        "link" => Reading::Link,
        "quarter-mark" => Reading::QuarterMark,
        "after-next" => Reading::Which(Which::AfterNext),
        "from" => Reading::From,
        "to" => Reading::To,
        "between" => Reading::Between,
        "between-end" => Reading::BetweenEnd,
        "and" => Reading::And,
        "since" => Reading::Side(Side::Since),
        "after" => Reading::Side(Side::After),
        "before" => Reading::Side(Side::Before),
        "until" => Reading::Side(Side::Until),
        "since-end" => Reading::SideEnd(Side::Since),
        "after-end" => Reading::SideEnd(Side::After),
        "before-end" => Reading::SideEnd(Side::Before),
        "until-end" => Reading::SideEnd(Side::Until),
        "before-last" => Reading::Which(Which::BeforeLast),
        "last" => Reading::Which(Which::Last),
        "this" => Reading::Which(Which::This),
        "next" => Reading::Which(Which::Next),
        "past" => Reading::Past,
        "back" => Reading::Back,
        "back-in" => Reading::BackIn,
        "ahead" => Reading::Ahead,
        "ahead-in" => Reading::AheadIn,
        "start" => Reading::Start,
        "start-end" => Reading::StartEnd,
        "end" => Reading::End,
        "end-end" => Reading::EndEnd,
        "night" => Reading::Night(0),
        "noon" => Reading::Noon,
        "midnight" => Reading::Midnight,
        "am" => Reading::Am,
        "pm" => Reading::Pm,
        "clock" => Reading::Clock,
        "week-label" => Reading::WeekLabel,
        "week-mark" => Reading::WeekMark,
        "month-mark" => Reading::MonthMark,
        "day-mark" => Reading::DayMark,
        "ordinal-mark" => Reading::OrdinalMark,
        "weekend" => Reading::Weekend,
        "half" => Reading::Half,
        "habit" => Reading::Habit,
        "record" => Reading::Record,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_sorted_folded_and_understood() {
        for language in &LANGUAGES {
            for pair in language.phrases.windows(2) {
                assert!(pair[0].0 < pair[1].0, "{} {}", pair[0].0, pair[1].0);
            }
            for (phrase, readings) in language.phrases {
                assert!(phrase.chars().all(|c| c >= ' '), "{phrase:?}");
                assert_eq!(crate::fold::folded(phrase).0, *phrase);
                readings.split(' ').for_each(|one| assert!(one.parse::<Reading>().is_ok(), "{phrase}: {one}"));
            }
        }
    }
}
