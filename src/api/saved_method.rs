//! Saved cards and saved banks, and the details of both in a request (gateway-api, Saved cards,
//! Saved banks, Payment method).

use crate::api::call::ParameterType::Integer;
use crate::api::call::{PAGE, PAGE_SIZE, Page, Parameter, REFERENCE, endpoints, objects};
use crate::api::method::{BankWord, CardWord, PaymentMethod};
use crate::api::rules::{FieldProblem, FieldProblems, NAME_LENGTH_MAX, REFERENCE_LENGTH_MAX};
use crate::api::wire;
use crate::base::account_number::{
    RoutingNumberError, check_routing_number, is_published_test_routing,
};
use crate::base::secret::Secret;

objects! {
    /// A card's details: to save it, to pay with it inline, or to make a token of it.
    #[schemars(extend("anyOf" = [{"required": ["token_id"]}, {"required": ["number", "exp_month", "exp_year"]}]))]
    pub struct NewCard {
        /// `card`.
        #[serde(rename = "type")]
        pub kind: CardWord,
        /// A one-time token whose content is saved instead of the fields.
        pub token_id: Option<String>,
        /// 12 to 19 digits.
        #[serde(serialize_with = "wire::serialize_exposed")]
        #[schemars(regex(pattern = r"^[0-9]{12,19}$"), extend("examples" = ["4242424242424242"]))]
        pub number: Option<Secret>,
        /// 1 to 12.
        #[schemars(range(min = 1, max = 12))]
        pub exp_month: Option<i64>,
        /// Two or four digits.
        #[schemars(range(min = 0, max = 9999), extend("examples" = [2049]))]
        pub exp_year: Option<i64>,
        /// Three or four digits; never stored.
        #[serde(serialize_with = "wire::serialize_exposed")]
        #[schemars(regex(pattern = r"^([0-9]{3,4})?$"))]
        pub cvv: Option<Secret>,
        /// Name of the holder.
        #[schemars(length(max = NAME_LENGTH_MAX))]
        pub name: Option<String>,
        /// Street line.
        #[schemars(length(max = NAME_LENGTH_MAX))]
        pub address1: Option<String>,
        /// Second line.
        #[schemars(length(max = NAME_LENGTH_MAX))]
        pub address2: Option<String>,
        /// City.
        #[schemars(length(max = NAME_LENGTH_MAX))]
        pub city: Option<String>,
        /// State or province.
        #[schemars(length(max = NAME_LENGTH_MAX))]
        pub state: Option<String>,
        /// Postal code.
        #[schemars(regex(pattern = r"^([A-Za-z0-9]{3,9})?$"))]
        pub postal_code: Option<String>,
        /// Two letters.
        #[schemars(regex(pattern = r"^([A-Za-z]{2})?$"))]
        pub country: Option<String>,
        /// Telephone number.
        #[schemars(length(max = 22))]
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

    /// A bank account's details: to save it, to pay with it inline, or to make a token of it.
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

    /// The fields that a PATCH may change; a saved method's other fields never change.
    pub struct SavedChange {
        /// The partner's reference.
        #[schemars(length(max = REFERENCE_LENGTH_MAX))]
        pub reference: Option<String>,
        /// A free text.
        #[schemars(length(max = REFERENCE_LENGTH_MAX))]
        pub description: Option<String>,
        /// A one-time token whose details replace the number.
        pub token_id: Option<String>,
    }
}

/// Returns every problem of a card's fields, all at once. The number's check digit and a past date
/// are no field problems: they are rule errors and come alone (service-facts, 23, 52).
pub fn card_rules(card: &NewCard) -> Vec<FieldProblem> {
    let mut problems = FieldProblems::default();
    let number = card.number.as_ref().map_or("", Secret::expose);
    digit_rules(&mut problems, "number", "Card number", number, 12..=19);
    let (month, year) = (card.exp_month, card.exp_year);
    let (is_month, is_year) =
        (matches!(month, None | Some(1..=12)), matches!(year, None | Some(0..=99 | 1000..=9999)));
    for (context, label, is_given, fits) in [
        ("exp_month", "Expiration month", month.is_some(), is_month),
        ("exp_year", "Expiration year", year.is_some(), is_year),
    ] {
        problems.require(context, label, is_given);
        problems.unless(fits, context, "number_out_of_range", &format!("{label} is invalid"));
    }
    if let Some(code) = card.cvv.as_ref().map(Secret::expose).filter(|code| !code.is_empty()) {
        digit_rules(&mut problems, "cvv", "Card code", code, 3..=4);
    }
    card_holder_rules(&mut problems, card);
    text_rules(&mut problems, card.reference.as_deref(), card.description.as_deref());
    problems.into_list()
}

fn card_holder_rules(problems: &mut FieldProblems, card: &NewCard) {
    problems.length_max("name", "Name", card.name.as_deref(), NAME_LENGTH_MAX);
    problems.length_max("address1", "Street number", card.address1.as_deref(), NAME_LENGTH_MAX);
    problems.length_max("address2", "Address", card.address2.as_deref(), NAME_LENGTH_MAX);
    problems.length_max("city", "City", card.city.as_deref(), NAME_LENGTH_MAX);
    problems.state(card.state.as_deref(), card.country.as_deref());
    problems.postal_code("postal_code", card.postal_code.as_deref());
    problems.country("country", card.country.as_deref());
    problems.length_max("phone", "Phone", card.phone.as_deref(), 22);
}

const EXP_MONTH: Parameter =
    Parameter::new("exp_month", Integer(1, 12), "that expire in this month");
const EXP_YEAR: Parameter =
    Parameter::new("exp_year", Integer(0, 9999), "that expire in this year");

/// Returns every problem of a bank account's fields, all at once.
pub fn bank_rules(bank: &NewBank) -> Vec<FieldProblem> {
    let mut problems = FieldProblems::default();
    let routing = bank.routing_number.as_deref().unwrap_or_default();
    digit_rules(&mut problems, "routing_number", "Routing number", routing, 9..=9);
    let fits = check_routing_number(routing) != Err(RoutingNumberError::CheckDigit)
        || is_published_test_routing(routing);
    problems.unless(fits, "routing_number", "invalid", "Routing number is invalid");
    let account = bank.account_number.as_ref().map_or("", Secret::expose);
    digit_rules(&mut problems, "account_number", "Account number", account, 4..=17);
    match bank.account_type.as_deref().unwrap_or_default() {
        "" => problems.add("account_type", "not_blank", "Account type cannot be blank"),
        "CHECKING" | "SAVINGS" => {}
        _ => problems.add("account_type", "invalid", "Account type is invalid"),
    }
    problems.length_max("name", "Name", bank.name.as_deref(), NAME_LENGTH_MAX);
    problems.length_max("given_name", "Given name", bank.given_name.as_deref(), NAME_LENGTH_MAX);
    problems.length_max("surname", "Surname", bank.surname.as_deref(), NAME_LENGTH_MAX);
    text_rules(&mut problems, bank.reference.as_deref(), bank.description.as_deref());
    problems.into_list()
}

fn digit_rules(
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
pub fn bank_holder_rules(bank: &PaymentMethod) -> Vec<FieldProblem> {
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
    /// Saves a card, from its fields or from a token.
    CreateCard "card.create": Post Base "/v1/cards" by SecretKey, NewCard => PaymentMethod;
    /// Changes reference or description, or replaces the number by a token.
    PatchCard "card.patch": Patch Base "/v1/cards/{id}" by SecretKey, SavedChange => PaymentMethod;
    /// Reads a saved card.
    GetCard "card.get": Get Base "/v1/cards/{id}" by SecretKey, () => PaymentMethod;
    /// Deletes a saved card; answers with the deleted card, masked.
    DeleteCard "card.delete": Delete Base "/v1/cards/{id}" by SecretKey, () => PaymentMethod;
    /// Lists saved cards; filters `reference`, `exp_month`, `exp_year`.
    ListCards "card.list": Get Base "/v1/cards" by SecretKey,
        () => Page<PaymentMethod>, [PAGE, PAGE_SIZE, REFERENCE, EXP_MONTH, EXP_YEAR];
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

/// Returns every problem of a change's fields.
pub fn change_rules(change: &SavedChange) -> Vec<FieldProblem> {
    let mut problems = FieldProblems::default();
    text_rules(&mut problems, change.reference.as_deref(), change.description.as_deref());
    problems.into_list()
}

/// Checks the two texts of any saved method.
fn text_rules(problems: &mut FieldProblems, reference: Option<&str>, text: Option<&str>) {
    problems.length_max("reference", "Reference", reference, REFERENCE_LENGTH_MAX);
    problems.length_max("description", "Description", text, REFERENCE_LENGTH_MAX);
}
