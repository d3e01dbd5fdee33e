//! The wire types against JSON of the reference documents.

use serde_json::{Value, json};

use crate::api::contact::Contact;
use crate::api::credentials::GatewayCredentials;
use crate::api::method_token::MethodRef;
use crate::api::recurring::{NewRecurringCharge, RecurringCharge};
use crate::api::saved_method::NewCard;
use crate::api::transaction::NewCharge;
use crate::api::{invoice, rules, saved_method};
use crate::base::secret::Secret;

fn again<T: serde::Serialize + serde::de::DeserializeOwned>(value: &Value) -> Value {
    let typed: T = serde_json::from_value(value.clone()).unwrap();
    serde_json::to_value(typed).unwrap()
}

#[test]
fn a_method_is_an_id_or_an_object() {
    let by_id = json!({"amount": 1, "method": "abc"});
    assert_eq!(again::<NewCharge>(&by_id), by_id);
    let inline = json!({"amount": 1, "method": {"type": "bank", "account_number": "1000"}});
    assert_eq!(again::<NewCharge>(&inline), inline);
    let card: NewCharge =
        serde_json::from_value(json!({"method": {"number": "42", "unknown": 1}})).unwrap();
    assert!(matches!(card.method, Some(MethodRef::Card(_))));
}

#[test]
fn secrets_are_written_to_the_wire_and_shown_nowhere_else() {
    let card = NewCard {
        number: Some(Secret::from("4242424242424242")),
        cvv: Some(Secret::from("123")),
        ..NewCard::default()
    };
    assert_eq!(
        serde_json::to_value(&card).unwrap(),
        json!({"type": "card", "number": "4242424242424242", "cvv": "123"})
    );
    let shown = format!("{:?}", MethodRef::Card(Box::new(card)));
    assert!(!shown.contains("4242") && !shown.contains("123"), "{shown}");
}

#[test]
fn an_answer_may_hold_less_or_more_than_the_documents_name() {
    let sparse: RecurringCharge =
        serde_json::from_value(json!({"id": "x", "status": "NEW_WORD", "more": {}})).unwrap();
    assert_eq!(sparse.status.as_str(), "NEW_WORD");
    let contact: Contact = serde_json::from_value(json!({"id": "p_1"})).unwrap();
    assert_eq!(contact.id, "p_1");
    let keys: GatewayCredentials = serde_json::from_value(json!({
        "application": "a", "merchant": {"name": "m"}, "user": {},
        "test_accounts": [{"id": "1", "type": "AchAccount", "trust_account": "true"}],
    }))
    .unwrap();
    assert!(keys.test_accounts[0].trust_account);
    assert_eq!(serde_json::to_value(&keys.test_accounts[0]).unwrap()["trust_account"], "true");
}

#[test]
fn a_timestamp_is_written_in_utc_with_milliseconds() {
    let new: invoice::NewInvoice =
        serde_json::from_value(json!({"invoice_date": "2026-11-30T12:00:00-06:00"})).unwrap();
    let date = serde_json::to_value(&new).unwrap()["invoice_date"].clone();
    assert_eq!(date, "2026-11-30T18:00:00.000Z");
}

fn check(problems: &[rules::FieldProblem], expect: &[(&str, &str)]) {
    let found: Vec<_> =
        problems.iter().map(|one| (one.context.as_str(), one.sub_code.as_str())).collect();
    assert_eq!(found, expect);
}

#[test]
fn every_problem_of_a_card_is_told_at_once() {
    check(
        &saved_method::card_rules(&NewCard::default()),
        &[("number", "not_blank"), ("exp_month", "not_null"), ("exp_year", "not_null")],
    );
    let bad = json!({"number": "42", "exp_month": 13, "exp_year": 100, "cvv": "1x",
        "name": "n".repeat(65), "postal_code": "1", "country": "USA", "reference": "r".repeat(65)});
    check(
        &saved_method::card_rules(&serde_json::from_value(bad).unwrap()),
        &[
            ("number", "invalid_length"),
            ("exp_month", "number_out_of_range"),
            ("exp_year", "number_out_of_range"),
            ("cvv", "invalid"),
            ("name", "invalid_length"),
            ("postal_code", "invalid_length"),
            ("country", "invalid_length"),
            ("reference", "invalid_length"),
        ],
    );
    let good = json!({"number": "4012000010000", "exp_month": 1, "exp_year": 31, "cvv": "1234",
        "postal_code": "K1A-0B1", "country": "CA"});
    check(&saved_method::card_rules(&serde_json::from_value(good).unwrap()), &[]);
}

#[test]
fn the_days_of_a_schedule_fit_its_unit() {
    let days = |unit: &str, delay: i64, days: &[&str]| {
        let new: NewRecurringCharge = serde_json::from_value(json!({"amount": 5, "method": "m",
            "schedule": {"start": "2027-01-01", "interval_unit": unit, "interval_delay": delay,
                "days": days}}))
        .unwrap();
        crate::api::recurring::recurring_rules(&new).len()
    };
    assert_eq!(days("WEEK", 1, &["1", "7"]), 0);
    assert_eq!(days("MONTH", 1, &["15", "LAST"]), 0);
    assert_eq!(days("WEEK", 1, &["8"]), 1);
    assert_eq!(days("WEEK", 1, &["LAST"]), 1);
    assert_eq!(days("MONTH", 2, &["15"]), 1);
    assert_eq!(days("DAY", 1, &["1"]), 1);
}
