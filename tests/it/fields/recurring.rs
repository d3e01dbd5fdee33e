//! Recurring charges: amount, schedule, limits and description change in place (gateway-api, PATCH
//! /v1/recurring/charges/{id}). The payee, and the way in which a charge began, cannot change.

use crate::fields::case::{Case, Table, by_token, in_place, never, unfit};
use crate::fields::documents::{MERCHANTS, METHODS};

pub(crate) const TABLE: Table = Table {
    kind: "RecurringCharge",
    base: "
merchant: acme
method: card
amount: 20.00 USD
schedule: {start: 2030-02-01, interval_unit: MONTH, interval_delay: 1}",
    beside: &[MERCHANTS, METHODS],
    with: &[],
    cases: CASES,
};

const NOW: &str = "
merchant: acme
method: card
amount: 20.00 USD
first_charge: now
schedule: {interval_unit: MONTH, interval_delay: 1}";

/// The preparation makes the earlier charges.
const FROM: &str = "
merchant: acme
from_charge: $CHARGE-1
amount: 20.00 USD
schedule: {start: 2030-02-01, interval_unit: MONTH, interval_delay: 1}";

const CASES: &[Case] = &[
    never("merchant", "acme", "other").also(&[("method", "card-of-other")]),
    by_token("method", "card", "card-two"),
    in_place("amount", "20.00 USD", "21.00 USD"),
    unfit("amount", "20.00 USD", "20.00 EUR"),
    never("first_amount", "35.00 USD", "36.00 USD").on(NOW),
    in_place("description", "Club", "Society"),
    in_place("description", "Club", "~"),
    in_place("description", "~", "Society"),
    never("account", "~", "Card"),
    in_place("max_occurrences", "12", "13"),
    in_place("max_occurrences", "~", "13"),
    unfit("max_occurrences", "12", "~"),
    in_place("max_amount", "200.00 USD", "300.00 USD"),
    in_place("max_amount", "~", "300.00 USD"),
    unfit("max_amount", "200.00 USD", "~"),
    in_place("schedule.start", "2030-02-01", "2030-02-02"),
    in_place("schedule.interval_unit", "MONTH", "WEEK"),
    in_place("schedule.interval_delay", "1", "2"),
    in_place("schedule.end", "2030-12-01", "2031-12-01"),
    in_place("schedule.end", "~", "2031-12-01"),
    unfit("schedule.end", "2030-12-01", "~"),
    in_place("schedule.days[]", "'1'", "LAST"),
    in_place("schedule.days", "~", "['1', LAST]"),
    in_place("schedule.days", "['1', '15', LAST]", "['15']"),
    in_place("schedule.days", "['1']", "~").also(&[("schedule.interval_unit", "WEEK")]),
    unfit("schedule.days", "['1']", "~"),
    never("first_charge", "scheduled", "now").also(&[("schedule.start", "~")]),
    never("surcharge", "none", "apply").on(NOW),
    never("from_charge", "$CHARGE-1", "$CHARGE-2").on(FROM),
];
