//! Host functions that calculate: money, dates, and the retry rules.

use super::{Argument, FunctionGroup, HostFn, argument};
use crate::scripting::check::argument_type::ArgumentType;
use crate::scripting::host::functions::{HostCall, time, tries};
use crate::scripting::run::session::HostError;
use rhai::Dynamic;

const fn helper(
    name: &'static str,
    arguments: &'static [Argument],
    call: fn(&HostCall<'_>) -> Result<Dynamic, HostError>,
    doc: &'static str,
) -> HostFn {
    HostFn { name, group: FunctionGroup::Helper, arguments, options: &[], doc, right: None, call }
}

const RETRY_ARGUMENTS: &[Argument] = &[
    argument("failure_code", ArgumentType::Text),
    argument("tries", ArgumentType::Integer),
    argument("last", ArgumentType::Moment),
];

pub(super) static ROWS: &[HostFn] = &[
    helper(
        "money",
        &[argument("text", ArgumentType::Money)],
        tries::money,
        "Parses money such as `\"125.00 USD\"`. Money of one currency can be added, subtracted \
        and compared, and multiplied by a whole number; `.minor` and `.currency` are its parts. \
        `amount.split(3)` returns three amounts with the same sum: they differ by one minor unit \
        at most, the larger ones first.",
    ),
    helper(
        "money",
        &[argument("minor", ArgumentType::Integer), argument("currency", ArgumentType::Text)],
        tries::money_of,
        "Returns money of minor units and a currency: `money(12500, \"USD\")` is `125.00 USD`.",
    ),
    helper(
        "amount_of",
        &[argument("record", ArgumentType::Map)],
        tries::amount_of,
        "Returns the money of a record of the service, from its `amount` and `currency`; an \
        occurrence has the currency of its transactions.",
    ),
    helper(
        "retry_at",
        RETRY_ARGUMENTS,
        tries::retry_at,
        "Returns the earliest time for a retry of a payment that failed with this code; `()` if \
        it must not be retried. `tries` is the number of tries, and `last` the time of the last \
        one. docs/reference/errors.md has the rules of cards and eChecks.",
    ),
    helper(
        "why_no_retry",
        &[argument("failure_code", ArgumentType::Text), argument("tries", ArgumentType::Integer)],
        tries::why_no_retry,
        "Returns the reason, for people, why such a payment must not be retried; `()` if it may \
        be.",
    ),
    helper(
        "intake_link",
        &[argument("resource", ArgumentType::Resource)],
        tries::new_card_link,
        "Returns a placeholder for a link under which a payer gives a card for a saved method \
        with `source: intake`, or replaces the saved one. The link is valid for seven days, and \
        once. The script never sees the link: reckon inserts it when it sends the text.",
    ),
    helper(
        "date",
        &[argument("text", ArgumentType::Moment)],
        time::date,
        "Parses a date or time, in UTC: `date(event.created)`. Dates can be compared.",
    ),
    helper(
        "add_days",
        &[argument("date", ArgumentType::Moment), argument("days", ArgumentType::Integer)],
        time::add_days,
        "Returns the time this many days later, or earlier for a negative number, at the same \
        time of day.",
    ),
    helper(
        "add_months",
        &[argument("date", ArgumentType::Moment), argument("months", ArgumentType::Integer)],
        time::add_months,
        "Returns the time this many months later, or earlier for a negative number; the last day \
        of a month that has no such day.",
    ),
    helper(
        "days_between",
        &[argument("from", ArgumentType::Moment), argument("to", ArgumentType::Moment)],
        time::days_between,
        "Returns the calendar days from one date to another; negative if the second is earlier.",
    ),
    helper(
        "minutes_between",
        &[argument("from", ArgumentType::Moment), argument("to", ArgumentType::Moment)],
        time::minutes_between,
        "Returns the whole minutes from one time to another; negative if the second is earlier.",
    ),
    helper(
        "month_of",
        &[argument("date", ArgumentType::Moment)],
        time::month_of,
        "Returns the month of a date, as `2026-11`.",
    ),
    helper(
        "format",
        &[argument("date", ArgumentType::Moment), argument("pattern", ArgumentType::Text)],
        time::format,
        "Formats a date: `format(date(event.created), \"%d %B %Y\")` is `30 November 2026`.",
    ),
];
