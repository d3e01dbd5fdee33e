//! A bank account's details in a request (gateway-api, Payment method, Saved banks).

use serde::{Deserialize, Serialize};

use crate::api::card::text_rules;
use crate::api::method::BankWord;
use crate::api::rules::{FieldProblem, NAME_LENGTH_MAX, Problems};
use crate::api::wire;
use crate::base::secret::Secret;

/// A bank account's details: to save it, to pay with it inline, or to make a token of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NewBank {
    /// `bank`.
    #[serde(rename = "type")]
    pub kind: BankWord,
    /// Save what this one-time token holds instead of the fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_id: Option<String>,
    /// Nine digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routing_number: Option<String>,
    /// 4 to 17 digits.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "wire::exposed")]
    pub account_number: Option<Secret>,
    /// `CHECKING` or `SAVINGS`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account_type: Option<String>,
    /// `business`, for a business.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account_holder_type: Option<String>,
    /// A business's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// An individual's given name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given_name: Option<String>,
    /// An individual's family name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surname: Option<String>,
    /// Street line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address1: Option<String>,
    /// Second line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address2: Option<String>,
    /// City.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<String>,
    /// State or province.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Postal code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub postal_code: Option<String>,
    /// Two letters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// Telephone number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    /// For the receipt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// The partner's reference, at most 64 characters; lists can filter by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// At most 64 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Everything wrong with a bank account's fields, all at once.
pub fn rules(bank: &NewBank) -> Vec<FieldProblem> {
    let mut problems = Problems::default();
    let routing = bank.routing_number.as_deref().unwrap_or_default();
    digits(&mut problems, "routing_number", "Routing number", routing, 9..=9);
    let account = bank.account_number.as_ref().map_or("", Secret::expose);
    digits(&mut problems, "account_number", "Account number", account, 4..=17);
    match bank.account_type.as_deref() {
        None | Some("") => {
            problems.add("account_type", "not_blank", "Account type cannot be blank");
        }
        Some("CHECKING" | "SAVINGS") => {}
        Some(_) => problems.add("account_type", "invalid", "Account type is invalid"),
    }
    problems.length_max("name", "Name", bank.name.as_deref(), NAME_LENGTH_MAX);
    problems.length_max("given_name", "Given name", bank.given_name.as_deref(), NAME_LENGTH_MAX);
    problems.length_max("surname", "Surname", bank.surname.as_deref(), NAME_LENGTH_MAX);
    text_rules(&mut problems, bank.reference.as_deref(), bank.description.as_deref());
    problems.into_list()
}

fn digits(
    problems: &mut Problems,
    context: &str,
    label: &str,
    value: &str,
    length: std::ops::RangeInclusive<usize>,
) {
    if value.trim().is_empty() {
        problems.add(context, "not_blank", &format!("{label} cannot be blank"));
    } else if !value.bytes().all(|byte| byte.is_ascii_digit()) {
        problems.add(context, "invalid", &format!("{label} is invalid"));
    } else if !length.contains(&value.len()) {
        problems.add(context, "invalid_length", &format!("{label} length is invalid"));
    }
}
