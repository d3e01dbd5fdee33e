use serde_json::json;

use crate::base::schedule::Schedule;
use crate::kinds::testing::{good, link_problems, manifest, problems};

const HEAD: &str = "merchant: acme\nmethod: card\namount: 50.00 USD\n";
const SCHEDULE: &str =
    "schedule: {start: 2026-12-01, interval_unit: MONTH, interval_delay: 1, days: [1, 15, LAST]}";

fn check(spec: &str, expect: &str) {
    assert_eq!(problems("RecurringCharge", spec), expect);
}

#[test]
fn the_canonical_schedule_is_the_one_on_the_wire() {
    let spec = good(
        "RecurringCharge",
        &format!(
            "{HEAD}description: Rent\naccount: Operating\nmax_occurrences: '12'\nmax_amount: 60000\n{SCHEDULE}"
        ),
    );
    assert_eq!(
        spec,
        json!({
            "merchant": "acme",
            "method": "card",
            "amount": {"minor": 5000, "currency": "USD"},
            "description": "Rent",
            "account": "Operating",
            "max_occurrences": 12,
            "max_amount": {"minor": 60000},
            "schedule": {"start": "2026-12-01", "interval_unit": "MONTH", "interval_delay": 1, "days": ["1", "15", "LAST"]},
        })
    );
    let schedule: Schedule = serde_json::from_value(spec["schedule"].clone()).unwrap();
    assert_eq!(serde_json::to_value(schedule).unwrap(), spec["schedule"]);
}

#[test]
fn amounts_and_limits_are_checked() {
    check(
        &format!(
            "merchant: acme\nmethod: card\namount: 0.00 USD\nmax_occurrences: 0\nmax_amount: '5'\naccount: ''\nreference: x\n{SCHEDULE}"
        ),
        "reckon::amount::not_positive @ spec.amount: 0.00 USD is not more than zero | write more than zero\n\
         reckon::text::empty @ spec.account: the text is empty | write a text, such as `Operating`\n\
         reckon::recurring_charge::max_occurrences @ spec.max_occurrences: no payment is allowed | write 1 or more, or leave it out\n\
         reckon::amount::no_currency @ spec.max_amount: `5` has no currency | it could be 5.00 USD, or 0.05 USD (5 minor units): write `\"5.00 USD\"` or `\"0.05 USD\"`\n\
         reckon::spec::refused_field @ spec.reference (key): reckon keeps its mark in `reference`, to find the charge again | leave it out; a text of your own goes into `description`",
    );
    check(
        &format!("{HEAD}max_amount: 49.99 USD\n{SCHEDULE}"),
        "reckon::recurring_charge::max_amount @ spec.max_amount: the total, 49.99 USD, is less than one payment, 50.00 USD | write 50.00 USD or more, or leave it out\n  \
         spec.amount: one payment",
    );
    check(
        &format!("{HEAD}max_amount: 100.00 EUR\n{SCHEDULE}"),
        "reckon::recurring_charge::mixed_currencies @ spec.max_amount: the currency is EUR, and `amount` has USD | write the same currency\n  \
         spec.amount: one payment",
    );
}

#[test]
fn every_date_and_day_that_cannot_be_read_is_told() {
    check(
        &format!(
            "{HEAD}schedule: {{start: 2026-02-30, interval_unit: WEEK, interval_delay: 1, end: soon, days: ['1', Monday]}}"
        ),
        "reckon::recurring_charge::date @ spec.schedule.start: `2026-02-30` is not a date | write year, month and day, such as `2026-12-01`\n\
         reckon::recurring_charge::date @ spec.schedule.end: `soon` is not a date | write year, month and day, such as `2026-12-01`\n\
         reckon::recurring_charge::day @ spec.schedule.days[1]: `Monday` is not a day | write a number such as `\"15\"`, or `LAST`",
    );
}

#[test]
fn what_the_schedule_says_of_itself_is_told_at_its_field() {
    check(
        &format!(
            "{HEAD}schedule: {{start: 2026-12-01, interval_unit: WEEK, interval_delay: 1, end: 2026-11-30, days: ['8']}}"
        ),
        "reckon::recurring_charge::schedule @ spec.schedule.days[0]: a week has no day 8 | write \"1\" (Monday) to \"7\" (Sunday)\n\
         reckon::recurring_charge::schedule @ spec.schedule.end: the end, 2026-11-30, is before the start, 2026-12-01 | write the start or a later date, or leave it out",
    );
    check(
        &format!("{HEAD}schedule: {{start: 2026-12-01, interval_unit: DAY, interval_delay: 0}}"),
        "reckon::recurring_charge::schedule @ spec.schedule.interval_delay: a step of 0 × DAY never leaves the start | write 1 for every unit, 2 for every other",
    );
}

#[test]
fn the_service_s_required_fields_are_required() {
    check(
        &format!("{HEAD}schedule: {{start: 2026-12-01, interval_unit: MONTH}}"),
        "reckon::spec::missing_field @ spec.schedule.interval_delay (key): the field `interval_delay` is missing | add `interval_delay`: 1 for every unit, 2 for every other (gateway-api, recur object)",
    );
    check(
        &format!("{HEAD}schedule: {{start: 2026-12-01, interval_unit: YEAR, interval_delay: 1}}"),
        "reckon::spec::unknown_value @ spec.schedule.interval_unit: unknown value `YEAR` | write one of `DAY`, `WEEK`, `MONTH`",
    );
}

#[test]
fn a_description_does_not_bring_a_mark() {
    check(
        &format!("{HEAD}description: Rent [rkaaaaaaaaaaaaaaaaaaaaaaaaaa]\n{SCHEDULE}"),
        "reckon::recurring_charge::mark @ spec.description: the description ends in `[rkaaaaaaaaaaaaaaaaaaaaaaaaaa]`, which reckon adds itself | leave the mark out",
    );
}

#[test]
fn the_method_belongs_to_the_same_merchant() {
    let charge = manifest("RecurringCharge", "it", &format!("{HEAD}{SCHEDULE}"));
    let method = |merchant: &str| {
        let card = "{card: {number: {env: C}, exp_month: 1, exp_year: 31}}";
        manifest(
            "SavedMethod",
            "card",
            &format!("merchant: {merchant}\ntype: card\nsource: {card}"),
        )
    };
    assert_eq!(link_problems(&[charge.clone(), method("acme")]), "");
    assert_eq!(
        link_problems(&[charge, method("billing/acme")]),
        "reckon::reference::other_merchant @ spec.method: SavedMethod/default/card belongs to Merchant/billing/acme, not to Merchant/acme | write one of the same merchant; nothing is shared between merchants\n  \
         SavedMethod/default/card spec.merchant: Merchant/billing/acme is the merchant here"
    );
}

const NOW: &str = "first_charge: now\nschedule: {interval_unit: MONTH, interval_delay: 1}";

#[test]
fn a_charge_now_has_no_start_and_its_words_stand_in_the_canonical_form_only_where_they_say_something()
 {
    let now = good(
        "RecurringCharge",
        &format!("{HEAD}first_amount: 65.00 USD\nsurcharge: apply\nmax_amount: 65.00 USD\n{NOW}"),
    );
    assert_eq!(
        now,
        json!({
            "merchant": "acme",
            "method": "card",
            "amount": {"minor": 5000, "currency": "USD"},
            "first_amount": {"minor": 6500, "currency": "USD"},
            "max_amount": {"minor": 6500, "currency": "USD"},
            "schedule": {"interval_unit": "MONTH", "interval_delay": 1},
            "first_charge": "now",
            "surcharge": "apply",
        })
    );
    let said = good(
        "RecurringCharge",
        &format!("{HEAD}first_charge: scheduled\nsurcharge: none\n{SCHEDULE}"),
    );
    assert_eq!(said, good("RecurringCharge", &format!("{HEAD}{SCHEDULE}")));
}

#[test]
fn a_start_belongs_to_a_scheduled_first_charge_and_to_no_other() {
    check(
        &format!("{HEAD}first_charge: now\n{SCHEDULE}"),
        "reckon::recurring_charge::start_now @ spec.schedule.start (key): the first charge is made now, and the schedule starts with it | leave `start` out, or write `first_charge: scheduled`\n  \
         spec.first_charge: the first charge is made now",
    );
    check(
        &format!("{HEAD}schedule: {{interval_unit: DAY, interval_delay: 1}}"),
        "reckon::spec::missing_field @ spec.schedule.start (key): the field `start` is missing | add `start`: The first date that may be due, `YYYY-MM-DD`; not the day of creation, and none with `first_charge: now` (gateway-api, POST /v1/recurring/charges)",
    );
    check(
        &format!(
            "{HEAD}first_charge: now\nschedule: {{interval_unit: WEEK, interval_delay: 2, end: 2026-12-01, days: ['8']}}"
        ),
        "reckon::recurring_charge::schedule @ spec.schedule.days: days are allowed with every WEEK only | leave out days, or write `interval_delay: 1`\n\
         reckon::recurring_charge::schedule @ spec.schedule.days[0]: a week has no day 8 | write \"1\" (Monday) to \"7\" (Sunday)",
    );
    check(
        &format!("{HEAD}first_charge: later\n{SCHEDULE}"),
        "reckon::spec::unknown_value @ spec.first_charge: unknown value `later` | write one of `scheduled`, `now`",
    );
    check(
        &format!(
            "{HEAD}first_charge: now\nschedule: {{interval_unit: MONTH, interval_delay: 1, end: 2026-12-01, days: [LAST]}}"
        ),
        "",
    );
}

#[test]
fn what_goes_with_a_charge_now_alone_is_refused_elsewhere() {
    check(
        &format!("{HEAD}first_amount: 10.00 USD\nsurcharge: apply\n{SCHEDULE}"),
        "reckon::recurring_charge::first_amount_scheduled @ spec.first_amount (key): only a first charge that is made now has an amount of its own | write `first_charge: now`, or leave it out\n\
         reckon::recurring_charge::surcharge_scheduled @ spec.surcharge: the service has no field for a surcharge on a scheduled payment | write `first_charge: now`, or leave it out",
    );
    check(
        &format!("{HEAD}first_amount: 0.00 USD\n{NOW}"),
        "reckon::amount::not_positive @ spec.first_amount: 0.00 USD is not more than zero | write more than zero",
    );
    check(
        &format!("{HEAD}first_amount: 1.00 EUR\n{NOW}"),
        "reckon::recurring_charge::mixed_currencies @ spec.first_amount: the currency is EUR, and `amount` has USD | write the same currency\n  \
         spec.amount: one payment",
    );
    check(
        &format!("{HEAD}first_amount: 90.00 USD\nmax_amount: 80.00 USD\n{NOW}"),
        "reckon::recurring_charge::first_amount @ spec.first_amount: the first charge, 90.00 USD, is more than the total, 80.00 USD | write 80.00 USD or less\n  \
         spec.max_amount: the total",
    );
}

#[test]
fn an_earlier_charge_brings_its_method_and_account_and_has_no_limits() {
    let from = "merchant: acme\namount: 50.00 USD\nfrom_charge: AAAAAAAAAAAAAAAAAAAAAA\n";
    check(&format!("{from}description: Rent\n{SCHEDULE}"), "");
    let beside = |field: &str| {
        format!(
            "reckon::recurring_charge::from_charge @ spec.{field} (key): `{field}` cannot be chosen for a charge made from an earlier one | leave out `{field}`, or `from_charge`\n  \
             spec.from_charge: the earlier charge"
        )
    };
    let all = format!(
        "{from}method: card\naccount: Operating\nmax_occurrences: 2\nmax_amount: 100.00 USD\nfirst_amount: 9.00 USD\nsurcharge: apply\n{NOW}"
    );
    let told = [
        "method",
        "account",
        "max_occurrences",
        "max_amount",
        "first_charge",
        "first_amount",
        "surcharge",
    ];
    check(&all, &told.map(beside).join("\n"));
    check(
        &format!("merchant: acme\namount: 50.00 USD\nfrom_charge: ''\n{SCHEDULE}"),
        "reckon::recurring_charge::charge_id @ spec.from_charge: the text is not the id of a charge | write the charge's id as the service shows it, 22 letters, digits, `-` and `_`",
    );
    check(
        &format!("merchant: acme\namount: 50.00 USD\n{SCHEDULE}"),
        "reckon::spec::missing_field @ spec.method (key): the field `method` is missing | add `method`: The saved method that pays, NAME or NAMESPACE/NAME; not with `from_charge` (gateway-api, POST /v1/recurring/charges)",
    );
}
