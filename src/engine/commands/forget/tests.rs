#![expect(clippy::wildcard_enum_match_arm, reason = "every other value fails the test")]

use serde_json::json;

use crate::base::id::Key;
use crate::engine::protocol::input::{AllowPrune, EngineCommand};
use crate::engine::protocol::query::Reply;
use crate::engine::tests::fixture::{StateFixture, append_in};
use crate::engine::tests::records::{
    CARD, annotated_document, contact, document, key, now, observation, open_intent, unknown_object,
};
use crate::model::record::Record;
use crate::model::state::drift::{ForgetRequest, ForgetResult};
use crate::model::state::orphan::{MissingDocumentChange, MovedRecord};

fn forget(name: &str) -> EngineCommand {
    EngineCommand::Forget(ForgetRequest::Resource(key(name)), "ann".to_owned())
}

fn disown(id: &str) -> EngineCommand {
    EngineCommand::Forget(ForgetRequest::Object(id.parse().unwrap()), "ann".to_owned())
}

fn refusal(fixture: &StateFixture, command: EngineCommand) -> String {
    let Reply::Forgot(result) = fixture.answer_to(command) else { panic!("no answer") };
    match *result {
        ForgetResult::Refused(why, _) => why,
        ForgetResult::Unknown(nearest) => format!("unknown; nearest {nearest:?}"),
        other => panic!("{other:?}"),
    }
}

/// Returns a state that knows a contact without a document.
fn without_document() -> StateFixture {
    let mut fixture = StateFixture::with_documents(&[]);
    fixture.record(observation("Contact/jane", "cont_1", json!({})));
    fixture
}

#[test]
fn forgetting_records_the_object_locks_the_resource_and_erases_its_sealed_values() {
    let fixture = without_document();
    let decision = fixture.decide(forget("Contact/jane"));
    assert_eq!(Vec::from_iter(decision.locked.clone()), [key("Contact/jane")]);
    let append = append_in(decision);
    let id = Some("cont_1".parse().unwrap());
    let result = ForgetResult::Resource(key("Contact/jane"), id.clone());
    assert_eq!(append.answer, Reply::Forgot(Box::new(result)));
    let [Record::Forgotten(forgotten)] = &append.records[..] else { panic!("no record") };
    assert_eq!((&forgotten.key, &forgotten.remote_id), (&key("Contact/jane"), &id));
    assert_eq!(append.erase.as_deref(), Some("Contact/default/jane"));
}

#[test]
fn a_resource_with_a_document_is_not_forgotten_and_its_place_is_named() {
    let mut fixture = StateFixture::with_documents(&[&contact("jane")]);
    fixture.apply("Contact/jane", "cont_1", json!({}));
    let why = refusal(&fixture, forget("Contact/jane"));
    assert!(why.starts_with("the document of Contact/jane is at specs/tree.yaml:"), "{why}");
}

#[test]
fn nothing_is_forgotten_while_a_document_may_be_in_an_invalid_file() {
    let mut fixture = without_document();
    fixture.connect(&[&document("Contact", "joe", "no_such_field: 1")]);
    let why = refusal(&fixture, forget("Contact/jane"));
    assert!(why.starts_with("some files are invalid"), "{why}");
}

#[test]
fn an_unknown_resource_is_not_forgotten_and_the_nearest_one_is_named() {
    let why = refusal(&without_document(), forget("Contact/jnae"));
    assert_eq!(why, "unknown; nearest Some(\"Contact/jane\")");
}

#[test]
fn a_resource_is_not_forgotten_while_an_effect_is_unsettled_or_in_flight() {
    let mut fixture = without_document();
    fixture.scheduler.busy.insert(key("Contact/jane"));
    let why = refusal(&fixture, forget("Contact/jane"));
    assert_eq!(why, "an effect of Contact/jane is in flight");
    fixture.record(open_intent(1, "Contact/jane", "contact.create"));
    let why = refusal(&fixture, forget("Contact/jane"));
    assert!(why.starts_with("an effect of Contact/jane is not settled"), "{why}");
}

#[test]
fn a_used_resource_is_not_forgotten_and_three_users_are_named_and_the_rest_counted() {
    let mut fixture = StateFixture::with_documents(&[]);
    for name in ["a", "b", "c", "d", "e"] {
        fixture.record(observation(&format!("Contact/{name}"), &format!("cont_{name}"), json!({})));
    }
    fixture.write(&[]);
    let why = refusal(&fixture, forget("Merchant/acme"));
    assert_eq!(why, "Merchant/acme is used by Contact/a, Contact/b, Contact/c and 2 more");
}

#[test]
fn a_renamed_resource_is_forgotten_under_its_new_name_alone() {
    let mut fixture = without_document();
    let (from, to) = (key("Contact/jane"), key("Contact/janet"));
    fixture.record(Record::Moved(Box::new(MovedRecord { from, to, at: now(), commit: None })));
    let why = refusal(&fixture, forget("Contact/jane"));
    assert_eq!(why, "Contact/jane was renamed to Contact/janet");
    append_in(fixture.decide(forget("Contact/janet")));
}

#[test]
fn an_unknown_object_is_disowned_for_the_resource_that_it_blocks_and_nothing_is_erased() {
    let mut fixture = StateFixture::with_documents(&[]);
    fixture.record(unknown_object("Merchant/acme", "card_1", None));
    let append = append_in(fixture.decide(disown("card_1")));
    let [Record::Disowned(disowned)] = &append.records[..] else { panic!("no record") };
    assert_eq!(disowned.key, key("Merchant/acme"));
    assert_eq!(append.erase, None);
    fixture.scheduler.busy.insert(key("Merchant/acme"));
    assert_eq!(refusal(&fixture, disown("card_1")), "an effect of Merchant/acme is in flight");
}

#[test]
fn an_object_that_blocks_nothing_is_not_disowned() {
    let mut fixture = StateFixture::with_documents(&[]);
    assert_eq!(refusal(&fixture, disown("card_1")), "unknown; nearest None");
    fixture.record(unknown_object("Merchant/acme", "card_1", None));
    assert_eq!(refusal(&fixture, disown("card_2")), "unknown; nearest Some(\"card_1\")");
}

/// Returns a state with a card whose document asked for its deletion and is gone.
fn to_be_removed() -> StateFixture {
    let card = annotated_document("SavedMethod", "card", "reckon.dev/deletion: delete", CARD);
    let mut fixture = StateFixture::with_documents(&[&card]);
    fixture.apply("SavedMethod/card", "card_1", json!({}));
    fixture.record(observation("Contact/stays", "cont_1", json!({})));
    fixture.connect(&[]);
    fixture
}

fn allow(names: &[&str]) -> EngineCommand {
    let keys = names.iter().map(|name| key(name)).collect();
    EngineCommand::AllowPrune(AllowPrune { all: false, keys }, "ann".to_owned())
}

#[test]
fn a_permission_covers_named_removals_and_nothing_that_stays() {
    let fixture = to_be_removed();
    let command = allow(&["SavedMethod/card", "Contact/stays", "Contact/unknown"]);
    let append = append_in(fixture.decide(command));
    assert_eq!(append.answer, Reply::Allowed(vec![key("SavedMethod/card")]));
    let [Record::MissingDocument(record)] = &append.records[..] else { panic!("no record") };
    assert!(matches!(&record.change, MissingDocumentChange::Allowed(one) if one.at_once));
    assert_eq!(fixture.answer_to(allow(&["Contact/stays"])), Reply::Allowed(Vec::<Key>::new()));
}

#[test]
fn no_permission_is_given_for_a_busy_resource() {
    let mut fixture = to_be_removed();
    fixture.scheduler.busy.insert(key("SavedMethod/card"));
    let answer = fixture.answer_to(allow(&["SavedMethod/card"]));
    assert_eq!(answer, Reply::Allowed(Vec::new()));
}
