//! Saved banks, and a bank account's details in a request (gateway-api, Saved banks, Payment
//! method).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::method::{BankWord, PaymentMethod};
use super::saved::{SavedChange, text_rules};
use crate::api::call::endpoints;
use crate::api::query::{PAGE, PAGE_SIZE, Page, REFERENCE};
use crate::api::rules::{FieldProblem, FieldProblems, NAME_LENGTH_MAX, REFERENCE_LENGTH_MAX};
use crate::api::wire;
use crate::base::routing::{RoutingNumber, RoutingNumberError, is_published_test_routing};
use crate::base::secret::Secret;

/// A bank account's details: to save it, to pay with it inline, or to make a token of it.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("anyOf" = [{"required": ["token_id"]}, {"required": ["routing_number", "account_number", "account_type"]}]))]
pub struct NewBank {
    /// `bank`.
    #[serde(rename = "type")]
    pub kind: BankWord,
    /// A one-time token whose content is saved instead of the fields.
    pub token_id: Option<String>,
    /// Nine digits.
    #[schemars(regex(pattern = r"^[0-9]{9}$"), extend("examples" = ["111000025"]))]
    pub routing_number: Option<String>,
    /// 4 to 17 digits.
    #[serde(serialize_with = "wire::serialize_exposed")]
    #[schemars(regex(pattern = r"^[0-9]{4,17}$"), extend("examples" = ["000123456789"]))]
    pub account_number: Option<Secret>,
    /// `CHECKING` or `SAVINGS`.
    #[schemars(extend("enum" = ["CHECKING", "SAVINGS"]))]
    pub account_type: Option<String>,
    /// `business`, for a business.
    #[schemars(extend("enum" = ["business", "individual"]))]
    pub account_holder_type: Option<String>,
    /// A business's name.
    #[schemars(length(max = NAME_LENGTH_MAX))]
    pub name: Option<String>,
    /// An individual's given name.
    #[schemars(length(max = NAME_LENGTH_MAX))]
    pub given_name: Option<String>,
    /// An individual's family name.
    #[schemars(length(max = NAME_LENGTH_MAX))]
    pub surname: Option<String>,
    /// Street line.
    pub address1: Option<String>,
    /// Second line.
    pub address2: Option<String>,
    /// City.
    pub city: Option<String>,
    /// State or province.
    pub state: Option<String>,
    /// Postal code.
    pub postal_code: Option<String>,
    /// Two letters.
    pub country: Option<String>,
    /// Telephone number.
    pub phone: Option<String>,
    /// E-mail address for the receipt.
    pub email: Option<String>,
    /// The partner's reference, at most 64 characters; lists can filter by it.
    #[schemars(length(max = REFERENCE_LENGTH_MAX))]
    pub reference: Option<String>,
    /// At most 64 characters.
    #[schemars(length(max = REFERENCE_LENGTH_MAX))]
    pub description: Option<String>,
}

/// Returns every problem of a bank account's fields, all at once.
pub fn rules(bank: &NewBank) -> Vec<FieldProblem> {
    let mut problems = FieldProblems::default();
    let routing = bank.routing_number.as_deref().unwrap_or_default();
    digits(&mut problems, "routing_number", "Routing number", routing, 9..=9);
    let slip = RoutingNumber::parse(routing) == Err(RoutingNumberError::CheckDigit);
    if slip && !is_published_test_routing(routing) {
        problems.add("routing_number", "invalid", "Routing number is invalid");
    }
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
    problems: &mut FieldProblems,
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

/// Returns the holder fields that a bank account lacks to be saved. A holder has a `name`, beside
/// which `account_holder_type` may be left out (service-facts, 26c). Or the holder is an individual
/// with `given_name` and `surname` (gateway-api, Payment method).
pub fn holder_rules(bank: &PaymentMethod) -> Vec<FieldProblem> {
    let mut problems = FieldProblems::default();
    let person = bank.given_name.is_some() || bank.surname.is_some();
    let name = ("name", "Name", &bank.name);
    let names =
        [("given_name", "Given name", &bank.given_name), ("surname", "Surname", &bank.surname)];
    let fields = if person && bank.name.is_none() { names.to_vec() } else { vec![name] };
    for (context, label, value) in fields {
        problems.require_text(context, label, value.as_deref().unwrap_or_default());
    }
    problems.into_list()
}

endpoints! {
    /// Saves a bank account, from its fields or from a token.
    CreateBank "bank.create": Post Base "/v1/banks" by SecretKey, NewBank => PaymentMethod;
    /// Changes reference or description, or replaces the account by a token.
    PatchBank "bank.patch": Patch Base "/v1/banks/{id}" by SecretKey, SavedChange => PaymentMethod;
    /// Reads a saved bank.
    GetBank "bank.get": Get Base "/v1/banks/{id}" by SecretKey, () => PaymentMethod;
    /// Deletes a saved bank; answers with the deleted bank, masked.
    DeleteBank "bank.delete": Delete Base "/v1/banks/{id}" by SecretKey, () => PaymentMethod;
    /// Lists saved banks; filter `reference`.
    ListBanks "bank.list": Get Base "/v1/banks" by SecretKey,
        () => Page<PaymentMethod>, [PAGE, PAGE_SIZE, REFERENCE];
}
