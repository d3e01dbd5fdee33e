//! Contact: the person that invoices are sent to (partner-api, Contact). Its YAML shape, its checks
//! without the service, and its steps: it is created once, and the service can never change it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::Name;
use crate::base::secret::Personal;
use crate::effects::invoices::create_contact;
use crate::kinds::merchant::MerchantKind;
use crate::kinds::planning::object_step::{ObjectEffects, plan_object, refuse_change};
use crate::kinds::planning::step::{StepCx, StepDecision, ready_state};
use crate::kinds::row::KindRow;
use crate::kinds::schema::kind::{CheckCx, Example, Examples, SpecField, SpecSchema, spec_fields};
use crate::kinds::schema::text;
use crate::kinds::schema::values::RefusedField;
use crate::model::issue::Issue;
use crate::model::manifest::{Desired, Manifest, PackedManifest, Reference};
use crate::model::state::observed::Observed;

#[derive(Debug, Clone, Copy)]
pub struct ContactKind;

/// Contact of a merchant, who receives invoices (partner-api, POST /contacts).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Spec")]
pub struct ContactSpec {
    pub merchant: String,
    #[serde(serialize_with = "text::serialize_exposed")]
    pub first_name: Personal,
    #[serde(serialize_with = "text::serialize_exposed")]
    pub last_name: Personal,
    pub email_addresses: Vec<EmailAddressSpec>,
    #[serde(default, skip_serializing)]
    pub test_mode: RefusedField,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "EmailAddress")]
pub struct EmailAddressSpec {
    #[serde(serialize_with = "text::serialize_exposed")]
    pub address: Personal,
}

impl SpecSchema for ContactKind {
    const NAME: &'static str = "Contact";
    const FIELDS: &'static [SpecField] = spec_fields! {
        Plain Immutable "merchant": "The merchant that the contact belongs to, NAME or NAMESPACE/NAME (design, Files).";
        Personal Immutable "first_name": "Given name (partner-api, POST /contacts).";
        Personal Immutable "last_name": "Family name (partner-api, POST /contacts).";
        Personal Immutable "email_addresses": "A list of at least one `{address: …}` (partner-api, POST /contacts).";
        Personal Immutable "email_addresses[].address": "An e-mail address (partner-api, Contact).";
    };
    const EXAMPLES: Examples = &[
        ("merchant", Example::Merchant),
        ("first_name", Example::Yaml("Jane")),
        ("last_name", Example::Yaml("Doe")),
        ("email_addresses[].address", Example::Yaml("jane@example.com")),
    ];
    type Spec = ContactSpec;

    fn check(spec: &ContactSpec, _cx: &CheckCx) -> Vec<Issue> {
        let ContactSpec { merchant, first_name, last_name, email_addresses, test_mode } = spec;
        let mut issues = Vec::new();
        issues.extend(text::reference_issue("spec.merchant", MerchantKind::NAME, merchant));
        issues.extend(text::not_blank("spec.first_name", first_name.expose(), "Jane"));
        issues.extend(text::not_blank("spec.last_name", last_name.expose(), "Doe"));
        issues.extend(addresses(email_addresses));
        issues.extend(test_mode.issue(
            "spec.test_mode",
            "the merchant's mode decides whether a contact is for tests",
            "leave it out, or write `mode` in the merchant",
        ));
        issues
    }

    fn references(spec: &ContactSpec, namespace: &Name) -> Vec<Reference> {
        let merchant = (text::MERCHANT_FIELD, MerchantKind::NAME, Some(&*spec.merchant));
        text::references(&[merchant], namespace)
    }

    fn check_links(
        manifest: &PackedManifest,
        desired: &Desired,
    ) -> Result<Vec<Issue>, serde_json::Error> {
        Ok(text::bearer_token_issue(manifest, "a contact", desired).into_iter().collect())
    }
}

fn addresses(list: &[EmailAddressSpec]) -> Vec<Issue> {
    if list.is_empty() {
        let help = "write at least one, such as `[{address: jane@example.com}]`";
        let message = "the service wants an e-mail address";
        let code = "reckon::contact::no_address";
        return vec![Issue::error(code, "spec.email_addresses", message, help)];
    }
    let issues = list.iter().enumerate().filter_map(|(index, one)| {
        text::email(&format!("spec.email_addresses[{index}].address"), &one.address)
    });
    issues.collect()
}

pub(crate) const ROW: KindRow = KindRow {
    is_adoptable: true,
    has_doubtful_creation: true,
    ..KindRow::new::<ContactKind>(step)
};

fn step(cx: &StepCx<'_>, manifest: &Manifest, have: Option<&Observed>) -> StepDecision {
    let kind = ObjectEffects {
        create: &|new| {
            ready_state(cx, &new.merchant)?;
            Ok(create_contact(new, &manifest.spec))
        },
        change: &refuse_change,
        money: Vec::new(),
        unready: &|_| None,
    };
    plan_object(cx, ContactKind::FIELDS, manifest, have, &kind)
}

#[cfg(test)]
mod tests;
