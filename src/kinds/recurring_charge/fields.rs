//! Fields of a recurring charge, for masks, plans and help.

use crate::kinds::schema::kind::{Mutability, Privacy, SpecField};
use crate::kinds::secrets::redact::field_of;
use crate::model::issue::Issue;

const fn plain(path: &'static str, change: Mutability, doc: &'static str) -> SpecField {
    SpecField { path, privacy: Privacy::Plain, mutability: change, doc }
}

pub(super) const FIELDS: &[SpecField] = &[
    plain(
        "merchant",
        Mutability::Immutable,
        "The merchant that is paid, NAME or NAMESPACE/NAME (design, Files).",
    ),
    plain(
        "method",
        Mutability::ReplaceByToken,
        "The saved method that pays, NAME or NAMESPACE/NAME; not with `from_charge` (gateway-api, POST /v1/recurring/charges).",
    ),
    plain(
        "amount",
        Mutability::InPlace,
        "Amount that each occurrence collects, such as `\"50.00 USD\"` (gateway-api, Recurring charge).",
    ),
    plain(
        "first_amount",
        Mutability::Immutable,
        "Amount of the first charge, where it differs from \
         `amount`; only with `first_charge: now` (gateway-api, POST /v1/charges and its recur object).",
    ),
    plain(
        "description",
        Mutability::InPlace,
        "A text of the merchant's own (gateway-api, Recurring charge).",
    ),
    plain(
        "account",
        Mutability::Immutable,
        "The account that is paid, its name or id; left out, the primary one (gateway-api, POST /v1/recurring/charges, account_id).",
    ),
    plain(
        "max_occurrences",
        Mutability::InPlace,
        "Number of scheduled payments after which the charge is complete (gateway-api, recur object).",
    ),
    plain(
        "max_amount",
        Mutability::InPlace,
        "Total to collect before the charge is complete, at least `amount` (gateway-api, recur object).",
    ),
    plain(
        "schedule",
        Mutability::InPlace,
        "Dates on which payments are due (gateway-api, recur object).",
    ),
    plain(
        "schedule.start",
        Mutability::InPlace,
        "The first date that may be due, `YYYY-MM-DD`; not the day of creation, and none with `first_charge: now` (gateway-api, POST /v1/recurring/charges).",
    ),
    plain(
        "schedule.interval_unit",
        Mutability::InPlace,
        "`DAY`, `WEEK` or `MONTH` (service-facts, 58).",
    ),
    plain(
        "schedule.interval_delay",
        Mutability::InPlace,
        "1 for every unit, 2 for every other (gateway-api, recur object).",
    ),
    plain(
        "schedule.end",
        Mutability::InPlace,
        "The last date that may be due, `YYYY-MM-DD` (gateway-api, recur object).",
    ),
    plain(
        "schedule.days",
        Mutability::InPlace,
        "With every WEEK `\"1\"` (Monday) to `\"7\"`, with every MONTH `\"1\"` to `\"31\"` and `LAST` (gateway-api, recur object).",
    ),
    plain(
        "first_charge",
        Mutability::Immutable,
        "`scheduled` waits for the first date; `now` charges at once, and that payment is the first (gateway-api, POST /v1/charges, recur).",
    ),
    plain(
        "surcharge",
        Mutability::Immutable,
        "`apply` adds the merchant's surcharge to the charge made now, and to it alone; `none` adds nothing (gateway-api, GET /bank-accounts/{bank_account_id}/surcharge).",
    ),
    plain(
        "from_charge",
        Mutability::Immutable,
        "The id of an earlier charge, whose method and customer are used; replaces `method`, `account`, limits and \
         `first_charge` (gateway-api, POST /v1/charges/{chargeId}/schedule).",
    ),
];

/// Returns the issue of a missing field, worded as by the decoder.
pub(super) fn missing_field_issue(path: &str) -> Issue {
    let name = path.rsplit('.').next().unwrap_or_default();
    let doc = field_of(FIELDS, path).map_or("", |field| field.doc);
    let message = format!("the field `{name}` is missing");
    let help = format!("add `{name}`: {}", doc.trim_end_matches('.'));
    Issue::error("reckon::spec::missing_field", path, message, help).underline_key()
}
