use std::collections::BTreeMap;

use serde_json::json;

use super::*;
use crate::base::hash::{SourceId, sha256};
use crate::base::id::{IntentId, Mode};
use crate::engine::protocol::input::EngineCommand;
use crate::engine::tests::fixture::{StateFixture, run_in};
use crate::engine::tests::records;
use crate::plan::state_view::StateView;

fn intent() -> Intent {
    let key: Key = "SavedMethod/jane".parse().unwrap();
    let source_id = SourceId::new("acme", &key, 0);
    let said = json!({
        "id": IntentId::new(1), "effect": "vault.save", "key": key,
        "merchant": "Merchant/default/acme", "mode": Mode::Test, "target": null,
        "mark": source_id.mark(), "source_id": source_id,
        "request": {"endpoint": "", "method": "POST", "host": "base", "path": "", "auth": "none", "body": "none"},
        "expect": BTreeMap::from([("amount", 2000)]), "baseline": null, "on_doubt": "hold",
        "applied": {"spec": {}, "digest": sha256(b""), "generation": 0, "deletion": "orphan"},
        "cause": {"file": null, "line": null, "commit": null}, "at": "2026-11-22T23:59:59Z",
    });
    serde_json::from_value(said).unwrap()
}

/// Closes M13: an id is no proof by itself.
#[test]
fn an_object_fits_by_its_id_its_mark_and_its_amount_and_not_otherwise() {
    let (intent, id) = (intent(), "c1".parse().unwrap());
    let mark = intent.mark.to_string();
    let other = "rkabcdefghijklmnopqrstuvwxya";
    for (item, why) in [
        (json!({"id": "c1", "amount": 2000, "reference": mark}), ""),
        (json!({"id": "c1", "amount": 2000}), ""),
        (json!({"id": "c2", "amount": 2000}), "another object"),
        (json!({"id": "c1", "amount": 2000, "reference": other}), "mark of another"),
        (json!({"id": "c1", "amount": 200, "reference": mark}), "asked 2000, answered 200"),
        (json!({"id": "c1", "amount": 2000, "reference": format!("Rent [{mark}]")}), ""),
        (json!({"id": "c1", "reference": format!("Rent [{other}]")}), "mark of another"),
        (json!({"id": "c1", "data": {"reckon": other}}), "mark of another"),
        (json!({"id": "c1", "amount": 2000, "status": "FAILED"}), "moved nothing"),
    ] {
        let found = match compare_with_intent(&intent, &id, &item) {
            ObjectCheck::Fits => String::new(),
            ObjectCheck::Differs(why) | ObjectCheck::Unreadable(why) => why,
        };
        assert!(found.contains(why) && found.is_empty() == why.is_empty(), "{item}: {found}");
    }
}

fn command(id: u64, said: ManualResolution) -> EngineCommand {
    EngineCommand::Resolve(ResolveIntent { id: IntentId::new(id), said, actor: "ann".to_owned() })
}

fn id(text: &str) -> RemoteId {
    text.parse().unwrap()
}

/// Returns a state with an unsettled effect that saves a card, or creates a contact.
fn in_doubt(name: &str, effect: &str) -> StateFixture {
    let mut fixture = StateFixture::with_documents(&[]);
    let mut intent = records::intent(1, name, effect);
    intent.applied.spec = json!({"type": "card"});
    fixture.append(vec![Record::Intent(Box::new(intent)), records::doubt(1)]);
    fixture
}

fn card_in_doubt() -> StateFixture {
    in_doubt("SavedMethod/jane", "card.save")
}

async fn result(fixture: &mut StateFixture, said: ManualResolution) -> ResolveResult {
    let (_, reply) = run_in(fixture.decide(command(1, said))).await;
    fixture.refresh();
    let Reply::Resolved(result) = reply else { panic!("{reply:?}") };
    result
}

#[test]
fn an_intent_that_is_not_open_is_unknown_and_one_being_settled_is_left_alone() {
    let mut fixture = card_in_doubt();
    let unknown = fixture.answer_to(command(2, ManualResolution::NotDone));
    assert_eq!(unknown, Reply::Resolved(ResolveResult::Unknown));
    let key: Key = "SavedMethod/jane".parse().unwrap();
    fixture.scheduler.busy.insert(key.clone());
    let busy = fixture.answer_to(command(1, ManualResolution::NotDone));
    assert_eq!(busy, Reply::Resolved(ResolveResult::Busy(key)));
}

#[test]
fn a_settlement_takes_the_lane_of_its_intent_and_locks_its_resource() {
    let fixture = card_in_doubt();
    let decision = fixture.decide(command(1, ManualResolution::NotDone));
    assert_eq!(decision.settles.unwrap().intent.id, IntentId::new(1));
    assert_eq!(Vec::from_iter(decision.locked), ["SavedMethod/jane".parse().unwrap()]);
}

#[tokio::test]
async fn an_effect_that_did_not_happen_leaves_no_object_and_no_open_intent() {
    let mut fixture = card_in_doubt();
    let before = fixture.length();
    let settled = result(&mut fixture, ManualResolution::NotDone).await;
    assert!(matches!(settled, ResolveResult::Settled(_)));
    assert_eq!(fixture.known_state.open_intents().len(), 0);
    assert_eq!(fixture.length(), before + 2, "the person's word, and its consequence");
    let known = fixture.known_state.observed(&"SavedMethod/jane".parse().unwrap());
    assert!(known.is_none_or(|known| !known.exists));
}

#[tokio::test]
async fn an_id_is_accepted_once_the_service_shows_an_object_that_fits() {
    let mut fixture = card_in_doubt();
    fixture.service.answer("GET /v1/cards/card_1", json!({"id": "card_1", "amount": 2000}));
    let settled = result(&mut fixture, ManualResolution::Done(id("card_1"))).await;
    assert!(matches!(settled, ResolveResult::Settled(_)), "{settled:?}");
    let known = fixture.known_state.observed(&"SavedMethod/jane".parse().unwrap()).unwrap();
    assert_eq!((known.remote_id.as_ref(), known.exists), (Some(&id("card_1")), true));
}

#[tokio::test]
async fn an_id_without_an_object_or_with_another_one_settles_nothing() {
    for (service, part) in [
        (None, "has no card_1 among the cards"),
        (Some(json!({"id": "card_1", "amount": 1})), "differs from the request"),
    ] {
        let mut fixture = card_in_doubt();
        match service {
            None => fixture.service.lacks("/v1/cards/card_1"),
            Some(item) => fixture.service.answer("GET /v1/cards/card_1", item),
        }
        let before = fixture.length();
        let told = result(&mut fixture, ManualResolution::Done(id("card_1"))).await;
        let ResolveResult::Differs(_, why) = told else { panic!("{told:?}") };
        assert!(why.contains(part), "{why}");
        assert_eq!(fixture.length(), before, "nothing is recorded");
    }
}

#[tokio::test]
async fn an_id_of_another_resource_settles_nothing_and_the_service_is_not_asked() {
    let mut fixture = card_in_doubt();
    fixture.record(records::observation("SavedMethod/joe", "card_1", json!({})));
    let told = result(&mut fixture, ManualResolution::Done(id("card_1"))).await;
    let ResolveResult::Differs(_, why) = told else { panic!("{told:?}") };
    assert_eq!(why, "card_1 belongs to SavedMethod/joe");
    assert_eq!(fixture.service.requests(), [""; 0]);
}

#[tokio::test]
async fn an_object_that_the_service_never_shows_needs_a_person_who_vouches_for_it() {
    let mut fixture = in_doubt("Contact/jane", "contact.create");
    let told = result(&mut fixture, ManualResolution::Done(id("cont_1"))).await;
    assert!(matches!(told, ResolveResult::Unverified(..)), "{told:?}");
    let told = result(&mut fixture, ManualResolution::Unverified(id("cont_1"))).await;
    assert!(matches!(told, ResolveResult::Settled(_)), "{told:?}");
    let known = fixture.known_state.observed(&"Contact/jane".parse().unwrap()).unwrap();
    assert_eq!(known.remote_id.as_ref(), Some(&id("cont_1")));
    assert_eq!(fixture.service.requests(), [""; 0]);
}
