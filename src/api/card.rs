//! Saved cards, and a card's details in a request (gateway-api, Saved cards, Payment method).

use serde::{Deserialize, Serialize};

use crate::api::method::{CardWord, PaymentMethod};
use crate::api::rules::{FieldProblem, NAME_LENGTH_MAX, Problems};
use crate::api::saved::{SavedChange, text_rules};
use crate::api::{Auth, Endpoint, Host, Method, Page, wire};
use crate::base::secret::Secret;

/// The brand of a card (service-facts, 29).
pub use crate::api::method::CardType;

/// A card's details: to save it, to pay with it inline, or to make a token of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NewCard {
    /// `card`.
    #[serde(rename = "type")]
    pub kind: CardWord,
    /// Save what this one-time token holds instead of the fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_id: Option<String>,
    /// 12 to 19 digits.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "wire::exposed")]
    pub number: Option<Secret>,
    /// 1 to 12.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exp_month: Option<i64>,
    /// Two or four digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exp_year: Option<i64>,
    /// Three or four digits; never kept.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "wire::exposed")]
    pub cvv: Option<Secret>,
    /// The holder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
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

/// Everything wrong with a card's fields, all at once. The number's check digit and a date gone by are
/// no field problems: they are rule errors and come alone (service-facts, 23, 52).
pub fn rules(card: &NewCard) -> Vec<FieldProblem> {
    let mut problems = Problems::default();
    number_rules(&mut problems, card.number.as_ref().map_or("", Secret::expose));
    match card.exp_month {
        None => problems.add("exp_month", "not_null", "Card expiration month cannot be blank"),
        Some(1..=12) => {}
        Some(_) => {
            problems.add("exp_month", "number_out_of_range", "Card expiration month is invalid");
        }
    }
    match card.exp_year {
        None => problems.add("exp_year", "not_null", "Card expiration year cannot be blank"),
        Some(0..=99 | 1000..=9999) => {}
        Some(_) => {
            problems.add("exp_year", "number_out_of_range", "Card expiration year is invalid");
        }
    }
    cvv_rules(&mut problems, card.cvv.as_ref().map(Secret::expose));
    holder_rules(&mut problems, card);
    text_rules(&mut problems, card.reference.as_deref(), card.description.as_deref());
    problems.into_list()
}

fn number_rules(problems: &mut Problems, number: &str) {
    if number.trim().is_empty() {
        problems.add("number", "not_blank", "Card number cannot be blank");
    } else if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        problems.add("number", "invalid", "Card number is invalid");
    } else if !(12..=19).contains(&number.len()) {
        problems.add("number", "invalid_length", "Card number length is invalid");
    }
}

fn cvv_rules(problems: &mut Problems, cvv: Option<&str>) {
    let Some(code) = cvv.filter(|code| !code.is_empty()) else {
        return;
    };
    if !code.bytes().all(|byte| byte.is_ascii_digit()) {
        problems.add("cvv", "invalid", "Card code is invalid");
    } else if !(3..=4).contains(&code.len()) {
        problems.add("cvv", "invalid_length", "Card code length is invalid");
    }
}

fn holder_rules(problems: &mut Problems, card: &NewCard) {
    problems.length_max("name", "Name", card.name.as_deref(), NAME_LENGTH_MAX);
    problems.length_max("address1", "Street number", card.address1.as_deref(), NAME_LENGTH_MAX);
    problems.length_max("address2", "Address2", card.address2.as_deref(), NAME_LENGTH_MAX);
    problems.length_max("city", "City", card.city.as_deref(), NAME_LENGTH_MAX);
    problems.state(card.state.as_deref(), card.country.as_deref());
    problems.postal_code("postal_code", card.postal_code.as_deref());
    problems.country("country", card.country.as_deref());
    problems.length_max("phone", "Phone", card.phone.as_deref(), 22);
}

/// Saves a card, from its fields or from a token.
#[derive(Debug, Clone, Copy)]
pub struct CreateCard;

impl Endpoint for CreateCard {
    const NAME: &'static str = "card.create";
    const METHOD: Method = Method::Post;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/cards";
    const AUTH: Auth = Auth::SecretKey;
    type Request = NewCard;
    type Reply = PaymentMethod;
}

/// Changes reference or description, or replaces the number by a token.
#[derive(Debug, Clone, Copy)]
pub struct PatchCard;

impl Endpoint for PatchCard {
    const NAME: &'static str = "card.patch";
    const METHOD: Method = Method::Patch;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/cards/{id}";
    const AUTH: Auth = Auth::SecretKey;
    type Request = SavedChange;
    type Reply = PaymentMethod;
}

/// Reads a saved card.
#[derive(Debug, Clone, Copy)]
pub struct GetCard;

impl Endpoint for GetCard {
    const NAME: &'static str = "card.get";
    const METHOD: Method = Method::Get;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/cards/{id}";
    const AUTH: Auth = Auth::SecretKey;
    type Request = ();
    type Reply = PaymentMethod;
}

/// Deletes a saved card; answers it once more, masked.
#[derive(Debug, Clone, Copy)]
pub struct DeleteCard;

impl Endpoint for DeleteCard {
    const NAME: &'static str = "card.delete";
    const METHOD: Method = Method::Delete;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/cards/{id}";
    const AUTH: Auth = Auth::SecretKey;
    type Request = ();
    type Reply = PaymentMethod;
}

/// Lists saved cards; filters `reference`, `exp_month`, `exp_year`.
#[derive(Debug, Clone, Copy)]
pub struct ListCards;

impl Endpoint for ListCards {
    const NAME: &'static str = "card.list";
    const METHOD: Method = Method::Get;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/cards";
    const AUTH: Auth = Auth::SecretKey;
    type Request = ();
    type Reply = Page<PaymentMethod>;
}
