//! Times that are written in digits: `2026-11-23`, `23.11.2026`, `14:30`, `Q3`, `7d`.

use std::str::FromStr;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;

use super::Problem;
use super::words::Unit;

/// The value of one word in digits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Date(Date),
    /// A day and a month without a year.
    DayMonth(i8, i8),
    YearMonth(i16, i8),
    /// A number of up to four digits, and the number of its digits.
    Number(i64, usize),
    /// `10th`, `10.`
    Ordinal(i64),
    /// A time of day, and whether it has seconds.
    Clock(Time, bool),
    /// A local time, and whether it has seconds.
    Moment(DateTime, bool),
    Week(Option<i16>, i8),
    Quarter(Option<i16>, i8),
    Length(i64, Unit),
    /// It looks like a time, but is not one.
    Wrong(Problem),
}

/// The value of a folded word; `None` if it is not written in digits.
pub(crate) fn value(word: &str, zone: &TimeZone) -> Option<Value> {
    if !word.is_ascii() || !word.bytes().any(|byte| byte.is_ascii_digit()) || word.len() > 40 {
        return ordinal(word);
    }
    labelled(word)
        .or_else(|| moment(word, zone))
        .or_else(|| clock(word))
        .or_else(|| date(word))
        .or_else(|| ordinal(word))
        .or_else(|| length(word))
}

fn digits<T: FromStr>(text: &str, lengths: std::ops::RangeInclusive<usize>) -> Option<T> {
    let is_number = lengths.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

/// `q3`, `2026-q3`, `q3/2026`, `w46`, `2026-w46`, `kw47`
fn labelled(word: &str) -> Option<Value> {
    let (year, label) = match word.split_once(['-', '/']) {
        Some((year, label)) if year.len() == 4 => (Some(digits(year, 4..=4)?), label),
        Some((label, year)) if year.len() == 4 => (Some(digits(year, 4..=4)?), label),
        Some(_) => return None,
        None if word.len() > 5 && word.is_char_boundary(4) => match word.split_at(4) {
            (year, label) if label.starts_with('w') => (Some(digits(year, 4..=4)?), label),
            _ => (None, word),
        },
        None => (None, word),
    };
    if let Some(quarter) = label.strip_prefix(['q', 't']).and_then(|number| digits::<i8>(number, 1..=1)) {
        let is_one = (1..=4).contains(&quarter);
        return Some(if is_one { Value::Quarter(year, quarter) } else { Value::Wrong(Problem::NoSuchQuarter) });
    }
    let number = ["kw", "cw", "w"].iter().find_map(|prefix| label.strip_prefix(prefix))?;
    let week = digits::<i8>(number, 1..=2)?;
    Some(if (1..=53).contains(&week) { Value::Week(year, week) } else { Value::Wrong(Problem::NoSuchWeek) })
}

/// A date with a time and perhaps an offset: RFC 3339.
fn moment(word: &str, zone: &TimeZone) -> Option<Value> {
    let (date, time) = word.split_once('t')?;
    digits::<i16>(date.get(..4)?, 4..=4)?;
    date.get(4..)?.starts_with('-').then_some(())?;
    if time.is_empty() {
        return Some(Value::Wrong(Problem::CutOff));
    }
    let text = word.to_ascii_uppercase();
    let clock = time.split(['z', '+', '-']).next().unwrap_or_default();
    // No place is farther from UTC than 14 hours.
    let offset = time.split(['+', '-']).nth(1).and_then(|offset| digits::<i8>(offset.get(..2)?, 2..=2));
    if offset.is_some_and(|hours| hours > 14) {
        return Some(Value::Wrong(Problem::NoSuchZone));
    }
    let has_seconds = clock.matches(':').count() > 1;
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Some(Value::Moment(zone.to_datetime(moment), has_seconds));
    }
    if time.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.')) {
        return Some(match text.parse::<DateTime>() {
            Ok(moment) => Value::Moment(moment, has_seconds),
            Err(_) => Value::Wrong(Problem::NoSuchTime),
        });
    }
    Some(Value::Wrong(Problem::NoSuchZone))
}

/// `14:30`, `14:30:05`, `3pm`, `3:30pm`, `18h30`. (`18h` is a length.)
fn clock(word: &str) -> Option<Value> {
    let (text, half) = match word.strip_suffix("am").map(|text| (text, Some(0))) {
        Some(found) => found,
        None => word.strip_suffix("pm").map_or((word, None), |text| (text, Some(12))),
    };
    let parts: Vec<&str> = text.split([':', 'h']).collect();
    let (hour, minute, second) = match parts.as_slice() {
        [hour] if half.is_some() => (*hour, "0", "0"),
        [hour, minute] if minute.len() == 2 => (*hour, *minute, "0"),
        [hour, minute, second] if minute.len() == 2 && second.len() == 2 => (*hour, *minute, *second),
        _ => return None,
    };
    let [hour, minute, second] =
        [digits::<i8>(hour, 1..=2)?, digits::<i8>(minute, 1..=2)?, digits::<i8>(second, 1..=2)?];
    Some(
        match on_clock(hour, half).and_then(|hour| Time::new(hour, minute, second, 0).map_err(|_| Problem::NoSuchTime))
        {
            Ok(time) => Value::Clock(time, parts.len() == 3),
            Err(problem) => Value::Wrong(problem),
        },
    )
}

/// The hour of the day. `half` is 0 for `am` and 12 for `pm`.
pub(crate) fn on_clock(hour: i8, half: Option<i8>) -> Result<i8, Problem> {
    match half {
        None if hour == 24 => Ok(0),
        None if (0..24).contains(&hour) => Ok(hour),
        None => Err(Problem::NoSuchTime),
        Some(half) if (0..=12).contains(&hour) => Ok(hour % 12 + half),
        Some(_) => Err(Problem::TwoClocks),
    }
}

/// `2026-11-23`, `23.11.2026`, `23/11/2026`, `23.11.`, `2026-11`, and a plain number.
fn date(word: &str) -> Option<Value> {
    let sign = word.chars().find(|c| !c.is_ascii_digit());
    let Some(sign) = sign else {
        return if word.len() <= 9 { Some(Value::Number(word.parse().ok()?, word.len())) } else { None };
    };
    if !matches!(sign, '-' | '.' | '/') {
        return None;
    }
    let parts: Vec<&str> = word.split(sign).collect();
    if parts.iter().any(|part| !part.bytes().all(|byte| byte.is_ascii_digit())) {
        return None;
    }
    match parts.as_slice() {
        [year, _, _] if year.len() > 4 => Some(Value::Wrong(Problem::OutOfRange)),
        [year, month, day] if year.len() == 4 => {
            Some(checked(digits(year, 4..=4)?, digits(month, 1..=2)?, digits(day, 1..=2)?))
        }
        // `1.4.22` is a version.
        [first, second, year] if year.len() == 4 || year.len() == 2 && sign != '-' && first.len() == second.len() => {
            let (first, second): (i8, i8) = (digits(first, 1..=2)?, digits(second, 1..=2)?);
            let number: i16 = digits(year, 2..=4)?;
            let year = if year.len() == 2 { number + 2000 } else { number };
            Some(day_first(first, second, sign).map_or_else(Value::Wrong, |(day, month)| checked(year, month, day)))
        }
        [day, month, ""] if sign == '.' => Some(day_month(digits(day, 1..=2)?, digits(month, 1..=2)?)),
        [year, month] if year.len() == 4 && sign != '.' => {
            Some(year_month(digits(year, 4..=4)?, digits(month, 1..=2)?))
        }
        [month, year] if year.len() == 4 => Some(year_month(digits(year, 4..=4)?, digits(month, 1..=2)?)),
        [first, second] if sign == '/' => {
            let (first, second): (i8, i8) = (digits(first, 1..=2)?, digits(second, 1..=2)?);
            match day_first(first, second, sign) {
                Ok((day, month)) => Some(day_month(day, month)),
                Err(problem) => Some(Value::Wrong(problem)),
            }
        }
        _ => None,
    }
}

/// The day and the month of two numbers. With `/`, some people write the month first.
fn day_first(first: i8, second: i8, sign: char) -> Result<(i8, i8), Problem> {
    match sign {
        '/' if first <= 12 && second <= 12 && first != second => Err(Problem::Ambiguous),
        '/' if second > 12 && first <= 12 => Ok((second, first)),
        _ => Ok((first, second)),
    }
}

fn day_month(day: i8, month: i8) -> Value {
    if !(1..=12).contains(&month) {
        return Value::Wrong(Problem::NoSuchMonth);
    }
    match Date::new(2000, month, day) {
        Ok(_) => Value::DayMonth(day, month),
        Err(_) => Value::Wrong(Problem::NoSuchDay),
    }
}

fn year_month(year: i16, month: i8) -> Value {
    let is_one = (1..=12).contains(&month);
    if is_one { Value::YearMonth(year, month) } else { Value::Wrong(Problem::NoSuchMonth) }
}

fn checked(year: i16, month: i8, day: i8) -> Value {
    date_of(year, month, day).map_or_else(Value::Wrong, Value::Date)
}

/// A date, if it exists.
pub(crate) fn date_of(year: i16, month: i8, day: i8) -> Result<Date, Problem> {
    if !(1..=12).contains(&month) {
        return Err(Problem::NoSuchMonth);
    }
    Date::new(year, month, day).map_err(|_| Problem::NoSuchDay)
}

/// `10th`, `1er`, `3º`, `10.`
fn ordinal(word: &str) -> Option<Value> {
    let end = word.find(|c: char| !c.is_ascii_digit())?;
    let (number, suffix) = word.split_at(end);
    let is_one = matches!(
        suffix,
        "st" | "nd" | "rd" | "th" | "er" | "re" | "e" | "eme" | "º" | "ª" | "°" | "." | ".º" | ".ª" | "o" | "ero"
    );
    is_one.then(|| digits(number, 1..=2)).flatten().map(Value::Ordinal)
}

/// `7d`, `2w`, `36h`, `90min`
fn length(word: &str) -> Option<Value> {
    let end = word.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = word.split_at(end);
    let unit = match unit {
        "s" | "sec" | "secs" | "seconds" => Unit::Second,
        "min" | "m" | "mins" | "minutes" => Unit::Minute,
        "h" | "hr" | "hrs" | "hours" | "std" => Unit::Hour,
        "d" | "j" | "day" | "days" => Unit::Day,
        "w" | "wk" | "wks" | "week" | "weeks" => Unit::Week,
        "mo" | "mon" | "month" | "months" => Unit::Month,
        "y" | "yr" | "yrs" | "year" | "years" => Unit::Year,
        _ => return None,
    };
    digits(number, 1..=6).map(|number| Value::Length(number, unit))
}
