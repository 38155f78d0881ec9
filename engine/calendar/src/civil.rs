//! Calendar arithmetic: days, weeks that begin on Monday, months, quarters and years.

use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::{Span, ToSpan as _};

use super::Problem;
use super::words::Unit;

/// A bounded period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Period {
    pub(crate) from: DateTime,
    /// Exclusive.
    pub(crate) to: DateTime,
    /// True for a time of day. After such a time, a window begins at the time itself.
    pub(crate) is_clock: bool,
}

impl Period {
    /// All days from one date to another, both included.
    pub(crate) fn days(first: Date, last: Date) -> Option<Self> {
        let (from, to) = (start_of(first), start_of(last.tomorrow().ok()?));
        (from < to).then_some(Self { from, to, is_clock: false })
    }

    pub(crate) fn day(date: Date) -> Option<Self> {
        Self::days(date, date)
    }

    /// A minute, or a second.
    pub(crate) fn clock(from: DateTime, has_seconds: bool) -> Option<Self> {
        let length = if has_seconds { 1.second() } else { 1.minute() };
        Some(Self { from, to: from.checked_add(length).ok()?, is_clock: true })
    }

    /// From an hour to another hour of a day. After 24 comes the next day.
    pub(crate) fn hours(date: Date, from: i8, to: i8) -> Option<Self> {
        let at = |hour: i8| start_of(date).checked_add(i64::from(hour).hours()).ok();
        Some(Self { from: at(from)?, to: at(to)?, is_clock: false })
    }

    /// True for seven days from a Monday.
    pub(crate) fn is_week(self) -> bool {
        let is_monday = self.from.date().weekday() == Weekday::Monday;
        is_monday && self.from.checked_add(7.days()).is_ok_and(|end| end == self.to)
    }

    /// The last day.
    pub(crate) fn last_day(self) -> Option<Date> {
        self.to.checked_sub(1.nanosecond()).ok().map(DateTime::date)
    }
}

/// The beginning of a day.
pub(crate) fn start_of(date: Date) -> DateTime {
    date.to_datetime(Time::midnight())
}

/// The first day of the unit that contains a date.
pub(crate) fn first_of(unit: Unit, date: Date) -> Option<Date> {
    Some(match unit {
        Unit::Second | Unit::Minute | Unit::Hour | Unit::Day => date,
        Unit::Week | Unit::Fortnight => {
            date.checked_sub(i64::from(date.weekday().to_monday_zero_offset()).days()).ok()?
        }
        Unit::Month => date.first_of_month(),
        Unit::Quarter => date.first_of_month().checked_sub(i64::from((date.month() - 1) % 3).months()).ok()?,
        Unit::Year => date.first_of_year(),
    })
}

/// A number of units as a span.
pub(crate) fn span(number: i64, unit: Unit) -> Result<Span, Problem> {
    let span = Span::new();
    match unit {
        Unit::Second => span.try_seconds(number),
        Unit::Minute => span.try_minutes(number),
        Unit::Hour => span.try_hours(number),
        Unit::Day => span.try_days(number),
        Unit::Week => span.try_weeks(number),
        Unit::Fortnight => span.try_weeks(number.saturating_mul(2)),
        Unit::Month => span.try_months(number),
        Unit::Quarter => span.try_months(number.saturating_mul(3)),
        Unit::Year => span.try_years(number),
    }
    .map_err(|_| Problem::OutOfRange)
}

/// The whole unit that is this number of units after the current one.
pub(crate) fn whole(unit: Unit, after: i64, today: Date) -> Option<Period> {
    let first = first_of(unit, today)?.checked_add(span(after, unit).ok()?).ok()?;
    let last = first.checked_add(span(1, unit).ok()?).ok()?.yesterday().ok()?;
    Period::days(first, last)
}

/// The days of an ISO week.
pub(crate) fn week_of(year: i16, week: i8) -> Result<Period, Problem> {
    let monday = jiff::civil::ISOWeekDate::new(year, week, Weekday::Monday).map_err(|_| Problem::NoSuchWeek)?;
    let first = monday.date();
    let last = first.checked_add(6.days()).map_err(|_| Problem::OutOfRange)?;
    Period::days(first, last).ok_or(Problem::OutOfRange)
}

/// The months from one month, as many as given.
pub(crate) fn months(year: i16, month: i8, count: i64) -> Option<Period> {
    let first = Date::new(year, month, 1).ok()?;
    let last = first.checked_add(count.months()).ok()?.yesterday().ok()?;
    Period::days(first, last)
}
