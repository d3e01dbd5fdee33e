//! YAML shape of a recurring charge, and its checks without the service.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::checks;
use super::fields::FIELDS;
use super::schedule::ScheduleSpec;
use crate::base::id::Name;
use crate::kinds::merchant::MerchantKind;
use crate::kinds::saved_method::shape::SavedMethodKind;
use crate::kinds::schema::amount::Amount;
use crate::kinds::schema::kind::{CheckCx, Find, SpecField, SpecSchema};
use crate::kinds::schema::refused_field::RefusedField;
use crate::kinds::schema::whole_number::WholeNumber;
use crate::kinds::schema::{reference, text};
use crate::model::spec::issue::Issue;
use crate::model::spec::manifest::{Manifest, Reference};

#[derive(Debug, Clone, Copy)]
pub struct RecurringChargeKind;

/// Recurring charge, which a saved method pays by a schedule (gateway-api, POST
/// /v1/recurring/charges, POST /v1/charges with `recur`, POST /v1/charges/{chargeId}/schedule).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Spec")]
pub struct RecurringChargeSpec {
    /// The merchant that is paid.
    pub merchant: String,
    /// The saved method that pays; none with `from_charge`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The amount of each occurrence.
    pub amount: Amount,
    /// The amount of the first charge, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_amount: Option<Amount>,
    /// A text of the merchant's own; reckon adds its mark when the text is sent. The documents name
    /// no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The account that is paid, by its name or id; left out, the primary one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// Scheduled payments after which the charge is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_occurrences: Option<WholeNumber>,
    /// The total after which the charge is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_amount: Option<Amount>,
    /// The due dates of payments.
    pub schedule: ScheduleSpec,
    /// The time of the first payment.
    #[serde(default, skip_serializing_if = "FirstCharge::is_scheduled")]
    pub first_charge: FirstCharge,
    /// `apply` adds a surcharge to a charge made now.
    #[serde(default, skip_serializing_if = "Surcharge::is_none")]
    pub surcharge: Surcharge,
    /// The earlier charge whose method and customer are used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_charge: Option<String>,
    /// Not accepted: carries the mark.
    #[serde(default, skip_serializing)]
    pub reference: RefusedField,
}

/// The time of the first payment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FirstCharge {
    /// On the first date of the schedule.
    #[default]
    Scheduled,
    /// When the recurring charge is created.
    Now,
}

/// Surcharge on a charge made now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Surcharge {
    /// Adds nothing.
    #[default]
    None,
    /// Adds the merchant's surcharge, as the service computes it.
    Apply,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands the field by reference")]
impl FirstCharge {
    fn is_scheduled(&self) -> bool {
        *self == Self::Scheduled
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands the field by reference")]
impl Surcharge {
    fn is_none(&self) -> bool {
        *self == Self::None
    }
}

impl SpecSchema for RecurringChargeKind {
    const NAME: &'static str = "RecurringCharge";
    const FIELDS: &'static [SpecField] = FIELDS;
    type Spec = RecurringChargeSpec;

    fn check(spec: &RecurringChargeSpec, cx: &CheckCx) -> Vec<Issue> {
        let mut issues = Vec::new();
        issues.extend(reference::issue("spec.merchant", MerchantKind::NAME, &spec.merchant));
        issues.extend(match &spec.method {
            Some(method) => reference::issue("spec.method", SavedMethodKind::NAME, method),
            None if spec.from_charge.is_none() => Some(checks::missing_field_issue("spec.method")),
            None => None,
        });
        issues.extend(spec.amount.positive_issue("spec.amount", cx));
        issues.extend(checks::first_amount_issue(spec, cx));
        issues.extend(spec.description.as_deref().and_then(checks::description_issue));
        let account = spec.account.as_deref();
        issues.extend(account.and_then(|one| text::not_blank("spec.account", one, "Operating")));
        issues.extend(spec.max_occurrences.and_then(checks::max_occurrences_issue));
        let most = spec.max_amount.as_ref();
        issues.extend(most.and_then(|most| checks::max_amount_issue(spec, most, cx)));
        issues.extend(spec.schedule.issues(spec.first_charge == FirstCharge::Now));
        issues.extend(checks::surcharge_issue(spec));
        issues.extend(checks::from_charge_issues(spec));
        issues.extend(spec.reference.issue(
            "spec.reference",
            "reckon keeps its mark in `reference`, to find the charge again",
            "leave it out; a text of your own goes into `description`",
        ));
        issues
    }

    fn references(spec: &RecurringChargeSpec, namespace: &Name) -> Vec<Reference> {
        let merchant =
            reference::read("spec.merchant", MerchantKind::NAME, &spec.merchant, namespace);
        let method = spec.method.as_deref();
        let method = method.and_then(|name| {
            reference::read("spec.method", SavedMethodKind::NAME, name, namespace)
        });
        merchant.into_iter().chain(method).collect()
    }

    fn check_links(_spec: &RecurringChargeSpec, manifest: &Manifest, find: Find<'_>) -> Vec<Issue> {
        reference::same_merchant(manifest, "spec.method", find).into_iter().collect()
    }
}
