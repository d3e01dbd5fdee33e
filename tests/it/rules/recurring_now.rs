//! Rules of the reference for a charge that is made now, and for one made from an earlier charge (gateway-api, POST
//! /v1/charges, POST /v1/charges/{chargeId}/schedule).

use crate::rules::table::check;

const NOW: &str = r#"apiVersion: reckon.dev/v1
kind: RecurringCharge
metadata: {name: it}
spec:
  merchant: acme
  method: card
  amount: 50.00 USD
  first_charge: now
  first_amount: 65.00 USD
  surcharge: apply
  max_amount: 600.00 USD
  schedule:
    interval_unit: WEEK
    interval_delay: 1
    end: 2031-12-01
    days: ["1", "7"]
---
apiVersion: reckon.dev/v1
kind: SavedMethod
metadata: {name: card}
spec: {merchant: acme, type: card, source: {card: {number: "4242424242424242", exp_month: 12, exp_year: 2031}}}
---
apiVersion: reckon.dev/v1
kind: SavedMethod
metadata: {name: card-of-other}
spec: {merchant: other, type: card, source: {card: {number: "4242424242424242", exp_month: 12, exp_year: 2031}}}
---
apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: other}
spec: {mode: test, credentials: {authorization_code: {env: CODE_OTHER}}}
---
apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: acme}
spec: {mode: test, credentials: {authorization_code: {env: CODE_ACME}}}
"#;

const FROM: &str = r#"apiVersion: reckon.dev/v1
kind: RecurringCharge
metadata: {name: it}
spec:
  merchant: acme
  from_charge: abcdefghijklmnopqrstuv
  amount: 50.00 USD
  schedule:
    start: 2030-12-01
    interval_unit: MONTH
    interval_delay: 1
---
apiVersion: reckon.dev/v1
kind: SavedMethod
metadata: {name: card}
spec: {merchant: acme, type: card, source: {card: {number: "4242424242424242", exp_month: 12, exp_year: 2031}}}
---
apiVersion: reckon.dev/v1
kind: SavedMethod
metadata: {name: card-of-other}
spec: {merchant: other, type: card, source: {card: {number: "4242424242424242", exp_month: 12, exp_year: 2031}}}
---
apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: other}
spec: {mode: test, credentials: {authorization_code: {env: CODE_OTHER}}}
---
apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: acme}
spec: {mode: test, credentials: {authorization_code: {env: CODE_ACME}}}
"#;

pub(crate) const OF_CHARGES_NOW: &str = r#"
recur, amount | only when the recurring amount differs from the charge amount: an amount
    - first_amount: 65.00 USD
    + first_amount: '65'
    = specs/it.yaml:9:17 reckon::amount::no_currency: `65` has no currency | it could be 65.00 USD, or 0.65 USD (65 minor units): write `"65.00 USD"` or `"0.65 USD"`
amount | integer | required: something is charged
    - first_amount: 65.00 USD
    + first_amount: 0.00 USD
    = specs/it.yaml:9:17 reckon::amount::not_positive: 0.00 USD is not more than zero | write more than zero
amount | integer | of the same currency
    - first_amount: 65.00 USD
    + first_amount: 65.00 EUR
    = specs/it.yaml:9:17 reckon::recurring_charge::mixed_currencies: the currency is EUR, and `amount` has USD | write the same currency
max_amount | total to collect before completion; at least amount
    - first_amount: 65.00 USD
    + first_amount: 700.00 USD
    = specs/it.yaml:9:17 reckon::recurring_charge::first_amount: the first charge, 700.00 USD, is more than the total, 600.00 USD | write 600.00 USD or less
recur object: no start, the charge is the first occurrence
    - interval_unit: WEEK
    + interval_unit: WEEK\n    start: 2030-12-01
    = specs/it.yaml:14:5 reckon::recurring_charge::start_now: the first charge is made now, and the schedule starts with it | leave `start` out, or write `first_charge: scheduled`
first_charge: `scheduled` or `now`
    - first_charge: now
    + first_charge: later
    = specs/it.yaml:8:17 reckon::spec::unknown_value: unknown value `later` | write one of `scheduled`, `now`
recur, amount | the charge amount is that of a charge made now
    - first_charge: now
    + first_charge: scheduled
    = specs/it.yaml:9:3 reckon::recurring_charge::first_amount_scheduled: only a first charge that is made now has an amount of its own | write `first_charge: now`, or leave it out
    = specs/it.yaml:10:14 reckon::recurring_charge::surcharge_scheduled: the service has no field for a surcharge on a scheduled payment | write `first_charge: now`, or leave it out
    = specs/it.yaml:12:3 reckon::spec::missing_field: the field `start` is missing | add `start`: The first date that may be due, `YYYY-MM-DD`; not the day of creation, and none with `first_charge: now` (gateway-api, POST /v1/recurring/charges)
surcharge_amount | integer | optional: what the surcharge lookup says
    - surcharge: apply
    + surcharge: 60
    = specs/it.yaml:10:14 reckon::spec::unknown_value: unknown value `60` | write one of `none`, `apply`
days | weekly: ISO day numbers `"1"` (Monday) to `"7"` (Sunday)
    - days: ["1", "7"]
    + days: ["8"]
    = specs/it.yaml:16:12 reckon::recurring_charge::schedule: a week has no day 8 | write "1" (Monday) to "7" (Sunday)
days | weekly: the keyword `LAST` is a month's
    - days: ["1", "7"]
    + days: [LAST]
    = specs/it.yaml:16:12 reckon::recurring_charge::schedule: LAST is a day of a month, not of a week | write "1" (Monday) to "7" (Sunday)
auto_capture must be true when recur is present: it is
    + auto_capture: false
    = specs/it.yaml:17:3 reckon::spec::unknown_field: there is no field `auto_capture` here | write one of `merchant`, `method`, `amount`, `first_amount`, `description`, `account`, `max_occurrences`, `max_amount`, `schedule`, `first_charge`, `surcharge`, `from_charge`
"#;

#[test]
fn what_a_first_charge_made_now_may_not_say() {
    check(NOW, OF_CHARGES_NOW);
    crate::support::covers::covers(&["45.12"]);
}

pub(crate) const OF_EARLIER_CHARGES: &str = r#"
POST /v1/charges/{chargeId}/schedule: chargeId
    - from_charge: abcdefghijklmnopqrstuv
    + from_charge: a/b
    = specs/it.yaml:6:16 reckon::recurring_charge::charge_id: the text is not the id of a charge | write the charge's id as the service shows it, 22 letters, digits, `-` and `_`
chargeId | string: a list is none
    - from_charge: abcdefghijklmnopqrstuv
    + from_charge: [a]
    = specs/it.yaml:6:16 reckon::spec::wrong_type: expected a text, found a list | write a text
from an earlier transaction's method: none of its own
    + method: card
    = specs/it.yaml:12:3 reckon::recurring_charge::from_charge: `method` cannot be chosen for a charge made from an earlier one | leave out `method`, or `from_charge`
from an earlier transaction's account: none of its own
    + account: Operating
    = specs/it.yaml:12:3 reckon::recurring_charge::from_charge: `account` cannot be chosen for a charge made from an earlier one | leave out `account`, or `from_charge`
body: amount and schedule: no max_occurrences
    + max_occurrences: 3
    = specs/it.yaml:12:3 reckon::recurring_charge::from_charge: `max_occurrences` cannot be chosen for a charge made from an earlier one | leave out `max_occurrences`, or `from_charge`
body: amount and schedule: no max_amount
    + max_amount: 500.00 USD
    = specs/it.yaml:12:3 reckon::recurring_charge::from_charge: `max_amount` cannot be chosen for a charge made from an earlier one | leave out `max_amount`, or `from_charge`
body: amount and schedule: no charge now
    + first_charge: now
    = specs/it.yaml:9:5 reckon::recurring_charge::start_now: the first charge is made now, and the schedule starts with it | leave `start` out, or write `first_charge: scheduled`
    = specs/it.yaml:12:3 reckon::recurring_charge::from_charge: `first_charge` cannot be chosen for a charge made from an earlier one | leave out `first_charge`, or `from_charge`
body: amount and schedule: no first amount
    + first_amount: 5.00 USD
    = specs/it.yaml:12:3 reckon::recurring_charge::from_charge: `first_amount` cannot be chosen for a charge made from an earlier one | leave out `first_amount`, or `from_charge`
body: amount and schedule: no surcharge
    + surcharge: apply
    = specs/it.yaml:12:3 reckon::recurring_charge::from_charge: `surcharge` cannot be chosen for a charge made from an earlier one | leave out `surcharge`, or `from_charge`
amount (integer, required)
    - amount: 50.00 USD
    = specs/it.yaml:4:1 reckon::spec::missing_field: the field `amount` is missing | add `amount`: Amount that each occurrence collects, such as `"50.00 USD"` (gateway-api, Recurring charge)
schedule (object, required)
    - schedule:\n    start: 2030-12-01\n    interval_unit: MONTH\n    interval_delay: 1
    = specs/it.yaml:4:1 reckon::spec::missing_field: the field `schedule` is missing | add `schedule`: Dates on which payments are due (gateway-api, recur object)
"#;

#[test]
fn what_a_charge_made_from_an_earlier_one_may_not_say() {
    check(FROM, OF_EARLIER_CHARGES);
}
