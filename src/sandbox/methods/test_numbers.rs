//! Outcome of charging a card or bank account: the test numbers (service-facts, part 3).
//!
//! The class is decided when the details arrive, because the number itself is never stored.

use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::api::saved_method::{NewBank, NewCard};
use crate::base::secret::Secret;

#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OutcomeClass {
    pub(crate) failure: Option<String>,
    /// CVV result, if a CVV is given.
    pub(crate) cvv_result: Option<String>,
    pub(crate) avs_result: Option<String>,
}

pub(crate) fn of_card(card: &NewCard) -> OutcomeClass {
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

pub(crate) fn of_bank(bank: &NewBank) -> OutcomeClass {
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

pub(crate) fn bank_name(routing: &str) -> &'static str {
    match routing {
        "000000013" => "FIRST BANK OF TESTING",
        "000000000" => "TEST FEDERAL CREDIT UNION",
        _ => "BANK OF THE SANDBOX",
    }
}

/// Failure code of a payment from a country that its account does not accept. It is answered like a
/// refused credential (service-facts, 26).
pub(crate) const COUNTRY_DENIED: &str = "not_authorized_country_denied";

pub(crate) fn error_code(code: &str) -> &str {
    if code == COUNTRY_DENIED { "not_authorized" } else { code }
}

pub(crate) fn status(code: &str) -> StatusCode {
    match code {
        COUNTRY_DENIED => StatusCode::UNAUTHORIZED,
        "ach_processing_error" | "card_processing_error" => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    }
}

/// Returns the short text of a failure (service-facts, 20 and 26b: every error has one, and clients
/// compare some).
pub(crate) fn message_text(code: &str) -> String {
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
