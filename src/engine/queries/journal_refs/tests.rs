use serde_json::json;

use super::*;
use crate::base::hash::SourceId;
use crate::base::id::IntentId;
use crate::engine::tests::fixture::StateFixture;
use crate::engine::tests::records::{
    approval, contact, doubt, key, now, observation, open_intent, spend,
};
use crate::model::operator::PlanUse;
use crate::model::record::Record;
use crate::model::state::orphan::MovedRecord;

fn find(fixture: &StateFixture, wanted: &WhySubject) -> Provenances {
    locate(&fixture.shared.facts, wanted, fixture.shared.writer.head()).unwrap()
}

fn names(fixture: &StateFixture, wanted: &WhySubject) -> Vec<String> {
    find(fixture, wanted).resources.iter().map(|one| one.key.short()).collect()
}

fn word(text: &str) -> WhySubject {
    WhySubject::Remote(text.to_owned())
}

/// Returns a state with an intent that is the second record about its resource.
fn fixture() -> StateFixture {
    let mut fixture = StateFixture::with_documents(&[&contact("jane")]);
    fixture.append(vec![
        observation("Contact/jane", "cont_1", json!({})),
        observation("Contact/joe", "cont_2", json!({})),
        open_intent(1, "Contact/jane", "contact.create"),
        doubt(1),
    ]);
    fixture
}

#[test]
fn all_records_about_a_resource_are_found_in_rising_order() {
    let fixture = fixture();
    let found = find(&fixture, &WhySubject::Resource(key("Contact/jane")));
    assert_eq!(found.resources.len(), 1);
    assert_eq!(found.resources[0].sequences, [2, 4, 5], "the doubt is about its intent");
}

#[test]
fn a_subject_that_the_journal_does_not_know_has_no_resource() {
    let fixture = fixture();
    for subject in [
        WhySubject::Resource(key("Contact/none")),
        WhySubject::Intent(IntentId::new(9)),
        word("cont_9"),
    ] {
        let found = find(&fixture, &subject);
        assert!(found.resources.is_empty() && found.about.is_empty(), "{subject:?}");
    }
}

#[test]
fn an_intent_an_id_and_a_mark_lead_to_their_resource() {
    let fixture = fixture();
    let mark = SourceId::new("acme", &key("Contact/jane"), 0).mark().to_string();
    for subject in [WhySubject::Intent(IntentId::new(1)), word("cont_1"), word(&mark)] {
        assert_eq!(names(&fixture, &subject.clone()), ["Contact/jane"], "{subject:?}");
    }
}

#[test]
fn the_history_of_a_renamed_resource_is_found_under_both_names() {
    let mut fixture = StateFixture::with_documents(&[]);
    fixture.record(observation("Contact/jane", "cont_1", json!({})));
    let (from, to) = (key("Contact/jane"), key("Contact/janet"));
    fixture.record(Record::Moved(Box::new(MovedRecord { from, to, at: now(), commit: None })));
    fixture.record(observation("Contact/janet", "cont_1", json!({"a": 1})));
    for name in ["Contact/jane", "Contact/janet"] {
        let found = find(&fixture, &WhySubject::Resource(key(name)));
        assert_eq!(found.resources[0].sequences, [2, 3, 4], "{name}");
    }
}

#[test]
fn a_long_beginning_of_a_checksum_names_its_approval_and_a_short_one_nothing() {
    let mut fixture = fixture();
    let approved = approval("one", "ann", vec![spend("Contact/jane", 5)]);
    let checksum = approved.checksum.clone();
    fixture.record(Record::PlanApproval(Box::new(approved)));
    for text in [checksum.as_str(), &checksum[..CHECKSUM_MIN], "one"] {
        let found = find(&fixture, &word(text));
        assert_eq!(found.resources.len(), 1, "{text}");
        assert!(found.about[0].contains("by ann at 2029-12-01"), "{:?}", found.about);
    }
    assert!(find(&fixture, &word(&checksum[..CHECKSUM_MIN - 1])).about.is_empty());
}

#[test]
fn a_used_plan_is_found_by_its_name() {
    let mut fixture = fixture();
    fixture.record(Record::PlanUsed(Box::new(PlanUse {
        plan: "plan-abc".to_owned(),
        token: "token".to_owned(),
        checksum: "0123456789abcdef0".to_owned(),
        actor: "ann".to_owned(),
        at: now(),
    })));
    let found = find(&fixture, &word("plan-abc"));
    assert!(found.about[0].starts_with("saved plan plan-abc"), "{:?}", found.about);
    assert!(find(&fixture, &word("token")).about.is_empty(), "a token is not shown");
}

#[test]
fn a_word_in_the_facts_of_a_merchant_leads_to_it_only_as_a_whole() {
    let mut fixture = StateFixture::with_documents(&[]);
    fixture.apply("Merchant/acme", "m_acme", json!({"accounts": [{"id": "acc_77"}]}));
    assert_eq!(names(&fixture, &word("acc_77")), ["Merchant/acme"]);
    assert_eq!(names(&fixture, &word("acc_7")), [""; 0]);
}
