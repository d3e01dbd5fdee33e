//! Bank account of a spec, and its checks without the service.
//!
//! An account number may be in plain text only beside a routing number that the service publishes
//! for tests; there the service takes any account (service-facts, part 3).

use std::fmt;

use schemars::JsonSchema;
use serde::de::{Deserializer, Visitor};
use serde::{Deserialize, Serialize, de};
use serde_with::skip_serializing_none;

use crate::api::rules::NAME_LENGTH_MAX;
use crate::base::routing::{RoutingNumber, is_published_test_routing};
use crate::base::secret::Personal;
use crate::kinds::schema::text;
use crate::kinds::secrets::secret_source::{FORMS, SecretSource};
use crate::model::issue::Issue;

/// Digits of an account number (service-facts, 31).
const ACCOUNT_DIGITS: std::ops::RangeInclusive<usize> = 4..=17;

/// Path of the account number.
pub(super) const NUMBER: &str = "spec.source.bank.account_number";
const ROUTING: &str = "spec.source.bank.routing_number";

/// A bank account (gateway-api, Saved bank).
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bank {
    /// Nine digits.
    #[serde(deserialize_with = "digits")]
    pub routing_number: String,
    /// 4 to 17 digits.
    pub account_number: SecretSource,
    /// The type of the account.
    pub account_type: BankAccountType,
    /// `business` if the holder is one.
    pub account_holder_type: Option<HolderType>,
    /// The name of a business.
    #[serde(serialize_with = "text::serialize_exposed_option")]
    pub name: Option<Personal>,
    /// An individual's given name.
    #[serde(serialize_with = "text::serialize_exposed_option")]
    pub given_name: Option<Personal>,
    /// An individual's family name.
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

/// Type of the account holder; the documents name no other word (gateway-api, Payment method in a
/// request).
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

/// Returns the issues of a bank account by itself.
pub(super) fn issues(bank: &Bank) -> Vec<Issue> {
    let Bank { routing_number, account_number, account_type: _, .. } = bank;
    let mut issues = Vec::new();
    issues.extend(routing_issue(routing_number));
    issues.extend(account_number.issue(NUMBER).or_else(|| literal_issue(bank)));
    issues.extend(holder_issue(bank));
    let texts =
        [("name", &bank.name), ("given_name", &bank.given_name), ("surname", &bank.surname)];
    issues.extend(texts.into_iter().filter_map(|(field, text)| {
        let path = format!("spec.source.bank.{field}");
        text::not_blank_and_at_most(&path, text.as_ref()?.expose(), "Jane", NAME_LENGTH_MAX)
    }));
    issues
}

fn routing_issue(number: &str) -> Option<Issue> {
    if is_published_test_routing(number) {
        return None;
    }
    let message = RoutingNumber::parse(number).err()?.to_string();
    let help = "write the nine digits of the bank, in quotes, such as `\"111000025\"`";
    Some(Issue::error("reckon::saved_method::routing_number", ROUTING, message, help))
}

/// Checks a plain number. The message does not repeat the digits.
fn literal_issue(bank: &Bank) -> Option<Issue> {
    let number = bank.account_number.literal()?.expose();
    let help = format!(
        "write {FORMS}; an account number may be in plain text only beside a routing number that the service \
         publishes for tests"
    );
    if !is_published_test_routing(&bank.routing_number) {
        let message = "the account number is in plain text";
        let code = "reckon::saved_method::account_in_the_open";
        return Some(Issue::error(code, NUMBER, message, help));
    }
    let fits = number.bytes().all(|byte| byte.is_ascii_digit());
    (!fits || !ACCOUNT_DIGITS.contains(&number.len())).then(|| {
        let message = "an account number has 4 to 17 digits and nothing else";
        Issue::error("reckon::saved_method::account_number", NUMBER, message, help)
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
