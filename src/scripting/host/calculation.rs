//! Host functions for dates and times. The present is not available, only the event's own time.

use std::fmt::Write;

use chrono::TimeDelta;
use chrono::format::{Item, StrftimeItems};
use rhai::{Dynamic, INT, Map};

use crate::base::id::Key;
use crate::base::money::Money;
use crate::model::retry::{RetryDenied, method_of_code, next_wait};
use crate::policy::ScriptPower;
use crate::scripting::host::argument_type::ArgumentType;
use crate::scripting::host::call::{
    Argument, CallResult, FunctionGroup, HostCall, HostFn, argument, host_fn, parse_money,
    record_amount,
};
use crate::scripting::host::session::HostError;
use crate::scripting::language::values::{ScriptMoment, parse};

const fn helper(
    name: &'static str,
    arguments: &'static [Argument],
    call: fn(&HostCall<'_>) -> CallResult,
    doc: &'static str,
) -> HostFn {
    host_fn(name, FunctionGroup::Helper, (arguments, &[]), call, doc)
}

const RETRY_ARGUMENTS: &[Argument] = &[
    argument("failure_code", ArgumentType::Text),
    argument("tries", ArgumentType::Integer),
    argument("last", ArgumentType::Moment),
];

pub(crate) static ROWS: &[HostFn] = &[
    helper(
        "money",
        &[argument("text", ArgumentType::Money)],
        |call| Ok(Dynamic::from(parse_money(&call.argument(0))?)),
        "Parses money such as `\"125.00 USD\"`. Money of one currency can be added, subtracted \
        and compared, and multiplied by a whole number; `.minor` and `.currency` are its parts. \
        `amount.split(3)` returns three amounts with the same sum: they differ by one minor unit \
        at most, the larger ones first.",
    ),
    helper(
        "money",
        &[argument("minor", ArgumentType::Integer), argument("currency", ArgumentType::Text)],
        |call| Ok(Dynamic::from(Money::new(call.integer(0), parse(&call.text(1))?))),
        "Returns money of minor units and a currency: `money(12500, \"USD\")` is `125.00 USD`.",
    ),
    helper(
        "amount_of",
        &[argument("record", ArgumentType::Map)],
        |call| {
            let record = call.argument(0).try_cast::<Map>().unwrap_or_default();
            Ok(Dynamic::from(record_amount(&record)?))
        },
        "Returns the money of a record of the service, from its `amount` and `currency`; an \
        occurrence has the currency of its transactions.",
    ),
    helper(
        "retry_at",
        RETRY_ARGUMENTS,
        retry_at,
        "Returns the earliest time for a retry of a payment that failed with this code; `()` if \
        it must not be retried. `tries` is the number of tries, and `last` the time of the last \
        one. docs/reference/errors.md has the rules of cards and eChecks.",
    ),
    helper(
        "why_no_retry",
        &[argument("failure_code", ArgumentType::Text), argument("tries", ArgumentType::Integer)],
        |call| {
            let why = retry_wait(call).err().map(|why| why.to_string());
            Ok(why.map_or(Dynamic::UNIT, Dynamic::from))
        },
        "Returns the reason, for people, why such a payment must not be retried; `()` if it may \
        be.",
    ),
    helper(
        "new_card_link",
        &[argument("resource", ArgumentType::Resource)],
        new_card_link,
        "Returns a placeholder for a link under which a payer gives a card for a saved method \
            with `source: intake`, or replaces the saved one. The link is valid for seven days, \
            and once. The script never sees the link: reckon inserts it when it sends the text.",
    )
    .renamed("intake_link", None),
    helper(
        "date",
        &[argument("text", ArgumentType::Moment)],
        |call| Ok(Dynamic::from(call.moment(0)?)),
        "Parses a date or time, in UTC: `date(event.created)`. Dates can be compared.",
    ),
    helper(
        "add_days",
        &[argument("date", ArgumentType::Moment), argument("days", ArgumentType::Integer)],
        |call| Ok(Dynamic::from(call.moment(0)?.add_days(call.integer(1))?)),
        "Returns the time this many days later, or earlier for a negative number, at the same \
        time of day.",
    ),
    helper(
        "add_months",
        &[argument("date", ArgumentType::Moment), argument("months", ArgumentType::Integer)],
        |call| Ok(Dynamic::from(call.moment(0)?.add_months(call.integer(1))?)),
        "Returns the time this many months later, or earlier for a negative number; the last day \
        of a month that has no such day.",
    ),
    helper(
        "days_between",
        &[argument("from", ArgumentType::Moment), argument("to", ArgumentType::Moment)],
        days_between,
        "Returns the calendar days from one date to another; negative if the second is earlier.",
    ),
    helper(
        "minutes_between",
        &[argument("from", ArgumentType::Moment), argument("to", ArgumentType::Moment)],
        minutes_between,
        "Returns the whole minutes from one time to another; negative if the second is earlier.",
    ),
    helper(
        "month_of",
        &[argument("date", ArgumentType::Moment)],
        |call| Ok(Dynamic::from(call.moment(0)?.0.format("%Y-%m").to_string())),
        "Returns the month of a date, as `2026-11`.",
    ),
    helper(
        "format",
        &[argument("date", ArgumentType::Moment), argument("pattern", ArgumentType::Text)],
        format,
        "Formats a date: `format(date(event.created), \"%d %B %Y\")` is `30 November 2026`.",
    ),
];

/// Characters of a pattern.
const PATTERN_MAX: usize = 100;

fn days_between(call: &HostCall<'_>) -> CallResult {
    let (ScriptMoment(from), ScriptMoment(to)) = (call.moment(0)?, call.moment(1)?);
    let days: INT = to.date_naive().signed_duration_since(from.date_naive()).num_days();
    Ok(Dynamic::from(days))
}

fn minutes_between(call: &HostCall<'_>) -> CallResult {
    let (ScriptMoment(from), ScriptMoment(to)) = (call.moment(0)?, call.moment(1)?);
    let minutes: INT = to.signed_duration_since(from).num_minutes();
    Ok(Dynamic::from(minutes))
}

fn format(call: &HostCall<'_>) -> CallResult {
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

/// Returns the time that a payment waits before its next attempt.
fn retry_wait(call: &HostCall<'_>) -> Result<TimeDelta, RetryDenied> {
    let code = call.text(0);
    let tries = u32::try_from(call.integer(1).max(1)).unwrap_or(u32::MAX);
    let paid = method_of_code(&code).ok_or(RetryDenied::Unknown)?;
    next_wait(paid, &code, tries)
}

fn retry_at(call: &HostCall<'_>) -> CallResult {
    let ScriptMoment(last) = call.moment(2)?;
    let next = retry_wait(call).ok().and_then(|wait| last.checked_add_signed(wait));
    Ok(next.map_or(Dynamic::UNIT, |next| Dynamic::from(ScriptMoment(next))))
}

/// Returns a marker for a link until the text is sent: the link itself is a secret that no script
/// sees.
fn new_card_link(call: &HostCall<'_>) -> CallResult {
    let key: Key = parse(&call.text(0))?;
    if call.session.origin.live {
        call.session.require_right(ScriptPower::CardLink, call.session.merchant())?;
    }
    Ok(Dynamic::from(format!("{{{{intake:{key}}}}}")))
}
