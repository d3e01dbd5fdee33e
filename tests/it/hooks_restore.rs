//! Hooks after a restore: what the lost state did is found, or put on hold for a person, and nothing is done twice.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::backups::{back_up, restore};
use crate::support::notifier::Pigeon;
use crate::support::payments::{MERCHANT, START, card};
use crate::support::webhooks::Ears;
use crate::support::world::World;
use reckon::base::hash::sha256;
use reckon::control::protocol::ControlRequest;
use reckon::engine::hooks::notify::NotificationSender;
use reckon::engine::protocol::diagnostics::StateReply;
use reckon::engine::protocol::hooks::HooksView;
use reckon::engine::protocol::input::ScriptSet;
use reckon::engine::protocol::query::{EngineQuery, Reply};
use reckon::model::record::{Record, StateOwner};
use reckon::model::state::lifecycle::ReleaseRequest;
use reckon::policy::Rights;
use reckon::sandbox::options::ServiceSurface;
use reckon::scripting::hooks::Hooks;
use reckon::scripting::language::names::ConfiguredNames;
use reckon::scripting::language::source::ScriptSource;
use reckon::store::writer::core::Commit;

const BEFORE: &str = r#"
fn on_transaction_authorized(event) {
    if event.data.type != "CHARGE" { return; }
    refund(event.data, #{name: "give-back", amount: "1.00 USD"});
    notify("ops", event.data.id, #{name: "tell"});
}
"#;
/// Does the same after another refund.
const AFTER: &str = r#"
fn on_transaction_authorized(event) {
    if event.data.type != "CHARGE" { return; }
    refund(event.data, #{name: "another", amount: "0.10 USD"});
    notify("ops", event.data.id, #{name: "tell"});
    refund(event.data, #{name: "give-back", amount: "1.00 USD"});
}
"#;

fn scripts(name: &str, text: &str) -> ScriptSet {
    let path = format!("{name}.rhai");
    let source = ScriptSource { display_path: format!("scripts/{path}"), path, text: text.into() };
    let set = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<BTreeSet<_>>();
    let hooks = Hooks::load(
        &[source],
        &ConfiguredNames {
            targets: set(&["ops"]),
            kinds: set(&["Merchant"]),
            rights: Rights::all(),
            ..ConfiguredNames::default()
        },
    );
    ScriptSet { hooks: Some(hooks.unwrap()), files: sha256(text.as_bytes()), problems: 0 }
}

fn charge(world: &World) -> String {
    let method = json!({"type": "card", "number": "4242424242424242", "exp_month": 12,
        "exp_year": 2031, "cvv": "123"});
    let charge = json!({"amount": 700, "method": method});
    world.ask("acme", "POST", "/v1/charges", &charge)["id"].as_str().unwrap().to_owned()
}

fn refunded(world: &World) -> Vec<i64> {
    let all = world.objects("transactions");
    let refunds = all.iter().filter(|one| one["type"] == "REFUND");
    let mut amounts: Vec<i64> = refunds.map(|one| one["amount"].as_i64().unwrap()).collect();
    amounts.sort_unstable();
    amounts
}

async fn hooks(ears: &Ears<'_>) -> HooksView {
    let Ok(Reply::Hooks(view)) = ears.control.ask(EngineQuery::Hooks).await else {
        panic!("unexpected response")
    };
    *view
}

/// Records when the state began, as the first record of every state does.
async fn began(world: &World, at: &str) {
    let binding = StateOwner {
        partner: "acme".to_owned(),
        client: "client".to_owned(),
        key: "key".to_owned(),
        epoch: 0,
        began: Some(at.parse().unwrap()),
    };
    world.shared().writer.append(Commit::of(vec![Record::StateOwner(binding)])).await.unwrap();
}

/// Closes K19: an action of a fresh state waits until call timeout and grace have passed since the state began. The
/// calls of a lost state have ended then. A waiting action shows the reason and the end of the wait.
#[tokio::test(start_paused = true)]
async fn the_first_action_of_a_fresh_state_waits_only_while_an_older_state_may_have_sent_it() {
    for (age, waits) in [(0, true), (59, true), (120, false)] {
        let world = World::new(ServiceSurface::Public, START);
        began(&world, START).await;
        world.write(MERCHANT);
        assert_eq!(world.settle().await, Vec::<String>::new());
        world.sends_events();
        tokio::time::sleep(Duration::from_secs(age)).await;
        let pigeon: Option<Arc<dyn NotificationSender>> = Some(Pigeon::answering(&[]));
        let script = scripts("returns", BEFORE);
        world
            .hearing_with(Some(script), pigeon, async |ears| {
                charge(&world);
                ears.deliver().await;
                tokio::time::sleep(Duration::from_millis(500)).await;
                assert_eq!(refunded(&world).is_empty(), waits, "{age}");
                let view = hooks(ears).await;
                let why: Vec<_> = view.waiting.iter().filter_map(|one| one.waits.clone()).collect();
                assert_eq!(why.len(), usize::from(waits), "{why:?}");
                if waits {
                    assert!(why[0].contains("until 2029-12-01T10:01:00.000Z"), "{why:?}");
                    ears.wait(60 - age).await;
                }
                assert_eq!(refunded(&world), [100], "{age}");
            })
            .await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_lost_state_did_for_an_event_is_found_or_held_and_never_done_twice() {
    let mut world = World::new(ServiceSurface::Public, START);
    world.write(&[MERCHANT.to_owned(), card("jane", "4242424242424242")].concat());
    assert_eq!(world.settle().await, Vec::<String>::new());
    let pigeon = Pigeon::answering(&[]);
    let first = scripts("returns", BEFORE);
    let hears: Option<Arc<dyn NotificationSender>> = Some(pigeon.clone());
    world.hearing_with(Some(first.clone()), hears.clone(), async |ears| ears.wait(65).await).await;
    let backup = back_up(&world);
    world
        .hearing_with(Some(first), hears.clone(), async |ears| {
            charge(&world);
            ears.wait(200).await;
        })
        .await;
    assert_eq!((refunded(&world), pigeon.carried().len()), (vec![100], 1));
    restore(&mut world, &backup, true).await;
    world
        .hearing_with(Some(scripts("renamed", AFTER)), hears, async |ears| {
            ears.wait(400).await;
            let view = hooks(ears).await;
            assert_eq!(
                refunded(&world),
                [10, 100],
                "an existing refund is found, a missing one is made"
            );
            assert_eq!((view.waiting.len(), pigeon.carried().len()), (1, 1), "{:?}", view.waiting);
            let held = view.waiting[0].on_hold.clone().unwrap();
            assert!(held.contains("epoch 1") && held.contains("2026-11-20 08:00"), "{held}");
            let name = held.split("reckon store release ").nth(1).unwrap();
            let action = name.split('`').next().unwrap().parse().unwrap();
            let said = ReleaseRequest { keys: vec![action], done: true };
            let told = ears.control.send(ControlRequest::Release(said), "ann".to_owned()).await;
            assert_eq!(told, Ok(Reply::State(StateReply::Released(true))));
            ears.wait(60).await;
            assert_eq!((hooks(ears).await.waiting, pigeon.carried().len()), (Vec::new(), 1));
            let new = charge(&world);
            ears.wait(400).await;
            assert_eq!(pigeon.carried().last().map(|one| one.body.clone()), Some(Value::from(new)));
            assert_eq!(pigeon.carried().len(), 2, "later events are notified at once");
            assert_eq!(refunded(&world), [10, 10, 100, 100]);
        })
        .await;
}
