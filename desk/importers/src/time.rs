//! Parses the time formats of other systems.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

/// Numbers below this limit are seconds, and other numbers are milliseconds. As seconds, the limit is in the year 5138;
/// as milliseconds, it is in 1973.
const FIRST_MILLIS: f64 = 1e11;

/// A time as text. It has an offset, or no offset (UTC), or is only a date.
pub(crate) fn of_text(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let utc = |time: DateTime| time.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp());
    text.parse::<Timestamp>()
        .ok()
        .or_else(|| text.parse::<DateTime>().ok().and_then(utc))
        .or_else(|| text.parse::<Date>().ok().and_then(|date| utc(date.at(0, 0, 0, 0))))
}

/// Parses a number as milliseconds since 1970, or as seconds if it is below the limit.
pub(crate) fn of_number(number: f64) -> Option<Timestamp> {
    let millis = if number.abs() < FIRST_MILLIS { number * 1000.0 } else { number };
    if !millis.is_finite() || millis.abs() > 2.5e14 {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "checked above")]
    Timestamp::from_microsecond((millis * 1000.0).round() as i64).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_every_form_that_was_seen() {
        let wanted: Timestamp = "2026-11-21T18:45:38.5Z".parse().unwrap();
        for text in ["2026-11-21T18:45:38.500000+00:00", "2026-11-21 18:45:38.5", " 2026-11-21T20:45:38.5+02:00 "] {
            assert_eq!(of_text(text), Some(wanted), "{text}");
        }
        assert_eq!(of_text("2026-11-21"), "2026-11-21T00:00:00Z".parse().ok());
        assert_eq!((of_text("soon"), of_text("")), (None, None));
        assert_eq!(of_number(1_795_286_738_500.0), Some(wanted));
        assert_eq!(of_number(1_795_286_738.5), Some(wanted));
        assert_eq!((of_number(f64::NAN), of_number(1e300), of_number(-1e300)), (None, None, None));
    }
}
