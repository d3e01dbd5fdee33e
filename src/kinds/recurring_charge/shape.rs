//! What a recurring charge looks like in YAML, and what can be checked about it without the service.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::schedule::ScheduleSpec;
use crate::base::hash::Mark;
use crate::base::id::Name;
use crate::base::money::Money;
use crate::kinds::amount::Amount;
use crate::kinds::merchant::Merchant;
use crate::kinds::refused::Refused;
use crate::kinds::saved_method::SavedMethod;
use crate::kinds::whole::Whole;
use crate::kinds::{Change, CheckCx, Field, Find, Privacy, Shape, reference, text};
use crate::model::issue::Issue;
use crate::model::manifest::{Manifest, Reference};

/// The kind `RecurringCharge`.
#[derive(Debug, Clone, Copy)]
pub struct RecurringCharge;

/// What a recurring charge should be (gateway-api, POST /v1/recurring/charges).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The merchant that is paid.
    pub merchant: String,
    /// The saved method that pays.
    pub method: String,
    /// What each occurrence collects.
    pub amount: Amount,
    /// A text of the merchant's own; the mark is added to it when it is sent. The documents name no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The account that is paid, its name or id; left out, the primary one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// Scheduled payments after which it is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_occurrences: Option<Whole>,
    /// What to collect before it is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_amount: Option<Amount>,
    /// When payments are due.
    pub schedule: ScheduleSpec,
    /// Carries the mark.
    #[serde(default, skip_serializing)]
    pub reference: Refused,
}

const fn plain(path: &'static str, change: Change, doc: &'static str) -> Field {
    Field { path, privacy: Privacy::Plain, change, doc }
}

impl Shape for RecurringCharge {
    const NAME: &'static str = "RecurringCharge";
    const FIELDS: &'static [Field] = &[
        plain(
            "merchant",
            Change::Never,
            "The merchant that is paid, NAME or NAMESPACE/NAME (design, Files).",
        ),
        plain(
            "method",
            Change::Never,
            "The saved method that pays, NAME or NAMESPACE/NAME (gateway-api, POST /v1/recurring/charges).",
        ),
        plain(
            "amount",
            Change::InPlace,
            "What each occurrence collects, such as `\"50.00 USD\"` (gateway-api, Recurring charge).",
        ),
        plain(
            "description",
            Change::InPlace,
            "A text of the merchant's own (gateway-api, Recurring charge).",
        ),
        plain(
            "account",
            Change::Never,
            "The account that is paid, its name or id; left out, the primary one (gateway-api, POST /v1/recurring/charges, account_id).",
        ),
        plain(
            "max_occurrences",
            Change::InPlace,
            "Scheduled payments after which it is complete (gateway-api, recur object).",
        ),
        plain(
            "max_amount",
            Change::InPlace,
            "What to collect before it is complete, at least `amount` (gateway-api, recur object).",
        ),
        plain("schedule", Change::InPlace, "When payments are due (gateway-api, recur object)."),
        plain(
            "schedule.start",
            Change::InPlace,
            "The first date that may be due, `YYYY-MM-DD`; not the day of creation (gateway-api, POST /v1/recurring/charges).",
        ),
        plain(
            "schedule.interval_unit",
            Change::InPlace,
            "`DAY`, `WEEK` or `MONTH` (service-facts, 58).",
        ),
        plain(
            "schedule.interval_delay",
            Change::InPlace,
            "1 for every unit, 2 for every other (gateway-api, recur object).",
        ),
        plain(
            "schedule.end",
            Change::InPlace,
            "The last date that may be due, `YYYY-MM-DD` (gateway-api, recur object).",
        ),
        plain(
            "schedule.days",
            Change::InPlace,
            "With every WEEK `\"1\"` (Monday) to `\"7\"`, with every MONTH `\"1\"` to `\"31\"` and `LAST` (gateway-api, recur object).",
        ),
    ];
    type Spec = Spec;

    fn check(spec: &Spec, cx: &CheckCx) -> Vec<Issue> {
        let mut issues = Vec::new();
        issues.extend(reference::issue("spec.merchant", Merchant::NAME, &spec.merchant));
        issues.extend(reference::issue("spec.method", SavedMethod::NAME, &spec.method));
        issues.extend(spec.amount.positive_issue("spec.amount", cx));
        issues.extend(spec.description.as_deref().and_then(description_issue));
        let account = spec.account.as_deref();
        issues.extend(account.and_then(|one| text::filled("spec.account", one, "Operating")));
        issues.extend(spec.max_occurrences.and_then(max_occurrences_issue));
        issues.extend(spec.max_amount.as_ref().and_then(|max| max_amount_issue(spec, max, cx)));
        issues.extend(spec.schedule.issues());
        issues.extend(spec.reference.issue(
            "spec.reference",
            "reckon keeps its mark in `reference`, to find the charge again",
            "leave it out; a text of your own goes into `description`",
        ));
        issues
    }

    fn references(spec: &Spec, namespace: &Name) -> Vec<Reference> {
        let merchant = reference::read("spec.merchant", Merchant::NAME, &spec.merchant, namespace);
        let method = reference::read("spec.method", SavedMethod::NAME, &spec.method, namespace);
        merchant.into_iter().chain(method).collect()
    }

    fn check_links(_spec: &Spec, manifest: &Manifest, find: Find<'_>) -> Vec<Issue> {
        reference::same_merchant(manifest, "spec.method", find).into_iter().collect()
    }
}

fn description_issue(description: &str) -> Option<Issue> {
    Mark::find_in(description).map(|mark| {
        let message = format!("the description ends in `[{mark}]`, which reckon adds itself");
        let help = "leave the mark out";
        Issue::error("reckon::recurring_charge::mark", "spec.description", message, help)
    })
}

fn max_occurrences_issue(max: Whole) -> Option<Issue> {
    (max.0 == 0).then(|| {
        let help = "write 1 or more, or leave it out";
        let path = "spec.max_occurrences";
        Issue::error(
            "reckon::recurring_charge::max_occurrences",
            path,
            "no payment is allowed",
            help,
        )
    })
}

fn max_amount_issue(spec: &Spec, max: &Amount, cx: &CheckCx) -> Option<Issue> {
    const PATH: &str = "spec.max_amount";
    if let Some(issue) = max.issue(PATH, cx) {
        return Some(issue);
    }
    let currency = spec.amount.currency.or(max.currency).unwrap_or(cx.currency);
    let (amount, max): (Money, Money) = (spec.amount.read(currency)?, max.read(currency)?);
    let (code, message, help) = if amount.currency() != max.currency() {
        (
            "reckon::recurring_charge::mixed_currencies",
            format!("this is in {}, and the amount in {}", max.currency(), amount.currency()),
            "write the same currency".to_owned(),
        )
    } else if max.minor() < amount.minor() {
        (
            "reckon::recurring_charge::max_amount",
            format!("the total, {max}, is less than one payment, {amount}"),
            format!("write {amount} or more, or leave it out"),
        )
    } else {
        return None;
    };
    Some(Issue::error(code, PATH, message, help).related(None, "spec.amount", "one payment"))
}
