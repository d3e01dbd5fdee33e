use serde_json::{Value, json};

use crate::engine::protocol::actions::{ActionReport, ActionStatus};
use crate::engine::tests::fixture::StateFixture;
use crate::engine::tests::records::{card, contact, merchant, open_intent};
use crate::model::effect::Action;

/// An id as the service gives them.
const ID: &str = "pm_0123456789abcdefghij";

fn complete(fixture: &StateFixture, verb: &str, fields: Value) -> Result<Value, ActionReport> {
    let action = Action { verb: verb.to_owned(), merchant: merchant(), name: None, fields };
    fixture.view().complete_fields(&action).map_err(|report| *report)
}

fn refusal(fixture: &StateFixture, verb: &str, fields: Value) -> (ActionStatus, String) {
    let report = complete(fixture, verb, fields).unwrap_err();
    (report.status, report.message)
}

#[test]
fn the_name_of_a_document_stands_for_the_id_of_its_object() {
    let mut fixture = StateFixture::with_documents(&[&card("card"), &contact("jane")]);
    fixture.apply("SavedMethod/card", "card_1", json!({}));
    fixture.apply("Contact/jane", "cont_1", json!({}));
    for name in ["card", "default/card"] {
        let fields = complete(&fixture, "charge", json!({"method": name, "contact": "jane"}));
        assert_eq!(fields.unwrap(), json!({"method": "card_1", "contact": "cont_1"}), "{name}");
    }
}

#[test]
fn an_id_of_the_service_is_passed_on_unchanged() {
    let fixture = StateFixture::with_documents(&[]);
    let fields = json!({"method": ID, "amount": 7});
    assert_eq!(complete(&fixture, "charge", fields.clone()).unwrap(), fields);
}

#[test]
fn a_document_without_an_object_stands_for_nothing() {
    let fixture = StateFixture::with_documents(&[&card("card")]);
    let (status, why) = refusal(&fixture, "charge", json!({"method": "card"}));
    assert_eq!(
        (status, why.as_str()),
        (ActionStatus::Invalid, "SavedMethod/card is not saved yet")
    );
}

#[test]
fn a_short_word_that_names_no_document_is_a_mistake() {
    let fixture = StateFixture::with_documents(&[]);
    let (status, why) = refusal(&fixture, "charge", json!({"method": "crad"}));
    assert_eq!(status, ActionStatus::Invalid);
    assert!(why.starts_with("there is no SavedMethod/crad"), "{why}");
}

#[test]
fn the_number_of_a_card_is_refused_and_never_repeated() {
    let fixture = StateFixture::with_documents(&[]);
    for number in ["4242424242424242", "4242-4242-4242-4242"] {
        let (status, why) = refusal(&fixture, "charge", json!({"method": number}));
        assert_eq!(status, ActionStatus::Invalid, "{number}");
        assert!(!why.contains("4242"), "{why}");
    }
}

#[test]
fn an_authorization_is_given_back_by_the_public_key_that_it_opened() {
    let fixture = StateFixture::with_documents(&[]);
    let fields = complete(&fixture, "deauthorise", json!({})).unwrap();
    assert_eq!(fields, json!({"public_key": "m_0123456789abcdefghij"}));
    let mut keys = StateFixture::with_documents(&[]);
    keys.apply("Merchant/acme", "m_acme", json!({"token": null}));
    let (status, why) = refusal(&keys, "deauthorise", json!({}));
    assert_eq!(status, ActionStatus::Invalid);
    assert!(why.contains("gave no authorization"), "{why}");
}

#[test]
fn an_authorization_stays_while_any_effect_of_the_merchant_is_unsettled() {
    for verb in ["deauthorise", "purge"] {
        let mut fixture = StateFixture::with_documents(&[&contact("jane")]);
        fixture.record(open_intent(1, "Contact/jane", "contact.create"));
        let (status, why) = refusal(&fixture, verb, json!({}));
        assert_eq!(status, ActionStatus::Blocked, "{verb}");
        assert!(why.starts_with("Contact/jane is not settled"), "{why}");
    }
}
