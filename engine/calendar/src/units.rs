//! Parses units of the calendar: `last week`, `the weekend`, `this summer`, `KW 47`, `Q3 2026`.

use jiff::ToSpan as _;
use jiff::civil::Weekday;

use super::Problem;
use super::civil::{self, Period, start_of, whole};
use super::parser::{Parser, Read};
use super::value::Value;
use super::words::{Reading, Side, Unit, Which};

impl Parser<'_> {
    /// A whole unit, counted from the current one: `last week`, `mes pasado`, `今週`, `the week before last`. Also
    /// seasons and weekends.
    pub(crate) fn relative(&self, at: usize) -> Read<Period> {
        if let Some((which, unit)) = self.unit_of(at) {
            return Some((whole(unit, which.offset(), self.today())?, at + 1));
        }
        if let Some((period, end)) = self.weekend(at) {
            return Some((period, end));
        }
        let (which, place, end) = if let Some(which) = self.which(at) {
            let place = self.past_articles(at + 1);
            (which, place, place + 1)
        } else if self.has(at + 1, Reading::Side(Side::Before)) && self.which(at + 2) == Some(Which::Last) {
            // `the week before last`
            (Which::BeforeLast, at, at + 3)
        } else if self.is_dense(at + 1) {
            return None;
        } else {
            (self.which(at + 1)?, at, at + 2)
        };
        if let Some(month) = self.month(place) {
            return Some((self.month_near(month, Some(which))?, end));
        }
        if let Some(period) = self.season(place, Some(which)) {
            return Some((period, end));
        }
        let unit = self.unit(place).filter(|unit| !unit.is_short())?;
        Some((whole(unit, which.offset(), self.today())?, end))
    }

    /// The most recent Saturday and Sunday.
    pub(crate) fn weekend(&self, at: usize) -> Read<Period> {
        let before = self.which(at);
        let place = if before.is_some() { self.past_articles(at + 1) } else { at };
        self.has(place, Reading::Weekend).then_some(())?;
        let after = if before.is_none() { self.which(place + 1) } else { None };
        let end = if after.is_some() { place + 2 } else { place + 1 };
        let today = self.today();
        let this = civil::first_of(Unit::Week, today)?.checked_add(5.days()).ok()?;
        let is_ahead = match before.or(after) {
            Some(Which::Next | Which::AfterNext) => true,
            Some(Which::Last | Which::BeforeLast) => false,
            Some(Which::This) | None => self.is_ahead(),
        };
        let saturday = if this > today && !is_ahead { this.checked_sub(7.days()).ok()? } else { this };
        let saturday = match before.or(after) {
            Some(Which::Last) if this <= today => saturday.checked_sub(7.days()).ok()?,
            Some(Which::BeforeLast) => saturday.checked_sub(7.days()).ok()?,
            _ => saturday,
        };
        Some((Period::days(saturday, saturday.tomorrow().ok()?)?, end))
    }

    /// A season of the northern hemisphere, in whole months.
    pub(crate) fn season(&self, at: usize, which: Option<Which>) -> Option<Period> {
        let month = self.find(at, |one| if let Reading::Season(month) = one { Some(month) } else { None })?;
        let this = civil::months(self.today().year(), month, 3)?;
        let year = match which {
            Some(Which::Next) => self.today().year() + i16::from(this.from <= self.now),
            Some(Which::Last) if this.from <= self.now && self.now < this.to => self.today().year() - 1,
            _ if self.is_ahead() => self.today().year() + i16::from(this.to <= self.now),
            _ => self.today().year() - i16::from(this.from > self.now),
        };
        civil::months(year, month, 3)
    }

    /// The nearest such month: the latest that has begun, or the next that is not over.
    pub(crate) fn month_near(&self, month: i8, which: Option<Which>) -> Option<Period> {
        let (today, current) = (self.today(), self.today().month());
        let year = match which {
            Some(Which::Last) => today.year() - i16::from(month >= current),
            Some(Which::Next | Which::AfterNext) => today.year() + i16::from(month <= current),
            Some(Which::BeforeLast) => today.year() - i16::from(month >= current) - 1,
            Some(Which::This) => today.year(),
            None if self.is_ahead() => today.year() + i16::from(month < current),
            None => today.year() - i16::from(month > current),
        };
        civil::months(year, month, 1)
    }

    /// Weeks, quarters and years with a number: `KW 47`, `Q3 2026`, `third quarter of 2026`, `2025`
    pub(crate) fn numbered(&self, at: usize) -> Read<Period> {
        self.week(at)
            .or_else(|| self.quarter(at))
            .or_else(|| {
                let found = self.season(at, None).map(|period| (period, at + 1));
                let (period, end) = found?;
                // `summer 2025`
                let Some((year, after)) = self.year(self.past_articles(end)) else { return Some((period, end)) };
                Some((civil::months(year, period.from.date().month(), 3)?, after))
            })
            .or_else(|| {
                let (year, end) = self.year(at)?;
                Some((civil::months(year, 1, 12)?, end))
            })
    }

    pub(crate) fn week(&self, at: usize) -> Read<Period> {
        if let Some(Value::Week(year, week)) = self.value(at) {
            let (year, end) =
                year.map(|year| (year, at + 1)).or_else(|| self.year_after(at + 1)).unwrap_or((0, at + 1));
            return Some((self.iso_week(year, *week)?, end));
        }
        // `the week of 9 November`
        if self.unit(at) == Some(Unit::Week) && self.number(at + 1).is_none() {
            let next = self.past_articles(self.past(self.past_articles(at + 1), Reading::On));
            let next = self.past_articles(self.past(next, Reading::From));
            if next > at + 1
                && let Some((day, end)) = self.dated(next)
                && day.to == start_of(day.from.date().tomorrow().ok()?)
            {
                return Some((whole(Unit::Week, 0, day.from.date())?, end));
            }
        }
        // `first week of November`
        if let Some(number) = self.ordinal(at).filter(|number| (1..=5).contains(number))
            && self.unit(at + 1) == Some(Unit::Week)
            && let Some((month, end)) = self.dated(self.past_articles(at + 2))
            && month.from.date().day() == 1
        {
            let monday = month
                .from
                .date()
                .checked_sub(1.day())
                .ok()?
                .nth_weekday(i32::try_from(number).ok()?, Weekday::Monday)
                .ok()?;
            return Some((whole(Unit::Week, 0, monday)?, end));
        }
        // `2026年第33周`
        let (before, at) = self.year(at).unwrap_or((0, at));
        let at = if before > 0 { self.past_articles(at) } else { at };
        let first = self.past(at, Reading::OrdinalMark);
        let (number, end) = if self.has(at, Reading::WeekLabel) {
            (self.number(at + 1)?, at + 2)
        } else if first > at {
            self.has(first + 1, Reading::WeekMark).then_some((self.number(first)?, first + 2))?
        } else {
            return None;
        };
        let (year, end) = self.year_after(end).unwrap_or((before, end));
        Some((self.iso_week(year, i8::try_from(number).ok().unwrap_or(i8::MAX))?, end))
    }

    pub(crate) fn year_after(&self, at: usize) -> Read<i16> {
        self.year(self.past_articles(self.past(at, Reading::On)))
    }

    /// An ISO week. For year 0: the latest that has begun, or the next that is not over.
    pub(crate) fn iso_week(&self, year: i16, week: i8) -> Option<Period> {
        if year > 0 {
            return self.checked(civil::week_of(year, week));
        }
        if !(1..=53).contains(&week) {
            return self.refuse(Problem::NoSuchWeek);
        }
        let current = self.today().iso_week_date().year();
        let fits = |period: &Period| if self.is_ahead() { period.to > self.now } else { period.from <= self.now };
        let years: Vec<i16> =
            if self.is_ahead() { (current..current + 9).collect() } else { (current - 8..=current).rev().collect() };
        years.into_iter().filter_map(|year| civil::week_of(year, week).ok()).find(fits)
    }

    pub(crate) fn quarter(&self, at: usize) -> Read<Period> {
        if let Some(Value::Quarter(year, quarter)) = self.value(at) {
            let found = year.map(|year| (year, at + 1)).or_else(|| self.year_after(at + 1));
            let (year, end) = found.map_or((None, at + 1), |(year, end)| (Some(year), end));
            return Some((self.quarter_of(year, *quarter)?, end));
        }
        // `2026年第三季度`
        let (year, first) = self.year(at).map_or((None, at), |(year, end)| (Some(year), self.past_articles(end)));
        let marked = self.past(first, Reading::OrdinalMark);
        let is_marked = marked > first || self.has(marked + 1, Reading::QuarterMark);
        let number = if is_marked { self.number(marked)? } else { self.ordinal(first)? };
        (self.unit(marked + 1) == Some(Unit::Quarter) || self.has(marked + 1, Reading::QuarterMark)).then_some(())?;
        let quarter = i8::try_from(number).ok()?;
        let found = if year.is_none() { self.year_after(marked + 2) } else { None };
        let (year, end) = found.map_or((year, marked + 2), |(year, end)| (Some(year), end));
        Some((self.quarter_of(year, quarter)?, end))
    }

    pub(crate) fn quarter_of(&self, year: Option<i16>, quarter: i8) -> Option<Period> {
        if !(1..=4).contains(&quarter) {
            return self.refuse(Problem::NoSuchQuarter);
        }
        let month = quarter * 3 - 2;
        let current = (self.today().month() - 1) / 3 + 1;
        let this = self.today().year();
        let near =
            if self.is_ahead() { this + i16::from(quarter < current) } else { this - i16::from(quarter > current) };
        civil::months(year.unwrap_or(near), month, 3)
    }
}
