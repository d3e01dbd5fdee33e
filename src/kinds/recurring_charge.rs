//! Recurring charge: an amount that a saved method pays by a schedule (gateway-api, Recurring
//! charge). Its checks without the service.

mod account;
#[cfg(test)]
mod account_tests;
mod ending;
pub mod import;
#[cfg(test)]
mod intake_details_tests;
pub mod method;
#[cfg(test)]
mod method_tests;
mod request;
pub mod spec;
pub(super) mod step;
#[cfg(test)]
mod step_tests;
#[cfg(test)]
mod tests;

use crate::base::hash::Mark;
use crate::base::id::{Name, RemoteId};
use crate::base::money::Money;
use crate::kinds::merchant::MerchantKind;
use crate::kinds::recurring_charge::spec::{FIELDS, FirstCharge, RecurringChargeSpec, Surcharge};
use crate::kinds::saved_method::SavedMethodKind;
use crate::kinds::schema::kind::{CheckCx, Example, Examples, SpecField, SpecSchema};
use crate::kinds::schema::text;
use crate::kinds::schema::values::{Amount, WholeNumber};
use crate::model::issue::Issue;
use crate::model::manifest::{Desired, PackedManifest, Reference};

const FIRST_AMOUNT: &str = "spec.first_amount";
const FROM_CHARGE: &str = "spec.from_charge";
const MAX_AMOUNT: &str = "spec.max_amount";

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
    let Some(charge) = &spec.from_charge else { return Vec::new() };
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

#[derive(Debug, Clone, Copy)]
pub struct RecurringChargeKind;

impl SpecSchema for RecurringChargeKind {
    const NAME: &'static str = "RecurringCharge";
    const FIELDS: &'static [SpecField] = FIELDS;
    const EXAMPLES: Examples = &[
        ("merchant", Example::Merchant),
        ("method", Example::Resource(SavedMethodKind::NAME)),
        ("amount", Example::Yaml("\"125.00 USD\"")),
        ("schedule.start", Example::Day),
        ("schedule.interval_unit", Example::Yaml("MONTH")),
        ("schedule.interval_delay", Example::Yaml("1")),
    ];
    type Spec = RecurringChargeSpec;

    fn check(spec: &RecurringChargeSpec, cx: &CheckCx) -> Vec<Issue> {
        let mut issues = Vec::new();
        issues.extend(text::reference_issue("spec.merchant", MerchantKind::NAME, &spec.merchant));
        issues.extend(match &spec.method {
            Some(method) => text::reference_issue("spec.method", SavedMethodKind::NAME, method),
            None if spec.from_charge.is_none() => Some(spec::missing_field_issue("spec.method")),
            None => None,
        });
        issues.extend(spec.amount.positive_issue("spec.amount", cx));
        issues.extend(first_amount_issue(spec, cx));
        issues.extend(spec.description.as_deref().and_then(description_issue));
        let account = spec.account.as_deref();
        issues.extend(account.and_then(|one| text::not_blank("spec.account", one, "Operating")));
        issues.extend(spec.max_occurrences.and_then(max_occurrences_issue));
        let most = spec.max_amount.as_ref();
        issues.extend(most.and_then(|most| max_amount_issue(spec, most, cx)));
        issues.extend(spec.schedule.issues(spec.first_charge == FirstCharge::Now));
        issues.extend(surcharge_issue(spec));
        issues.extend(from_charge_issues(spec));
        issues.extend(spec.reference.issue(
            "spec.reference",
            "reckon keeps its mark in `reference`, to find the charge again",
            "leave it out; a text of your own goes into `description`",
        ));
        issues
    }

    fn references(spec: &RecurringChargeSpec, namespace: &Name) -> Vec<Reference> {
        let merchant = (text::MERCHANT_FIELD, MerchantKind::NAME, Some(&*spec.merchant));
        let method = ("spec.method", SavedMethodKind::NAME, spec.method.as_deref());
        text::references(&[merchant, method], namespace)
    }

    fn check_links(
        manifest: &PackedManifest,
        desired: &Desired,
    ) -> Result<Vec<Issue>, serde_json::Error> {
        Ok(text::same_merchant_issue(manifest, "spec.method", desired).into_iter().collect())
    }
}
