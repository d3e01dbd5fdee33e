#![expect(clippy::arithmetic_side_effects, reason = "an overflow fails the test")]

use chrono::TimeDelta;
use serde_json::json;

use super::*;
use crate::base::hash::sha256;
use crate::base::id::IntentId;
use crate::engine::tests::fixture::{StateFixture, complete};
use crate::engine::tests::records::{card, intake, key, merchant, observation};
use crate::model::effect::StepWork;
use crate::model::intent::Cause;
use crate::plan::state_view::StateView;

fn job(fixture: &StateFixture) -> EffectJob {
    let step = fixture.planner.full_step(&fixture.known_state, &key("SavedMethod/card")).unwrap();
    let StepWork::Effect(effect) = (*step.work.expect("work")).clone() else { panic!("a reading") };
    let wallet = fixture.known_state.credential_source(&merchant());
    let (id, rest, cause) = (IntentId::new(1), Some(sha256(b"")), Cause::default());
    EffectJob { id, effect, wallet, cause, rest, again: false, is_timed: false }
}

fn fixture() -> StateFixture {
    StateFixture::with_documents(&[&card("card")])
}

fn single_use(fixture: &StateFixture, minutes: i64, is_reusable: bool) -> Effect {
    let expires_at = fixture.now() + TimeDelta::minutes(minutes);
    let clearing_facts = json!({"attached": null});
    let once = SingleUse { expires_at, clearing_facts, is_reusable };
    Effect { single_use: Some(Box::new(once)), ..job(fixture).effect }
}

#[test]
fn a_value_is_used_only_before_its_end() {
    let fixture = fixture();
    assert!(!uses_expired_value(&fixture.shared, &job(&fixture).effect));
    assert!(!uses_expired_value(&fixture.shared, &single_use(&fixture, 1, false)));
    assert!(uses_expired_value(&fixture.shared, &single_use(&fixture, 0, false)));
}

#[test]
fn a_value_that_works_once_is_forgotten_before_its_intent_and_a_reusable_one_is_kept() {
    let mut fixture = fixture();
    let record = |fixture: &StateFixture, again| {
        consume_value_record(&fixture.shared, &single_use(fixture, 1, again))
    };
    assert_eq!(record(&fixture, true), None);
    assert_eq!(consume_value_record(&fixture.shared, &job(&fixture).effect), None);
    let spent = record(&fixture, false).expect("a record");
    let token = json!({"attached": {"sealed": "00"}});
    fixture.record(observation("SavedMethod/card", "card_1", token));
    fixture.record(spent);
    let known = fixture.known_state.observed(&key("SavedMethod/card")).unwrap();
    assert!(known.fact("attached").is_null());
}

#[tokio::test]
async fn an_effect_is_sent_only_once_its_intent_is_on_disk_and_learns_the_answer() {
    let mut fixture = fixture();
    let job = job(&fixture);
    let mark = job.effect.source_id.mark().to_string();
    let mut answer = json!({"id": "card_1", "reference": mark});
    for (path, value) in &job.effect.expect {
        answer[path] = value.clone();
    }
    fixture.service.answer("POST /v1/cards", answer);
    let request = format!("{} {}", job.effect.request.method.as_str(), job.effect.request.path);
    let before = fixture.length();
    let finished = perform(&fixture.shared, job).await.unwrap();
    assert!(matches!(finished, TaskResult::Changed(_)), "{finished:?}");
    assert_eq!(fixture.service.requests(), [request]);
    assert_eq!(fixture.length(), before + 2, "the intent, and its end");
    fixture.refresh();
    assert_eq!(fixture.reason("SavedMethod/card"), "InSync");
}

#[tokio::test]
async fn a_refusal_closes_the_intent_and_leaves_no_object() {
    let mut fixture = fixture();
    let problem = json!({"messages": [{"context": "Card.number", "code": "Invalid"}]});
    fixture.service.answer_with("POST /v1/cards", 422, problem);
    perform(&fixture.shared, job(&fixture)).await.unwrap();
    fixture.refresh();
    assert_eq!(fixture.known_state.open_intents().len(), 0);
    assert_eq!(fixture.reason("SavedMethod/card"), "Refused");
}

#[tokio::test]
async fn an_answer_that_differs_from_the_request_puts_the_resource_on_hold() {
    let mut fixture = fixture();
    let job = job(&fixture);
    assert!(!job.effect.expect.is_empty());
    fixture.service.answer("POST /v1/cards", json!({"id": "card_1", "reference": "other"}));
    perform(&fixture.shared, job).await.unwrap();
    fixture.refresh();
    assert_eq!(fixture.reason("SavedMethod/card"), "Held");
}

#[tokio::test]
async fn an_effect_whose_document_changed_meanwhile_is_not_sent() {
    let fixture = fixture();
    fixture.shared.superseded.insert(&key("SavedMethod/card"));
    let before = fixture.length();
    perform(&fixture.shared, job(&fixture)).await.unwrap();
    assert_eq!((fixture.length(), fixture.service.requests().len()), (before, 0));
}

#[tokio::test]
async fn an_effect_of_a_merchant_with_refused_credentials_is_not_sent() {
    let fixture = fixture();
    fixture.shared.refused_merchants.insert(&merchant());
    let finished = perform(&fixture.shared, job(&fixture)).await.unwrap();
    assert!(matches!(finished, TaskResult::Unauthorised(..)), "{finished:?}");
    assert_eq!(fixture.service.requests(), [""; 0]);
}

#[tokio::test]
async fn an_effect_without_its_secret_is_not_sent_and_names_it() {
    let missing = card("card").replace("{literal: \"4242424242424242\"}", "{env: CARD}");
    let fixture = StateFixture::with_documents(&[&missing]);
    let before = fixture.length();
    let finished = perform(&fixture.shared, job(&fixture)).await.unwrap();
    let TaskResult::RetryLater(_, TaskFailure::Secret(why), _) = finished else {
        panic!("{finished:?}")
    };
    assert!(why.starts_with("SavedMethod/card names"), "{why}");
    assert_eq!((fixture.length(), fixture.service.requests().len()), (before, 0));
}

#[test]
fn an_intent_holds_the_effect_and_the_reserved_exposure() {
    let fixture = StateFixture::with_documents(&[&card("card"), &intake("jane")]);
    let job = job(&fixture);
    let (effect, id) = (job.effect.clone(), job.id);
    let reserved = complete(fixture.shared.guard.reserve(id, &effect, job.rest)).unwrap().unwrap();
    let (request, _) = request::stored_request(&fixture.shared, &effect, None).unwrap();
    let intent = intent(job, request, json!({"before": 1}), &reserved);
    assert_eq!((intent.id, intent.key, intent.expect), (id, effect.key.clone(), effect.expect));
    assert_eq!((intent.mark, intent.baseline), (effect.source_id.mark(), json!({"before": 1})));
    assert_eq!((intent.at, intent.exposure), (fixture.now(), reserved.stake.clone()));
}
