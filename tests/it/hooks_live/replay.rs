//! `events replay --since`: a person requests runs of a script, whatever the outcome of its earlier runs.

use chrono::DateTime;

use super::*;
use reckon::engine::protocol::hooks::TrialRunQuery;
use reckon::engine::protocol::replay::{
    ReplayCandidates, ReplaySelection, RequestedName, TrialRequest,
};
use reckon::model::events::hook::ActionRequest;

/// Handles the charges, and forgets to refund one of them.
const FORGETS: &str = r#"
fn on_transaction_authorized(event) { kv_set("last", event.id); }
"#;

const FAILS: &str = r#"
fn on_transaction_authorized(event) { throw "no"; }
"#;

fn ledger(world: &World) -> EventLedger {
    ReadModel::new(world.index.clone()).event_ledger(&merchant()).unwrap()
}

fn selection(limit: usize) -> ReplaySelection {
    let handler = ("transaction.authorized", "on_transaction_authorized");
    ReplaySelection {
        script: "a".to_owned(),
        handlers: [(handler.0.to_owned(), handler.1.to_owned())].into(),
        merchant: None,
        since: DateTime::UNIX_EPOCH,
        until: None,
        limit,
    }
}

async fn candidates(ears: &Ears<'_>, limit: usize) -> ReplayCandidates {
    let query = EngineQuery::Replay(Box::new(selection(limit)));
    let Ok(Reply::ReplayCandidates(found)) = ears.control.ask(query).await else {
        panic!("unexpected response")
    };
    *found
}

/// Requests the runs; returns their number.
async fn replay(ears: &Ears<'_>, limit: usize) -> usize {
    let request = ControlRequest::ReplaySince(Box::new(selection(limit)));
    let Ok(Reply::Replayed(runs)) = ears.control.send(request, "ann".to_owned()).await else {
        panic!("unexpected response")
    };
    runs
}

/// Returns what a refund of this name for the first candidate leads to.
async fn refund_name(ears: &Ears<'_>, name: &str) -> RequestedName {
    let found = candidates(ears, 1).await;
    let candidate = &found.events[0];
    let request = ActionRequest {
        name: name.parse().unwrap(),
        verb: "refund".to_owned(),
        merchant: None,
        fields: json!({}),
        at: None,
        at_most: None,
        content: None,
    };
    let (merchant, event) = (candidate.merchant.clone(), candidate.event.clone());
    let names = TrialRunQuery::Names(vec![TrialRequest { merchant, event, request }]);
    let Ok(Reply::ScriptData(Ok(names))) = ears.control.ask(EngineQuery::TrialRun(names)).await
    else {
        panic!("unexpected response")
    };
    serde_json::from_value::<Vec<RequestedName>>(names).unwrap()[0]
}

/// Closes K12: a run that succeeded is made again, and the names that it used do nothing.
#[tokio::test(start_paused = true)]
async fn k12_a_run_that_succeeded_is_made_again_and_repeats_no_action() {
    let world = connected().await;
    world
        .hearing_with(Some(scripts("a", REFUND)), None, async |ears| {
            ears.wait(5).await;
            charge(&world, 700);
            ears.wait(120).await;
            // The refund has an event of its own.
            assert_eq!((refunds(&world), candidates(ears, 10).await.found), (1, 2));
            assert_eq!(refund_name(ears, "give-back").await, RequestedName::Repeated);
            let before = ledger(&world).runs;
            assert_eq!(replay(ears, 10).await, 2);
            ears.wait(120).await;
            assert_eq!((refunds(&world), ledger(&world).runs), (1, before + 2));
            let view = hooks(ears).await;
            assert_eq!((view.requested, view.waiting, view.undone), (vec![], vec![], vec![]));
        })
        .await;
}

/// Closes K12: what was estimated is what happens.
#[tokio::test(start_paused = true)]
async fn k12_a_corrected_script_does_the_action_that_was_missing_once() {
    let world = connected().await;
    world
        .hearing_with(Some(scripts("a", FORGETS)), None, async |ears| {
            ears.wait(5).await;
            charge(&world, 700);
            ears.wait(120).await;
        })
        .await;
    world
        .hearing_with(Some(scripts("a", REFUND)), None, async |ears| {
            ears.wait(60).await;
            assert_eq!(refunds(&world), 0, "a changed script handles later events alone");
            assert_eq!(refund_name(ears, "give-back").await, RequestedName::New);
            // The refund has an event of its own.
            for runs in [1, 2] {
                assert_eq!(replay(ears, 10).await, runs);
                ears.wait(120).await;
                assert_eq!(refunds(&world), 1);
            }
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn requested_runs_survive_a_kill_and_are_made_once() {
    let world = connected().await;
    world
        .hearing_with(Some(scripts("a", FORGETS)), None, async |ears| {
            ears.wait(5).await;
            charge(&world, 700);
            ears.wait(120).await;
        })
        .await;
    // A daemon without scripts records the request, and is killed before any run.
    world
        .hearing(async |ears| {
            ears.wait(5).await;
            assert_eq!(replay(ears, 10).await, 1);
            let view = hooks(ears).await;
            let requested = &view.requested[0];
            assert_eq!((requested.script.as_str(), requested.actor.as_str()), ("a", "ann"));
            assert_eq!((view.totals.requested, view.totals.failed), (1, 0));
            assert_eq!((replay(ears, 10).await, candidates(ears, 10).await.requested), (0, 1));
        })
        .await;
    let before = ledger(&world).runs;
    for seconds in [1, 1, 120] {
        world
            .hearing_with(Some(scripts("a", REFUND)), None, async |ears| ears.wait(seconds).await)
            .await;
    }
    // The refund has an event of its own.
    assert_eq!((refunds(&world), ledger(&world).runs), (1, before + 2));
    assert_eq!(ledger(&world).requested, 0);
}

#[tokio::test(start_paused = true)]
async fn the_limit_takes_the_oldest_events_and_names_the_start_of_the_rest() {
    let world = connected().await;
    world
        .hearing_with(Some(scripts("a", FORGETS)), None, async |ears| {
            ears.wait(5).await;
            for minor in [700, 800, 900] {
                charge(&world, minor);
                ears.wait(5).await;
            }
            ears.wait(120).await;
            let all = candidates(ears, 10).await;
            let some = candidates(ears, 2).await;
            assert_eq!((all.events.len(), all.next, some.found), (3, None, 3));
            assert_eq!(some.events, all.events[..2]);
            assert_eq!(some.next, Some(all.events[2].created));
            assert_eq!(replay(ears, 2).await, 2);
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_requested_run_that_fails_is_retried_and_then_left_to_a_person() {
    let world = connected().await;
    world
        .hearing_with(Some(scripts("a", FORGETS)), None, async |ears| {
            ears.wait(5).await;
            charge(&world, 700);
            ears.wait(120).await;
        })
        .await;
    world
        .hearing_with(Some(scripts("a", FAILS)), None, async |ears| {
            ears.wait(5).await;
            assert_eq!(replay(ears, 10).await, 1);
            ears.wait(20).await;
            let view = hooks(ears).await;
            assert_eq!((view.totals.requested, view.totals.failed), (0, 1));
            assert!(view.failed[0].message.contains("no"), "{:?}", view.failed);
            ears.wait(3600).await;
            let view = hooks(ears).await;
            assert_eq!((view.totals.failed, view.totals.dead), (0, 1));
        })
        .await;
}
