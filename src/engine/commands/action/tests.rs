use serde_json::json;

use super::*;
use crate::base::hash::sha256;
use crate::engine::protocol::actions::ActionCommand;
use crate::engine::tests::fixture::StateFixture;
use crate::engine::tests::records::{key, merchant};
use crate::model::effect::Action;
use crate::model::intent::Cause;
use crate::plan::state_view::StateView;

const TOKEN: &str = "tok_0123456789abcdefghij";

/// Returns the tries of an action that saves a card by a token.
fn jobs(fixture: &StateFixture, tries: u64) -> Vec<EffectJob> {
    let action = Action {
        verb: "save".to_owned(),
        merchant: merchant(),
        name: Some("mine".parse().unwrap()),
        fields: json!({"type": "card", "token": TOKEN}),
    };
    let command = ActionCommand { action, actor: "ann".to_owned() };
    let effect = fixture.view().ready(&command).unwrap_or_else(|why| panic!("{why:?}")).effect;
    let wallet = fixture.known_state.credential_source(&merchant());
    let job = |id| EffectJob {
        id: IntentId::new(id),
        effect: effect.clone(),
        wallet: wallet.clone(),
        cause: Cause::default(),
        rest: Some(sha256(b"")),
        again: id > 1,
        is_timed: false,
    };
    (1..=tries).map(job).collect()
}

/// Runs an action; returns its report.
async fn run(fixture: &StateFixture, jobs: Vec<EffectJob>) -> ActionReport {
    let (reply, _answer) = oneshot::channel();
    let finished = run_action(&fixture.shared, jobs, reply).await.unwrap();
    let TaskResult::WithReply(_, Reply::Action(report), _) = finished else {
        panic!("{finished:?}")
    };
    *report
}

#[tokio::test(start_paused = true)]
async fn an_action_is_tried_again_only_while_nothing_reached_the_service() {
    let fixture = StateFixture::with_documents(&[]);
    fixture.service.answer_with("POST /v1/cards", 429, json!({}));
    let report = run(&fixture, jobs(&fixture, 3)).await;
    assert_eq!(report.status, ActionStatus::NotSent);
    let sent = fixture.service.requests();
    assert!(sent.len() > 1 && sent.iter().all(|one| one == "POST /v1/cards"), "{sent:?}");
}

#[tokio::test(start_paused = true)]
async fn a_refused_action_is_reported_with_the_status_and_sent_once() {
    let fixture = StateFixture::with_documents(&[]);
    let problem = json!({"messages": [{"context": "Card.number", "code": "Invalid"}]});
    fixture.service.answer_with("POST /v1/cards", 422, problem);
    let report = run(&fixture, jobs(&fixture, 3)).await;
    assert_eq!(report.status, ActionStatus::Refused);
    assert!(report.message.ends_with("(HTTP 422)"), "{}", report.message);
    assert_eq!(fixture.service.requests().len(), 1);
    assert_eq!(report.key, Some(key("Action/mine")));
    assert!(fixture.known_state.open_intent(&key("Action/mine")).is_none());
}

#[tokio::test]
async fn an_action_without_any_try_is_our_mistake() {
    let fixture = StateFixture::new();
    let (reply, _answer) = oneshot::channel();
    let ended = run_action(&fixture.shared, Vec::new(), reply).await;
    assert!(matches!(ended, Err(EngineError::Bug(_))), "{ended:?}");
}

#[test]
fn a_failed_try_blocks_an_action_only_where_another_try_cannot_help_now() {
    let why = || "why".to_owned();
    for (failure, status) in [
        (TaskFailure::Blocked(why()), ActionStatus::Blocked),
        (TaskFailure::Waiting(why()), ActionStatus::Blocked),
        (TaskFailure::Secret(why()), ActionStatus::NotSent),
        (TaskFailure::Unreachable(why()), ActionStatus::NotSent),
        (TaskFailure::Mismatch(why()), ActionStatus::NotSent),
        (TaskFailure::Denied(why()), ActionStatus::NotSent),
    ] {
        let report = report_failure(&key("Action/mine"), "save", &failure);
        assert_eq!((report.status, report.message.as_str()), (status, "why"));
    }
}

#[test]
fn an_unsettled_action_is_on_hold_only_for_a_person() {
    let key = key("Action/mine");
    let reason = || "why".to_owned();
    for (state, status, message) in [
        (IntentState::Open { attempt: 1 }, ActionStatus::InDoubt, "in flight"),
        (IntentState::InDoubt { attempt: 1, reason: reason() }, ActionStatus::InDoubt, "why"),
        (IntentState::OnHold { attempt: 1, reason: reason() }, ActionStatus::OnHold, "why"),
    ] {
        let report = report_unsettled(&key, "save", &state);
        assert_eq!((report.status, report.message.as_str()), (status, message));
    }
}
