//! Card of a spec, and its checks without the service.
//!
//! A number may be in plain text only if the service publishes it for tests. No field holds a
//! security code, since storing one is forbidden.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_with::skip_serializing_none;

use crate::api::rules::NAME_LENGTH_MAX;
use crate::base::card::{CardNumber, is_published_test_number};
use crate::base::secret::Personal;
use crate::kinds::schema::text;
use crate::kinds::schema::whole_number::WholeNumber;
use crate::kinds::secrets::secret_source::{FORMS, SecretSource};
use crate::model::issue::Issue;

/// Years that a card can name with four digits.
const YEARS: std::ops::RangeInclusive<u32> = 2000..=2099;
/// The century that two digits leave out.
const CENTURY: u32 = 2000;

/// Path of the number.
pub(super) const NUMBER: &str = "spec.source.card.number";

/// A card (gateway-api, Saved card).
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// 12 to 19 digits.
    pub number: SecretSource,
    /// The month of expiry, 1 to 12.
    pub exp_month: WholeNumber,
    /// The year of expiry, two or four digits; canonical four.
    #[serde(serialize_with = "four_digits")]
    pub exp_year: WholeNumber,
    /// The holder.
    #[serde(serialize_with = "text::serialize_exposed_option")]
    pub name: Option<Personal>,
    /// Street and number.
    #[serde(serialize_with = "text::serialize_exposed_option")]
    pub address1: Option<Personal>,
    /// City.
    #[serde(serialize_with = "text::serialize_exposed_option")]
    pub city: Option<Personal>,
    /// State or province.
    #[serde(serialize_with = "text::serialize_exposed_option")]
    pub state: Option<Personal>,
    /// Postal code.
    #[serde(serialize_with = "text::serialize_exposed_option")]
    pub postal_code: Option<Personal>,
}

/// Returns the full year: two digits are of this century, any other number stays.
fn full_year(year: WholeNumber) -> u32 {
    if year.0 < 100 { year.0.saturating_add(CENTURY) } else { year.0 }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field by reference")]
fn four_digits<S: Serializer>(year: &WholeNumber, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u32(full_year(*year))
}

/// Returns the issues of a card by itself.
pub(super) fn issues(card: &Card) -> Vec<Issue> {
    let Card { number, exp_month, exp_year, name, address1, city, state, postal_code } = card;
    let mut issues = Vec::new();
    issues.extend(number.issue(NUMBER).or_else(|| literal_issue(number)));
    issues.extend(month_issue(*exp_month));
    issues.extend(year_issue(*exp_year));
    let texts = [("name", name), ("address1", address1), ("city", city), ("state", state)];
    issues.extend(texts.into_iter().filter_map(|(field, text)| {
        let path = format!("spec.source.card.{field}");
        text::at_most(&path, text.as_ref()?.expose(), NAME_LENGTH_MAX)
    }));
    let code = postal_code.as_ref().map(Personal::expose);
    issues.extend(code.and_then(|code| text::postal_code("spec.source.card.postal_code", code)));
    issues
}

/// Checks a plain number. The message does not repeat the digits.
fn literal_issue(number: &SecretSource) -> Option<Issue> {
    let digits = number.literal()?.expose();
    if is_published_test_number(digits) {
        return None;
    }
    let help = format!("write {FORMS}, or one of the test numbers that the service publishes");
    let (code, message) = match CardNumber::parse(digits).err() {
        Some(error) => ("reckon::saved_method::number_malformed", error.to_string()),
        None => (
            "reckon::saved_method::number_in_the_open",
            "the card number is in plain text".to_owned(),
        ),
    };
    Some(Issue::error(code, NUMBER, message, help))
}

fn month_issue(month: WholeNumber) -> Option<Issue> {
    (!(1..=12).contains(&month.0)).then(|| {
        let message = format!("{} is not a month", month.0);
        let path = "spec.source.card.exp_month";
        Issue::error("reckon::saved_method::exp_month", path, message, "write 1 to 12")
    })
}

fn year_issue(year: WholeNumber) -> Option<Issue> {
    (!YEARS.contains(&full_year(year))).then(|| {
        let message = format!("{} is not a year of expiry", year.0);
        let path = "spec.source.card.exp_year";
        let help = "write two or four digits, such as `2031`";
        Issue::error("reckon::saved_method::exp_year", path, message, help)
    })
}
