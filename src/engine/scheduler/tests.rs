//! The scheduler made alone: queue, failures, targets, lanes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::api::call::{Auth, Host, Method};
use crate::base::hash::{SourceId, sha256};
use crate::base::id::{Key, Mode, RemoteId};
use crate::client::gate::Limiter;
use crate::effects::testing;
use crate::engine::handles::task_result::TaskFailure;
use crate::engine::protocol::actions::ActionCommand;
use crate::engine::scheduler::schedule::{LaneBlocked, RequestedAction, Scheduler, is_exclusive};
use crate::model::effect::{Action, Effect, EffectRequest, ExposureCounts, StepWork};
use crate::model::intent::Intent;
use crate::model::manifest::{Deletion, OnDoubt};
use crate::model::state::observed::AppliedSpec;

fn scheduler() -> Scheduler {
    Scheduler::new(Arc::new(Limiter::new(4)), Arc::default())
}

fn key(name: &str) -> Key {
    format!("Contact/{name}").parse().unwrap()
}

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(1)
}

/// Builds an effect of this name for a resource of a merchant.
fn effect(name: &'static str, resource: &str, merchant: &str, subject: Value) -> Effect {
    let key = key(resource);
    let request = EffectRequest {
        endpoint: String::new(),
        method: Method::Post,
        host: Host::Base,
        path: "/v1/any".to_owned(),
        auth: Auth::SecretKey,
        account: None,
        web_url: None,
        body: json!({}),
    };
    let applied = AppliedSpec {
        spec: json!({}),
        digest: sha256(b""),
        generation: 0,
        deletion: Deletion::Orphan,
    };
    Effect {
        name,
        merchant: format!("Merchant/{merchant}").parse().unwrap(),
        mode: Mode::Test,
        target: Some(RemoteId::new("object").unwrap()),
        source_id: SourceId::new("acme", &key, 0),
        key,
        request,
        sealed: false,
        expect: BTreeMap::new(),
        applied,
        subject,
        single_use: None,
        on_doubt: OnDoubt::Hold,
        moves: Vec::new(),
        counts: ExposureCounts::default(),
    }
}

/// Builds the open intent of an effect.
fn open(effect: &Effect) -> Intent {
    let intent = testing::intent(effect.name, &json!({}), Value::Null);
    Intent {
        key: effect.key.clone(),
        merchant: effect.merchant.clone(),
        target: effect.target.clone(),
        subject: effect.subject.clone(),
        ..intent
    }
}

fn all(_: &Key) -> bool {
    true
}

fn none(_: &Key) -> bool {
    false
}

fn take(scheduler: &mut Scheduler, effect: &Effect) -> Result<(), LaneBlocked> {
    scheduler.take_lane(&effect.key, effect, false, std::iter::empty())
}

fn unreachable() -> TaskFailure {
    TaskFailure::Unreachable("no route".to_owned())
}

#[test]
fn a_resource_with_work_is_queued_once_and_in_order() {
    let mut scheduler = scheduler();
    scheduler.enqueue([key("b"), key("a")].into(), &all);
    scheduler.enqueue([key("a")].into(), &all);
    assert_eq!(scheduler.queue.iter().cloned().collect::<Vec<_>>(), [key("a"), key("b")]);
}

#[test]
fn a_resource_without_work_leaves_the_queue() {
    let mut scheduler = scheduler();
    scheduler.enqueue([key("a")].into(), &all);
    scheduler.enqueue([key("a")].into(), &none);
    assert!(scheduler.queue.is_empty() && scheduler.is_idle());
}

#[test]
fn a_resource_with_a_task_is_not_queued_and_its_task_is_superseded() {
    let mut scheduler = scheduler();
    scheduler.lock([key("a")]);
    scheduler.enqueue([key("a")].into(), &all);
    assert!(scheduler.queue.is_empty());
    assert!(scheduler.superseded.contains(&key("a")));
    scheduler.superseded.remove(&key("a"));
    assert!(!scheduler.superseded.contains(&key("a")), "the next task begins with the new step");
}

#[test]
fn a_lock_takes_a_resource_out_of_the_queue() {
    let mut scheduler = scheduler();
    scheduler.enqueue([key("a"), key("b")].into(), &all);
    scheduler.lock([key("a")]);
    assert_eq!(scheduler.queue.len(), 1);
    assert!(scheduler.busy.contains(&key("a")) && !scheduler.busy.contains(&key("b")));
}

#[test]
fn only_selected_resources_work() {
    let mut scheduler = scheduler();
    scheduler.enqueue([key("a"), key("b")].into(), &all);
    scheduler.select_targets([key("b")].into());
    assert_eq!(scheduler.queue, [key("b")].into());
    scheduler.enqueue([key("a")].into(), &all);
    assert_eq!(scheduler.queue, [key("b")].into());
    assert!(!scheduler.is_selected(&key("a")));
}

#[tokio::test(start_paused = true)]
async fn a_failed_try_waits_and_comes_back() {
    let mut scheduler = scheduler();
    let least = Duration::from_secs(5);
    assert_eq!(scheduler.fail(&key("a"), unreachable(), (least, None), &mut rng()), 1);
    scheduler.enqueue([key("a")].into(), &all);
    assert!(scheduler.queue.is_empty() && !scheduler.is_idle(), "it waits");
    tokio::time::advance(Duration::from_secs(6)).await;
    scheduler.retry(&all);
    assert_eq!(scheduler.queue, [key("a")].into());
    assert_eq!(scheduler.failures.all().len(), 1, "the failure is shown until the next try ends");
}

#[tokio::test(start_paused = true)]
async fn after_too_many_failures_a_resource_is_given_up_until_it_changes() {
    let mut scheduler = scheduler();
    for tries in 1..=3 {
        let failures =
            scheduler.fail(&key("a"), unreachable(), (Duration::ZERO, Some(3)), &mut rng());
        assert_eq!(failures, tries);
    }
    assert!(scheduler.is_idle(), "no further try is due");
    scheduler.enqueue([key("a")].into(), &all);
    assert!(scheduler.queue.is_empty());
    scheduler.forget_failure(&key("a"));
    scheduler.enqueue([key("a")].into(), &all);
    assert_eq!(scheduler.queue, [key("a")].into());
}

#[tokio::test(start_paused = true)]
async fn a_missing_secret_is_given_up_at_the_first_failure_of_a_command() {
    let mut scheduler = scheduler();
    let failure = TaskFailure::Secret("the variable KEY is not set".to_owned());
    scheduler.fail(&key("a"), failure, (Duration::ZERO, Some(4)), &mut rng());
    assert!(scheduler.is_idle());
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_for_a_resource_that_has_no_work_any_more() {
    let mut scheduler = scheduler();
    scheduler.fail(&key("a"), unreachable(), (Duration::ZERO, None), &mut rng());
    tokio::time::advance(Duration::from_mins(1)).await;
    scheduler.retry(&none);
    assert!(scheduler.is_idle() && scheduler.failures.all().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_service_that_answers_again_is_tried_at_once() {
    let mut scheduler = scheduler();
    let least = Duration::from_hours(1);
    scheduler.fail(&key("a"), unreachable(), (least, None), &mut rng());
    let blocked = TaskFailure::Blocked("held".to_owned());
    scheduler.fail(&key("b"), blocked, (least, None), &mut rng());
    scheduler.retry_unreachable();
    scheduler.retry(&all);
    assert_eq!(scheduler.queue, [key("a")].into(), "what a person has to solve goes on waiting");
}

#[test]
fn effects_on_one_object_do_not_run_together() {
    let mut scheduler = scheduler();
    let first = effect("recurring.change", "a", "m", Value::Null);
    let second = effect("recurring.cancel", "b", "m", Value::Null);
    assert_eq!(take(&mut scheduler, &first), Ok(()));
    assert_eq!(take(&mut scheduler, &second), Err(LaneBlocked::Running));
    scheduler.leave_lane(&first.key, &all);
    assert_eq!(take(&mut scheduler, &second), Ok(()));
}

#[test]
fn the_same_object_of_another_merchant_is_another_lane() {
    let mut scheduler = scheduler();
    assert_eq!(take(&mut scheduler, &effect("recurring.change", "a", "m", Value::Null)), Ok(()));
    assert_eq!(take(&mut scheduler, &effect("recurring.change", "b", "n", Value::Null)), Ok(()));
}

#[test]
fn effects_without_isolation_run_together() {
    let mut scheduler = scheduler();
    for resource in ["a", "b"] {
        let create = effect("contact.create", resource, "m", Value::Null);
        assert_eq!(take(&mut scheduler, &create), Ok(()));
    }
}

#[test]
fn an_unsettled_effect_blocks_a_strict_lane_and_is_named() {
    let mut scheduler = scheduler();
    let unsettled = open(&effect("recurring.change", "a", "m", Value::Null));
    let next = effect("recurring.change", "b", "m", Value::Null);
    let blocked = scheduler.take_lane(&next.key, &next, false, [&unsettled].into_iter());
    assert_eq!(blocked, Err(LaneBlocked::Unsettled(unsettled.key.short())));
    let own = scheduler.take_lane(&unsettled.key, &next, false, [&unsettled].into_iter());
    assert_eq!(own, Ok(()), "its own intent blocks no resource");
}

#[test]
fn an_unsettled_upload_does_not_block_the_next_one() {
    let mut scheduler = scheduler();
    let unsettled = open(&effect("file.upload", "a", "m", json!({"file": 1})));
    let next = effect("file.upload", "b", "m", json!({"file": 1}));
    assert_eq!(scheduler.take_lane(&next.key, &next, false, [&unsettled].into_iter()), Ok(()));
    let same = effect("file.upload", "c", "m", json!({"file": 1}));
    assert_eq!(take(&mut scheduler, &same), Err(LaneBlocked::Running));
    let other = effect("file.upload", "d", "m", json!({"file": 2}));
    assert_eq!(take(&mut scheduler, &other), Ok(()));
}

#[test]
fn a_blocked_effect_waits_and_is_queued_once_the_lane_is_free() {
    let mut scheduler = scheduler();
    let first = effect("recurring.change", "a", "m", Value::Null);
    let second = effect("recurring.change", "b", "m", Value::Null);
    take(&mut scheduler, &first).unwrap();
    scheduler.lock([second.key.clone()]);
    let blocked = take(&mut scheduler, &second).unwrap_err();
    scheduler.wait_for_lane(&second.key, blocked);
    assert!(!scheduler.busy.contains(&second.key) && scheduler.failures.all().is_empty());
    scheduler.leave_lane(&first.key, &all);
    assert_eq!(scheduler.queue, [second.key].into());
}

#[test]
fn an_effect_behind_an_unsettled_one_is_reported() {
    let mut scheduler = scheduler();
    let unsettled = open(&effect("recurring.change", "a", "m", Value::Null));
    let next = effect("recurring.change", "b", "m", Value::Null);
    let blocked = scheduler.take_lane(&next.key, &next, false, [&unsettled].into_iter());
    scheduler.wait_for_lane(&next.key, blocked.unwrap_err());
    let failure = scheduler.failures.get(&next.key).unwrap();
    assert!(failure.needs_attention() && failure.message().contains("reckon intents"));
}

#[test]
fn a_revocation_waits_for_reads_of_its_merchant() {
    let mut scheduler = scheduler();
    let revoke = effect("merchant.deauthorise", "a", "m", Value::Null);
    assert!(is_exclusive(&revoke));
    let read = scheduler.take_lane(&revoke.key, &revoke, true, std::iter::empty());
    assert_eq!(read, Err(LaneBlocked::Running));
    assert_eq!(take(&mut scheduler, &revoke), Ok(()));
}

#[test]
fn an_intent_of_an_earlier_process_holds_its_lane() {
    let mut scheduler = scheduler();
    scheduler.occupy_lane(&open(&effect("recurring.change", "a", "m", Value::Null)));
    let next = effect("recurring.cancel", "b", "m", Value::Null);
    assert_eq!(take(&mut scheduler, &next), Err(LaneBlocked::Running));
}

#[test]
fn an_engine_that_stops_keeps_the_deferred_actions_of_people_and_drops_those_of_hooks() {
    let mut scheduler = scheduler();
    let action = Action {
        verb: "void".to_owned(),
        merchant: "Merchant/m".parse().unwrap(),
        name: None,
        fields: json!({}),
    };
    let mut answers = Vec::new();
    for (actor, by_hook) in [("uid 1", false), ("hook dunning", true)] {
        let (reply, answer) = oneshot::channel();
        let command = ActionCommand { action: action.clone(), actor: actor.to_owned() };
        scheduler.lanes.defer_action(RequestedAction { command, reply, by_hook });
        answers.push(answer);
    }
    scheduler.lanes.drop_actions_of_hooks();
    let kept = scheduler.lanes.acts.iter().map(|act| &*act.command.actor).collect::<Vec<_>>();
    assert_eq!(kept, ["uid 1"]);
    assert!(
        answers.iter_mut().map(oneshot::Receiver::try_recv).eq([
            Err(oneshot::error::TryRecvError::Empty),
            Err(oneshot::error::TryRecvError::Closed),
        ])
    );
}

#[test]
fn a_merchant_that_is_not_throttled_has_any_number_of_tasks() {
    let mut scheduler = scheduler();
    for number in 0..100 {
        let create = effect("contact.create", &format!("c{number}"), "m", Value::Null);
        assert!(scheduler.admit(&create.key.clone(), &StepWork::Effect(create)));
    }
}

#[test]
fn the_queue_costs_nothing_for_resources_that_wait() {
    let mut scheduler = scheduler();
    let mut rng = rng();
    for number in 0..10_000 {
        let wait = (Duration::from_hours(1), None);
        scheduler.fail(&key(&format!("c{number}")), unreachable(), wait, &mut rng);
    }
    scheduler.retry(&|key| panic!("{key} is not due"));
    assert!(scheduler.backoff.next_due().is_some() && scheduler.queue.is_empty());
}
