//! Slow merchants and slow hooks delay neither a changed document nor the end of a task.

use std::collections::BTreeSet;

use serde_json::json;
use tokio::sync::{mpsc, oneshot};

use crate::support::payments::{MERCHANT, START, document, requests};
use crate::support::world::World;
use reckon::base::hash::sha256;
use reckon::engine::core::coordinator::RunUntil;
use reckon::engine::protocol::input::{EngineInput, ScriptSet};
use reckon::engine::protocol::query::{EngineQuery, Reply};
use reckon::policy::Rights;
use reckon::sandbox::options::ServiceSurface;
use reckon::scripting::hooks::Hooks;
use reckon::scripting::language::names::ConfiguredNames;
use reckon::scripting::language::source::ScriptSource;

/// Number of merchants: many times the reads that may run at once.
const MERCHANTS: usize = 1_000;
/// Number of merchants with a slow hook.
const HOOKS: usize = 64;

const SLOW: &str = r#"
fn on_transaction_authorized(event) {
    gateway_get("transaction.get", #{id: event.data.id});
}
"#;

fn slow_script() -> ScriptSet {
    let path = "slow.rhai".to_owned();
    let source = ScriptSource { display_path: format!("scripts/{path}"), path, text: SLOW.into() };
    let kinds: BTreeSet<String> = ["Merchant".to_owned()].into();
    let names = ConfiguredNames { kinds, rights: Rights::all(), ..ConfiguredNames::default() };
    let hooks = Hooks::load(&[source], &names);
    assert!(hooks.is_ok(), "{:?}", hooks.err());
    ScriptSet { hooks: hooks.ok(), files: sha256(b"slow"), problems: 0 }
}

fn contact(name: &str) -> String {
    let spec =
        "first_name: Jane\n  last_name: Doe\n  email_addresses: [{address: jane@example.com}]";
    document("Contact", name, spec)
}

fn crowd() -> String {
    let others = (1..MERCHANTS).map(|number| {
        let name = format!("m-{number}");
        format!("---{}", MERCHANT.replace("ACME", &format!("M{number}")).replace("acme", &name))
    });
    [MERCHANT.to_owned()].into_iter().chain(others).collect()
}

/// Makes the service answer reads of this path only after 25 seconds.
fn slow(world: &World, path: &str) {
    let order = json!({"method": "GET", "path": path, "fault": "delay", "delay_ms": 25_000});
    assert!(world.control("POST", "faults", &order).is_object());
}

fn charge(world: &World, merchant: &str) {
    let method = json!({"type": "card", "number": "4242424242424242", "exp_month": 12,
        "exp_year": 2031, "cvv": "123"});
    let made =
        world.ask(merchant, "POST", "/v1/charges", &json!({"amount": 100, "method": method}));
    assert!(made["id"].is_string(), "{made}");
}

/// Reads and hooks that hang have slots of their own.
#[tokio::test(start_paused = true)]
async fn an_edited_file_starts_within_a_second_beside_slow_merchants_and_slow_hooks() {
    let world = World::new(ServiceSurface::Public, START);
    world.write(&crowd());
    assert_eq!(world.settle().await, Vec::<String>::new());
    slow(&world, "/v1/transactions/");
    world
        .hearing_with(Some(slow_script()), None, async |ears| {
            ears.wait(5).await;
            (1..=HOOKS).for_each(|number| charge(&world, &format!("m-{number}")));
            ears.wait(62).await;
            // By now each merchant's events were read, and its hook waits for its answer.
            slow(&world, "/v1/events");
            let before = requests(&world, "GET", "/v1/events").len();
            ears.wait(58).await;
            let reads = requests(&world, "GET", "/v1/events").len() - before;
            assert!(reads < MERCHANTS, "{reads} reads since they are slow");
            let Ok(Reply::Hooks(hooks)) = ears.control.ask(EngineQuery::Hooks).await else {
                panic!("unexpected response")
            };
            assert!(hooks.known.iter().any(|script| script.waiting > 0), "no hook runs now");
            world.write(&[crowd(), contact("jane")].concat());
            let Ok(Reply::Plan(plan)) = ears.control.ask(EngineQuery::Plan).await else {
                panic!("unexpected response")
            };
            assert_eq!(plan.steps.len(), 1, "{:?}", plan.steps);
            ears.wait(1).await;
            let Ok(Reply::Overview(begun)) = ears.control.ask(EngineQuery::Overview).await else {
                panic!("unexpected response")
            };
            let created = world.objects("contacts").len();
            assert!(begun.open_intents + created > 0, "{begun:?}");
        })
        .await;
}

/// The end of a task is handled before the queries that wait, whatever their number.
#[tokio::test(start_paused = true)]
async fn clients_that_ask_without_end_do_not_delay_the_end_of_a_task() {
    const QUERIES: usize = 5_000;
    let world = World::new(ServiceSurface::Public, START);
    world.write(MERCHANT);
    assert_eq!(world.settle().await, Vec::<String>::new());
    world.write(&[MERCHANT.to_owned(), contact("jane")].concat());
    let mut engine = world.engine();
    let (sender, events) = mpsc::channel(QUERIES + 1);
    let mut answers = Vec::new();
    for _ in 0..QUERIES {
        let (reply, answer) = oneshot::channel();
        sender.try_send(EngineInput::Ask(EngineQuery::Overview, reply)).unwrap();
        answers.push(answer);
    }
    sender.try_send(EngineInput::Stop).unwrap();
    engine.run(events, RunUntil::Stopped).await.unwrap();
    let mut settled = Vec::new();
    for answer in answers {
        let Ok(Reply::Overview(overview)) = answer.await else { panic!("unexpected response") };
        settled.push(overview.changes == 0 && overview.under_way == 0);
    }
    assert!(!settled[0], "the first query is answered before the contact is created");
    assert!(settled[QUERIES / 2], "the contact is created while queries wait");
}
