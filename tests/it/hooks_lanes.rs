//! Each script processes events independently: a slow one delays only itself, and a renamed one continues at its
//! position.

mod roster;
mod stopped;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::notifier::Pigeon;
use crate::support::payments::{MERCHANT, START, card};
use crate::support::webhooks::{Ears, merchant};
use crate::support::world::World;
use reckon::base::hash::sha256;
use reckon::engine::protocol::hooks::{HooksView, TrialRunQuery};
use reckon::engine::protocol::input::ScriptSet;
use reckon::engine::protocol::query::{EngineQuery, Reply};
use reckon::policy::Rights;
use reckon::sandbox::options::ServiceSurface;
use reckon::scripting::hooks::Hooks;
use reckon::scripting::language::names::ConfiguredNames;
use reckon::scripting::language::source::ScriptSource;
use reckon::store::read_model::model::ReadModel;

/// Reads from the service, which answers slowly.
const SLOW: &str = r#"
fn on_transaction_authorized(event) {
    let known = gateway_get("transaction.get", #{id: event.data.id});
    notify("ops", `slow ${known.amount}`);
}
"#;

const QUICK: &str = r#"
fn on_transaction_authorized(event) {
    notify("ops", `quick ${event.data.amount}`);
    let count = kv_get("count") ?? 0;
    kv_set("count", count + 1);
}
"#;

/// Loads a set of scripts by their names.
fn scripts(all: &[(&str, &str)]) -> ScriptSet {
    let source = |(name, text): &(&str, &str)| {
        let path = format!("{name}.rhai");
        ScriptSource { display_path: format!("scripts/{path}"), path, text: (*text).into() }
    };
    let sources: Vec<ScriptSource> = all.iter().map(source).collect();
    let set = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<BTreeSet<_>>();
    let known = ConfiguredNames {
        targets: set(&["ops"]),
        kinds: set(&["Merchant", "SavedMethod"]),
        rights: Rights::all(),
        ..ConfiguredNames::default()
    };
    let hooks = Hooks::load(&sources, &known);
    assert!(hooks.is_ok(), "{:?}", hooks.err());
    ScriptSet { hooks: hooks.ok(), files: sha256(format!("{all:?}").as_bytes()), problems: 0 }
}

async fn connected() -> World {
    let world = World::new(ServiceSurface::Public, START);
    world.write(&[MERCHANT.to_owned(), card("jane", "4242424242424242")].concat());
    assert_eq!(world.settle().await, Vec::<String>::new());
    world
}

fn charge(world: &World, minor: i64) {
    charge_at(world, "acme", minor);
}

fn charge_at(world: &World, merchant: &str, minor: i64) {
    let method = json!({"type": "card", "number": "4242424242424242", "exp_month": 12,
        "exp_year": 2031, "cvv": "123"});
    let charge = json!({"amount": minor, "method": method});
    assert!(world.ask(merchant, "POST", "/v1/charges", &charge)["id"].is_string());
}

/// Makes the service answer reads of transactions only after 20 seconds.
fn slow(world: &World) {
    let order = json!({"method": "GET", "path": "/v1/transactions/", "fault": "delay",
        "delay_ms": 20_000});
    world.control("POST", "faults", &order);
}

/// Counts the notifications that begin with this word.
fn told(pigeon: &Pigeon, word: &str) -> usize {
    let begins = |body: &Value| body.as_str().unwrap().starts_with(word);
    pigeon.carried().iter().filter(|one| begins(&one.body)).count()
}

async fn hooks(ears: &Ears<'_>) -> HooksView {
    let Ok(Reply::Hooks(view)) = ears.control.ask(EngineQuery::Hooks).await else {
        panic!("unexpected response")
    };
    *view
}

async fn kept(ears: &Ears<'_>, script: &str) -> Value {
    let asked = TrialRunQuery::Kept { script: script.to_owned(), key: "count".to_owned() };
    let Ok(Reply::ScriptData(Ok(kept))) = ears.control.ask(EngineQuery::TrialRun(asked)).await
    else {
        panic!("unexpected response")
    };
    kept
}

/// Returns the number of known events, and the number of those that every script has processed.
fn ledger(world: &World) -> (u64, u64) {
    let ledger = ReadModel::new(world.index.clone()).event_ledger(&merchant()).unwrap();
    (ledger.verified, ledger.ran_to)
}

#[tokio::test(start_paused = true)]
async fn a_slow_script_delays_only_itself() {
    let (world, pigeon) = (connected().await, Pigeon::answering(&[]));
    slow(&world);
    let found = scripts(&[("quick", QUICK), ("slow", SLOW)]);
    world
        .hearing_with(Some(found), Some(pigeon.clone()), async |ears| {
            ears.wait(5).await;
            for minor in 1..=5 {
                charge(&world, minor * 100);
            }
            ears.wait(75).await;
            assert_eq!(told(&pigeon, "quick"), 5, "the quick script has processed all events");
            assert!(told(&pigeon, "slow") < 3, "{}", told(&pigeon, "slow"));
            charge(&world, 900);
            ears.wait(65).await;
            assert_eq!(
                told(&pigeon, "quick"),
                6,
                "the quick script processes new events meanwhile"
            );
            ears.wait(300).await;
            assert_eq!((told(&pigeon, "quick"), told(&pigeon, "slow")), (6, 6));
            assert_eq!(kept(ears, "quick").await, json!(6));
        })
        .await;
    let (known, ran_to) = ledger(&world);
    assert_eq!(known, ran_to);
    let facts = ReadModel::new(world.index.clone());
    assert_eq!(facts.hook_cursors(&merchant()).unwrap(), [], "no script is ahead of another one");
}

#[tokio::test(start_paused = true)]
async fn a_script_that_says_so_is_run_for_several_events_at_once() {
    let several = format!("const CONCURRENCY = 5;\n{SLOW}");
    for (text, expected) in [(SLOW.to_owned(), false), (several, true)] {
        let (world, pigeon) = (connected().await, Pigeon::answering(&[]));
        slow(&world);
        world
            .hearing_with(Some(scripts(&[("slow", &text)])), Some(pigeon.clone()), async |ears| {
                for minor in 1..=5 {
                    charge(&world, minor * 100);
                }
                ears.wait(85).await;
                assert_eq!(told(&pigeon, "slow") == 5, expected, "{}", told(&pigeon, "slow"));
                ears.wait(120).await;
                let bodies = pigeon.carried().into_iter().map(|one| one.body.to_string());
                let all: BTreeSet<String> = bodies.collect();
                assert_eq!((told(&pigeon, "slow"), all.len()), (5, 5));
            })
            .await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_script_was_run_for_it_is_not_run_for_again_whatever_it_is_called() {
    let (world, pigeon) = (connected().await, Pigeon::answering(&[]));
    slow(&world);
    let first = scripts(&[("quick", QUICK), ("slow", SLOW)]);
    world
        .hearing_with(Some(first), Some(pigeon.clone()), async |ears| {
            ears.wait(5).await;
            for minor in 1..=3 {
                charge(&world, minor * 100);
            }
            ears.wait(65).await;
            assert_eq!((kept(ears, "quick").await, told(&pigeon, "quick")), (json!(3), 3));
        })
        .await;
    let (known, ran_to) = ledger(&world);
    assert!(ran_to < known, "the slow script is behind: {ran_to} of {known}");
    let renamed = scripts(&[("renamed", QUICK), ("slow", SLOW)]);
    world
        .hearing_with(Some(renamed), Some(pigeon.clone()), async |ears| {
            ears.wait(300).await;
            assert_eq!(
                kept(ears, "renamed").await,
                Value::Null,
                "the script ran for all of them before"
            );
            charge(&world, 900);
            ears.wait(100).await;
            assert_eq!(kept(ears, "renamed").await, json!(1));
        })
        .await;
    assert_eq!((told(&pigeon, "quick"), told(&pigeon, "slow")), (4, 4));
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_waits_for_another_try_is_found_under_its_new_name() {
    let (world, pigeon) = (connected().await, Pigeon::answering(&[]));
    let order = json!({"method": "GET", "path": "/v1/transactions/", "fault": "error_before",
        "status": 404});
    world.control("POST", "faults", &order);
    world
        .hearing_with(Some(scripts(&[("slow", SLOW)])), Some(pigeon.clone()), async |ears| {
            ears.wait(5).await;
            charge(&world, 700);
            ears.wait(62).await;
            assert_eq!(hooks(ears).await.failed.len(), 1);
        })
        .await;
    world.control("DELETE", "faults", &Value::Null);
    let edited = SLOW.replace("slow", "other");
    let both = scripts(&[("another", &edited), ("renamed", SLOW)]);
    world
        .hearing_with(Some(both), Some(pigeon.clone()), async |ears| {
            ears.wait(3600).await;
            let view = hooks(ears).await;
            assert_eq!((view.failed, view.dead), (Vec::new(), Vec::new()));
        })
        .await;
    assert_eq!((told(&pigeon, "slow"), told(&pigeon, "other")), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_script_that_is_gone_leaves_what_it_failed_at_to_a_person() {
    let world = connected().await;
    let broken = "fn on_transaction_authorized(event) { throw \"never\"; }";
    world
        .hearing_with(Some(scripts(&[("broken", broken)])), None, async |ears| {
            ears.wait(5).await;
            charge(&world, 700);
            ears.wait(65).await;
            assert_eq!(hooks(ears).await.failed.len(), 1);
        })
        .await;
    world
        .hearing_with(Some(scripts(&[("quick", QUICK)])), None, async |ears| {
            ears.wait(3600).await;
            let view = hooks(ears).await;
            assert_eq!((view.failed.len(), view.dead.len()), (0, 1));
            assert!(view.dead[0].message.contains("no such script"), "{:?}", view.dead);
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_wrong_set_is_shown_and_the_last_good_one_goes_on() {
    let (world, pigeon) = (connected().await, Pigeon::answering(&[]));
    let good = scripts(&[("quick", QUICK)]);
    let (loaded, files) = (good.files.to_string(), sha256(b"wrong"));
    let mut engine = world.engine();
    engine.start_sweeps().unwrap();
    engine.set_notifier(pigeon.clone());
    engine.use_scripts(good).unwrap();
    engine.use_scripts(ScriptSet { hooks: None, files, problems: 2 }).unwrap();
    let Ok(Reply::Hooks(view)) = engine.answer(EngineQuery::Hooks) else {
        panic!("unexpected response")
    };
    assert_eq!((view.loaded, view.files), (Some(loaded), Some(files.to_string())));
    assert_eq!((view.scripts, view.problems), (vec!["quick".to_owned()], 2));
    charge(&world, 700);
    let (_sender, events) = tokio::sync::mpsc::channel(1);
    tokio::select! {
        ended = engine.run(events, reckon::engine::core::coordinator::RunUntil::Stopped) => panic!("{ended:?}"),
        () = tokio::time::sleep(std::time::Duration::from_mins(2)) => {}
    }
    assert_eq!(told(&pigeon, "quick"), 1);
}

#[tokio::test(start_paused = true)]
async fn what_a_script_keeps_is_counted_over_all_merchants() {
    let (world, pigeon) = (connected().await, Pigeon::answering(&[]));
    let beta = MERCHANT.replace("acme", "beta").replace("CODE_ACME", "CODE_BETA");
    world.write_beside("beta.yaml", &beta);
    assert_eq!(world.settle().await, Vec::<String>::new());
    for minor in 1..=150 {
        charge(&world, minor * 100);
        charge_at(&world, "beta", minor * 100);
        tokio::task::yield_now().await;
    }
    let found = scripts(&[("quick", QUICK)]);
    world
        .hearing_with(Some(found), Some(pigeon.clone()), async |ears| {
            ears.wait(300).await;
            assert_eq!(kept(ears, "quick").await, json!(300));
        })
        .await;
}

/// Returns a script that counts, and that reads from the service if this condition holds.
fn counting(asks: &str) -> String {
    format!(
        r#"
fn on_transaction_authorized(event) {{
    let count = kv_get("count") ?? 0;
    let amount = event.data.amount;
    if {asks} {{
        amount = gateway_get("transaction.get", #{{id: event.data.id}}).amount;
    }}
    kv_set("count", count + 1);
    notify("ops", `${{count}}: ${{amount}}`);
}}
"#
    )
}

#[tokio::test(start_paused = true)]
async fn a_read_in_the_middle_changes_nothing_of_what_runs_come_to() {
    let expected: BTreeSet<String> =
        (0..40).map(|count| format!("{count}: {}", (count + 1) * 100)).collect();
    for asks in ["false", "amount == 1700 || amount == 1900 || amount == 4000", "true"] {
        let (world, pigeon) = (connected().await, Pigeon::answering(&[]));
        for count in 1..=40 {
            charge(&world, count * 100);
        }
        let found = scripts(&[("count", &counting(asks))]);
        world
            .hearing_with(Some(found), Some(pigeon.clone()), async |ears| {
                ears.wait(300).await;
                assert_eq!(kept(ears, "count").await, json!(40), "{asks}");
                assert_eq!(hooks(ears).await.failed, [], "{asks}");
            })
            .await;
        let told = pigeon.carried().into_iter().map(|one| one.body.as_str().unwrap().to_owned());
        let told: Vec<String> = told.collect();
        assert_eq!(told.len(), 40, "{asks}");
        assert_eq!(told.into_iter().collect::<BTreeSet<_>>(), expected, "{asks}");
    }
}

/// Closes K5: a delayed action is rehearsed by moving the clock of the sandbox, which the daemon follows.
#[tokio::test(start_paused = true)]
async fn an_action_of_a_month_later_is_done_once_right_after_the_sandbox_s_clock_is_moved() {
    let text = r#"
fn on_transaction_authorized(event) {
    notify("ops", "later", #{name: "later", at: add_days(date(event.created), 30)});
}
"#;
    let (mut world, pigeon) = (connected().await, Pigeon::answering(&[]));
    world.sandbox_clock = true;
    world
        .hearing_with(Some(scripts(&[("later", text)])), Some(pigeon.clone()), async |ears| {
            ears.wait(5).await;
            charge(&world, 700);
            ears.wait(200).await;
            assert_eq!((told(&pigeon, "later"), hooks(ears).await.waiting.len()), (0, 1));
            world.control("POST", "clock", &json!({"advance": "P31D"}));
            ears.wait(1).await;
            assert_eq!((told(&pigeon, "later"), hooks(ears).await.waiting.len()), (1, 0));
            ears.wait(3600).await;
            assert_eq!(told(&pigeon, "later"), 1, "the action is done once");
        })
        .await;
}
