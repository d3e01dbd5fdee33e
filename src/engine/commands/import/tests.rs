use serde_json::json;

use crate::engine::protocol::input::EngineCommand;
use crate::engine::protocol::query::Reply;
use crate::engine::tests::fixture::{StateFixture, run_in};
use crate::engine::tests::records::{card, contact, key, merchant};
use crate::model::state::drift::{AdoptRequest, AdoptionReport, AdoptionStatus};
use crate::plan::state_view::StateView;

fn request(name: &str, id: &str, unverified: bool, write: bool) -> EngineCommand {
    let request = AdoptRequest { key: key(name), id: id.parse().unwrap(), unverified, write };
    EngineCommand::Import(request, "ann".to_owned())
}

async fn import(fixture: &StateFixture, command: EngineCommand) -> AdoptionReport {
    let (_, reply) = run_in(fixture.decide(command)).await;
    let Reply::Imported(report) = reply else { panic!("{reply:?}") };
    *report
}

fn fixture() -> StateFixture {
    StateFixture::with_documents(&[&contact("jane"), &card("card")])
}

#[test]
fn an_import_locks_its_resource_and_its_merchant() {
    let decision = fixture().decide(request("Contact/jane", "cont_1", false, true));
    assert_eq!(Vec::from_iter(decision.locked), [key("Contact/jane"), merchant()]);
}

#[tokio::test]
async fn an_object_that_the_service_lacks_or_replaces_is_not_taken_over() {
    let fixture = fixture();
    fixture.service.lacks("/v1/cards/card_1");
    let report = import(&fixture, request("SavedMethod/card", "card_1", false, true)).await;
    assert_eq!(report.status, AdoptionStatus::Unknown);
    fixture.service.answer("GET /v1/cards/card_1", json!({"id": "card_2"}));
    let report = import(&fixture, request("SavedMethod/card", "card_1", false, true)).await;
    assert_eq!(report.status, AdoptionStatus::Refused);
    assert_eq!(report.message, "the service returned another object");
}

#[tokio::test(start_paused = true)]
async fn a_service_without_an_answer_decides_nothing() {
    let fixture = fixture();
    fixture.service.answer_with("GET /v1/cards/card_1", 500, json!({}));
    let before = fixture.length();
    let report = import(&fixture, request("SavedMethod/card", "card_1", true, true)).await;
    assert_eq!((report.status, fixture.length()), (AdoptionStatus::Unreachable, before));
}

#[tokio::test]
async fn an_object_that_the_service_never_shows_needs_a_person_s_word() {
    let fixture = fixture();
    let report = import(&fixture, request("Contact/jane", "cont_1", false, true)).await;
    assert_eq!(report.status, AdoptionStatus::Unverified);
    assert!(!report.unverified_fields.is_empty(), "the believed fields are named");
    assert_eq!(fixture.known_state.observed(&key("Contact/jane")), None);
    assert_eq!(fixture.service.requests(), [""; 0]);
}

#[tokio::test]
async fn an_import_is_recorded_only_if_it_is_asked_for_and_once() {
    let mut fixture = fixture();
    let before = fixture.length();
    let report = import(&fixture, request("Contact/jane", "cont_1", true, false)).await;
    assert_eq!((report.status, fixture.length()), (AdoptionStatus::Adoptable, before));
    let report = import(&fixture, request("Contact/jane", "cont_1", true, true)).await;
    assert_eq!((report.status, fixture.length()), (AdoptionStatus::Adopted, before + 1));
    fixture.refresh();
    let known = fixture.known_state.observed(&key("Contact/jane")).unwrap();
    assert_eq!(known.remote_id.as_ref().unwrap().as_str(), "cont_1");
    let report = import(&fixture, request("Contact/jane", "cont_1", true, true)).await;
    assert_eq!((report.status, fixture.length()), (AdoptionStatus::AlreadyAdopted, before + 1));
}
