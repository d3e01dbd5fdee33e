//! Host functions for dates and times. The present is not available, only the event's own time.

use std::fmt::Write;

use chrono::format::{Item, StrftimeItems};
use rhai::{Dynamic, INT};

use super::HostCall;
use crate::scripting::run::session::HostError;
use crate::scripting::run::values::ScriptMoment;

/// Characters of a pattern.
const PATTERN_MAX: usize = 100;

type TimeCallResult = Result<Dynamic, HostError>;

pub(crate) fn date(call: &HostCall<'_>) -> TimeCallResult {
    Ok(Dynamic::from(call.moment(0)?))
}

pub(crate) fn add_days(call: &HostCall<'_>) -> TimeCallResult {
    Ok(Dynamic::from(call.moment(0)?.add_days(call.integer(1))?))
}

pub(crate) fn add_months(call: &HostCall<'_>) -> TimeCallResult {
    Ok(Dynamic::from(call.moment(0)?.add_months(call.integer(1))?))
}

pub(crate) fn days_between(call: &HostCall<'_>) -> TimeCallResult {
    let (ScriptMoment(from), ScriptMoment(to)) = (call.moment(0)?, call.moment(1)?);
    let days: INT = to.date_naive().signed_duration_since(from.date_naive()).num_days();
    Ok(Dynamic::from(days))
}

pub(crate) fn minutes_between(call: &HostCall<'_>) -> TimeCallResult {
    let (ScriptMoment(from), ScriptMoment(to)) = (call.moment(0)?, call.moment(1)?);
    let minutes: INT = to.signed_duration_since(from).num_minutes();
    Ok(Dynamic::from(minutes))
}

pub(crate) fn month_of(call: &HostCall<'_>) -> TimeCallResult {
    let ScriptMoment(at) = call.moment(0)?;
    Ok(Dynamic::from(at.format("%Y-%m").to_string()))
}

pub(crate) fn format(call: &HostCall<'_>) -> TimeCallResult {
    let (ScriptMoment(at), pattern) = (call.moment(0)?, call.text(1));
    let items: Vec<Item<'_>> = StrftimeItems::new(&pattern).collect();
    let wrong = pattern.chars().count() > PATTERN_MAX || items.contains(&Item::Error);
    let mut text = String::new();
    if wrong || write!(text, "{}", at.format_with_items(items.iter())).is_err() {
        let message =
            format!("`{pattern}` is no pattern of dates; write one such as `\"%d %B %Y\"`");
        return Err(HostError::Invalid(message));
    }
    Ok(Dynamic::from(text))
}
