//! YAML shape of a saved method, and its checks without the service.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::source::MethodSourceSpec;
use super::{bank, card, fields};
use crate::api::rules::REFERENCE_LENGTH_MAX;
use crate::base::id::Name;
use crate::effects::methods::method::PaymentMethodType;
use crate::kinds::merchant::shape::MerchantKind;
use crate::kinds::schema::kind::{CheckCx, Find, SpecField, SpecSchema};
use crate::kinds::schema::refused_field::RefusedField;
use crate::kinds::schema::{reference, text};
use crate::kinds::secrets::secret_source::FORMS;
use crate::model::issue::Issue;
use crate::model::manifest::{Manifest, Reference};

const SOURCE: &str = "spec.source";

#[derive(Debug, Clone, Copy)]
pub struct SavedMethodKind;

/// Saved card or bank account of a merchant (gateway-api, POST /v1/cards, POST /v1/banks).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Spec")]
pub struct SavedMethodSpec {
    /// The merchant that the method belongs to.
    pub merchant: String,
    /// `card` or `bank`.
    #[serde(rename = "type")]
    pub method_type: PaymentMethodType,
    /// The source of the method's details.
    pub source: MethodSourceSpec,
    /// A text of the merchant's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Not accepted: carries the mark.
    #[serde(default, skip_serializing)]
    pub reference: RefusedField,
}

impl SpecSchema for SavedMethodKind {
    const NAME: &'static str = "SavedMethod";
    const FIELDS: &'static [SpecField] = fields::FIELDS;
    type Spec = SavedMethodSpec;

    fn check(spec: &SavedMethodSpec, _cx: &CheckCx) -> Vec<Issue> {
        let SavedMethodSpec { merchant, method_type, source, description, reference } = spec;
        let mut issues = Vec::new();
        issues.extend(reference::issue("spec.merchant", MerchantKind::NAME, merchant));
        issues.extend(source_issues(*method_type, source).filter(|_| !source.is_empty()));
        issues.extend(source.card().map(card::issues).unwrap_or_default());
        issues.extend(source.bank().map(bank::issues).unwrap_or_default());
        let description = description.as_deref();
        issues.extend(
            description
                .and_then(|one| text::at_most("spec.description", one, REFERENCE_LENGTH_MAX)),
        );
        issues.extend(reference.issue(
            "spec.reference",
            "reckon keeps its mark in `reference`, to find the method again",
            "leave it out; a text of your own goes into `description`",
        ));
        issues
    }

    fn references(spec: &SavedMethodSpec, namespace: &Name) -> Vec<Reference> {
        reference::read("spec.merchant", MerchantKind::NAME, &spec.merchant, namespace)
            .into_iter()
            .collect()
    }

    fn check_links(spec: &SavedMethodSpec, manifest: &Manifest, find: Find<'_>) -> Vec<Issue> {
        let empty = spec.source.is_empty() && manifest.annotations.adopts.is_none();
        let empty = Some(&spec.source).filter(|_| empty);
        let empty = empty.and_then(|source| source_issues(spec.method_type, source));
        let merchant = reference::target(manifest, "spec.merchant", find);
        let live = merchant.filter(|merchant| !reference::is_test(merchant));
        let issue = live.zip(spec.source.literal()).map(|(merchant, (path, _))| {
            let message = format!("a test number cannot be saved: {} is live", merchant.key);
            let help = format!("write {FORMS}, or use a merchant in test mode");
            Issue::error("reckon::saved_method::test_number_live", path, message, help)
                .with_related(Some(merchant.key.clone()), "spec.mode", "the merchant is live")
        });
        issue.into_iter().chain(empty).collect()
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
