//! Saved banks, and a bank account's details in a request (gateway-api, Saved banks, Payment
//! method).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::method::{BankWord, PaymentMethod};
use super::saved::{SavedChange, text_rules};
use crate::api::call::{Auth, Endpoint, Host, Method};
use crate::api::query::{PAGE, PAGE_SIZE, Page, Parameter, REFERENCE};
use crate::api::rules::{FieldProblem, FieldProblems, NAME_LENGTH_MAX, REFERENCE_LENGTH_MAX};
use crate::api::wire;
use crate::base::routing::{RoutingNumber, RoutingNumberError, is_published_test_routing};
use crate::base::secret::Secret;

/// A bank account's details: to save it, to pay with it inline, or to make a token of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("anyOf" = [{"required": ["token_id"]}, {"required": ["routing_number", "account_number", "account_type"]}]))]
pub struct NewBank {
    /// `bank`.
    #[serde(rename = "type")]
    pub kind: BankWord,
    /// A one-time token whose content is saved instead of the fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_id: Option<String>,
    /// Nine digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^[0-9]{9}$"), extend("examples" = ["111000025"]))]
    pub routing_number: Option<String>,
    /// 4 to 17 digits.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "wire::serialize_exposed")]
    #[schemars(regex(pattern = r"^[0-9]{4,17}$"), extend("examples" = ["000123456789"]))]
    pub account_number: Option<Secret>,
    /// `CHECKING` or `SAVINGS`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["CHECKING", "SAVINGS"]))]
    pub account_type: Option<String>,
    /// `business`, for a business.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["business", "individual"]))]
    pub account_holder_type: Option<String>,
    /// A business's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = NAME_LENGTH_MAX))]
    pub name: Option<String>,
    /// An individual's given name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = NAME_LENGTH_MAX))]
    pub given_name: Option<String>,
    /// An individual's family name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = NAME_LENGTH_MAX))]
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
    /// E-mail address for the receipt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// The partner's reference, at most 64 characters; lists can filter by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = REFERENCE_LENGTH_MAX))]
    pub reference: Option<String>,
    /// At most 64 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
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

/// Saves a bank account, from its fields or from a token.
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct CreateBank;

impl Endpoint for CreateBank {
    const NAME: &'static str = "bank.create";
    const METHOD: Method = Method::Post;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/banks";
    const AUTH: Auth = Auth::SecretKey;
    type Request = NewBank;
    type Reply = PaymentMethod;
}

/// Changes reference or description, or replaces the account by a token.
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct PatchBank;

impl Endpoint for PatchBank {
    const NAME: &'static str = "bank.patch";
    const METHOD: Method = Method::Patch;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/banks/{id}";
    const AUTH: Auth = Auth::SecretKey;
    type Request = SavedChange;
    type Reply = PaymentMethod;
}

/// Reads a saved bank.
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct GetBank;

impl Endpoint for GetBank {
    const NAME: &'static str = "bank.get";
    const METHOD: Method = Method::Get;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/banks/{id}";
    const AUTH: Auth = Auth::SecretKey;
    type Request = ();
    type Reply = PaymentMethod;
}

/// Deletes a saved bank; answers with the deleted bank, masked.
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct DeleteBank;

impl Endpoint for DeleteBank {
    const NAME: &'static str = "bank.delete";
    const METHOD: Method = Method::Delete;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/banks/{id}";
    const AUTH: Auth = Auth::SecretKey;
    type Request = ();
    type Reply = PaymentMethod;
}

/// Lists saved banks; filter `reference`.
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct ListBanks;

impl Endpoint for ListBanks {
    const NAME: &'static str = "bank.list";
    const METHOD: Method = Method::Get;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/banks";
    const AUTH: Auth = Auth::SecretKey;
    const QUERY: &'static [Parameter] = &[PAGE, PAGE_SIZE, REFERENCE];
    type Request = ();
    type Reply = Page<PaymentMethod>;
}
