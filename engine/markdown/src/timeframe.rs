//! Parses periods: `today`, `2 days ago`, `1h`, `last week`, `2026-11-01`. `1h` means one hour, not one day.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan as _, Zoned};

/// A text that is not a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TimeframeError {
    /// It is not understood.
    #[error("timeframe: is not valid; use today, yesterday, 2 days ago, 1h, 7d, 2w, last week, 3 months or 2026-11-01")]
    Unknown,
    /// It is outside of the calendar.
    #[error("timeframe: is outside the supported range of dates; use a shorter one")]
    OutOfRange,
}

/// Returns the start of a period. A relative period is calculated from `now`; a date is returned as it is. Days begin
/// at midnight in the given time zone.
///
/// # Errors
/// Returns an error if the text is not a period, or if its start is outside the range of the calendar.
pub fn parse(text: &str, now: Timestamp, zone: &TimeZone) -> Result<Timestamp, TimeframeError> {
    let text = text.trim();
    let here = now.to_zoned(zone.clone());
    if let Some(date) = date(text, zone) {
        return date;
    }
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    if let Some(since) = named(&words, &here) {
        return since;
    }
    // `last 7 days` and `past week` are periods; so are `a day ago` and `one week`.
    let words = match words.as_slice() {
        ["last" | "past" | "previous", rest @ ..] if !rest.is_empty() => rest,
        ["in", "the", "last" | "past", rest @ ..] | ["the", "last" | "past", rest @ ..] if !rest.is_empty() => rest,
        words => words,
    };
    let counted = match words {
        ["a" | "an" | "one", rest @ ..] => format!("1 {}", rest.join(" ")),
        [unit] if unit.bytes().all(|byte| byte.is_ascii_alphabetic()) => format!("1 {unit}"),
        words => words.join(" "),
    };
    let span: Span = counted.parse().map_err(|_| TimeframeError::Unknown)?;
    before(&here, span)
}

/// A day, a time of day, or a moment.
fn date(text: &str, zone: &TimeZone) -> Option<Result<Timestamp, TimeframeError>> {
    if !text.as_bytes().first().is_some_and(u8::is_ascii_digit) || !text.contains('-') {
        return None;
    }
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Some(Ok(moment));
    }
    let time: DateTime =
        text.parse().ok().or_else(|| Some(text.parse::<Date>().ok()?.to_datetime(jiff::civil::Time::midnight())))?;
    Some(zone.to_timestamp(time).map_err(|_| TimeframeError::OutOfRange))
}

/// Named days and weeks, which begin at midnight.
fn named(words: &[&str], here: &Zoned) -> Option<Result<Timestamp, TimeframeError>> {
    let start = |day: Result<Zoned, jiff::Error>| {
        day.and_then(|day| day.start_of_day()).map(|day| day.timestamp()).map_err(|_| TimeframeError::OutOfRange)
    };
    Some(match words {
        ["now"] => Ok(here.timestamp()),
        ["today"] => start(Ok(here.clone())),
        ["yesterday"] => start(here.yesterday()),
        ["this", "week"] => start(here.checked_sub(i64::from(here.weekday().to_monday_zero_offset()).days())),
        ["this", "month"] => start(here.first_of_month()),
        ["this", "year"] => start(here.first_of_year()),
        _ => return None,
    })
}

fn before(here: &Zoned, span: Span) -> Result<Timestamp, TimeframeError> {
    let then = here.checked_sub(span.abs()).map_err(|_| TimeframeError::OutOfRange)?;
    Ok(then.timestamp())
}
