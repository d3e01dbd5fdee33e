use serde_json::{Value, json};

use crate::engine::protocol::actions::{ActionCommand, ActionStatus};
use crate::engine::tests::fixture::StateFixture;
use crate::engine::tests::records::{
    CARD, annotated_document, card, merchant, observation, open_intent, recurring_charge,
};
use crate::model::effect::Action;

fn action(verb: &str, fields: Value) -> Action {
    Action { verb: verb.to_owned(), merchant: merchant(), name: None, fields }
}

fn alter(fixture: &StateFixture, verb: &str, kind: &str) -> Result<(), (ActionStatus, String)> {
    let fields = json!({"type": kind, "id": "card_1"});
    fixture.view().may_alter(&action(verb, fields))
}

#[test]
fn an_object_that_nothing_manages_may_be_deleted_and_changed() {
    let fixture = StateFixture::with_documents(&[&card("card")]);
    for verb in ["delete", "change"] {
        assert_eq!(alter(&fixture, verb, "card"), Ok(()));
    }
}

#[test]
fn the_object_of_a_document_is_altered_by_its_document_whose_place_is_named() {
    let mut fixture = StateFixture::with_documents(&[&card("card")]);
    fixture.apply("SavedMethod/card", "card_1", json!({}));
    for (verb, way) in [("delete", "take it out"), ("change", "change its document at")] {
        let (status, why) = alter(&fixture, verb, "card").unwrap_err();
        assert_eq!(status, ActionStatus::Invalid);
        assert!(why.starts_with("card_1 is SavedMethod/card"), "{why}");
        assert!(why.contains("specs/tree.yaml:") && why.contains(way), "{why}");
    }
}

#[test]
fn an_object_that_a_document_adopts_is_managed_before_it_is_known() {
    let adopts = annotated_document("SavedMethod", "card", "reckon.dev/adopts: card_1", CARD);
    let fixture = StateFixture::with_documents(&[&adopts]);
    assert!(alter(&fixture, "delete", "card").is_err());
}

#[test]
fn an_object_without_its_document_is_let_go_before_it_is_deleted() {
    let mut fixture = StateFixture::with_documents(&[]);
    fixture.record(observation("SavedMethod/card", "card_1", json!({})));
    let (_, why) = alter(&fixture, "delete", "card").unwrap_err();
    assert!(why.contains("`reckon forget SavedMethod/card` lets it go"), "{why}");
}

#[test]
fn an_object_that_an_unsettled_effect_may_have_created_stays() {
    for (kind, name, effect) in [
        ("card", "SavedMethod/jane", "card.save"),
        ("recurring", "RecurringCharge/club", "charge.schedule"),
    ] {
        let mut fixture = StateFixture::with_documents(&[]);
        fixture.record(open_intent(1, name, effect));
        let (status, why) = alter(&fixture, "delete", kind).unwrap_err();
        assert_eq!(status, ActionStatus::Blocked, "{kind}");
        assert!(why.contains(&format!("{name} is not settled")), "{why}");
    }
}

#[test]
fn an_unsettled_effect_of_another_sort_is_no_evidence_about_an_object() {
    let mut fixture = StateFixture::with_documents(&[]);
    fixture.record(open_intent(1, "Contact/jane", "contact.create"));
    assert_eq!(alter(&fixture, "delete", "card"), Ok(()));
}

#[test]
fn a_purge_counts_every_known_object_that_it_removes() {
    let mut fixture =
        StateFixture::with_documents(&[&card("card"), &recurring_charge("club", "card")]);
    fixture.apply("SavedMethod/card", "card_1", json!({}));
    fixture.apply("RecurringCharge/club", "rc_1", json!({}));
    let deletes = |fields: Value| {
        let command = ActionCommand { action: action("purge", fields), actor: "ann".to_owned() };
        let ready = fixture.view().ready(&command).unwrap_or_else(|why| panic!("{why:?}"));
        ready.effect.counts.deletes
    };
    assert_eq!(deletes(json!({})), 2);
    assert_eq!(deletes(json!({"methods": true})), 1);
    assert_eq!(deletes(json!({"transactions": true})), 1);
}
