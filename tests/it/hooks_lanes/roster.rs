//! Scripts that disappear, appear, share names, count and notify: K2, K8, K10, K16 of the list of findings.

use reckon::control::protocol::ControlRequest;

use super::*;

/// Returns a second script that does the same as `QUICK`.
fn other() -> String {
    QUICK.replace("quick", "other")
}

fn absent(view: &HooksView) -> Vec<(&str, u64)> {
    let absent = view.known.iter().filter(|one| one.absent.is_some());
    absent.map(|one| (one.script.as_str(), one.waiting)).collect()
}

/// Closes K2: a checkout, an rsync or an empty folder removes a script for a while.
#[tokio::test(start_paused = true)]
async fn k2_events_wait_for_a_script_whose_file_is_gone() {
    let (world, pigeon) = (connected().await, Pigeon::answering(&[]));
    let other = other();
    let both = scripts(&[("other", &other), ("quick", QUICK)]);
    let one = scripts(&[("other", &other)]);
    let ran = async |found: &ScriptSet, expected: (usize, usize), gone: &[&str]| {
        let (found, carrier) = (found.clone(), pigeon.clone());
        world
            .hearing_with(Some(found), Some(carrier), async |ears| {
                ears.wait(5).await;
                charge(&world, 100);
                ears.wait(120).await;
                let view = hooks(ears).await;
                let names: Vec<&str> = absent(&view).iter().map(|(name, _)| *name).collect();
                assert_eq!(names, gone);
                assert!(absent(&view).iter().all(|(_, waiting)| *waiting > 0), "{:?}", view.known);
            })
            .await;
        assert_eq!((told(&pigeon, "quick"), told(&pigeon, "other")), expected);
    };
    ran(&both, (1, 1), &[]).await;
    ran(&one, (1, 2), &["quick"]).await;
    ran(&scripts(&[]), (1, 2), &["other", "quick"]).await;
    ran(&one, (1, 4), &["quick"]).await;
    let renamed = scripts(&[("later", QUICK), ("other", &other)]);
    ran(&renamed, (5, 5), &[]).await;
    let (known, ran_to) = ledger(&world);
    assert_eq!(known, ran_to);
    let facts = ReadModel::new(world.index.clone());
    assert_eq!(
        facts.hook_cursors(&merchant()).unwrap(),
        [],
        "all scripts are at the same position"
    );
    assert_eq!(facts.hooks_to_run().unwrap(), []);
}

/// Closes K2: only a person ends the waiting, and a new script declares where it begins.
#[tokio::test(start_paused = true)]
async fn k2_a_person_forgets_a_script_and_a_new_one_begins_where_it_says() {
    let (world, pigeon) = (connected().await, Pigeon::answering(&[]));
    let other = other();
    let forget = async |ears: &Ears<'_>, name: &str| {
        let asked = ControlRequest::ForgetScript(name.to_owned());
        let Ok(Reply::ScriptForgotten(kept)) = ears.control.send(asked, "ann".to_owned()).await
        else {
            panic!("unexpected response")
        };
        kept
    };
    let found = scripts(&[("quick", QUICK)]);
    world
        .hearing_with(Some(found), Some(pigeon.clone()), async |ears| {
            ears.wait(5).await;
            charge(&world, 100);
            ears.wait(120).await;
            assert_eq!(forget(ears, "quick").await, None, "the script is in use");
            assert_eq!(forget(ears, "nobody").await, None);
        })
        .await;
    let found = scripts(&[("other", &other)]);
    world
        .hearing_with(Some(found), Some(pigeon.clone()), async |ears| {
            charge(&world, 200);
            ears.wait(120).await;
            assert_eq!(told(&pigeon, "other"), 1, "a new script begins with new events");
            assert_eq!(forget(ears, "quick").await, Some(1));
            assert_eq!(absent(&hooks(ears).await), []);
        })
        .await;
    let since = format!("const SINCE = \"2020-01-01\";\n{}", other.replace("other", "third"));
    let found = scripts(&[("other", &other), ("quick", QUICK), ("third", &since)]);
    world
        .hearing_with(Some(found), Some(pigeon.clone()), async |ears| {
            ears.wait(120).await;
            charge(&world, 300);
            ears.wait(120).await;
            assert_eq!((told(&pigeon, "quick"), told(&pigeon, "other")), (2, 2));
            assert_eq!(told(&pigeon, "third"), 3, "its `SINCE` includes earlier events");
        })
        .await;
}

/// Closes K8.
#[tokio::test(start_paused = true)]
async fn k8_two_scripts_that_mean_different_things_by_one_name_are_told() {
    let tells = |words: &str| {
        format!(
            "fn on_transaction_authorized(event) {{ notify(\"ops\", \"{words}\", #{{name: \"tell\"}}); }}"
        )
    };
    for (second, expected, refused) in [("one", 1, 0), ("two", 1, 1)] {
        let (world, pigeon) = (connected().await, Pigeon::answering(&[]));
        let found = scripts(&[("a", &tells("one")), ("b", &tells(second))]);
        world
            .hearing_with(Some(found), Some(pigeon.clone()), async |ears| {
                ears.wait(5).await;
                charge(&world, 100);
                ears.wait(120).await;
                let view = hooks(ears).await;
                assert_eq!(view.undone.len(), refused, "{:?}", view.undone);
                for undone in &view.undone {
                    assert!(
                        undone.message.contains("asked for something else as `tell`"),
                        "{undone:?}"
                    );
                }
            })
            .await;
        assert_eq!(pigeon.carried().len(), expected);
    }
}

/// Closes K10.
#[tokio::test(start_paused = true)]
async fn k10_several_runs_at_once_lose_no_addition() {
    let text = r#"
const CONCURRENCY = 8;
fn on_transaction_authorized(event) {
    let known = transaction(event.data.id);
    let read = gateway_get("transaction.get", #{id: event.data.id});
    kv_add("count", 1);
}
"#;
    let world = connected().await;
    world
        .hearing_with(Some(scripts(&[("counts", text)])), None, async |ears| {
            for minor in 1..=24 {
                charge(&world, minor * 100);
            }
            ears.wait(300).await;
            assert_eq!(kept(ears, "counts").await, json!(24));
            let view = hooks(ears).await;
            assert_eq!((view.known[0].kept_keys, view.undone), (1, Vec::new()));
        })
        .await;
}

/// Closes K16: `at_most` counts by the events' own time, whatever the daemon does meanwhile.
#[tokio::test(start_paused = true)]
async fn k16_a_notification_is_sent_at_most_so_often() {
    let text = r#"
fn on_transaction_authorized(event) {
    notify("ops", `seen ${event.data.amount}`, #{at_most: #{count: 2, per: "1d"}});
}
"#;
    let (world, pigeon) = (connected().await, Pigeon::answering(&[]));
    for (charges, expected) in [(3, 2), (1, 2)] {
        let found = scripts(&[("tells", text)]);
        world
            .hearing_with(Some(found), Some(pigeon.clone()), async |ears| {
                ears.wait(5).await;
                for minor in 1..=charges {
                    charge(&world, minor * 100);
                }
                ears.wait(120).await;
                assert_eq!(hooks(ears).await.undone, []);
            })
            .await;
        assert_eq!(pigeon.carried().len(), expected);
    }
    tokio::time::sleep(std::time::Duration::from_hours(24)).await;
    world
        .hearing_with(Some(scripts(&[("tells", text)])), Some(pigeon.clone()), async |ears| {
            charge(&world, 900);
            ears.wait(120).await;
        })
        .await;
    assert_eq!(pigeon.carried().len(), 3, "another day has begun");
    let ledger = ReadModel::new(world.index.clone()).event_ledger(&merchant()).unwrap();
    assert_eq!(ledger.actions.skipped, 2);
}
