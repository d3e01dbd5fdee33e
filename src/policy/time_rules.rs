//! The operator's rules on the times of changes: windows, inside which the changes of documents
//! begin, and freezes, during which none begins. Pure.
//!
//! A merchant that windows cover is free inside any of them; one that no window covers is free at all
//! times. A freeze comes before every window.
//!
//! Local times follow the rule's zone. A time that the zone skips is the first moment after the gap.
//! Of a time that occurs twice, a rule begins at the first and ends at the second.

use std::fmt;
use std::sync::Arc;

use chrono::{
    DateTime, Datelike, Days, MappedLocalTime, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta,
    TimeZone, Utc, Weekday,
};
use chrono_tz::{GapInfo, Tz};

use crate::base::id::{Key, Name};
use crate::model::holds::{Hold, TimedHold};

/// Days that are searched for the next change of a window: each weekday occurs twice, since a gap of
/// a zone may contain one of its times.
const DAYS_AHEAD: u64 = 16;
const MERCHANT: &str = "Merchant";

/// All windows and freezes of the operator's file, each with a name of its own.
#[derive(Debug, Clone, Default)]
pub struct TimeRules(Vec<TimeRule>);

#[derive(Debug, Clone)]
pub struct TimeRule {
    pub name: Arc<str>,
    pub zone: Tz,
    /// The merchants that the rule covers; empty: all, and everything without a merchant.
    pub merchants: Vec<MerchantPattern>,
    pub span: RuleSpan,
}

#[derive(Debug, Clone)]
pub enum RuleSpan {
    /// Changes begin only inside. With `to` not after `from`, it ends on the next day.
    Window { days: Vec<Weekday>, from: NaiveTime, to: NaiveTime },
    /// No change begins from `from` on, until before `to`.
    Freeze { from: NaiveDateTime, to: NaiveDateTime, reason: Option<String> },
}

/// A merchant's name, or the beginning of names in one namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MerchantPattern {
    pub namespace: Name,
    pub name: String,
    /// True for every name that begins so.
    pub is_prefix: bool,
}

/// The state of a rule at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleState {
    /// True while the rule keeps changes from beginning.
    pub holds: bool,
    /// The next moment at which the rule begins or ends to hold; `None` for a freeze that is over.
    pub until: Option<DateTime<Utc>>,
}

impl fmt::Display for MerchantPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.namespace.is_default_namespace() {
            write!(f, "{}/", self.namespace)?;
        }
        write!(f, "{}{}", self.name, if self.is_prefix { "*" } else { "" })
    }
}

impl MerchantPattern {
    fn fits(&self, merchant: &Key) -> bool {
        let name = merchant.name.as_str();
        merchant.kind.as_str() == MERCHANT
            && merchant.namespace == self.namespace
            && (name == self.name || self.is_prefix && name.starts_with(&self.name))
    }
}

impl TimeRules {
    pub fn new(rules: Vec<TimeRule>) -> Self {
        Self(rules)
    }

    pub fn rules(&self) -> &[TimeRule] {
        &self.0
    }

    /// Returns true if some rule covers only chosen merchants.
    pub fn differ_by_merchant(&self) -> bool {
        self.0.iter().any(|rule| !rule.merchants.is_empty())
    }

    /// Returns the hold of a merchant's changes at a moment. Of several freezes the last one to end
    /// holds; of several closed windows, the first one to open.
    pub fn hold(&self, merchant: Option<&Key>, at: DateTime<Utc>) -> Option<Hold> {
        let covering = self.0.iter().filter(|rule| rule.covers(merchant));
        let states = covering.map(|rule| (rule, rule.state(at)));
        let (windows, freezes): (Vec<_>, Vec<_>) = states.partition(|(rule, _)| rule.is_window());
        let frozen = freezes.into_iter().filter(|(_, state)| state.holds);
        if let Some((rule, state)) = frozen.max_by_key(|(_, state)| state.until) {
            return Some(Hold::ScheduledFreeze(rule.timed_hold(state, at)));
        }
        if windows.iter().any(|(_, state)| !state.holds) {
            return None;
        }
        let (rule, state) = windows.into_iter().min_by_key(|(_, state)| state.until)?;
        Some(Hold::OutsideWindow(rule.timed_hold(state, at)))
    }

    /// Returns the state of every rule, in the order of the rules.
    pub fn states(&self, at: DateTime<Utc>) -> Vec<RuleState> {
        self.0.iter().map(|rule| rule.state(at)).collect()
    }
}

impl TimeRule {
    pub fn is_window(&self) -> bool {
        matches!(self.span, RuleSpan::Window { .. })
    }

    pub fn reason(&self) -> Option<&str> {
        match &self.span {
            RuleSpan::Window { .. } => None,
            RuleSpan::Freeze { reason, .. } => reason.as_deref(),
        }
    }

    fn covers(&self, merchant: Option<&Key>) -> bool {
        self.merchants.is_empty()
            || merchant.is_some_and(|one| self.merchants.iter().any(|pattern| pattern.fits(one)))
    }

    fn timed_hold(&self, state: RuleState, at: DateTime<Utc>) -> TimedHold {
        let until = state.until.unwrap_or(at).with_timezone(&self.zone).fixed_offset();
        TimedHold { rule: self.name.to_string(), reason: self.reason().map(str::to_owned), until }
    }

    /// Returns the state of the rule at a moment.
    pub fn state(&self, at: DateTime<Utc>) -> RuleState {
        match &self.span {
            RuleSpan::Window { .. } => self.window_state(at),
            RuleSpan::Freeze { from, to, .. } => {
                let (from, to) = (first_moment(self.zone, *from), last_moment(self.zone, *to));
                let holds = from <= at && at < to;
                let next = if at < from { from } else { to };
                RuleState { holds, until: (at < to && from < to).then_some(next) }
            }
        }
    }

    /// Returns the state of a window. Intervals that adjoin are one.
    fn window_state(&self, at: DateTime<Utc>) -> RuleState {
        let mut open_until = None;
        for (begin, end) in self.intervals(at).filter(|(_, end)| *end > at) {
            if begin > open_until.unwrap_or(at) {
                let until = Some(open_until.unwrap_or(begin));
                return RuleState { holds: open_until.is_none(), until };
            }
            open_until = open_until.max(Some(end));
        }
        let horizon = TimeDelta::days(i64::try_from(DAYS_AHEAD).unwrap_or(0));
        let until = open_until.or_else(|| at.checked_add_signed(horizon));
        RuleState { holds: open_until.is_none(), until }
    }

    /// Returns the intervals of a window that begin from the day before a moment on, in order.
    fn intervals(&self, at: DateTime<Utc>) -> impl Iterator<Item = (DateTime<Utc>, DateTime<Utc>)> {
        let today = at.with_timezone(&self.zone).date_naive();
        let first = today.pred_opt().unwrap_or(today);
        let dates = (0..DAYS_AHEAD).filter_map(move |day| first.checked_add_days(Days::new(day)));
        dates.filter_map(|date| self.interval(date))
    }

    /// Returns the interval of a window that begins on a local date; `None` on its other days.
    fn interval(&self, date: NaiveDate) -> Option<(DateTime<Utc>, DateTime<Utc>)> {
        let RuleSpan::Window { days, from, to } = &self.span else { return None };
        if !days.contains(&date.weekday()) {
            return None;
        }
        let last = if to > from { date } else { date.succ_opt()? };
        let begin = first_moment(self.zone, date.and_time(*from));
        let end = last_moment(self.zone, last.and_time(*to));
        (begin < end).then_some((begin, end))
    }
}

fn first_moment(zone: Tz, local: NaiveDateTime) -> DateTime<Utc> {
    match zone.from_local_datetime(&local) {
        MappedLocalTime::Single(at) | MappedLocalTime::Ambiguous(at, _) => at.to_utc(),
        MappedLocalTime::None => after_gap(zone, local),
    }
}

fn last_moment(zone: Tz, local: NaiveDateTime) -> DateTime<Utc> {
    match zone.from_local_datetime(&local) {
        MappedLocalTime::Single(at) | MappedLocalTime::Ambiguous(_, at) => at.to_utc(),
        MappedLocalTime::None => after_gap(zone, local),
    }
}

fn after_gap(zone: Tz, local: NaiveDateTime) -> DateTime<Utc> {
    let gap = GapInfo::new(&local, &zone).and_then(|gap| gap.end);
    gap.map_or_else(|| local.and_utc(), |end| end.to_utc())
}

#[cfg(test)]
mod tests;
