use serde_json::json;

use super::*;
use crate::engine::tests::fixture::{StateFixture, append_in};
use crate::engine::tests::records::{key, observation, suspension_record};

fn append(records: Vec<Record>, subject: Option<&str>) -> Append {
    let decision = Decision::append(records, TaskResult::Replayed, Reply::Settled);
    append_in(decision.erasing(subject.map(str::to_owned)))
}

#[tokio::test]
async fn the_records_of_a_decision_are_durable_before_its_answer() {
    let mut fixture = StateFixture::new();
    let append = append(vec![suspension_record("Contact/jane", None)], None);
    let (_, answer) = append.perform(&fixture.shared).await.unwrap();
    assert_eq!((answer, fixture.length()), (Reply::Settled, 1));
    fixture.refresh();
    assert_eq!(fixture.known_state.suspension_count(fixture.shared.now()), 1);
}

#[tokio::test]
async fn a_decision_without_records_writes_nothing() {
    let fixture = StateFixture::new();
    append(Vec::new(), None).perform(&fixture.shared).await.unwrap();
    assert_eq!(fixture.length(), 0);
}

#[tokio::test]
async fn the_values_of_a_subject_are_erased_and_those_of_others_stay() {
    let fixture = StateFixture::new();
    let jane = fixture.seal("Contact/default/jane", "Jane Doe");
    let joe = fixture.seal("Contact/default/joe", "Joe Doe");
    append(Vec::new(), Some("Contact/default/jane")).perform(&fixture.shared).await.unwrap();
    assert!(fixture.shared.open(&jane).is_err());
    assert_eq!(fixture.shared.open(&joe).unwrap().expose(), "Joe Doe");
}

#[tokio::test]
async fn nothing_is_erased_if_the_records_are_refused() {
    let fixture = StateFixture::new();
    let sealed = fixture.seal("Contact/default/jane", "Jane Doe");
    // The fold refuses progress of an intent that is not open.
    let records = vec![crate::engine::tests::records::doubt(7)];
    let performed = append(records, Some("Contact/default/jane")).perform(&fixture.shared).await;
    assert!(performed.is_err());
    assert_eq!(fixture.shared.open(&sealed).unwrap().expose(), "Jane Doe");
}

#[test]
fn a_decision_locks_the_resource_that_it_settles_beside_others() {
    let mut fixture = StateFixture::with_documents(&[]);
    fixture.record(observation("Contact/jane", "cont_1", json!({})));
    fixture.record(crate::engine::tests::records::open_intent(1, "Contact/jane", "contact.create"));
    let open = fixture.known_state.open_intents().next().unwrap().clone();
    let decision = Decision::answer(Reply::Settled).locking([key("Contact/joe")]).settling(open);
    assert_eq!(Vec::from_iter(&decision.locked), [&key("Contact/jane"), &key("Contact/joe")]);
    assert_eq!(decision.settles.unwrap().intent.key, key("Contact/jane"));
}
