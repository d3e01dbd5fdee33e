//! Host functions that calculate: money, dates, and the retry rules.

use super::{Argument, FunctionGroup, HostFn, argument};
use crate::hooks::host::{HostCall, time, tries};
use crate::hooks::session::HostError;
use crate::hooks::sort::ArgumentType;
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
        "Money of a text such as `\"125.00 USD\"`. It adds, subtracts, compares (one currency alone) and multiplies by a \
         whole number; `.minor` and `.currency` are its parts, and `amount.split(3)` a list of three amounts that sum up to it: \
         they differ by one minor unit at most, the larger ones first.",
    ),
    helper(
        "money",
        &[argument("minor", ArgumentType::Integer), argument("currency", ArgumentType::Text)],
        tries::money_of,
        "Money of minor units and a currency: `money(12500, \"USD\")` is `125.00 USD`.",
    ),
    helper(
        "amount_of",
        &[argument("record", ArgumentType::Map)],
        tries::amount_of,
        "The money of a record of the service, of its `amount` and `currency`; that of an occurrence has the currency of \
         its transactions.",
    ),
    helper(
        "retry_at",
        RETRY_ARGUMENTS,
        tries::retry_at,
        "The time from which a payment that failed with this code may be tried again, given the number of tries and the time of the last \
         one; `()` where it may not. The rules of cards and eChecks are those of docs/reference/errors.md.",
    ),
    helper(
        "why_no_retry",
        &[argument("failure_code", ArgumentType::Text), argument("tries", ArgumentType::Integer)],
        tries::why_no_retry,
        "Why such a payment may not be tried again, for people; `()` where it may.",
    ),
    helper(
        "intake_link",
        &[argument("resource", ArgumentType::Resource)],
        tries::new_card_link,
        "Stands for a link under which a payer gives a card for a saved method that says `source: intake`, or another one \
         in the place of the one that is saved. It is good for seven days, and once. The script never sees the link: it is \
         filled in where the text is sent.",
    ),
    helper(
        "date",
        &[argument("text", ArgumentType::Moment)],
        time::date,
        "A date or time of a text, in UTC: `date(event.created)`. Dates compare.",
    ),
    helper(
        "add_days",
        &[argument("date", ArgumentType::Moment), argument("days", ArgumentType::Integer)],
        time::add_days,
        "The time this many days later, or earlier, at the same time of day.",
    ),
    helper(
        "add_months",
        &[argument("date", ArgumentType::Moment), argument("months", ArgumentType::Integer)],
        time::add_months,
        "The time this many months later, or earlier; the month's last day where that month has no such day.",
    ),
    helper(
        "days_between",
        &[argument("from", ArgumentType::Moment), argument("to", ArgumentType::Moment)],
        time::days_between,
        "The calendar days from one date to another; below zero where the second is earlier.",
    ),
    helper(
        "minutes_between",
        &[argument("from", ArgumentType::Moment), argument("to", ArgumentType::Moment)],
        time::minutes_between,
        "The whole minutes from one moment to another; below zero where the second is earlier.",
    ),
    helper(
        "month_of",
        &[argument("date", ArgumentType::Moment)],
        time::month_of,
        "The month of a date, as `2026-11`.",
    ),
    helper(
        "format",
        &[argument("date", ArgumentType::Moment), argument("pattern", ArgumentType::Text)],
        time::format,
        "A date as text: `format(date(event.created), \"%d %B %Y\")` is `30 November 2026`.",
    ),
];
