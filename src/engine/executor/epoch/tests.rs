use chrono::TimeDelta;

use super::*;
use crate::engine::executor::request::row_of;
use crate::engine::tests::fixture::StateFixture;
use crate::engine::tests::records::{card, contact, key, now, restore_record};
use crate::model::effect::StepWork;
use crate::model::state::lifecycle::Release;

/// Returns the effect that a resource's step would do before the restore.
fn effect(fixture: &StateFixture, name: &str) -> Effect {
    let step = fixture.planner.full_step(&fixture.known_state, &key(name)).unwrap();
    let StepWork::Effect(effect) = (*step.work.expect("work")).clone() else { panic!("a reading") };
    effect
}

fn gate(fixture: &StateFixture, effect: &Effect) -> EpochGate {
    epoch_gate(&fixture.shared, row_of(effect.name).unwrap(), effect).unwrap()
}

fn fixture() -> (StateFixture, Effect, Effect) {
    let fixture = StateFixture::with_documents(&[&contact("jane"), &card("card")]);
    let (contact, card) = (effect(&fixture, "Contact/jane"), effect(&fixture, "SavedMethod/card"));
    (fixture, contact, card)
}

fn release(fixture: &mut StateFixture, names: &[&str]) {
    let keys = names.iter().map(|name| key(name)).collect();
    let release = Release { keys, done: false, at: now(), actor: "ann".to_owned() };
    fixture.record(Record::Released(Box::new(release)));
}

#[test]
fn without_a_restore_every_effect_is_sent() {
    let (fixture, contact, card) = fixture();
    assert_eq!(gate(&fixture, &contact), EpochGate::Open);
    assert_eq!(gate(&fixture, &card), EpochGate::Open);
}

#[test]
fn after_a_restore_an_effect_is_looked_up_first_or_not_sent() {
    let (mut fixture, contact, card) = fixture();
    fixture.record(restore_record(1));
    let EpochGate::LookUp(why) = gate(&fixture, &card) else { panic!("it was not looked up") };
    assert!(why.contains("it may have been sent in between"), "{why}");
    let EpochGate::Closed(TaskFailure::Blocked(why)) = gate(&fixture, &contact) else {
        panic!("a contact cannot be looked up")
    };
    assert!(why.contains("`reckon store release Contact/jane`"), "{why}");
}

#[tokio::test(start_paused = true)]
async fn a_change_in_place_needs_no_lookup_but_waits_for_the_calls_of_the_lost_state() {
    let (mut fixture, mut contact, _) = fixture();
    contact.request.method = crate::api::call::Method::Put;
    contact.target = Some("p_1".parse().unwrap());
    assert_eq!(gate(&fixture, &contact), EpochGate::Open, "no state was lost");
    fixture.record(restore_record(1));
    let EpochGate::Wait(why, rest) = gate(&fixture, &contact) else { panic!("it was sent") };
    let window = fixture.shared.settings.timeout + fixture.shared.settings.grace;
    assert_eq!(rest, window);
    assert!(why.contains("an older change of the lost state may still take effect"), "{why}");
    contact.target = None;
    assert_eq!(gate(&fixture, &contact), EpochGate::Open, "nothing exists that it could change");
    contact.target = Some("p_1".parse().unwrap());
    release(&mut fixture, &["Contact/jane"]);
    assert_eq!(gate(&fixture, &contact), EpochGate::Open, "a person says that there is none");
}

#[test]
fn a_change_waits_only_as_long_as_a_call_of_the_lost_state_can_take() {
    let (mut fixture, mut contact, _) = fixture();
    contact.request.method = crate::api::call::Method::Put;
    contact.target = Some("p_1".parse().unwrap());
    let mut long_ago = restore_record(1);
    let Record::Restored(restored) = &mut long_ago else { panic!("another record") };
    restored.at = now() - TimeDelta::hours(1);
    fixture.record(long_ago);
    assert_eq!(gate(&fixture, &contact), EpochGate::Open);
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_was_set_back_lets_a_change_wait_no_longer() {
    let (mut fixture, mut contact, _) = fixture();
    contact.request.method = crate::api::call::Method::Put;
    contact.target = Some("p_1".parse().unwrap());
    let mut ahead = restore_record(1);
    let Record::Restored(restored) = &mut ahead else { panic!("another record") };
    restored.at = now() + TimeDelta::days(1);
    fixture.record(ahead);
    let EpochGate::Wait(_, rest) = gate(&fixture, &contact) else { panic!("it was sent") };
    tokio::time::advance(rest).await;
    assert_eq!(gate(&fixture, &contact), EpochGate::Open);
}

#[test]
fn a_person_s_release_opens_what_it_names_or_everything() {
    let (mut fixture, contact, card) = fixture();
    fixture.record(restore_record(1));
    release(&mut fixture, &["Contact/jane"]);
    assert_eq!(gate(&fixture, &contact), EpochGate::Open);
    assert!(matches!(gate(&fixture, &card), EpochGate::LookUp(_)));
    release(&mut fixture, &[]);
    assert_eq!(gate(&fixture, &card), EpochGate::Open);
}

#[test]
fn a_later_restore_withdraws_the_releases_before_it() {
    let (mut fixture, contact, _) = fixture();
    fixture.record(restore_record(1));
    release(&mut fixture, &["Contact/jane"]);
    fixture.record(restore_record(2));
    assert!(matches!(gate(&fixture, &contact), EpochGate::Closed(_)));
}

#[test]
fn the_reason_of_a_lookup_names_its_end_only_if_that_is_ahead() {
    let (past, ahead) = (now() - TimeDelta::seconds(1), now() + TimeDelta::seconds(1));
    let reason = |deadline| with_deadline("why".to_owned(), deadline, now());
    assert_eq!((reason(past), reason(now())), ("why".to_owned(), "why".to_owned()));
    assert!(reason(ahead).starts_with("why; until 2029-12-01T10:00:01.000Z"));
}

#[test]
fn unknown_objects_block_the_resource_and_the_merchant_that_they_are_found_at() {
    let (mut fixture, contact, _) = fixture();
    let keys = [&contact.key, &contact.merchant];
    assert_eq!(blocked_keys(&fixture.shared, keys).unwrap(), BTreeSet::new());
    let found = crate::engine::tests::records::unknown_object("Merchant/acme", "card_9", None);
    fixture.record(found);
    let blocked = blocked_keys(&fixture.shared, keys).unwrap();
    assert_eq!(blocked, [contact.merchant.clone()].into());
}
