use serde_json::json;

use super::*;
use crate::engine::tests::fixture::{StateFixture, complete};
use crate::engine::tests::records::{
    card, contact, intake, key, merchant, now, observation, open_intent, progress, restore_record,
    suspension_record,
};
use crate::model::intent::IntentProgress;
use crate::model::outcome::ServiceProblem;
use crate::model::record::Record;
use crate::model::state::lifecycle::Release;
use crate::store::index::ordered::Batch;

/// Appends a record behind the back of the state in memory.
fn append(fixture: &StateFixture, record: Record) {
    complete(fixture.shared.write(Vec::new(), vec![record])).unwrap();
}

/// Returns a state with one suspension that ends after an hour and one without an end.
fn with_suspensions() -> StateFixture {
    let mut fixture = StateFixture::with_documents(&[&contact("jane"), &contact("joe")]);
    fixture.record(suspension_record("Contact/jane", Some("2029-12-01T11:00:00Z")));
    fixture.record(suspension_record("Contact/joe", None));
    fixture
}

#[test]
fn a_reload_forgets_a_suspension_that_was_ended_by_a_person() {
    let mut fixture = with_suspensions();
    append(
        &fixture,
        Record::Resumed { key: key("Contact/joe"), actor: "ann".to_owned(), at: now() },
    );
    fixture.known_state.reload_suspensions().unwrap();
    assert_eq!(fixture.known_state.suspension(&key("Contact/joe")), None);
}

#[test]
fn a_refresh_reads_one_resource_whole_its_facts_its_intent_and_its_suspension() {
    let mut fixture = StateFixture::with_documents(&[&contact("jane")]);
    let jane = key("Contact/jane");
    assert_eq!(fixture.known_state.observed(&jane), None);
    for record in [
        observation("Contact/jane", "cont_1", json!({"a": 1})),
        suspension_record("Contact/jane", None),
        open_intent(1, "Contact/jane", "contact.create"),
    ] {
        append(&fixture, record);
    }
    fixture.known_state.refresh(&jane).unwrap();
    let known = &fixture.known_state;
    assert_eq!(known.observed(&jane).unwrap().fact("a"), &json!(1));
    assert!(known.suspension(&jane).is_some() && known.open_intent(&jane).is_some());
}

#[test]
fn a_fact_read_before_a_refresh_is_not_served_after_it() {
    let mut fixture = StateFixture::with_documents(&[]);
    fixture.record(observation("Contact/jane", "cont_1", json!({"a": 1})));
    let jane = key("Contact/jane");
    assert_eq!(fixture.known_state.observed(&jane).unwrap().fact("a"), &json!(1));
    append(&fixture, observation("Contact/jane", "cont_1", json!({"a": 2})));
    fixture.known_state.refresh(&jane).unwrap();
    assert_eq!(fixture.known_state.observed(&jane).unwrap().fact("a"), &json!(2));
}

#[test]
fn more_resources_than_are_kept_unpacked_are_all_known() {
    let mut fixture = StateFixture::new();
    let names: Vec<String> = (0..RECENT_MAX + 10).map(|n| format!("Contact/c{n}")).collect();
    let records = names.iter().map(|name| observation(name, &name[8..], json!({}))).collect();
    fixture.append(records);
    for name in &names {
        let known = fixture.known_state.observed(&key(name)).unwrap();
        assert_eq!(known.remote_id.as_ref().unwrap().as_str(), &name[8..]);
    }
}

#[test]
fn a_refused_effect_may_be_tried_again_until_its_next_refusal() {
    let mut fixture = StateFixture::with_documents(&[&contact("jane")]);
    let jane = key("Contact/jane");
    assert!(!fixture.known_state.try_again(&jane), "nothing was refused");
    let problem = ServiceProblem::default();
    fixture.append(vec![
        open_intent(1, "Contact/jane", "contact.create"),
        progress(1, IntentProgress::Refused { status: 400, problem }),
    ]);
    assert!(fixture.known_state.try_again(&jane));
    assert!(fixture.known_state.is_retry_granted(&jane, IntentId::new(1)));
    assert!(!fixture.known_state.is_retry_granted(&jane, IntentId::new(2)));
    assert!(!fixture.known_state.is_retry_granted(&key("Contact/joe"), IntentId::new(1)));
}

#[test]
fn what_a_merchant_has_unsettled_includes_its_tasks_under_way_and_not_itself() {
    let mut fixture = StateFixture::with_documents(&[&contact("jane"), &card("card")]);
    fixture.record(open_intent(1, "Contact/jane", "contact.create"));
    let known = &mut fixture.known_state;
    known.task_started(&key("SavedMethod/card"), &merchant());
    known.task_started(&merchant(), &merchant());
    known.task_started(&key("Contact/other"), &key("Merchant/other"));
    assert_eq!(known.unsettled_keys(&merchant()), [key("Contact/jane"), key("SavedMethod/card")]);
    assert_eq!(known.task_ended(&key("SavedMethod/card")), Some(merchant()));
    assert_eq!(known.unsettled_keys(&merchant()), [key("Contact/jane")]);
    assert_eq!(known.task_ended(&key("SavedMethod/card")), None);
}

#[test]
fn a_creation_that_no_lookup_finds_waits_after_a_restore_until_it_is_released() {
    let mut fixture = StateFixture::with_documents(&[&contact("jane")]);
    let jane = key("Contact/jane");
    assert_eq!(fixture.known_state.possibly_created(&jane), None);
    fixture.record(restore_record(1));
    let why = fixture.known_state.possibly_created(&jane).unwrap();
    assert!(why.contains("`reckon store release Contact/jane`"), "{why}");
    let release = Release { keys: vec![jane.clone()], done: false, at: now(), actor: "a".into() };
    fixture.record(Record::Released(Box::new(release)));
    assert_eq!(fixture.known_state.possibly_created(&jane), None);
    assert!(fixture.known_state.possibly_created(&key("Contact/joe")).is_some());
}

#[test]
fn only_a_cautious_state_that_began_empty_suspects_a_lost_one() {
    let jane = key("MerchantApplication/jane");
    let careless = StateFixture::new();
    assert!(!careless.known_state.maybe_created_by_lost_state(&jane));
    let mut cautious = StateFixture::with(|settings| settings.cautious_start = true);
    assert!(cautious.known_state.maybe_created_by_lost_state(&jane));
    cautious.record(Record::EmptyRemote { at: now(), actor: "ann".to_owned() });
    assert!(!cautious.known_state.maybe_created_by_lost_state(&jane));
}

#[test]
fn a_merchant_without_a_document_counts_as_being_removed_while_it_is_busy() {
    let mut fixture = StateFixture::with_documents(&[]);
    fixture.scheduler.busy.insert(merchant());
    assert!(!fixture.view().snapshot().is_being_removed(&merchant()), "it has a document");
    fixture.write(&[]);
    assert!(fixture.view().snapshot().is_being_removed(&merchant()));
    fixture.scheduler.busy.clear();
    assert!(!fixture.view().snapshot().is_being_removed(&merchant()), "its deletion is not asked");
}

#[test]
fn reads_that_can_wait_use_the_same_credentials_with_less_urgency() {
    let fixture = StateFixture::with_documents(&[&intake("jane")]);
    let poll = fixture.view().snapshot().poll_credentials(&merchant());
    let own = fixture.known_state.credential_source(&merchant());
    assert_eq!((&poll.merchant, &poll.spec, poll.generation), (&own.merchant, &own.spec, 0));
    assert!(own.spec.is_some() && poll.urgency != own.urgency);
}

#[test]
fn a_known_state_that_cannot_be_decoded_is_on_hold_and_names_the_way_out() {
    let mut fixture = StateFixture::with_documents(&[&contact("jane")]);
    let jane = key("Contact/jane");
    let mut damage = Batch::new();
    damage.put(b"o/Contact/default/jane".to_vec(), b"damaged".to_vec());
    fixture.shared.facts.index.apply(damage).unwrap();
    fixture.known_state.refresh(&jane).unwrap();
    let known = fixture.known_state.observed(&jane).unwrap();
    let reason = &known.on_hold.as_ref().unwrap().reason;
    assert!(known.exists && reason.contains("remove the folder `sled`"), "{reason}");
}
