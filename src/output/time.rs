//! Times as people write them: relative to now, or in the time zone of this machine.

use jiff::fmt::friendly::{Designator, Spacing, SpanPrinter};
use jiff::tz::TimeZone;
use jiff::{RoundMode, Span, SpanRound, Unit, Zoned};
use tessera_engine::Timestamp;

/// A time of this machine, to the minute: `2026-03-02 09:15`.
pub(crate) fn local(time: Timestamp) -> String {
    zoned(time).strftime("%Y-%m-%d %H:%M").to_string()
}

/// How long ago a time is, in its largest unit: `3 days ago`, or `in 2 weeks` for a time in the future.
pub(crate) fn age(time: Timestamp, now: Timestamp) -> String {
    let (then, now) = (zoned(time), zoned(now));
    let days = (now.date() - then.date()).get_days();
    let seconds = now.timestamp().as_second() - then.timestamp().as_second();
    match (days, seconds) {
        (_, -59..=59) => "just now".to_owned(),
        (1, 43_200..) => "yesterday".to_owned(),
        (-1, ..=-43_200) => "tomorrow".to_owned(),
        _ => largest_unit(&then, &now).map_or_else(|| local(time), |span| relative(&span)),
    }
}

fn zoned(time: Timestamp) -> Zoned {
    jiff::Timestamp::from_microsecond(time.as_micros())
        .unwrap_or(jiff::Timestamp::UNIX_EPOCH)
        .to_zoned(TimeZone::system())
}

/// The time between, as a whole number of the largest unit of which it contains at least one.
fn largest_unit(then: &Zoned, now: &Zoned) -> Option<Span> {
    let exact = now.until((Unit::Year, then)).ok()?;
    let unit = if exact.get_years() != 0 {
        Unit::Year
    } else if exact.get_months() != 0 {
        Unit::Month
    } else if exact.get_days().abs() >= 14 {
        Unit::Week
    } else if exact.get_days() != 0 {
        Unit::Day
    } else if exact.get_hours() != 0 {
        Unit::Hour
    } else {
        Unit::Minute
    };
    now.until(then).ok()?.round(SpanRound::new().smallest(unit).largest(unit).relative(now).mode(RoundMode::Trunc)).ok()
}

fn relative(span: &Span) -> String {
    let printer = SpanPrinter::new().designator(Designator::Verbose).spacing(Spacing::BetweenUnitsAndDesignators);
    let text = printer.span_to_string(span);
    if span.is_negative() { text } else { format!("in {text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_name_the_largest_unit() {
        let now: Timestamp = "2026-11-20T12:00:00Z".parse().unwrap_or(Timestamp::from_micros(0));
        for (time, expected) in [
            ("2026-11-20T11:59:30Z", "just now"),
            ("2026-11-20T12:00:59Z", "just now"),
            ("2026-11-20T11:55:00Z", "5 minutes ago"),
            ("2026-11-20T11:00:00Z", "1 hour ago"),
            ("2026-11-17T12:00:00Z", "3 days ago"),
            ("2026-11-13T12:00:00Z", "7 days ago"),
            ("2026-11-01T12:00:00Z", "2 weeks ago"),
            ("2026-06-01T12:00:00Z", "5 months ago"),
            ("2024-06-01T12:00:00Z", "2 years ago"),
            ("1970-01-01T00:00:00Z", "56 years ago"),
            ("2026-11-20T14:00:00Z", "in 2 hours"),
            ("2026-12-25T12:00:00Z", "in 1 month"),
        ] {
            let time: Timestamp = time.parse().unwrap_or(now);
            assert_eq!(age(time, now), expected, "{time}");
        }
    }
}
