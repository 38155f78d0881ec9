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

const FIX: &str = "use 2026-03-02, 2026-03-02T09:15, yesterday, last week, since Friday or 7d";

impl WrittenTime {
    /// The first moment of the period; for a bare length such as `7d`, the beginning of the day that long ago.
    /// For `before Friday`, which has no first moment, the beginning of Friday.
    ///
    /// # Errors
    /// Returns an error if the text is not a time.
    pub fn beginning(&self, now: Timestamp) -> Result<Timestamp, DomainError> {
        if let Some(instant) = self.exact() {
            return Ok(instant);
        }
        let (window, zone) = self.window(now, Toward::Past)?;
        self.instant(window.from.or(window.to), &zone)
    }

    /// The end of the period, exclusive. A time of day is its own end.
    ///
    /// # Errors
    /// Returns an error if the text is not a time.
    pub fn end(&self, now: Timestamp) -> Result<Timestamp, DomainError> {
        self.end_of(now, Toward::Past)
    }

    /// The end of the next such period: `Friday` is the coming one, and `3 days` are counted from now.
    ///
    /// # Errors
    /// Returns an error if the text is not a time.
    pub fn next_end(&self, now: Timestamp) -> Result<Timestamp, DomainError> {
        self.end_of(now, Toward::Future)
    }

    /// Checks the text of a field.
    ///
    /// # Errors
    /// Returns an error with the name of the field if the text is not a time.
    pub fn in_field(text: &str, field: &'static str) -> Result<Self, DomainError> {
        let written = Self { text: text.to_owned(), field };
        let any = Timestamp::from_micros(1_000_000_000_000_000);
        match read(text, any, &TimeZone::UTC, Toward::Past) {
            Ok(_) => Ok(written),
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
        self.instant(end.or(window.from), &zone)
    }

    /// The time of a text with an offset. Local time would be ambiguous for it when the clocks change.
    fn exact(&self) -> Option<Timestamp> {
        let instant: jiff::Timestamp = self.text.trim().parse().ok()?;
        Some(Timestamp::from_micros(instant.as_microsecond()))
    }

    fn window(&self, now: Timestamp, toward: Toward) -> Result<(Window, TimeZone), DomainError> {
        let zone = TimeZone::system();
        let window = read(&self.text, now, &zone, toward).map_err(|problem| self.refused(problem))?;
        Ok((window, zone))
    }

    fn instant(&self, time: Option<DateTime>, zone: &TimeZone) -> Result<Timestamp, DomainError> {
        let time = time.and_then(|time| time.to_zoned(zone.clone()).ok());
        let time = time.ok_or_else(|| self.refused(Problem::OutOfRange))?;
        Ok(Timestamp::from_micros(time.timestamp().as_microsecond()))
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
            ("seit Montag", "2026-11-23", "2026-11-23"),
        ] {
            assert_eq!(of(text).beginning(now).unwrap(), beginning.parse().unwrap(), "{text}");
            assert_eq!(of(text).end(now).unwrap(), end.parse().unwrap(), "{text}");
        }
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
