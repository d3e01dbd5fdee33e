use serde_json::{Value, json};

use crate::base::id::Key;
use crate::engine::commands::action_ready::ReadyAction;
use crate::engine::protocol::actions::{ActionCommand, ActionReport, ActionStatus};
use crate::engine::tests::fixture::StateFixture;
use crate::engine::tests::records::{MERCHANT, doubt, intent, key, merchant, progress};
use crate::model::effect::Action;
use crate::model::intent::{EffectProof, Intent, IntentProgress};
use crate::model::record::Record;
use crate::model::state::observed::{FactSource, Observation};

fn refund(name: Option<&str>, minor: i64) -> Action {
    Action {
        verb: "refund".to_owned(),
        merchant: merchant(),
        name: name.map(|name| name.parse().unwrap()),
        fields: json!({"charge": "ch_1", "amount": {"minor": minor, "currency": "USD"}}),
    }
}

fn ready(fixture: &StateFixture, action: Action) -> Result<ReadyAction, ActionReport> {
    let command = ActionCommand { action, actor: "ann".to_owned() };
    fixture.view().ready(&command).map_err(|report| *report)
}

fn report(fixture: &StateFixture, action: Action) -> ActionReport {
    ready(fixture, action).err().expect("a report")
}

fn key_of(fixture: &StateFixture, action: Action) -> Key {
    ready(fixture, action).unwrap_or_else(|report| panic!("{report:?}")).effect.key
}

/// Records the intent of this action, and returns its key.
fn send(fixture: &mut StateFixture, action: Action) -> Key {
    let effect = ready(fixture, action).unwrap_or_else(|report| panic!("{report:?}")).effect;
    let sent = intent(1, "Action/any", effect.name);
    let (mark, source_id) = (effect.source_id.mark(), effect.source_id.clone());
    let (key, applied) = (effect.key.clone(), effect.applied.clone());
    let sent = Intent { key: key.clone(), applied, mark, source_id, ..sent };
    fixture.record(Record::Intent(Box::new(sent)));
    key
}

/// Records that the only open intent is done.
fn finish(fixture: &mut StateFixture, key: &Key) {
    let applied = fixture.known_state.open_intents().next().map(|open| open.intent.applied.clone());
    let observation = Box::new(Observation {
        key: key.clone(),
        merchant: merchant(),
        at: fixture.now(),
        source: FactSource::Answer,
        remote_id: Some("re_1".parse().unwrap()),
        exists: Some(true),
        applied,
        facts: json!({"status": "COMPLETED", "key": {"sealed": "x"}}),
    });
    let proof = EffectProof::Answer;
    fixture.record(progress(1, IntentProgress::Done { observation, proof }));
}

#[test]
fn only_a_verb_of_the_register_at_a_connected_merchant_is_sent() {
    let fixture = StateFixture::with_documents(&[]);
    let unknown = report(&fixture, Action { verb: "steal".to_owned(), ..refund(None, 5) });
    assert_eq!(unknown.status, ActionStatus::Invalid);
    assert_eq!(unknown.message, "there is no action called steal");
    let nobody = report(&fixture, Action { merchant: key("Merchant/other"), ..refund(None, 5) });
    assert_eq!(
        (nobody.status, nobody.message.as_str()),
        (ActionStatus::Invalid, "there is no Merchant/other")
    );
    let mut unready = StateFixture::new();
    unready.write(&[MERCHANT]);
    let blocked = report(&unready, refund(None, 5));
    assert_eq!(blocked.status, ActionStatus::Blocked);
    assert!(blocked.message.starts_with("Merchant/acme is not ready: "), "{}", blocked.message);
}

#[test]
fn an_action_without_a_name_is_named_by_all_that_it_asks_for() {
    let fixture = StateFixture::with_documents(&[]);
    let first = key_of(&fixture, refund(None, 500));
    assert_eq!(key_of(&fixture, refund(None, 500)), first);
    assert_ne!(key_of(&fixture, refund(None, 501)), first);
    assert_eq!(key_of(&fixture, refund(Some("mine"), 500)), key("Action/mine"));
}

#[test]
fn the_money_of_an_action_is_declared_for_the_limits() {
    let fixture = StateFixture::with_documents(&[]);
    let ready = ready(&fixture, refund(None, 500)).unwrap_or_else(|report| panic!("{report:?}"));
    let moves: Vec<(i64, &str)> =
        ready.effect.moves.iter().map(|one| (one.amount.minor(), one.meaning)).collect();
    assert_eq!(moves, [(500, "refunded")]);
    assert_eq!(ready.actor, "ann");
}

#[test]
fn one_name_does_one_thing_and_other_fields_need_another_name() {
    let mut fixture = StateFixture::with_documents(&[]);
    send(&mut fixture, refund(Some("mine"), 500));
    let other = report(&fixture, refund(Some("mine"), 501));
    assert_eq!(other.status, ActionStatus::Invalid);
    assert_eq!(other.message, "mine was asked for with other fields before: give it another name");
}

#[test]
fn an_action_in_doubt_is_reported_and_not_sent_again() {
    let mut fixture = StateFixture::with_documents(&[]);
    send(&mut fixture, refund(Some("mine"), 500));
    fixture.record(doubt(1));
    let told = report(&fixture, refund(Some("mine"), 500));
    assert_eq!((told.status, told.message.as_str()), (ActionStatus::InDoubt, "no answer"));
    assert!(!told.before);
}

#[test]
fn an_action_that_was_done_is_answered_from_the_state_without_its_sealed_facts() {
    let mut fixture = StateFixture::with_documents(&[]);
    let key = send(&mut fixture, refund(Some("mine"), 500));
    finish(&mut fixture, &key);
    let told = report(&fixture, refund(Some("mine"), 500));
    assert_eq!((told.status, told.before), (ActionStatus::Done, true));
    assert_eq!(told.remote_id.as_deref(), Some("re_1"));
    let facts: Vec<(&String, &Value)> = told.facts.iter().collect();
    assert_eq!(facts, [(&"status".to_owned(), &json!("COMPLETED"))]);
}

#[test]
fn invalid_fields_are_reported_before_anything_is_sent() {
    let fixture = StateFixture::with_documents(&[]);
    for fields in [
        json!({}),
        json!({"charge": "ch_1", "amount": {"minor": 0, "currency": "USD"}}),
        json!({"charge": "ch_1", "amount": {"minor": 5, "currency": "USD"}, "more": 1}),
    ] {
        let told = report(&fixture, Action { fields: fields.clone(), ..refund(None, 5) });
        assert_eq!(told.status, ActionStatus::Invalid, "{fields}");
    }
}
