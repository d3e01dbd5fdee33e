//! What a saved method looks like in YAML, and what can be checked about it without the service.
//!
//! A card number stands in the open only where the service publishes it for tests, and only under a
//! merchant in test mode. There is no security code anywhere: nothing may keep one.

use serde::{Deserialize, Serialize, Serializer};

use crate::api::rules::{NAME_LENGTH_MAX, REFERENCE_LENGTH_MAX};
use crate::base::card::{CardNumber, is_published_test_number};
use crate::base::id::Name;
use crate::base::secret::Personal;
use crate::kinds::merchant::Merchant;
use crate::kinds::refused::Refused;
use crate::kinds::secret_source::SecretSource;
use crate::kinds::whole::Whole;
use crate::kinds::{Change, CheckCx, Field, Find, Privacy, Shape, reference, text};
use crate::model::issue::Issue;
use crate::model::manifest::{Manifest, Reference};

/// Years that a card can name with four digits.
const YEARS: std::ops::RangeInclusive<u32> = 2000..=2099;
/// The century that two digits leave out.
const CENTURY: u32 = 2000;

const NUMBER: &str = "spec.source.card.number";

/// The kind `SavedMethod`.
#[derive(Debug, Clone, Copy)]
pub struct SavedMethod;

/// What a saved method should be (gateway-api, POST /v1/cards).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The merchant that it belongs to.
    pub merchant: String,
    /// What sort of method.
    #[serde(rename = "type")]
    pub method_type: MethodType,
    /// Where its data comes from.
    pub source: Source,
    /// A text of the merchant's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Carries the mark.
    #[serde(default, skip_serializing)]
    pub reference: Refused,
}

/// What sort of method (gateway-api, Payment method in a request).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MethodType {
    /// A payment card.
    Card,
}

/// Where the method's data comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// A card written here.
    pub card: Card,
}

/// A card (gateway-api, Saved card).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// 12 to 19 digits.
    pub number: SecretSource,
    /// 1 to 12.
    pub exp_month: Whole,
    /// Two or four digits; canonical four.
    #[serde(serialize_with = "four_digits")]
    pub exp_year: Whole,
    /// The holder.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "text::exposed_option"
    )]
    pub name: Option<Personal>,
    /// Street and number.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "text::exposed_option"
    )]
    pub address1: Option<Personal>,
    /// City.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "text::exposed_option"
    )]
    pub city: Option<Personal>,
    /// State or province.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "text::exposed_option"
    )]
    pub state: Option<Personal>,
    /// Postal code.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "text::exposed_option"
    )]
    pub postal_code: Option<Personal>,
}

/// A year of two digits is of this century; any other number stays.
fn full_year(year: Whole) -> u32 {
    if year.0 < 100 { year.0.saturating_add(CENTURY) } else { year.0 }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field by reference")]
fn four_digits<S: Serializer>(year: &Whole, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u32(full_year(*year))
}

const fn never(path: &'static str, privacy: Privacy, doc: &'static str) -> Field {
    Field { path, privacy, change: Change::Never, doc }
}

impl Shape for SavedMethod {
    const NAME: &'static str = "SavedMethod";
    const FIELDS: &'static [Field] = &[
        never(
            "merchant",
            Privacy::Plain,
            "The merchant that the method belongs to, NAME or NAMESPACE/NAME (design, Files).",
        ),
        never("type", Privacy::Plain, "`card` (gateway-api, Payment method in a request)."),
        never("source", Privacy::Plain, "Where the data comes from (design, Files)."),
        never("source.card", Privacy::Plain, "A card (gateway-api, Saved cards)."),
        never(
            "source.card.number",
            Privacy::Secret,
            "`{env: NAME}`, `{file: NAME}`, or a published test number under a merchant in test mode (gateway-api, POST /v1/cards).",
        ),
        never(
            "source.card.exp_month",
            Privacy::Plain,
            "Month of expiry, 1 to 12 (gateway-api, POST /v1/cards).",
        ),
        never(
            "source.card.exp_year",
            Privacy::Plain,
            "Year of expiry, two or four digits (gateway-api, POST /v1/cards; service-facts, 31).",
        ),
        never(
            "source.card.name",
            Privacy::Personal,
            "The holder, at most 64 characters (gateway-api, Saved card; service-facts, 31).",
        ),
        never(
            "source.card.address1",
            Privacy::Personal,
            "Street and number, at most 64 characters (gateway-api, Saved card; service-facts, 31).",
        ),
        never(
            "source.card.city",
            Privacy::Personal,
            "City, at most 64 characters (gateway-api, Saved card; service-facts, 31).",
        ),
        never(
            "source.card.state",
            Privacy::Personal,
            "State or province (gateway-api, Saved card).",
        ),
        never(
            "source.card.postal_code",
            Privacy::Personal,
            "3 to 9 letters and digits (gateway-api, Saved card; service-facts, 31).",
        ),
        Field {
            path: "description",
            privacy: Privacy::Plain,
            change: Change::InPlace,
            doc: "A text of the merchant's own, at most 64 characters (gateway-api, PATCH /v1/cards; service-facts, 31).",
        },
    ];
    type Spec = Spec;

    fn check(spec: &Spec, _cx: &CheckCx) -> Vec<Issue> {
        let Spec { merchant, method_type: MethodType::Card, source, description, reference } = spec;
        let mut issues = Vec::new();
        issues.extend(reference::issue("spec.merchant", Merchant::NAME, merchant));
        issues.extend(card_issues(&source.card));
        let description = description.as_deref();
        issues.extend(
            description.and_then(|one| text::short("spec.description", one, REFERENCE_LENGTH_MAX)),
        );
        issues.extend(reference.issue(
            "spec.reference",
            "reckon keeps its mark in `reference`, to find the method again",
            "leave it out; a text of your own goes into `description`",
        ));
        issues
    }

    fn references(spec: &Spec, namespace: &Name) -> Vec<Reference> {
        reference::read("spec.merchant", Merchant::NAME, &spec.merchant, namespace)
            .into_iter()
            .collect()
    }

    fn check_links(spec: &Spec, manifest: &Manifest, find: Find<'_>) -> Vec<Issue> {
        let merchant = reference::target(manifest, "spec.merchant", find);
        let live = merchant.filter(|merchant| !reference::is_test(merchant));
        let open = live.filter(|_| spec.source.card.number.literal().is_some());
        let issue =
            open.map(|merchant| {
                let message = format!("a test number cannot be saved: {} is live", merchant.key);
                let help = "write `{env: NAME}` or `{file: NAME}`, or use a merchant in test mode";
                Issue::error("reckon::saved_method::test_number_live", NUMBER, message, help)
                    .related(Some(merchant.key.clone()), "spec.mode", "the merchant is live")
            });
        issue.into_iter().collect()
    }
}

fn card_issues(card: &Card) -> Vec<Issue> {
    let Card { number, exp_month, exp_year, name, address1, city, state, postal_code } = card;
    let mut issues = Vec::new();
    issues.extend(number.issue(NUMBER).or_else(|| literal_issue(number)));
    issues.extend(month_issue(*exp_month));
    issues.extend(year_issue(*exp_year));
    let texts = [("name", name), ("address1", address1), ("city", city), ("state", state)];
    issues.extend(texts.into_iter().filter_map(|(field, text)| {
        let path = format!("spec.source.card.{field}");
        text::short(&path, text.as_ref()?.expose(), NAME_LENGTH_MAX)
    }));
    let code = postal_code.as_ref().map(Personal::expose);
    issues.extend(code.and_then(|code| text::postal_code("spec.source.card.postal_code", code)));
    issues
}

/// The digits are not repeated.
fn literal_issue(number: &SecretSource) -> Option<Issue> {
    let digits = number.literal()?.expose();
    if is_published_test_number(digits) {
        return None;
    }
    let help = "write `{env: NAME}` or `{file: NAME}`, or one of the test numbers that the service publishes";
    let (code, message) = match CardNumber::parse(digits).err() {
        Some(error) => ("reckon::saved_method::number_malformed", error.to_string()),
        None => (
            "reckon::saved_method::number_in_the_open",
            "a card number stands here in the open".to_owned(),
        ),
    };
    Some(Issue::error(code, NUMBER, message, help))
}

fn month_issue(month: Whole) -> Option<Issue> {
    (!(1..=12).contains(&month.0)).then(|| {
        let message = format!("a year has no month {}", month.0);
        let path = "spec.source.card.exp_month";
        Issue::error("reckon::saved_method::exp_month", path, message, "write 1 to 12")
    })
}

fn year_issue(year: Whole) -> Option<Issue> {
    (!YEARS.contains(&full_year(year))).then(|| {
        let message = format!("{} is no year that a card expires in", year.0);
        let path = "spec.source.card.exp_year";
        let help = "write two or four digits, such as `2031`";
        Issue::error("reckon::saved_method::exp_year", path, message, help)
    })
}
