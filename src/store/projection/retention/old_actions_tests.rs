//! Retention of old actions, in a state that a daemon wrote (`tests/fixtures/fold-9`).

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::base::id::{IntentId, Key};
use crate::model::events::hook_run::{ActionOutcome, ActionResult, PendingAction};
use crate::model::record::Record;
use crate::model::state::lifecycle::EventsDropped;
use crate::store::index::ordered::{Batch, Index, MemoryIndex};
use crate::store::projection::migration::tests::opened;
use crate::store::read_model::hooks::ACTION_REQUESTS;
use crate::store::read_model::model::{Changes, ReadModel, decode};
use crate::store::read_model::resources::entries;
use crate::store::tests::support::fold;

fn state() -> (Arc<MemoryIndex>, ReadModel) {
    let (_journal, index) = opened("records");
    (index.clone(), ReadModel::new(index))
}

/// Folds a record that names every intent of the state, at the time `at`.
fn retain(index: &MemoryIndex, facts: &ReadModel, at: &str) {
    let all = facts.intents_after(IntentId::new(0), usize::MAX).unwrap();
    let retained = EventsDropped {
        merchant: "Merchant/acme".parse().unwrap(),
        horizon: DateTime::UNIX_EPOCH,
        events: (0, 0),
        forged: Vec::new(),
        malformed: Vec::new(),
        actions: all.into_iter().map(|(intent, promise)| (intent, promise.key)).collect(),
        at: at.parse::<DateTime<Utc>>().unwrap(),
    };
    let mut batch = Batch::new();
    fold(index, &mut batch, &Record::EventsDropped(Box::new(retained))).unwrap();
    index.apply(batch).unwrap();
}

/// Returns the hooks' actions that were done, with their keys.
fn done(index: &MemoryIndex) -> Vec<(ActionResult, Key)> {
    let all = index.scan(b"w/d/").unwrap();
    let all = all.iter().map(|(key, value)| decode::<ActionResult>(key, value).unwrap());
    let done = all.filter(|granted| granted.outcome == ActionOutcome::Done);
    let of = |granted: ActionResult| {
        let name = granted.id.action_name().unwrap();
        let key = crate::model::effect::Action::key(&granted.id.merchant, &name);
        (granted, key)
    };
    done.map(of).collect()
}

/// Returns the entries that name this action, except those of its event and of searches after a
/// restore.
fn naming(index: &MemoryIndex, key: &Key) -> Vec<String> {
    let name = key.to_string();
    let names = |(key, value): &(Vec<u8>, Vec<u8>)| {
        let both = [key.as_slice(), value.as_slice()].concat();
        let elsewhere = key.starts_with(b"v/") || key.starts_with(b"e/l/");
        !elsewhere && String::from_utf8_lossy(&both).contains(&name)
    };
    let all = entries(index).unwrap().into_iter().filter(names);
    all.map(|(key, _)| String::from_utf8_lossy(&key).into_owned()).collect()
}

/// Closes K11: six months after a hook's action was done only its event's entries remain; before
/// that everything remains.
#[test]
fn an_action_of_a_hook_is_dropped_once_the_service_answers_to_it_no_more() {
    let (index, facts) = state();
    let all = done(&index);
    let moved = |(_, key): &&(ActionResult, Key)| facts.observed_state(key).unwrap().is_some();
    let keys: BTreeSet<Key> = all.iter().filter(moved).map(|(_, key)| key.clone()).collect();
    assert!(keys.len() >= 3, "{all:?}");
    let before = entries(&*index).unwrap().len();
    retain(&index, &facts, "2027-05-20T00:00:00Z");
    assert_eq!(entries(&*index).unwrap().len(), before, "it is not six months yet");
    retain(&index, &facts, "2027-05-26T00:00:00Z");
    for key in &keys {
        assert_eq!(naming(&index, key), Vec::<String>::new(), "{key}");
    }
    assert!(entries(&*index).unwrap().len() + 6 * keys.len() <= before);
}

/// Closes K11: actions that a person requested under a name, and the resources of documents, are
/// never dropped.
#[test]
fn what_people_and_documents_asked_for_stays() {
    let (index, facts) = state();
    let kept = |index: &MemoryIndex| {
        let all = entries(index).unwrap().into_iter().map(|(key, _)| key);
        let shown = all.map(|key| String::from_utf8_lossy(&key).into_owned());
        let kept = shown.filter(|key| key.starts_with("o/") && !key.contains("/hook-"));
        kept.collect::<BTreeSet<_>>()
    };
    let before = kept(&index);
    assert!(before.iter().any(|key| key.contains("Action/")), "{before:?}");
    retain(&index, &facts, "2036-01-01T00:00:00Z");
    assert_eq!(kept(&index), before);
    let held = facts.intents_after(IntentId::new(0), usize::MAX).unwrap();
    assert!(held.iter().any(|(_, promise)| promise.key.kind.as_str() == "Contact"));
}

/// Closes K11: an action whose result is not recorded for its hook yet is kept at any age.
#[test]
fn an_action_that_a_hook_still_waits_for_is_kept() {
    let (index, facts) = state();
    let all = done(&index);
    let (granted, key) =
        all.iter().find(|(_, key)| facts.observed_state(key).unwrap().is_some()).unwrap();
    let wish = crate::model::events::hook::ActionRequest {
        name: granted.id.name.clone(),
        verb: "refund".to_owned(),
        merchant: Some(granted.id.merchant.clone()),
        fields: serde_json::json!({}),
        at: None,
        at_most: None,
        content: None,
    };
    let (id, script) = (granted.id.clone(), "answers".to_owned());
    let pending = PendingAction { id, request: wish, script, maybe_done: false, at: granted.at };
    let mut batch = Batch::new();
    let changes = &mut Changes::new(&*index, &mut batch);
    ACTION_REQUESTS.put(changes, &granted.id, &pending).unwrap();
    index.apply(batch).unwrap();
    retain(&index, &facts, "2036-01-01T00:00:00Z");
    assert!(facts.observed_state(key).unwrap().is_some());
}
