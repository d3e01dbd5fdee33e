//! Tests of the meter against a planner that may request anything: every pass is recorded, and
//! never more than allowed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::api::call::{Auth, Host, Method};
use crate::base::clock::VirtualClock;
use crate::base::hash::{SourceId, sha256};
use crate::base::id::{Key, Mode};
use crate::base::money::{Currency, Money};
use crate::engine::handles::shared::EngineSettings;
use crate::engine::limits::budget::*;
use crate::model::effect::{EffectRequest, ExposureCounts, MoneyMove};
use crate::model::intent::{Cause, Intent, IntentProgress, StoredBody, StoredRequest};
use crate::model::manifest::{Deletion, OnDoubt};
use crate::model::operator::PlanApproval;
use crate::model::record::Record;
use crate::model::state::observed::AppliedSpec;
use crate::policy::PolicyRules;
use crate::policy::limit_check::LimitPeriod;
use crate::policy::limits::{AmountLimit, LimitSet, Limits};
use crate::store::index::ordered::{Batch, Index, MemoryIndex};
use crate::store::read_model::model::ReadModel;
use crate::store::tests::support::fold;

/// Builds a meter with this daily limit, and the fold that it reads.
fn meter(per_day: i64) -> (Arc<SpendBudget>, Arc<MemoryIndex>) {
    let index = Arc::new(MemoryIndex::new());
    let place: Arc<str> = Arc::from("reckon.yaml:4");
    let listed = BTreeMap::from([(Currency::USD, (per_day, place.clone()))]);
    let per_day = Some(AmountLimit { name: Arc::from("policy.limits.per_day"), place, listed });
    let test = LimitSet { per_day, ..LimitSet::default() };
    let limits = Limits { test, ..Limits::default() };
    let settings = EngineSettings {
        planning: crate::plan::state_view::PlannerSettings {
            partner: "acme".to_owned(),
            digest_key: [1; 32],
            on_doubt: OnDoubt::Hold,
            live_refused: None,
            prune: crate::policy::prune::PruneGuards::without_guards(),
        },
        timeout: Duration::from_secs(1),
        grace: Duration::from_secs(1),
        concurrency: 1,
        failures_max: None,
        hook_time: None,
        first_look: false,
        cautious_start: false,
        policy: PolicyRules { limits, ..PolicyRules::default() },
    };
    let clock: crate::base::clock::SharedClock =
        Arc::new(VirtualClock::new("2026-11-22T12:00:00Z".parse().unwrap()));
    (Arc::new(SpendBudget::new(&settings.policy, &ReadModel::new(index.clone()), &clock)), index)
}

/// Builds an effect that declares `named` and asks for `asked`.
fn effect(name: &str, named: Option<i64>, asked: i64) -> Effect {
    let key: Key = format!("Invoice/{name}").parse().unwrap();
    let money = named.map(|minor| MoneyMove {
        amount: Money::new(minor, Currency::USD),
        mode: Mode::Test,
        meaning: "charged",
    });
    Effect {
        name: "charge.create",
        merchant: "Merchant/acme".parse().unwrap(),
        mode: Mode::Test,
        target: None,
        source_id: SourceId::new("acme", &key, 0),
        key,
        request: EffectRequest {
            endpoint: String::new(),
            method: Method::Post,
            host: Host::Base,
            path: "/v1/charges".to_owned(),
            auth: Auth::SecretKey,
            account: None,
            web_url: None,
            body: json!({"amount": asked, "currency": "USD"}),
        },
        sealed: false,
        expect: BTreeMap::new(),
        applied: AppliedSpec {
            spec: json!({}),
            digest: sha256(b""),
            generation: 0,
            deletion: Deletion::Orphan,
        },
        subject: json!(null),
        single_use: None,
        on_doubt: OnDoubt::Hold,
        moves: money.into_iter().collect(),
        counts: ExposureCounts::default(),
    }
}

fn intent(id: u64, effect: &Effect, reserved: &Reservation) -> Intent {
    Intent {
        id: IntentId::new(id),
        effect: effect.name.to_owned(),
        key: effect.key.clone(),
        merchant: effect.merchant.clone(),
        mode: effect.mode,
        target: None,
        source_id: effect.source_id.clone(),
        mark: effect.source_id.mark(),
        request: StoredRequest {
            endpoint: String::new(),
            method: Method::Post,
            host: Host::Base,
            path: String::new(),
            auth: Auth::SecretKey,
            account: None,
            web_url: None,
            body: StoredBody::None,
        },
        expect: BTreeMap::new(),
        applied: effect.applied.clone(),
        baseline: json!(null),
        subject: json!(null),
        on_doubt: OnDoubt::Hold,
        cause: Cause::default(),
        at: reserved.at,
        exposure: reserved.stake.clone(),
    }
}

fn record(index: &MemoryIndex, record: &Record) {
    let mut batch = Batch::new();
    fold(index, &mut batch, record).unwrap();
    index.apply(batch).unwrap();
}

fn progress(index: &MemoryIndex, id: u64, progress: IntentProgress) {
    let at = "2026-11-22T12:00:00Z".parse().unwrap();
    record(index, &Record::Progress { intent: IntentId::new(id), at, progress });
}

/// Passes an effect through the meter and records it; returns false if there is no room.
async fn done(guard: &Arc<SpendBudget>, index: &MemoryIndex, id: u64, effect: &Effect) -> bool {
    let reserved = guard.reserve(IntentId::new(id), effect, Some(sha256(b""))).await.unwrap();
    let Ok(reserved) = reserved else { return false };
    // Others run while it is written.
    tokio::task::yield_now().await;
    record(index, &Record::Intent(Box::new(intent(id, effect, &reserved))));
    tokio::task::yield_now().await;
    drop(reserved);
    true
}

fn counted(guard: &SpendBudget) -> i64 {
    let day = (LimitPeriod::Day, "2026-11-22");
    guard.facts.tally(day, Mode::Test, None).unwrap().sum(Currency::USD)
}

#[tokio::test(start_paused = true)]
async fn of_ten_at_once_no_more_pass_than_there_is_room_for() {
    let (guard, index) = meter(5000);
    let effects: Vec<Effect> =
        (0..10).map(|one| effect(&format!("i{one}"), Some(2000), 2000)).collect();
    let all = (1..).zip(&effects).map(|(id, effect)| done(&guard, &index, id, effect));
    let passed = futures::future::join_all(all).await;
    assert_eq!(passed.iter().filter(|passed| **passed).count(), 2);
    assert_eq!(counted(&guard), 4000);
    assert!(guard.counting().pending.is_empty());
    assert!(done(&guard, &index, 11, &effect("small", Some(1000), 1000)).await, "what fits passes");
    assert!(!done(&guard, &index, 12, &effect("cent", Some(1), 1)).await);
}

#[tokio::test(start_paused = true)]
async fn one_that_understates_itself_counts_for_what_it_asks() {
    let (guard, index) = meter(5000);
    assert!(!done(&guard, &index, 1, &effect("a", None, 5001)).await);
    assert!(!done(&guard, &index, 2, &effect("b", Some(1), 5001)).await);
    assert!(done(&guard, &index, 3, &effect("c", None, 5000)).await);
    assert_eq!(counted(&guard), 5000);
}

#[tokio::test(start_paused = true)]
async fn what_is_proved_not_sent_is_given_back_and_what_is_in_doubt_is_not() {
    let (guard, index) = meter(5000);
    let (a, b) = (effect("a", Some(3000), 3000), effect("b", Some(3000), 3000));
    assert!(done(&guard, &index, 1, &a).await);
    progress(&index, 1, IntentProgress::Doubt { reason: "lost".to_owned(), unsent: false });
    progress(&index, 1, IntentProgress::Resent);
    assert_eq!(counted(&guard), 3000, "sent twice, counted once");
    assert!(!done(&guard, &index, 2, &b).await, "it may have happened");
    progress(&index, 1, IntentProgress::NotSent { reason: "proved".to_owned() });
    assert_eq!(counted(&guard), 0);
    assert!(done(&guard, &index, 3, &a).await, "the next try counts anew");
    assert!(!done(&guard, &index, 4, &b).await, "and leaves no room");
}

#[tokio::test(start_paused = true)]
async fn one_that_another_s_end_makes_room_for_waits_for_that() {
    let (guard, index) = meter(5000);
    let first = effect("a", Some(3000), 3000);
    let reserved =
        guard.reserve(IntentId::new(1), &first, Some(sha256(b""))).await.unwrap().unwrap();
    let second = effect("b", Some(3000), 3000);
    let waits = done(&guard, &index, 2, &second);
    let (passed, ()) = tokio::join!(waits, async {
        tokio::task::yield_now().await;
        // Its token was too old: nothing is written.
        drop(reserved);
    });
    assert!(passed);
    assert_eq!(counted(&guard), 3000);
}

#[tokio::test(start_paused = true)]
async fn what_was_approved_passes_once_and_counts_to_no_day() {
    let (guard, index) = meter(1000);
    let large = effect("a", Some(3000), 3000);
    let step = SpendRequest { amountless_digest: Some(sha256(b"")), ..spend_request(&large) };
    let approval = PlanApproval {
        id: "one".to_owned(),
        checksum: "c".to_owned(),
        ceilings: Vec::new(),
        steps: vec![step],
        actor: "ann".to_owned(),
        at: "2026-11-22T11:00:00Z".parse().unwrap(),
        signed: None,
    };
    assert!(!done(&guard, &index, 1, &large).await);
    record(&index, &Record::PlanApproval(Box::new(approval)));
    assert!(!done(&guard, &index, 2, &effect("a", Some(3001), 3001)).await, "a cent more");
    assert!(done(&guard, &index, 3, &large).await);
    assert_eq!(counted(&guard), 0);
    progress(&index, 3, IntentProgress::NotSent { reason: "proved".to_owned() });
    assert!(done(&guard, &index, 4, &large).await, "it was not used after all");
    progress(&index, 4, IntentProgress::Doubt { reason: "lost".to_owned(), unsent: false });
    progress(&index, 4, IntentProgress::GivenUp { reason: "nothing can prove it".to_owned() });
    assert!(!done(&guard, &index, 5, &large).await, "it may have happened");
}

#[tokio::test(start_paused = true)]
async fn live_money_takes_no_room_of_test_money() {
    let (guard, index) = meter(1000);
    let live = Effect { mode: Mode::Live, ..effect("a", Some(9000), 9000) };
    assert!(done(&guard, &index, 1, &live).await);
    assert!(done(&guard, &index, 2, &effect("b", Some(1000), 1000)).await);
    assert_eq!(counted(&guard), 1000);
}

#[tokio::test(start_paused = true)]
async fn an_effect_that_moves_nothing_reserves_nothing_and_never_waits() {
    let (guard, _) = meter(1000);
    let full = effect("a", Some(1000), 1000);
    let _held = guard.reserve(IntentId::new(1), &full, Some(sha256(b""))).await.unwrap().unwrap();
    let mut idle = effect("b", None, 0);
    idle.request.body = json!({});
    let reserved =
        guard.reserve(IntentId::new(2), &idle, Some(sha256(b""))).await.unwrap().unwrap();
    assert!(reserved.stake.is_empty());
    assert_eq!(guard.counting().pending.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_gives_its_money_back_and_a_hold_keeps_it() {
    let (guard, index) = meter(5000);
    assert!(done(&guard, &index, 1, &effect("a", Some(3000), 3000)).await);
    progress(&index, 1, IntentProgress::OnHold { reason: "x".to_owned(), observation: None });
    assert_eq!(counted(&guard), 3000, "it may have happened");
    assert!(done(&guard, &index, 2, &effect("b", Some(2000), 2000)).await);
    let problem = crate::model::outcome::ServiceProblem::default();
    progress(&index, 2, IntentProgress::Refused { status: 422, problem });
    assert_eq!(counted(&guard), 3000);
}
