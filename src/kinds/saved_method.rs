//! Saved method: a card or bank account that the service keeps and that charges can use
//! (gateway-api, Saved cards, Saved banks). Its YAML shape, and its checks without the service.

#[cfg(test)]
mod bank_tests;
pub mod details;
#[cfg(test)]
mod intake_tests;
pub(crate) mod source;
pub(crate) mod step;
#[cfg(test)]
mod step_tests;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::rules::REFERENCE_LENGTH_MAX;
use crate::base::id::Name;
use crate::effects::methods::PaymentMethodType;
use crate::kinds::merchant::MerchantKind;
use crate::kinds::saved_method::source::MethodSourceSpec;
use crate::kinds::schema::kind::{CheckCx, Example, Examples, SpecField, SpecSchema, spec_fields};
use crate::kinds::schema::text;
use crate::kinds::schema::values::RefusedField;
use crate::kinds::secrets::secret_source::FORMS;
use crate::model::issue::Issue;
use crate::model::manifest::{Desired, Manifest, PackedManifest, Reference};

const SOURCE: &str = "spec.source";

#[derive(Debug, Clone, Copy)]
pub struct SavedMethodKind;

/// Saved card or bank account of a merchant (gateway-api, POST /v1/cards, POST /v1/banks).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Spec")]
pub struct SavedMethodSpec {
    pub merchant: String,
    #[serde(rename = "type")]
    pub method_type: PaymentMethodType,
    pub source: MethodSourceSpec,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing)]
    pub reference: RefusedField,
}

impl SpecSchema for SavedMethodKind {
    const NAME: &'static str = "SavedMethod";
    /// The parts of the source that the service keeps change only by a token (gateway-api, PATCH
    /// /v1/cards/{cardId}, PATCH /v1/banks/{bankId}).
    const FIELDS: &'static [SpecField] = spec_fields! {
        Plain Immutable "merchant": "The merchant that the method belongs to, NAME or NAMESPACE/NAME (design, Files).";
        Plain Immutable "type": "`card` or `bank` (gateway-api, Payment method in a request).";
        Plain ReplaceByToken "source": "Source of the data: a mapping that fits `type`, or `intake`, where the payer enters it on a page of ours or `reckon attach` supplies a one-time token (design, Files).";
        Plain ReplaceByToken "source.card": "A card (gateway-api, Saved cards).";
        Secret ReplaceByToken "source.card.number": "`{env: NAME}`, `{file: NAME}`, or a published test number under a merchant in test mode (gateway-api, POST /v1/cards).";
        Plain ReplaceByToken "source.card.exp_month": "Month of expiry, 1 to 12 (gateway-api, POST /v1/cards).";
        Plain ReplaceByToken "source.card.exp_year": "Year of expiry, two or four digits (gateway-api, POST /v1/cards; service-facts, 31).";
        Personal ReplaceByToken "source.card.name": "The holder, at most 64 characters (gateway-api, Saved card; service-facts, 31).";
        Personal ReplaceByToken "source.card.address1": "Street and number, at most 64 characters (gateway-api, Saved card; service-facts, 31).";
        Personal ReplaceByToken "source.card.city": "City, at most 64 characters (gateway-api, Saved card; service-facts, 31).";
        Personal ReplaceByToken "source.card.state": "State or province (gateway-api, Saved card).";
        Personal ReplaceByToken "source.card.postal_code": "3 to 9 letters and digits (gateway-api, Saved card; service-facts, 31).";
        Plain ReplaceByToken "source.bank": "A bank account (gateway-api, Saved banks).";
        Plain ReplaceByToken "source.bank.routing_number": "Nine digits, the last of which checks the others (gateway-api, POST /v1/banks).";
        Secret ReplaceByToken "source.bank.account_number": "`{env: NAME}`, `{file: NAME}`, or, with a published test routing number under a merchant in test mode, 4 to 17 digits (gateway-api, POST /v1/banks; service-facts, 31).";
        Plain ReplaceByToken "source.bank.account_type": "`CHECKING` or `SAVINGS` (gateway-api, Payment method in a request).";
        Plain ReplaceByToken "source.bank.account_holder_type": "`business`, beside `name`; left out for an individual (gateway-api, Payment method in a request).";
        Personal ReplaceByToken "source.bank.name": "The name of a business, at most 64 characters (gateway-api, Saved bank; service-facts, 31).";
        Personal ReplaceByToken "source.bank.given_name": "An individual's given name, at most 64 characters (gateway-api, Payment method in a request).";
        Personal ReplaceByToken "source.bank.surname": "An individual's family name, at most 64 characters (gateway-api, Payment method in a request).";
        Plain InPlace "description": "A text of the merchant's own, at most 64 characters (gateway-api, PATCH /v1/cards, PATCH /v1/banks; service-facts, 31).";
    };
    const EXAMPLES: Examples = &[
        ("merchant", Example::Merchant),
        ("type", Example::Yaml("card")),
        ("source", Example::Yaml("intake")),
    ];
    type Spec = SavedMethodSpec;

    fn check(spec: &SavedMethodSpec, _cx: &CheckCx) -> Vec<Issue> {
        let SavedMethodSpec { merchant, method_type, source, description, reference } = spec;
        let mut issues = Vec::new();
        issues.extend(text::reference_issue("spec.merchant", MerchantKind::NAME, merchant));
        issues.extend(source_issues(*method_type, source).filter(|_| !source.is_empty()));
        issues.extend(source.card().map(details::card_issues).unwrap_or_default());
        issues.extend(source.bank().map(details::bank_issues).unwrap_or_default());
        let length = |one: &str| text::at_most("spec.description", one, REFERENCE_LENGTH_MAX);
        issues.extend(description.as_deref().and_then(length));
        issues.extend(reference.issue(
            "spec.reference",
            "reckon keeps its mark in `reference`, to find the method again",
            "leave it out; a text of your own goes into `description`",
        ));
        issues
    }

    fn references(spec: &SavedMethodSpec, namespace: &Name) -> Vec<Reference> {
        let merchant = (text::MERCHANT_FIELD, MerchantKind::NAME, Some(&*spec.merchant));
        text::references(&[merchant], namespace)
    }

    fn check_links(
        manifest: &PackedManifest,
        desired: &Desired,
    ) -> Result<Vec<Issue>, serde_json::Error> {
        let spec: SavedMethodSpec = manifest.spec.unpack_as()?;
        let empty = spec.source.is_empty() && manifest.annotations.adopts.is_none();
        let empty = Some(&spec.source).filter(|_| empty);
        let empty = empty.and_then(|source| source_issues(spec.method_type, source));
        let merchant = text::referenced_manifest(manifest, "spec.merchant", desired);
        let mode = |merchant: &Manifest| merchant.spec.get("mode").cloned();
        let live = merchant.filter(|merchant| mode(merchant) != Some("test".into()));
        let issue = live.zip(spec.source.literal()).map(|(merchant, (path, _))| {
            let message = format!("a test number cannot be saved: {} is live", merchant.key);
            let help = format!("write {FORMS}, or use a merchant in test mode");
            Issue::error("reckon::saved_method::test_number_live", path, message, help)
                .with_related(Some(merchant.key.clone()), "spec.mode", "the merchant is live")
        });
        Ok(issue.into_iter().chain(empty).collect())
    }
}

/// Checks that the source matches the type, and holds nothing else.
fn source_issues(method_type: PaymentMethodType, source: &MethodSourceSpec) -> Option<Issue> {
    if *source == MethodSourceSpec::Intake {
        return None;
    }
    let wanted = method_type.word();
    let (path, message) = match (method_type, source.card(), source.bank()) {
        (PaymentMethodType::Card, Some(_), None) | (PaymentMethodType::Bank, None, Some(_)) => {
            return None;
        }
        (_, None, None) => (SOURCE.to_owned(), format!("the source has no `{wanted}`")),
        (PaymentMethodType::Card, _, Some(_)) => {
            (format!("{SOURCE}.bank"), "a `card` has no bank account as its source".to_owned())
        }
        (PaymentMethodType::Bank, Some(_), _) => {
            (format!("{SOURCE}.card"), "a `bank` has no card as its source".to_owned())
        }
    };
    let help = format!("write `source: {{{wanted}: …}}` alone, or another `type`");
    let issue = Issue::error("reckon::saved_method::source", &path, message, help);
    Some(issue.with_related(None, "spec.type", format!("the method is a `{wanted}`")))
}
