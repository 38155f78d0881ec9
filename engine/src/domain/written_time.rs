//! Times as people and clients write them: `2026-03-02`, `yesterday`, `seit Montag`, `7d`.

use std::str::FromStr;

use jiff::Zoned;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use tessera_calendar::{Problem, Toward, Window, option};

use super::{DomainError, Timestamp};

/// A written time. It names a period, such as a day, and is calculated from the current time when it is used. Dates and
/// clock times are in the time zone of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenTime {
    text: String,
    /// The field that contains it, for messages.
    field: &'static str,
}

const FIX: &str = "use 2026-03-02, 2026-03-02T09:15, yesterday, last week or 7d";

impl WrittenTime {
    /// The first moment of the period; for a bare length such as `7d`, the beginning of the day that long ago.
    ///
    /// # Errors
    /// Returns an error if the text is not a time, or has no first moment (`before Friday`).
    pub fn beginning(&self, now: Timestamp) -> Result<Timestamp, DomainError> {
        if let Some(instant) = self.exact() {
            return Ok(instant);
        }
        let (window, zone) = self.window(now, Toward::Past)?;
        let from = window.from.ok_or_else(|| self.refused(Problem::NoBeginning))?;
        self.instant(from, &zone)
    }

    /// The end of the period, exclusive. A time of day is its own end.
    ///
    /// # Errors
    /// Returns an error if the text is not a time, or has no end (`since Friday`).
    pub fn end(&self, now: Timestamp) -> Result<Timestamp, DomainError> {
        self.end_of(now, Toward::Past)
    }

    /// The end of the next such period: `Friday` is the coming one, and `3 days` are counted from now.
    ///
    /// # Errors
    /// Returns an error if the text is not a time, or has no end (`since Friday`).
    pub fn next_end(&self, now: Timestamp) -> Result<Timestamp, DomainError> {
        self.end_of(now, Toward::Future)
    }

    /// Checks the text of a field. Problems that depend on the current time are found when the time is used.
    ///
    /// # Errors
    /// Returns an error with the name of the field if the text is not a time.
    pub fn in_field(text: &str, field: &'static str) -> Result<Self, DomainError> {
        let written = Self { text: text.to_owned(), field };
        let any = Timestamp::from_micros(1_000_000_000_000_000);
        match read(text, any, &TimeZone::UTC, Toward::Past) {
            Ok(_) | Err(Problem::OtherWeekday | Problem::NoSuchWeek | Problem::OutOfRange) => Ok(written),
            Err(_) if written.exact().is_some() => Ok(written),
            Err(problem) => Err(written.refused(problem)),
        }
    }

    /// The same time with another name of its field.
    #[must_use]
    pub fn of(self, field: &'static str) -> Self {
        Self { field, ..self }
    }

    fn end_of(&self, now: Timestamp, toward: Toward) -> Result<Timestamp, DomainError> {
        if let Some(instant) = self.exact() {
            return Ok(instant);
        }
        let (window, zone) = self.window(now, toward)?;
        let end = if window.is_moment() { window.from } else { window.to };
        self.instant(end.ok_or_else(|| self.refused(Problem::NoEnd))?, &zone)
    }

    /// The time of a text with an offset, for which local time would be ambiguous when the clocks change. Also the last
    /// date, which means "for ever".
    fn exact(&self) -> Option<Timestamp> {
        let text = self.text.trim();
        let is_exact = text.parse::<jiff::Timestamp>().is_ok() || text.starts_with("9999-12-31");
        is_exact.then(|| text.parse().ok()).flatten()
    }

    fn window(&self, now: Timestamp, toward: Toward) -> Result<(Window, TimeZone), DomainError> {
        let zone = TimeZone::system();
        let window = read(&self.text, now, &zone, toward).map_err(|problem| self.refused(problem))?;
        Ok((window, zone))
    }

    fn instant(&self, time: DateTime, zone: &TimeZone) -> Result<Timestamp, DomainError> {
        let time = time.to_zoned(zone.clone()).map_err(|_| self.refused(Problem::OutOfRange))?;
        let micros = time.timestamp().as_microsecond();
        if micros < 0 { Err(self.refused(Problem::OutOfRange)) } else { Ok(Timestamp::from_micros(micros)) }
    }

    fn refused(&self, problem: Problem) -> DomainError {
        DomainError::invalid(self.field, problem.to_string(), FIX)
    }
}

fn read(text: &str, now: Timestamp, zone: &TimeZone, toward: Toward) -> Result<Window, Problem> {
    let now: Zoned =
        jiff::Timestamp::from_microsecond(now.as_micros()).map_err(|_| Problem::OutOfRange)?.to_zoned(zone.clone());
    option(text, &now, toward)
}

impl FromStr for WrittenTime {
    type Err = DomainError;

    /// Checks that the text is a time. Which time it is depends on the time at which it is used.
    fn from_str(text: &str) -> Result<Self, DomainError> {
        Self::in_field(text, "time")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_beginning_and_an_end() {
        let now: Timestamp = "2026-11-25T15:30".parse().unwrap();
        let of = |text: &str| text.parse::<WrittenTime>().unwrap();
        for (text, beginning, end) in [
            ("yesterday", "2026-11-24", "2026-11-25"),
            ("2026-11-20", "2026-11-20", "2026-11-21"),
            ("2026-11-20T14:30", "2026-11-20T14:30", "2026-11-20T14:30"),
            ("last week", "2026-11-16", "2026-11-23"),
            ("7d", "2026-11-18", "2026-11-19"),
            ("seit Montag", "2026-11-23", ""),
            ("9999-12-31", "9999-12-31", "9999-12-31"),
            ("2026-03-02 09:15:00Z", "2026-03-02T09:15:00Z", "2026-03-02T09:15:00Z"),
        ] {
            assert_eq!(of(text).beginning(now).unwrap(), beginning.parse().unwrap(), "{text}");
            if end.is_empty() {
                assert!(of(text).end(now).unwrap_err().to_string().starts_with("time: has no end"), "{text}");
            } else {
                assert_eq!(of(text).end(now).unwrap(), end.parse().unwrap(), "{text}");
            }
        }
        assert!(of("before Friday").beginning(now).is_err() && of("1 January 1900").beginning(now).is_err());
        assert!(of("Sunday, 22 November").beginning(now).is_ok() && of("Monday, 22 November").beginning(now).is_err());
        assert_eq!(of("Friday").next_end(now).unwrap(), "2026-11-28".parse().unwrap());
        assert_eq!(of("2 weeks").next_end(now).unwrap(), "2026-12-10".parse().unwrap());
    }

    #[test]
    fn an_error_names_the_field_and_the_problem() {
        let refused = "31.02.2026".parse::<WrittenTime>().unwrap_err().to_string();
        assert!(refused.starts_with("time: names a day that does not exist"), "{refused}");
        assert!("soonish".parse::<WrittenTime>().unwrap_err().to_string().contains("use 2026-03-02"));
    }
}
