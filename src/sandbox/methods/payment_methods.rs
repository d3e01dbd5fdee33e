//! Payment details as the emulator stores them: masked, with an outcome class, without the number.
//!
//! The outcome of charging a card or bank account follows the test numbers (service-facts, part 3).
//! It is decided when the details arrive, because the number itself is never stored.

use chrono::{DateTime, Datelike, Utc};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::api::method::{CardType, MethodKind, PaymentMethod};
use crate::api::rules::FieldProblem;
use crate::api::saved_method::{self, NewBank, NewCard};
use crate::base::account_number::{
    Brand, check_card_number, is_published_test_number, mask_account, mask_routing,
};
use crate::base::secret::Secret;
use crate::sandbox::answer::{Result, SandboxRefusal};
use crate::sandbox::state::objects::Stored;
use crate::sandbox::state::store::ChangeUnit;

/// Length of a fingerprint (service-facts, 18).
const FINGERPRINT_LENGTH: usize = 20;
/// The published number whose check digit is wrong on purpose.
const LUHN_WRONG: &str = "4242424242424241";

#[skip_serializing_none]
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct StoredMethod {
    /// The visible method, for answers.
    pub(crate) shown: PaymentMethod,
    pub(crate) class: OutcomeClass,
    /// Problems of the fields as sent; a token also stores such details (service-facts, 36).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) problems: Vec<FieldProblem>,
    #[serde(rename = "number_fits")]
    pub(crate) is_number_valid: bool,
    pub(crate) has_cvv: bool,
    pub(crate) reference: Option<String>,
    pub(crate) description: Option<String>,
}

/// The part of a method that its object does not show.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct MethodInternals {
    #[serde(default, skip_serializing_if = "OutcomeClass::is_plain")]
    pub(crate) class: OutcomeClass,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    problems: Vec<FieldProblem>,
    #[serde(rename = "number_fits")]
    is_number_valid: bool,
    pub(crate) has_cvv: bool,
    reference: Option<String>,
    description: Option<String>,
}

impl MethodInternals {
    /// Returns the whole method, of which the object shows this.
    pub(crate) fn with_shown(self, shown: PaymentMethod) -> StoredMethod {
        let Self { class, problems, is_number_valid, has_cvv, reference, description } = self;
        StoredMethod { shown, class, problems, is_number_valid, has_cvv, reference, description }
    }
}

impl From<StoredMethod> for MethodInternals {
    fn from(method: StoredMethod) -> Self {
        let StoredMethod { class, problems, is_number_valid, has_cvv, .. } = method;
        let (reference, description) = (method.reference, method.description);
        Self { class, problems, is_number_valid, has_cvv, reference, description }
    }
}

/// A saved method or a token.
pub(crate) type StoredPaymentMethod = Stored<PaymentMethod, MethodInternals>;

impl StoredPaymentMethod {
    /// Returns the method without what belongs to the object itself: id, times, texts, CVV.
    pub(crate) fn into_method(self) -> StoredMethod {
        let object = PaymentMethod { id: None, created: None, modified: None, ..self.object };
        let shown = PaymentMethod { reference: None, description: None, cvv: None, ..object };
        self.internal.with_shown(PaymentMethod { form_data: None, ..shown })
    }
}

impl StoredMethod {
    /// Checks the fields together, then number and date, each alone (service-facts, 22, 23, 52).
    pub(crate) fn check(&self, parent: &str, now: DateTime<Utc>) -> Result<()> {
        SandboxRefusal::fields(parent, &self.problems)?;
        let Some(code) = self.broken_rule(now) else { return Ok(()) };
        Err(SandboxRefusal::rule(code, &decline_text(code)))
    }

    /// Returns the rule that the details break, if their fields are valid.
    pub(crate) fn broken_rule(&self, now: DateTime<Utc>) -> Option<&'static str> {
        if !self.is_number_valid {
            return Some("card_number_invalid");
        }
        let expiry = self.shown.exp_year.zip(self.shown.exp_month);
        let today = (i64::from(now.year()), i64::from(now.month()));
        expiry.filter(|_| self.is_card()).filter(|expiry| *expiry < today).map(|_| "card_expired")
    }

    /// Returns the details for later payments: the CVV is not kept.
    pub(crate) fn without_cvv(mut self) -> Self {
        self.has_cvv = false;
        self.class.cvv_result = None;
        self
    }

    pub(crate) fn is_card(&self) -> bool {
        self.shown.kind == MethodKind::Card
    }

    /// Returns the visible method with an id and its texts.
    pub(crate) fn saved_as(&self, id: &str) -> PaymentMethod {
        PaymentMethod {
            id: Some(id.to_owned()),
            reference: self.reference.clone(),
            description: self.description.clone(),
            ..self.shown.clone()
        }
    }

    /// Returns the method in event data: `***` for a CVV that was given (service-facts, 28).
    pub(crate) fn in_events(&self) -> PaymentMethod {
        PaymentMethod { cvv: self.has_cvv.then(|| "***".to_owned()), ..self.shown.clone() }
    }
}

pub(crate) fn card_details(cx: &ChangeUnit, card: NewCard) -> StoredMethod {
    let number = card.number.clone().unwrap_or_else(|| Secret::from(""));
    let digits = number.expose();
    let problems = saved_method::card_rules(&card);
    let class = card_class(&card);
    let published = is_published_test_number(digits) && digits != LUHN_WRONG;
    let shown = PaymentMethod {
        kind: MethodKind::Card,
        number: Some(mask_account(digits)),
        card_type: Some(CardType::from(Brand::of(digits).as_str())),
        exp_month: card.exp_month,
        exp_year: card.exp_year.map(whole_year),
        name: card.name,
        address1: card.address1,
        address2: card.address2,
        city: card.city,
        state: card.state,
        postal_code: card.postal_code,
        country: card.country,
        phone: card.phone,
        email: card.email,
        fingerprint: Some(fingerprint(cx, "card", digits)),
        ..PaymentMethod::default()
    };
    StoredMethod {
        shown,
        class,
        problems,
        is_number_valid: published || check_card_number(digits).is_ok(),
        has_cvv: card.cvv.is_some_and(|cvv| !cvv.expose().is_empty()),
        reference: card.reference,
        description: card.description,
    }
}

pub(crate) fn bank_details(cx: &ChangeUnit, bank: NewBank) -> StoredMethod {
    let number = bank.account_number.clone().unwrap_or_else(|| Secret::from(""));
    let routing = bank.routing_number.clone().unwrap_or_default();
    let problems = saved_method::bank_rules(&bank);
    let class = bank_class(&bank);
    let both = format!("{routing}/{}", number.expose());
    let shown = PaymentMethod {
        kind: MethodKind::Bank,
        routing_number: Some(mask_routing(&routing)),
        account_number: Some(mask_account(number.expose())),
        account_type: bank.account_type,
        account_holder_type: bank.account_holder_type,
        bank_name: Some(bank_name(&routing).to_owned()),
        name: bank.name,
        given_name: bank.given_name,
        surname: bank.surname,
        address1: bank.address1,
        address2: bank.address2,
        city: bank.city,
        state: bank.state,
        postal_code: bank.postal_code,
        country: bank.country,
        phone: bank.phone,
        email: bank.email,
        fingerprint: Some(fingerprint(cx, "bank", &both)),
        ..PaymentMethod::default()
    };
    StoredMethod {
        shown,
        class,
        problems,
        is_number_valid: true,
        has_cvv: false,
        reference: bank.reference,
        description: bank.description,
    }
}

/// Returns a year of four digits.
pub(crate) fn whole_year(year: i64) -> i64 {
    if (0..100).contains(&year) { year.saturating_add(2000) } else { year }
}

fn fingerprint(cx: &ChangeUnit, label: &str, digits: &str) -> String {
    let digest = cx.digest(label, digits.as_bytes());
    let mut text = data_encoding::BASE64URL_NOPAD.encode(digest.as_bytes());
    text.truncate(FINGERPRINT_LENGTH);
    text
}

#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OutcomeClass {
    pub(crate) failure: Option<String>,
    /// CVV result, if a CVV is given.
    pub(crate) cvv_result: Option<String>,
    pub(crate) avs_result: Option<String>,
}

impl OutcomeClass {
    fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

fn card_class(card: &NewCard) -> OutcomeClass {
    let number = card.number.as_ref().map_or("", Secret::expose);
    let has_cvv = card.cvv.as_ref().is_some_and(|cvv| !cvv.expose().is_empty());
    let failure = match number {
        "4000000000000002" => Some("card_declined"),
        "4000000000000044" => Some("card_declined_insufficient_funds"),
        "4000000000000051" => Some("card_declined_limit_exceeded"),
        "4000000000000069" => Some("card_expired"),
        "4000000000000119" => Some("card_declined_processing_error"),
        "4000000000000127" => Some("card_declined_hold"),
        "4000000000000135" => Some("card_type_not_accepted"),
        _ => None,
    };
    let cvv = match number {
        "4000000000000077" => "UNAVAILABLE",
        "4000000000000101" => "NOT_MATCHED",
        _ => "MATCHED",
    };
    OutcomeClass {
        failure: failure.map(str::to_owned),
        cvv_result: has_cvv.then(|| cvv.to_owned()),
        avs_result: avs(number, card).map(str::to_owned),
    }
}

fn avs(number: &str, card: &NewCard) -> Option<&'static str> {
    let given = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.is_empty());
    let (address, postal) = (given(&card.address1), given(&card.postal_code));
    match (number, address, postal) {
        ("4000000000000010", _, _)
        | ("4000000000000028", _, false)
        | ("4000000000000036", false, _) => Some("NO_MATCH"),
        ("4000000000000085", _, _) => Some("UNAVAILABLE"),
        ("4000000000000093", _, _) => Some("AVS_ERROR_INELIGIBLE"),
        ("4000000000000028", _, true) | (_, false, true) => Some("POSTAL_CODE"),
        ("4000000000000036", true, _) | (_, true, false) => Some("ADDRESS"),
        (_, true, true) => Some("ADDRESS_AND_POSTAL_CODE"),
        (_, false, false) => None,
    }
}

fn bank_class(bank: &NewBank) -> OutcomeClass {
    let account = bank.account_number.as_ref().map_or("", Secret::expose);
    let failure = match (bank.routing_number.as_deref(), account) {
        (Some("000000001"), _) => Some("ach_invalid_routing_number"),
        (Some("000000013"), "1000000001") => Some("ach_declined"),
        (Some("000000013"), "1000000002") => Some("ach_declined_hold"),
        (Some("000000013"), "1000000003") => Some("ach_declined_duplicate"),
        (Some("000000013"), "1000000004") => Some("ach_invalid_account_number"),
        (Some("000000013"), "1000000005") => Some("ach_insufficient_funds"),
        (Some("000000013"), "1000000006") => Some("ach_account_not_found"),
        (Some("000000013"), "1000000007") => Some("ach_account_closed"),
        (Some("000000013"), "1000000008") => Some("ach_account_frozen"),
        (Some("000000013"), "1000000009") => Some("ach_limit_exceeded"),
        (Some("000000013"), "1000000010") => Some("ach_processing_error"),
        _ => None,
    };
    OutcomeClass { failure: failure.map(str::to_owned), ..OutcomeClass::default() }
}

fn bank_name(routing: &str) -> &'static str {
    match routing {
        "000000013" => "FIRST BANK OF TESTING",
        "000000000" => "TEST FEDERAL CREDIT UNION",
        _ => "BANK OF THE SANDBOX",
    }
}

/// Failure code of a payment from a refused country, answered as a refused
/// credential (service-facts, 26).
pub(crate) const COUNTRY_DENIED: &str = "not_authorized_country_denied";

pub(crate) fn decline_code(code: &str) -> &str {
    if code == COUNTRY_DENIED { "not_authorized" } else { code }
}

pub(crate) fn decline_status(code: &str) -> StatusCode {
    match code {
        COUNTRY_DENIED => StatusCode::UNAUTHORIZED,
        "ach_processing_error" | "card_processing_error" => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    }
}

/// Returns the short text of a failure; clients compare some (service-facts, 20 and 26b).
pub(crate) fn decline_text(code: &str) -> String {
    let known = match code {
        COUNTRY_DENIED => "Not authorized",
        "card_declined" => "Card declined",
        "card_declined_insufficient_funds" => "Card declined: insufficient funds",
        "card_declined_limit_exceeded" => "Card declined: limit exceeded",
        "card_expired" => "Card is expired",
        "card_number_invalid" => "Card number is invalid",
        "card_declined_processing_error" => "Card declined: processing error",
        "card_declined_hold" => "Card declined: hold card",
        "card_type_not_accepted" => "Card type is not accepted",
        "ach_declined" | "ach_declined_hold" => "Transaction was declined",
        "ach_declined_duplicate" => "Transaction was declined as a duplicate",
        "ach_insufficient_funds" => "Transaction was declined due to insufficient funds",
        "ach_limit_exceeded" => "Transaction was declined due to limits exceeded",
        "ach_invalid_account_number" => "Account number is invalid",
        "ach_invalid_routing_number" => "Routing number is invalid",
        "ach_account_not_found" => "Account was not found",
        "ach_account_closed" => "Account is closed",
        "ach_account_frozen" => "Account is frozen",
        other => return other.replace('_', " "),
    };
    known.to_owned()
}
