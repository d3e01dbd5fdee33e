//! Checks between the fields of a recurring charge.

use super::fields::FIELDS;
use super::shape::{FirstCharge, RecurringChargeSpec, Surcharge};
use crate::base::hash::Mark;
use crate::base::id::RemoteId;
use crate::base::money::Money;
use crate::kinds::schema::amount::Amount;
use crate::kinds::schema::kind::CheckCx;
use crate::kinds::schema::whole_number::WholeNumber;
use crate::kinds::secrets::redact::field_of;
use crate::model::spec::issue::Issue;

const FIRST_AMOUNT: &str = "spec.first_amount";
const FROM_CHARGE: &str = "spec.from_charge";
const MAX_AMOUNT: &str = "spec.max_amount";

/// Returns the issue of a missing field, worded as by the decoder.
pub(super) fn missing_field_issue(path: &str) -> Issue {
    let name = path.rsplit('.').next().unwrap_or_default();
    let doc = field_of(FIELDS, path).map_or("", |field| field.doc);
    let message = format!("the field `{name}` is missing");
    let help = format!("add `{name}`: {}", doc.trim_end_matches('.'));
    Issue::error("reckon::spec::missing_field", path, message, help).underline_key()
}

pub(super) fn description_issue(description: &str) -> Option<Issue> {
    Mark::find_in(description).map(|mark| {
        let message = format!("the description ends in `[{mark}]`, which reckon adds itself");
        let help = "leave the mark out";
        Issue::error("reckon::recurring_charge::mark", "spec.description", message, help)
    })
}

pub(super) fn max_occurrences_issue(max: WholeNumber) -> Option<Issue> {
    (max.0 == 0).then(|| {
        let help = "write 1 or more, or leave it out";
        let path = "spec.max_occurrences";
        let code = "reckon::recurring_charge::max_occurrences";
        Issue::error(code, path, "no payment is allowed", help)
    })
}

pub(super) fn max_amount_issue(
    spec: &RecurringChargeSpec,
    max: &Amount,
    cx: &CheckCx,
) -> Option<Issue> {
    if let Some(issue) = max.issue(MAX_AMOUNT, cx) {
        return Some(issue);
    }
    let (amount, max) = amounts(spec, max, cx)?;
    if amount.currency() != max.currency() {
        return Some(mixed_currency_issue(MAX_AMOUNT, amount, max));
    }
    (max.minor() < amount.minor()).then(|| {
        let message = format!("the total, {max}, is less than one payment, {amount}");
        let help = format!("write {amount} or more, or leave it out");
        Issue::error("reckon::recurring_charge::max_amount", MAX_AMOUNT, message, help)
            .with_related(None, "spec.amount", "one payment")
    })
}

/// Returns the amount of each occurrence, and another amount of the same document.
fn amounts(spec: &RecurringChargeSpec, other: &Amount, cx: &CheckCx) -> Option<(Money, Money)> {
    let currency = spec.amount.currency.or(other.currency).unwrap_or(cx.currency);
    spec.amount.read(currency).zip(other.read(currency))
}

fn mixed_currency_issue(path: &str, amount: Money, other: Money) -> Issue {
    let message =
        format!("the currency is {}, and `amount` has {}", other.currency(), amount.currency());
    let code = "reckon::recurring_charge::mixed_currencies";
    Issue::error(code, path, message, "write the same currency").with_related(
        None,
        "spec.amount",
        "one payment",
    )
}

/// Checks the amount of a first charge that is made now.
pub(super) fn first_amount_issue(spec: &RecurringChargeSpec, cx: &CheckCx) -> Option<Issue> {
    let first = spec.first_amount.as_ref()?;
    if spec.first_charge == FirstCharge::Scheduled && spec.from_charge.is_none() {
        let message = "only a first charge that is made now has an amount of its own";
        let help = "write `first_charge: now`, or leave it out";
        let code = "reckon::recurring_charge::first_amount_scheduled";
        return Some(Issue::error(code, FIRST_AMOUNT, message, help).underline_key());
    }
    if let Some(issue) = first.positive_issue(FIRST_AMOUNT, cx) {
        return Some(issue);
    }
    let (amount, first) = amounts(spec, first, cx)?;
    if amount.currency() != first.currency() {
        return Some(mixed_currency_issue(FIRST_AMOUNT, amount, first));
    }
    let (_, max) = amounts(spec, spec.max_amount.as_ref()?, cx)?;
    (max.currency() == first.currency() && first.minor() > max.minor()).then(|| {
        let message = format!("the first charge, {first}, is more than the total, {max}");
        let help = format!("write {max} or less");
        Issue::error("reckon::recurring_charge::first_amount", FIRST_AMOUNT, message, help)
            .with_related(None, MAX_AMOUNT, "the total")
    })
}

/// Checks that a surcharge belongs to a charge that is made now.
pub(super) fn surcharge_issue(spec: &RecurringChargeSpec) -> Option<Issue> {
    let scheduled = spec.first_charge == FirstCharge::Scheduled && spec.from_charge.is_none();
    (scheduled && spec.surcharge == Surcharge::Apply).then(|| {
        let message = "the service has no field for a surcharge on a scheduled payment";
        let help = "write `first_charge: now`, or leave it out";
        let code = "reckon::recurring_charge::surcharge_scheduled";
        Issue::error(code, "spec.surcharge", message, help)
    })
}

/// Rejects fields that an earlier charge replaces.
pub(super) fn from_charge_issues(spec: &RecurringChargeSpec) -> Vec<Issue> {
    let Some(charge) = &spec.from_charge else {
        return Vec::new();
    };
    let written = [
        ("method", spec.method.is_some()),
        ("account", spec.account.is_some()),
        ("max_occurrences", spec.max_occurrences.is_some()),
        ("max_amount", spec.max_amount.is_some()),
        ("first_charge", spec.first_charge == FirstCharge::Now),
        ("first_amount", spec.first_amount.is_some()),
        ("surcharge", spec.surcharge == Surcharge::Apply),
    ];
    let beside =
        written.into_iter().filter(|(_, there)| *there).map(|(field, _)| beside_issue(field));
    charge_id_issue(charge).into_iter().chain(beside).collect()
}

fn beside_issue(field: &str) -> Issue {
    let message = format!("`{field}` cannot be chosen for a charge made from an earlier one");
    let help = format!("leave out `{field}`, or `from_charge`");
    let path = format!("spec.{field}");
    Issue::error("reckon::recurring_charge::from_charge", &path, message, help)
        .underline_key()
        .with_related(None, FROM_CHARGE, "the earlier charge")
}

fn charge_id_issue(charge: &str) -> Option<Issue> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let is_id = RemoteId::new(charge).is_ok() && charge.chars().all(allowed);
    (!is_id).then(|| {
        let message = "the text is not the id of a charge";
        let help = "write the charge's id as the service shows it, 22 letters, digits, `-` and `_`";
        Issue::error("reckon::recurring_charge::charge_id", FROM_CHARGE, message, help)
    })
}
