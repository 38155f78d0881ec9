//! Parses dates: `2026-11-23`, `3 March`, `October`, `11月20号`, `the 10th`.

use jiff::ToSpan as _;
use jiff::civil::Date;

use super::Problem;
use super::civil::{self, Period};
use super::parser::{Parser, Read};
use super::value::{Value, date_of};
use super::words::{Reading, Unit};

impl Parser<'_> {
    /// A date: `2026-11-23`, `Monday, 23 November`, `November 23rd, 2026`, `October`, `the 10th`, `11月20号`
    pub(crate) fn dated(&self, at: usize) -> Read<Period> {
        let day = self.weekday(at);
        let first =
            if day.is_some() { self.past_articles(self.past(self.past_articles(at + 1), Reading::On)) } else { at };
        let (period, end) = self.written(first)?;
        let is_day = Period::day(period.from.date()) == Some(period);
        if let Some(day) = day {
            if !is_day {
                return None;
            }
            if period.from.date().weekday().to_monday_one_offset() != day {
                return self.refuse(Problem::OtherWeekday);
            }
        }
        if is_day { self.within_day(period.from.date(), end) } else { Some((period, end)) }
    }

    pub(crate) fn written(&self, at: usize) -> Read<Period> {
        match self.value(at) {
            Some(Value::Date(date)) => return Some((Period::day(*date)?, at + 1)),
            Some(Value::Moment(moment, has_seconds)) => return Some((Period::clock(*moment, *has_seconds)?, at + 1)),
            Some(Value::YearMonth(year, month)) => return Some((civil::months(*year, *month, 1)?, at + 1)),
            Some(Value::DayMonth(day, month)) => {
                let (year, end) = self.year_after(at + 1).map_or((None, at + 1), |(year, end)| (Some(year), end));
                return Some((Period::day(self.date_near(year, *month, *day)?)?, end));
            }
            _ => {}
        }
        self.marked(at).or_else(|| self.day_of_month(at)).or_else(|| self.month_day(at)).or_else(|| self.lone_day(at))
    }

    pub(crate) fn month(&self, at: usize) -> Option<i8> {
        self.find(at, |reading| if let Reading::Month(month) = reading { Some(month) } else { None })
    }

    pub(crate) fn day_number(&self, at: usize) -> Option<i8> {
        let day = self.ordinal(at).or_else(|| match self.value(at) {
            Some(Value::Number(number, digits)) if *digits <= 2 => Some(*number),
            Some(_) => None,
            None => self.number(at),
        })?;
        i8::try_from(day).ok()
    }

    /// `3 March 2026`, `el 3 de octubre`
    pub(crate) fn day_of_month(&self, at: usize) -> Read<Period> {
        let day = self.day_number(at)?;
        let next = self.past_articles(self.past(self.past_articles(at + 1), Reading::On));
        let month = self.month(next)?;
        let (year, end) = self.year_of_date(next + 1);
        Some((Period::day(self.date_near(year, month, day)?)?, end))
    }

    pub(crate) fn year_of_date(&self, at: usize) -> (Option<i16>, usize) {
        let found = self.year(self.past_articles(at)).filter(|_| self.unit(at + 1).is_none());
        found.map_or((None, at), |(year, end)| (Some(year), end))
    }

    /// `March 3rd, 2026`, `March 2026`, `March`
    pub(crate) fn month_day(&self, at: usize) -> Read<Period> {
        let month = self.month(at)?;
        let day_at = self.past_articles(at + 1);
        if let Some(day) = self.day_number(day_at).filter(|_| self.unit(day_at + 1).is_none()) {
            let (year, end) = self.year_of_date(day_at + 1);
            return Some((Period::day(self.date_near(year, month, day)?)?, end));
        }
        let (year, end) = self.year_of_date(at + 1);
        let period = match year {
            Some(year) => civil::months(year, month, 1),
            None => self.month_near(month, None),
        };
        Some((period?, end))
    }

    /// `2026年11月20日`, `11月20号`, `去年3月`, `先月5日`
    pub(crate) fn marked(&self, at: usize) -> Read<Period> {
        let mut next = at;
        let mut year = None;
        if let Some((found, end)) = self.year(at).filter(|(_, end)| *end > at + 1) {
            (year, next) = (Some(found), end);
        } else if let Some((which, Unit::Year)) = self.unit_of(at) {
            (year, next) = (Some(self.today().year() + i16::try_from(which.offset()).ok()?), at + 1);
        } else if let Some((month, end)) = self.relative(at).filter(|(month, _)| month.from.date().day() == 1)
            && self.has(end + 1, Reading::DayMark)
        {
            let date = date_of(month.from.year(), month.from.month(), i8::try_from(self.number(end)?).ok()?);
            return Some((Period::day(self.checked(date)?)?, end + 2));
        }
        let month = i8::try_from(self.number(next)?).ok()?;
        if year.is_none() && self.has(next + 1, Reading::DayMark) && !self.has(next + 2, Reading::Back) {
            return None;
        }
        self.has(next + 1, Reading::MonthMark).then_some(())?;
        if let Some(day) = self.number(next + 2).filter(|_| self.has(next + 3, Reading::DayMark)) {
            return Some((Period::day(self.date_near(year, month, i8::try_from(day).ok()?)?)?, next + 4));
        }
        if !(1..=12).contains(&month) {
            return self.refuse(Problem::NoSuchMonth);
        }
        let period = year.map_or_else(|| self.month_near(month, None), |year| civil::months(year, month, 1));
        Some((period?, next + 2))
    }

    /// The nearest such day of a month: `the 10th`, `dia 10`, `20号`
    pub(crate) fn lone_day(&self, at: usize) -> Read<Period> {
        let (day, end) = if let Some(Value::Ordinal(day)) = self.value(at) {
            (*day, at + 1)
        } else if self.unit(at) == Some(Unit::Day) && !self.has(at, Reading::DayMark) {
            (self.number(at + 1)?, at + 2)
        } else if matches!(self.value(at), Some(Value::Number(_, 1 | 2))) && self.is_after_article(at) {
            // `le 28`
            (self.number(at)?, at + 1)
        } else {
            (self.number(at)?, self.after(at + 1, Reading::DayMark)?)
        };
        if !(1..=31).contains(&day) || self.unit(end).is_some() || self.has(end, Reading::Back) {
            return None;
        }
        let day = i8::try_from(day).ok()?;
        let mut month = self.today().first_of_month();
        for _ in 0..4 {
            let found = Date::new(month.year(), month.month(), day).ok();
            if let Some(date) = found.filter(|date| self.is_meant(*date)) {
                return Some((Period::day(date)?, end));
            }
            month = month.checked_add(if self.is_ahead() { 1.month() } else { (-1).months() }).ok()?;
        }
        None
    }

    /// True for a date on the meant side of today: until today, or after it.
    fn is_meant(&self, date: Date) -> bool {
        if self.is_ahead() { date > self.today() } else { date <= self.today() }
    }

    /// True for the last word of a clause after an article.
    pub(crate) fn is_after_article(&self, at: usize) -> bool {
        let before = at.checked_sub(1).is_some_and(|before| self.has(before, Reading::The));
        before && self.token(at + 1).is_none_or(|next| next.is_apart)
    }

    /// A date. Without a year: the latest that has begun, or the next one.
    pub(crate) fn date_near(&self, year: Option<i16>, month: i8, day: i8) -> Option<Date> {
        if let Some(year) = year {
            return self.checked(date_of(year, month, day));
        }
        let this = self.today().year();
        let years: Vec<i16> =
            if self.is_ahead() { (this..this + 9).collect() } else { (this - 8..=this).rev().collect() };
        let found =
            years.into_iter().filter_map(|year| date_of(year, month, day).ok()).find(|date| self.is_meant(*date));
        found.or_else(|| self.refuse(if (1..=12).contains(&month) { Problem::NoSuchDay } else { Problem::NoSuchMonth }))
    }
}
