//! A script whose runs fail without end: it stops, loses nothing, and does not affect others. K11 of the list of
//! findings.

use super::*;
use reckon::control::protocol::ControlRequest;
use reckon::engine::protocol::hooks::ScriptView;
use reckon::model::events::hook_run::FAILED_MAX;

const BROKEN: &str = r#"fn on_transaction_authorized(event) { throw "no"; }"#;

const MENDED: &str = r#"
fn on_transaction_authorized(event) {
    notify("ops", `mended ${event.data.amount}`);
}
"#;

fn known(view: &HooksView) -> &ScriptView {
    view.known.iter().find(|one| one.script == "worked").unwrap()
}

/// Returns the number of failed runs that wait for a person, and of those that are retried.
fn failed(view: &HooksView) -> (u64, u64) {
    (view.totals.dead, view.totals.failed)
}

/// Returns the metric of stopped scripts.
async fn counted_as_stopped(ears: &Ears<'_>) -> u64 {
    let Ok(Reply::Metrics(metrics)) = ears.control.ask(EngineQuery::Metrics).await else {
        panic!("unexpected response")
    };
    metrics.events.hooks_stopped
}

/// Closes K11: the failed runs of a broken script are bounded, and no event is lost.
#[tokio::test(start_paused = true)]
async fn k11_a_script_with_500_failed_runs_stops_and_loses_nothing() {
    let (world, pigeon) = (connected().await, Pigeon::answering(&[]));
    let most = i64::try_from(FAILED_MAX).unwrap();
    let found = scripts(&[("quick", QUICK), ("worked", BROKEN)]);
    world
        .hearing_with(Some(found), Some(pigeon.clone()), async |ears| {
            ears.wait(5).await;
            for minor in 1..=most {
                charge(&world, minor);
                // The runtime limits the number of answers that a task receives before it yields.
                tokio::task::yield_now().await;
            }
            ears.wait(900).await;
            let view = hooks(ears).await;
            assert_eq!((failed(&view), known(&view).stopped), ((FAILED_MAX, 0), 1));
            assert_eq!(counted_as_stopped(ears).await, 1);
            for minor in 1..=5 {
                charge(&world, most + minor);
            }
            ears.wait(120).await;
            let view = hooks(ears).await;
            assert_eq!(failed(&view), (FAILED_MAX, 0), "the script takes no further event");
            assert_eq!(
                (known(&view).stopped, known(&view).waiting),
                (1, 10),
                "each charge makes two events"
            );
            assert_eq!(told(&pigeon, "quick"), 505, "the other script continues");
        })
        .await;
    let (told_to, ran_to) = ledger(&world);
    assert_eq!(told_to, ran_to, "no other script is behind");
    let facts = ReadModel::new(world.index.clone());
    assert_eq!(facts.hooks_to_run().unwrap(), [], "no hook is left to run");
    let found = scripts(&[("quick", QUICK), ("worked", MENDED)]);
    world
        .hearing_with(Some(found), Some(pigeon.clone()), async |ears| {
            ears.wait(120).await;
            let view = hooks(ears).await;
            assert_eq!((told(&pigeon, "mended"), known(&view).stopped), (0, 1));
            for (number, one) in view.dead.iter().enumerate() {
                let asked = match number {
                    0 => ControlRequest::Dismiss(one.event.clone()),
                    _ => ControlRequest::Replay(one.event.clone()),
                };
                ears.control.send(asked, "ann".to_owned()).await.unwrap();
                if number == 0 {
                    ears.wait(5).await;
                    assert_eq!(
                        told(&pigeon, "mended"),
                        5,
                        "499 failures are left, so the script continues"
                    );
                }
            }
            ears.wait(120).await;
            let view = hooks(ears).await;
            assert_eq!((failed(&view), known(&view).stopped), ((0, 0), 0));
            assert_eq!(counted_as_stopped(ears).await, 0);
            assert_eq!((told(&pigeon, "mended"), told(&pigeon, "quick")), (504, 505));
        })
        .await;
    assert_eq!(
        facts.hook_cursors(&merchant()).unwrap(),
        [],
        "all scripts are at the same position"
    );
    assert_eq!(facts.hooks_to_run().unwrap(), []);
}
