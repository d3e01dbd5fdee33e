//! The dates of a schedule, period by period, each calculated from the anchor.

use chrono::{Datelike, Days, Months, NaiveDate, Weekday};

use super::{Day, IntervalUnit, Schedule};

const DAYS_PER_WEEK: u32 = 7;
const MONTHS_PER_YEAR: i64 = 12;

impl Schedule {
    /// Yields every due date in rising order, to `end` or to the last representable date. Empty for
    /// a schedule with faults. A day that a month lacks falls on the month's last day; two that
    /// fall together count once.
    pub fn dates(&self) -> impl Iterator<Item = NaiveDate> + '_ {
        self.dates_of_periods_from(0)
    }

    /// Yields the due dates on or after a date, without a walk from the start.
    pub fn dates_from(&self, from: NaiveDate) -> impl Iterator<Item = NaiveDate> + '_ {
        self.dates_of_periods_from(self.period_of(from)).skip_while(move |date| *date < from)
    }

    /// Returns the first due date on or after a date, without a walk from the start.
    pub fn next_on_or_after(&self, date: NaiveDate) -> Option<NaiveDate> {
        self.dates_from(date).next()
    }

    fn dates_of_periods_from(&self, first: u32) -> impl Iterator<Item = NaiveDate> + '_ {
        let last = self.end.unwrap_or(NaiveDate::MAX);
        let periods = self.faults().is_empty().then_some(first..=u32::MAX);
        periods
            .into_iter()
            .flatten()
            .map_while(|period| self.period(period))
            .flatten()
            .take_while(move |date| *date <= last)
    }

    /// Returns the due dates of one period, counted from 0; `None` beyond the last representable
    /// date.
    fn period(&self, period: u32) -> Option<Vec<NaiveDate>> {
        let steps = period.checked_mul(self.interval_delay)?;
        let mut dates = match self.interval_unit {
            IntervalUnit::Day => vec![add_days(self.start, steps)?],
            IntervalUnit::Week => self.days_of_week(steps.checked_mul(DAYS_PER_WEEK)?)?,
            IntervalUnit::Month => self.days_of_month(Months::new(steps))?,
        };
        dates.retain(|date| *date >= self.start);
        dates.sort_unstable();
        dates.dedup();
        Some(dates)
    }

    fn days_of_week(&self, offset: u32) -> Option<Vec<NaiveDate>> {
        if self.days.is_empty() {
            return Some(vec![add_days(self.start, offset)?]);
        }
        let monday = add_days(monday_of(self.start), offset)?;
        let on = |day: &Day| match day {
            Day::Number(number) => add_days(monday, u32::from(*number).checked_sub(1)?),
            Day::Last => None,
        };
        Some(self.days.iter().filter_map(on).collect())
    }

    fn days_of_month(&self, offset: Months) -> Option<Vec<NaiveDate>> {
        if self.days.is_empty() {
            return Some(vec![self.start.checked_add_months(offset)?]);
        }
        let month = self.start.with_day(1)?.checked_add_months(offset)?;
        let length = month.num_days_in_month();
        let on = |day: &Day| match day {
            Day::Number(number) => month.with_day(u32::from((*number).min(length))),
            Day::Last => month.with_day(u32::from(length)),
        };
        Some(self.days.iter().filter_map(on).collect())
    }

    /// Returns the period of a date; 0 for a date before the start. No later period holds an
    /// earlier date.
    fn period_of(&self, date: NaiveDate) -> u32 {
        let days = |from: NaiveDate| date.signed_duration_since(from).num_days();
        let delay = i64::from(self.interval_delay);
        let (units, step) = match self.interval_unit {
            IntervalUnit::Day => (days(self.start), delay),
            IntervalUnit::Week if self.days.is_empty() => (days(self.start), in_days(delay)),
            IntervalUnit::Week => (days(monday_of(self.start)), in_days(delay)),
            IntervalUnit::Month => {
                (month_number(date).saturating_sub(month_number(self.start)), delay)
            }
        };
        units.checked_div(step).and_then(|period| u32::try_from(period).ok()).unwrap_or(0)
    }
}

fn in_days(weeks: i64) -> i64 {
    weeks.saturating_mul(i64::from(DAYS_PER_WEEK))
}

fn add_days(date: NaiveDate, days: u32) -> Option<NaiveDate> {
    date.checked_add_days(Days::new(u64::from(days)))
}

/// Returns the Monday of a date's week; the date itself in the first representable week.
fn monday_of(date: NaiveDate) -> NaiveDate {
    date.week(Weekday::Mon).checked_first_day().unwrap_or(date)
}

fn month_number(date: NaiveDate) -> i64 {
    i64::from(date.year()).saturating_mul(MONTHS_PER_YEAR).saturating_add(i64::from(date.month0()))
}
