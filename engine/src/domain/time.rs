//! Points in time, and clocks that are passed as arguments.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use tessera_tables::text_types;

use super::DomainError;

/// A point in time: microseconds since 1970-01-01 UTC. Displayed in RFC 3339.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Timestamp(i64);

const MICROS_PER_DAY: i64 = 86_400_000_000;

impl Timestamp {
    /// Wraps microseconds since the epoch. A time before 1970 becomes the beginning of 1970. A time after 9999-12-30
    /// 22:00 UTC becomes that time.
    pub const fn from_micros(micros: i64) -> Self {
        const LAST: i64 = 253_402_207_200_000_000;
        if micros < 0 {
            Self(0)
        } else if micros > LAST {
            Self(LAST)
        } else {
            Self(micros)
        }
    }

    /// Microseconds since the epoch, never negative.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Whole minutes since the epoch.
    pub fn minutes(self) -> u32 {
        u32::try_from(self.0 / 60_000_000).unwrap_or(u32::MAX)
    }

    /// This time plus a number of days, which may be negative.
    pub const fn plus_days(self, days: i64) -> Self {
        Self::from_micros(self.0.saturating_add(days.saturating_mul(MICROS_PER_DAY)))
    }

    /// The date in UTC.
    pub fn date(self) -> jiff::civil::Date {
        self.date_in(jiff::tz::TimeZone::UTC)
    }

    /// The date in a time zone.
    pub fn date_in(self, zone: jiff::tz::TimeZone) -> jiff::civil::Date {
        jiff::Timestamp::from_microsecond(self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH).to_zoned(zone).date()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = jiff::Timestamp::from_microsecond(self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        fmt::Display::fmt(&time, f)
    }
}

impl FromStr for Timestamp {
    type Err = DomainError;

    /// Parses RFC 3339 (`2026-03-02T09:15:00Z`). A time without a zone (`2026-03-02T09:15`) and a date (`2026-03-02`,
    /// midnight) are in the time zone of this machine.
    fn from_str(text: &str) -> Result<Self, DomainError> {
        let text = text.trim();
        if let Ok(time) = text.parse::<jiff::Timestamp>() {
            return Ok(Self::from_micros(time.as_microsecond()));
        }
        // Others use this date for "for ever". It is not valid here, because somewhere on earth it would be in the year
        // 10000.
        if text.starts_with("9999-12-31") {
            return Ok(Self::from_micros(jiff::Timestamp::MAX.as_microsecond()));
        }
        // The parser would ignore the name of a zone without an offset.
        let is_named = text.contains('[');
        let read = if is_named { Err(()) } else { text.parse::<jiff::civil::DateTime>().map_err(drop) };
        read.and_then(|time| time.to_zoned(jiff::tz::TimeZone::system()).map_err(drop))
            .map(|zoned| Self::from_micros(zoned.timestamp().as_microsecond()))
            .map_err(|()| {
                let fix = "use 2026-03-02, 2026-03-02T09:15 in your own time zone, or 2026-03-02T09:15:00Z";
                DomainError::invalid("time", "is not a valid date or time", fix)
            })
    }
}

text_types! { Timestamp: DomainError }

/// A source of the time, passed as an argument so that tests and replays can set it.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the only place that reads the machine's clock")]
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(jiff::Timestamp::now().as_microsecond())
    }
}

/// A clock that stands still, for tests, demos and evaluations.
#[derive(Debug, Clone, Copy)]
pub struct FixedClock(
    /// The time it returns.
    pub Timestamp,
);

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_parse_print_and_clamp() {
        let time: Timestamp = "2026-03-02".parse().unwrap();
        assert_eq!(time.to_string(), "2026-03-02T00:00:00Z");
        assert_eq!("2026-03-02T01:00:00+01:00".parse::<Timestamp>().unwrap(), time);
        assert_eq!(Timestamp::from_micros(-5).as_micros(), 0);
        assert_eq!(Timestamp::from_micros(i64::MAX).date().year(), 9999);
        assert!("yesterday-ish".parse::<Timestamp>().is_err());
    }

    #[test]
    fn a_time_without_a_zone_is_of_this_machine_to_the_second() {
        let zone = jiff::tz::TimeZone::system();
        for (text, hour, second) in [("2026-07-02T22:15", 22, 0), ("2026-07-02 22:15:31", 22, 31), ("2026-07-02", 0, 0)]
        {
            let minute = if hour == 0 { 0 } else { 15 };
            let expected = jiff::civil::date(2026, 7, 2).at(hour, minute, second, 0).to_zoned(zone.clone()).unwrap();
            let read: Timestamp = text.parse().unwrap();
            assert_eq!(read.as_micros(), expected.timestamp().as_microsecond(), "{text}");
        }
        let refused = "2026-07-02T22:15[Europe/Berlin]".parse::<Timestamp>();
        assert!(refused.unwrap_err().to_string().contains("in your own time zone"));
    }
}
