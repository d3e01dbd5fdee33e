//! Card or bank account of a spec, and its checks without the service.
//!
//! A card number may be in plain text only if the service publishes it for tests, an account number
//! only beside a routing number that the service publishes for tests; there the service takes any
//! account (service-facts, part 3). No field holds a security code, since storing one is forbidden.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer, de};
use serde_with::skip_serializing_none;

use crate::api::rules::NAME_LENGTH_MAX;
use crate::base::account_number::{
    check_card_number, check_routing_number, is_published_test_number, is_published_test_routing,
};
use crate::base::secret::Personal;
use crate::kinds::schema::text;
use crate::kinds::schema::values::WholeNumber;
use crate::kinds::secrets::secret_source::{FORMS, SecretSource};
use crate::model::issue::Issue;

/// Years that a card can name with four digits.
const YEARS: std::ops::RangeInclusive<u32> = 2000..=2099;
const CENTURY: u32 = 2000;
pub(super) const CARD_NUMBER: &str = "spec.source.card.number";

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// 12 to 19 digits.
    pub number: SecretSource,
    pub exp_month: WholeNumber,
    /// Two or four digits; canonical four.
    #[serde(serialize_with = "four_digits")]
    pub exp_year: WholeNumber,
    #[serde(serialize_with = "text::serialize_exposed_option")]
    pub name: Option<Personal>,
    #[serde(serialize_with = "text::serialize_exposed_option")]
    pub address1: Option<Personal>,
    #[serde(serialize_with = "text::serialize_exposed_option")]
    pub city: Option<Personal>,
    #[serde(serialize_with = "text::serialize_exposed_option")]
    pub state: Option<Personal>,
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

pub(super) fn card_issues(card: &Card) -> Vec<Issue> {
    let Card { number, exp_month, exp_year, name, address1, city, state, postal_code } = card;
    let mut issues = Vec::new();
    issues.extend(number.issue(CARD_NUMBER).or_else(|| card_literal_issue(number)));
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
fn card_literal_issue(number: &SecretSource) -> Option<Issue> {
    let digits = number.literal()?.expose();
    if is_published_test_number(digits) {
        return None;
    }
    let help = format!("write {FORMS}, or one of the test numbers that the service publishes");
    let (code, message) = match check_card_number(digits).err() {
        Some(error) => ("reckon::saved_method::number_malformed", error.to_string()),
        None => (
            "reckon::saved_method::number_in_the_open",
            "the card number is in plain text".to_owned(),
        ),
    };
    Some(Issue::error(code, CARD_NUMBER, message, help))
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

/// Digits of an account number (service-facts, 31).
const ACCOUNT_DIGITS: std::ops::RangeInclusive<usize> = 4..=17;
pub(super) const ACCOUNT_NUMBER: &str = "spec.source.bank.account_number";
const ROUTING: &str = "spec.source.bank.routing_number";

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bank {
    #[serde(deserialize_with = "digits")]
    pub routing_number: String,
    pub account_number: SecretSource,
    pub account_type: BankAccountType,
    pub account_holder_type: Option<HolderType>,
    #[serde(serialize_with = "text::serialize_exposed_option")]
    pub name: Option<Personal>,
    #[serde(serialize_with = "text::serialize_exposed_option")]
    pub given_name: Option<Personal>,
    #[serde(serialize_with = "text::serialize_exposed_option")]
    pub surname: Option<Personal>,
}

/// Type of a bank account (gateway-api, Payment method in a request).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schemars(rename = "AccountType")]
pub enum BankAccountType {
    /// For everyday payments.
    Checking,
    /// For savings.
    Savings,
}

/// The documents name no other word (gateway-api, Payment method in a request).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HolderType {
    /// A business.
    Business,
}

/// Decodes digits that may be written without quotes. A number keeps no leading zeros, so a number
/// without them is detected by its length.
fn digits<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    struct Digits;

    impl Visitor<'_> for Digits {
        type Value = String;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a text")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<String, E> {
            Ok(text.to_owned())
        }

        fn visit_u64<E: de::Error>(self, digits: u64) -> Result<String, E> {
            Ok(digits.to_string())
        }
    }

    deserializer.deserialize_any(Digits)
}

pub(super) fn bank_issues(bank: &Bank) -> Vec<Issue> {
    let Bank { routing_number, account_number, account_type: _, .. } = bank;
    let mut issues = Vec::new();
    issues.extend(routing_issue(routing_number));
    issues.extend(account_number.issue(ACCOUNT_NUMBER).or_else(|| account_literal_issue(bank)));
    issues.extend(holder_issue(bank));
    let texts =
        [("name", &bank.name), ("given_name", &bank.given_name), ("surname", &bank.surname)];
    issues.extend(texts.into_iter().filter_map(|(field, text)| {
        let path = format!("spec.source.bank.{field}");
        let text = text.as_ref()?.expose();
        text::not_blank(&path, text, "Jane").or_else(|| text::at_most(&path, text, NAME_LENGTH_MAX))
    }));
    issues
}

fn routing_issue(number: &str) -> Option<Issue> {
    if is_published_test_routing(number) {
        return None;
    }
    let message = check_routing_number(number).err()?.to_string();
    let help = "write the nine digits of the bank, in quotes, such as `\"111000025\"`";
    Some(Issue::error("reckon::saved_method::routing_number", ROUTING, message, help))
}

/// Checks a plain number. The message does not repeat the digits.
fn account_literal_issue(bank: &Bank) -> Option<Issue> {
    let number = bank.account_number.literal()?.expose();
    let help = format!(
        "write {FORMS}; an account number may be in plain text only beside a routing number that the service \
         publishes for tests"
    );
    if !is_published_test_routing(&bank.routing_number) {
        let message = "the account number is in plain text";
        let code = "reckon::saved_method::account_in_the_open";
        return Some(Issue::error(code, ACCOUNT_NUMBER, message, help));
    }
    let fits = number.bytes().all(|byte| byte.is_ascii_digit());
    (!fits || !ACCOUNT_DIGITS.contains(&number.len())).then(|| {
        let message = "an account number has 4 to 17 digits and nothing else";
        Issue::error("reckon::saved_method::account_number", ACCOUNT_NUMBER, message, help)
    })
}

/// Checks the holder, who is named completely in one of two ways (gateway-api, Payment method in a
/// request); `account_holder_type` may be left out (service-facts, 26c).
fn holder_issue(bank: &Bank) -> Option<Issue> {
    const PATH: &str = "spec.source.bank";
    let business = (bank.name.is_some(), bank.account_holder_type.is_some());
    let person = (bank.given_name.is_some(), bank.surname.is_some());
    let message = match (business, person) {
        ((true, _), (false, false)) | ((false, false), (true, true)) => return None,
        ((false, false), (false, false)) => "the account has no holder",
        ((false, true), (false, false)) => "the holder is incomplete: a business needs `name`",
        ((false, false), (_, _)) => "the holder is incomplete: an individual needs both names",
        ((_, _), (_, _)) => "the holder is named both as a business and as an individual",
    };
    let help = "write `name`, or `given_name` and `surname`";
    Some(Issue::error("reckon::saved_method::holder", PATH, message, help))
}
