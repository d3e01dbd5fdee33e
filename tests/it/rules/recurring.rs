//! Rules of the reference for the fields of a recurring charge (gateway-api, Recurring charge, the recur object, and
//! the three ways to make one).

use crate::rules::table::check;

const LATER: &str = r#"apiVersion: reckon.dev/v1
kind: RecurringCharge
metadata: {name: it}
spec:
  merchant: acme
  method: card
  amount: 50.00 USD
  description: Club
  account: Operating
  max_occurrences: 12
  max_amount: 600.00 USD
  schedule:
    start: 2030-12-01
    interval_unit: MONTH
    interval_delay: 1
    end: 2031-12-01
    days: ["1", LAST]
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

pub(crate) const RULES: &str = r#"
method (saved method ID or token string): it is sent
    - method: card
    = specs/it.yaml:4:1 reckon::spec::missing_field: the field `method` is missing | add `method`: The saved method that pays, NAME or NAMESPACE/NAME; not with `from_charge` (gateway-api, POST /v1/recurring/charges)
method (saved method ID or token string): a mapping is no string
    - method: card
    + method: {type: card}
    = specs/it.yaml:6:11 reckon::spec::wrong_type: expected a text, found a mapping | write a text
method: the saved method is one that is there
    - method: card
    + method: card-two
    = specs/it.yaml:6:11 reckon::link::missing: there is no SavedMethod `card-two` | add a document of kind SavedMethod with this name, or correct the name
method: a saved method of the same merchant
    - method: card
    + method: card-of-other
    = specs/it.yaml:6:11 reckon::reference::other_merchant: SavedMethod/default/card-of-other belongs to Merchant/other, not to Merchant/acme | write one of the same merchant; nothing is shared between merchants
amount | integer | amount per occurrence: it is sent
    - amount: 50.00 USD
    = specs/it.yaml:4:1 reckon::spec::missing_field: the field `amount` is missing | add `amount`: Amount that each occurrence collects, such as `"50.00 USD"` (gateway-api, Recurring charge)
amount | integer: in the currency's smallest unit
    - amount: 50.00 USD
    + amount: 50.5
    = specs/it.yaml:7:11 reckon::amount::float: the number 50.5 has no currency, and is not a whole number of minor units | write `"50.50 USD"`, in quotes
amount | integer: a text says its currency
    - amount: 50.00 USD
    + amount: '50'
    = specs/it.yaml:7:11 reckon::amount::no_currency: `50` has no currency | it could be 50.00 USD, or 0.50 USD (50 minor units): write `"50.00 USD"` or `"0.50 USD"`
amount | integer: nothing smaller than the smallest unit
    - amount: 50.00 USD
    + amount: 50.005 USD
    = specs/it.yaml:7:11 reckon::amount::too_many_decimals: `50.005 USD` has more than 2 decimals, and USD has no smaller unit | write fewer decimals
amount | integer: something is collected
    - amount: 50.00 USD
    + amount: 0.00 USD
    = specs/it.yaml:7:11 reckon::amount::not_positive: 0.00 USD is not more than zero | write more than zero
amount | integer: nothing is given back
    - amount: 50.00 USD
    + amount: -50.00 USD
    = specs/it.yaml:7:11 reckon::amount::not_positive: -50.00 USD is not more than zero | write more than zero
amount | integer: within what the service takes (service-facts, 31)
    - amount: 50.00 USD
    + amount: 1000000000000.00 USD
    = specs/it.yaml:7:11 reckon::amount::out_of_range: the amount is out of range | the most is 99999999999999 minor units
currency | string: of every amount
    - max_amount: 600.00 USD
    + max_amount: 600.00 EUR
    = specs/it.yaml:11:15 reckon::recurring_charge::mixed_currencies: the currency is EUR, and `amount` has USD | write the same currency
currency | string: a code that exists
    - amount: 50.00 USD
    + amount: 50.00 USX
    = specs/it.yaml:7:11 reckon::amount::unknown_currency: `USX` is no currency | did you mean `USD`?
description | string | optional: a list is no string
    - description: Club
    + description: [Club]
    = specs/it.yaml:8:16 reckon::spec::wrong_type: expected a text, found a list | write a text
description | string: reckon adds its mark
    - description: Club
    + description: Club [rkaaaaaaaaaaaaaaaaaaaaaaaaaa]
    = specs/it.yaml:8:16 reckon::recurring_charge::mark: the description ends in `[rkaaaaaaaaaaaaaaaaaaaaaaaaaa]`, which reckon adds itself | leave the mark out
account_id | string: a list is no string
    - account: Operating
    + account: [Operating]
    = specs/it.yaml:9:12 reckon::spec::wrong_type: expected a text, found a list | write a text
account_id | string: it says something
    - account: Operating
    + account: ''
    = specs/it.yaml:9:12 reckon::text::empty: the text is empty | write a text, such as `Operating`
max_occurrences | number: a word is none
    - max_occurrences: 12
    + max_occurrences: many
    = specs/it.yaml:10:20 reckon::spec::wrong_type: expected a whole number, found the text "many" | write a whole number
max_occurrences | number: of payments, so a whole one
    - max_occurrences: 12
    + max_occurrences: 1.5
    = specs/it.yaml:10:20 reckon::spec::wrong_type: expected a whole number, found the number 1.5 | write a whole number
max_occurrences | number | scheduled payments after which the charge is marked completed: one at least
    - max_occurrences: 12
    + max_occurrences: 0
    = specs/it.yaml:10:20 reckon::recurring_charge::max_occurrences: no payment is allowed | write 1 or more, or leave it out
max_amount | number: a list is none
    - max_amount: 600.00 USD
    + max_amount: [600]
    = specs/it.yaml:11:15 reckon::spec::wrong_type: expected an amount such as `"125.00 USD"`, found a list | write an amount such as `"125.00 USD"`
max_amount | number | total to collect before completion; at least amount
    - max_amount: 600.00 USD
    + max_amount: 49.99 USD
    = specs/it.yaml:11:15 reckon::recurring_charge::max_amount: the total, 49.99 USD, is less than one payment, 50.00 USD | write 50.00 USD or more, or leave it out
schedule | object: it is sent
    - schedule:\n    start: 2030-12-01\n    interval_unit: MONTH\n    interval_delay: 1\n    end: 2031-12-01\n    days: ["1", LAST]
    = specs/it.yaml:4:1 reckon::spec::missing_field: the field `schedule` is missing | add `schedule`: Dates on which payments are due (gateway-api, recur object)
schedule | object: a word is none
    - schedule:\n    start: 2030-12-01\n    interval_unit: MONTH\n    interval_delay: 1\n    end: 2031-12-01\n    days: ["1", LAST]
    + schedule: monthly
    = specs/it.yaml:12:13 reckon::spec::wrong_type: expected a mapping of fields, found the text "monthly" | write a mapping of fields
start (date YYYY-MM-DD): it is sent
    - start: 2030-12-01
    = specs/it.yaml:12:3 reckon::spec::missing_field: the field `start` is missing | add `start`: The first date that may be due, `YYYY-MM-DD`; not the day of creation, and none with `first_charge: now` (gateway-api, POST /v1/recurring/charges)
start (date YYYY-MM-DD)
    - start: 2030-12-01
    + start: 12/01/2030
    = specs/it.yaml:13:12 reckon::recurring_charge::date: `12/01/2030` is not a date | write year, month and day, such as `2026-12-01`
start (date): a day that exists
    - start: 2030-12-01
    + start: 2030-02-30
    = specs/it.yaml:13:12 reckon::recurring_charge::date: `2030-02-30` is not a date | write year, month and day, such as `2026-12-01`
interval_unit | string | values DAY, WEEK, MONTH appear
    - interval_unit: MONTH
    + interval_unit: YEAR
    = specs/it.yaml:14:20 reckon::spec::unknown_value: unknown value `YEAR` | write one of `DAY`, `WEEK`, `MONTH`
interval_unit | string: it is sent
    - interval_unit: MONTH
    = specs/it.yaml:12:3 reckon::spec::missing_field: the field `interval_unit` is missing | add `interval_unit`: `DAY`, `WEEK` or `MONTH` (service-facts, 58)
interval_delay | number | frequency in interval_units (1 = every unit, 2 = every other)
    - interval_delay: 1
    + interval_delay: 0
    = specs/it.yaml:15:21 reckon::recurring_charge::schedule: a step of 0 × MONTH never leaves the start | write 1 for every unit, 2 for every other
interval_delay | number: a word is none
    - interval_delay: 1
    + interval_delay: monthly
    = specs/it.yaml:15:21 reckon::spec::wrong_type: expected a whole number, found the text "monthly" | write a whole number
interval_delay | number: it is sent
    - interval_delay: 1
    = specs/it.yaml:12:3 reckon::spec::missing_field: the field `interval_delay` is missing | add `interval_delay`: 1 for every unit, 2 for every other (gateway-api, recur object)
end | date | optional: a word is none
    - end: 2031-12-01
    + end: never
    = specs/it.yaml:16:10 reckon::recurring_charge::date: `never` is not a date | write year, month and day, such as `2026-12-01`
end | date | last occurrence on or before it: there is one
    - end: 2031-12-01
    + end: 2030-11-30
    = specs/it.yaml:16:10 reckon::recurring_charge::schedule: the end, 2030-11-30, is before the start, 2030-12-01 | write the start or a later date, or leave it out
days | array of string: a string is no array
    - days: ["1", LAST]
    + days: LAST
    = specs/it.yaml:17:11 reckon::spec::wrong_type: expected a list, found the text "LAST" | write a list
days | only with interval_unit WEEK or MONTH
    - interval_unit: MONTH
    + interval_unit: DAY
    = specs/it.yaml:17:11 reckon::recurring_charge::schedule: days are allowed with the units WEEK and MONTH only | leave out days, or write another interval_unit
days | only with interval_delay 1
    - interval_delay: 1
    + interval_delay: 2
    = specs/it.yaml:17:11 reckon::recurring_charge::schedule: days are allowed with every MONTH only | leave out days, or write `interval_delay: 1`
days | monthly: day numbers from `"1"`
    - days: ["1", LAST]
    + days: ["0"]
    = specs/it.yaml:17:12 reckon::recurring_charge::schedule: a month has no day 0 | write "1" to "31", or LAST
days | monthly: day numbers that a month has
    - days: ["1", LAST]
    + days: ["32"]
    = specs/it.yaml:17:12 reckon::recurring_charge::schedule: a month has no day 32 | write "1" to "31", or LAST
days | monthly: the keyword `LAST`
    - days: ["1", LAST]
    + days: [FIRST]
    = specs/it.yaml:17:12 reckon::recurring_charge::day: `FIRST` is not a day | write a number such as `"15"`, or `LAST`
days | weekly: ISO day numbers
    - interval_unit: MONTH
    + interval_unit: WEEK
    = specs/it.yaml:17:17 reckon::recurring_charge::schedule: LAST is a day of a month, not of a week | write "1" (Monday) to "7" (Sunday)
id | string, system-assigned
    + id: r1
    = specs/it.yaml:18:3 reckon::spec::unknown_field: there is no field `id` here | write one of `merchant`, `method`, `amount`, `first_amount`, `description`, `account`, `max_occurrences`, `max_amount`, `schedule`, `first_charge`, `surcharge`, `from_charge`
status | string | `ACTIVE` on creation
    + status: ACTIVE
    = specs/it.yaml:18:3 reckon::spec::unknown_field: there is no field `status` here | write one of `merchant`, `method`, `amount`, `first_amount`, `description`, `account`, `max_occurrences`, `max_amount`, `schedule`, `first_charge`, `surcharge`, `from_charge`
next_payment | date: in responses alone
    + next_payment: 2030-12-01
    = specs/it.yaml:18:3 reckon::spec::unknown_field: there is no field `next_payment` here | write one of `merchant`, `method`, `amount`, `first_amount`, `description`, `account`, `max_occurrences`, `max_amount`, `schedule`, `first_charge`, `surcharge`, `from_charge`
total_occurrences, total_amount | integer | collected so far
    + total_amount: 1
    = specs/it.yaml:18:3 reckon::spec::unknown_field: there is no field `total_amount` here | write one of `merchant`, `method`, `amount`, `first_amount`, `description`, `account`, `max_occurrences`, `max_amount`, `schedule`, `first_charge`, `surcharge`, `from_charge`
occurrences | array of occurrence: in responses alone
    + occurrences: []
    = specs/it.yaml:18:3 reckon::spec::unknown_field: there is no field `occurrences` here | write `max_occurrences`
reference: reckon keeps its mark there
    + reference: R-1
    = specs/it.yaml:18:3 reckon::spec::refused_field: reckon keeps its mark in `reference`, to find the charge again | leave it out; a text of your own goes into `description`
"#;

#[test]
fn what_a_recurring_charge_may_not_say() {
    check(LATER, RULES);
    crate::support::covers::covers(&["45.12"]);
}
