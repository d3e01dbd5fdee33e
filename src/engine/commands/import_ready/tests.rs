use serde_json::json;

use crate::engine::protocol::input::EngineCommand;
use crate::engine::protocol::query::Reply;
use crate::engine::tests::fixture::StateFixture;
use crate::engine::tests::records::{
    CONTACT, annotated_document, card, contact, document, key, open_intent,
};
use crate::model::state::drift::{AdoptRequest, AdoptionReport, AdoptionStatus};

fn adopt(fixture: &StateFixture, name: &str, id: &str) -> AdoptionReport {
    let id = id.parse().unwrap();
    let request = AdoptRequest { key: key(name), id, unverified: false, write: true };
    let command = EngineCommand::Import(request, "ann".to_owned());
    let Reply::Imported(report) = fixture.answer_to(command) else { panic!("no report") };
    *report
}

/// Returns the status and the message of a refusal.
fn refusal(fixture: &StateFixture, name: &str, id: &str) -> (AdoptionStatus, String) {
    let report = adopt(fixture, name, id);
    (report.status, report.message)
}

fn fixture() -> StateFixture {
    StateFixture::with_documents(&[&contact("jane"), &card("card")])
}

#[test]
fn an_object_is_taken_over_only_for_a_valid_document() {
    let mut fixture = fixture();
    let (status, why) = refusal(&fixture, "Contact/jnae", "cont_1");
    assert_eq!(status, AdoptionStatus::Unknown);
    assert!(why.ends_with("did you mean Contact/jane?"), "{why}");
    fixture.connect(&[&document("Contact", "joe", "no_such_field: 1")]);
    let (status, why) = refusal(&fixture, "Contact/joe", "cont_1");
    assert_eq!(status, AdoptionStatus::Refused);
    assert!(why.starts_with("the document of Contact/joe is invalid"), "{why}");
}

#[test]
fn a_merchant_is_never_taken_over() {
    let (status, why) = refusal(&fixture(), "Merchant/acme", "m_1");
    assert_eq!(status, AdoptionStatus::Refused);
    assert!(why.starts_with("a merchant cannot be imported"), "{why}");
}

#[test]
fn a_document_that_adopts_another_object_takes_no_other() {
    let adopts = annotated_document("Contact", "joe", "reckon.dev/adopts: cont_7", CONTACT);
    let fixture = StateFixture::with_documents(&[&adopts]);
    let (status, why) = refusal(&fixture, "Contact/joe", "cont_8");
    assert_eq!(status, AdoptionStatus::Refused);
    assert!(why.starts_with("its document adopts another object: cont_7"), "{why}");
}

#[test]
fn an_object_is_not_taken_over_while_an_effect_may_have_created_it() {
    let mut fixture = fixture();
    fixture.record(open_intent(1, "Contact/jane", "contact.create"));
    let (status, why) = refusal(&fixture, "Contact/jane", "cont_1");
    assert_eq!(status, AdoptionStatus::Refused);
    assert!(why.contains("is not settled") && why.contains("--as done:ID"), "{why}");
}

#[test]
fn an_import_waits_for_the_resource_and_for_its_merchant() {
    for busy in ["Contact/jane", "Merchant/acme"] {
        let mut fixture = fixture();
        fixture.scheduler.busy.insert(key(busy));
        let (status, why) = refusal(&fixture, "Contact/jane", "cont_1");
        assert_eq!(status, AdoptionStatus::Busy);
        assert_eq!(why, format!("an effect of {busy} is in flight; try again in a moment"));
    }
}

#[test]
fn nothing_is_taken_over_of_a_merchant_that_is_not_connected() {
    let mut fixture = StateFixture::new();
    fixture.write(&[crate::engine::tests::records::MERCHANT, &contact("jane")]);
    let (status, why) = refusal(&fixture, "Contact/jane", "cont_1");
    assert_eq!(status, AdoptionStatus::Refused);
    assert!(why.starts_with("Merchant/acme is not connected yet"), "{why}");
}

#[test]
fn a_document_with_an_object_takes_no_second_one() {
    let mut fixture = fixture();
    fixture.apply("Contact/jane", "cont_1", json!({}));
    let (status, why) = refusal(&fixture, "Contact/jane", "cont_2");
    assert_eq!(status, AdoptionStatus::Refused);
    assert!(why.starts_with("Contact/jane already manages cont_1"), "{why}");
}

#[test]
fn an_object_of_another_resource_is_not_taken_over() {
    let mut fixture = StateFixture::with_documents(&[&contact("jane"), &contact("joe")]);
    fixture.apply("Contact/jane", "cont_1", json!({}));
    let (status, why) = refusal(&fixture, "Contact/joe", "cont_1");
    assert_eq!(status, AdoptionStatus::Refused);
    assert!(why.starts_with("cont_1 is already Contact/jane"), "{why}");
}
