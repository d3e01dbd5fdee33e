use serde_json::json;

use super::*;
use crate::engine::protocol::actions::ActionReport;
use crate::engine::tests::fixture::StateFixture;
use crate::engine::tests::records::{
    action_request, hook_run, key, merchant, suspension, suspension_record,
};

fn id() -> ActionRequestId {
    let name = "back".parse().unwrap();
    ActionRequestId { merchant: merchant(), event: "e1".to_owned(), name }
}

/// Returns a state in which a hook requested a refund.
fn with_request() -> StateFixture {
    let mut fixture = StateFixture::with_documents(&[]);
    let request = action_request("back", "refund", json!({"charge": "ch_1"}));
    fixture.record(Record::HooksRun(Box::new(hook_run(1, "a", vec![request]))));
    assert!(fixture.shared.facts.pending(&id()).unwrap().is_some());
    fixture
}

fn report(status: ActionStatus) -> Reply {
    Reply::Action(Box::new(ActionReport {
        key: None,
        verb: "refund".to_owned(),
        status,
        before: false,
        message: "why".to_owned(),
        remote_id: None,
        facts: std::collections::BTreeMap::new(),
    }))
}

async fn is_settled_by(fixture: &StateFixture, reply: Option<Reply>) -> bool {
    let (sender, answer) = oneshot::channel();
    if let Some(reply) = reply {
        sender.send(reply).unwrap();
    } else {
        drop(sender);
    }
    let tried = await_action(fixture.shared.clone(), id(), answer).await.unwrap();
    let TaskResult::ActionTried(_, settled, _) = tried else { panic!("{tried:?}") };
    settled
}

#[tokio::test]
async fn a_final_answer_settles_a_request_with_its_outcome() {
    for (status, outcome) in [
        (ActionStatus::Done, ActionOutcome::Done),
        (ActionStatus::Refused, ActionOutcome::Refused),
        (ActionStatus::Invalid, ActionOutcome::Invalid),
    ] {
        let fixture = with_request();
        assert!(is_settled_by(&fixture, Some(report(status))).await, "{status:?}");
        assert_eq!(fixture.shared.facts.pending(&id()).unwrap(), None);
        let result = fixture.shared.facts.action_result(&id()).unwrap().unwrap();
        assert_eq!((result.outcome, result.message.as_str()), (outcome, "why"));
    }
}

#[tokio::test]
async fn an_answer_that_is_not_final_or_never_comes_leaves_the_request_pending() {
    let waits =
        [ActionStatus::OnHold, ActionStatus::InDoubt, ActionStatus::NotSent, ActionStatus::Blocked];
    let replies = waits.map(|status| Some(report(status)));
    for reply in replies.into_iter().chain([Some(Reply::Settled), None]) {
        let fixture = with_request();
        assert!(!is_settled_by(&fixture, reply).await);
        assert!(fixture.shared.facts.pending(&id()).unwrap().is_some());
    }
}

#[tokio::test]
async fn the_effect_of_a_request_is_recorded_with_its_result() {
    let mut fixture = with_request();
    let before = fixture.length();
    let with = Some((suspension_record("Contact/jane", None), key("Contact/jane")));
    let end = ActionEnd { id: id(), outcome: ActionOutcome::Done, message: "m".to_owned(), with };
    let tried = settle_request(fixture.shared.clone(), end).await.unwrap();
    assert!(
        matches!(tried, TaskResult::ActionTried(_, true, Some(one)) if one == key("Contact/jane"))
    );
    assert_eq!(fixture.length(), before + 2);
    fixture.refresh();
    assert_eq!(fixture.known_state.suspension_count(fixture.shared.now()), 1);
}

#[test]
fn a_script_suspends_with_its_reason_and_end_or_with_words_of_ours() {
    let until = "2030-01-01T00:00:00Z";
    let full = json!({"key": "Contact/jane", "reason": "audit", "until": until});
    let key: Key = "Contact/jane".parse().unwrap();
    assert_eq!(
        suspend_request("suspend", &full),
        Some(SuspensionRequest::Suspend {
            key: key.clone(),
            reason: "audit".to_owned(),
            until: Some(until.parse().unwrap()),
        })
    );
    let short = json!({"key": "Contact/jane"});
    let Some(SuspensionRequest::Suspend { reason, until, .. }) = suspend_request("suspend", &short)
    else {
        panic!("no suspension")
    };
    assert_eq!((reason.as_str(), until), ("a hook asked for it", None));
    assert_eq!(suspend_request(RESUME, &full), Some(SuspensionRequest::Resume { key }));
    for fields in [json!({}), json!({"key": 7}), json!({"key": "no name"})] {
        assert_eq!(suspend_request("suspend", &fields), None, "{fields}");
    }
}

#[test]
fn the_journal_tells_what_a_suspension_did_also_if_that_is_nothing() {
    let key = key("Contact/jane");
    for (result, message) in [
        (SuspensionResult::Suspended(suspension("Contact/jane", None)), "suspended"),
        (SuspensionResult::Resumed { key: key.clone(), still: None }, "resumed"),
        (SuspensionResult::NotSuspended { key: key.clone(), still: None }, "it was not suspended"),
        (SuspensionResult::Unknown { key, nearest: None }, "there is no Contact/jane"),
    ] {
        assert_eq!(suspend_message(&result), message);
    }
}
