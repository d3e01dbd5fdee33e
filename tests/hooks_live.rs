//! Hooks of a running daemon: each event goes to them once, and what they ask for is done once.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failure here is a failed test"
)]

#[path = "rig/ears.rs"]
#[expect(dead_code, reason = "not everything of a daemon is used here")]
mod ears;
#[path = "rig/payments.rs"]
#[expect(dead_code, reason = "not every document is used here")]
mod payments;
#[path = "rig/world.rs"]
#[expect(dead_code, reason = "not everything of a world is used here")]
mod world;

use std::collections::BTreeSet;

use payments::{MERCHANT, START, card, recurring};
use reckon::base::hash::sha256;
use reckon::engine::Found;
use reckon::hooks::{Hooks, Known, Source};
use reckon::sandbox::Surface;
use serde_json::json;
use world::World;

const REFUND: &str = r#"
fn on_transaction_authorized(event) {
    if event.data.type != "CHARGE" || event.data.amount != 700 { return; }
    refund(event.data, #{name: "give-back"});
    kv_set("last", event.id);
}
"#;

/// A set of one script.
fn scripts(name: &str, text: &str) -> Found {
    let path = format!("{name}.rhai");
    let source = Source { shown: format!("scripts/{path}"), path, text: text.into() };
    let known = Known { targets: BTreeSet::from(["ops".to_owned()]), ..Known::default() };
    let hooks = Hooks::load(&[source], &known);
    assert!(hooks.is_ok(), "{:?}", hooks.err());
    Found { hooks: hooks.ok(), files: sha256(text.as_bytes()), problems: 0 }
}

async fn connected() -> World {
    let world = World::new(Surface::Public, START);
    let tree =
        [MERCHANT.to_owned(), card("jane", "4242424242424242"), recurring("rent", "jane", "")];
    world.write(&tree.concat());
    assert_eq!(world.settle().await, Vec::<String>::new());
    world
}

fn charge(world: &World, minor: i64) -> String {
    let method = json!({"type": "card", "number": "4242424242424242", "exp_month": 12,
        "exp_year": 2031, "cvv": "123"});
    let charge = json!({"amount": minor, "method": method});
    let charge = world.ask("acme", "POST", "/v1/charges", &charge);
    charge["id"].as_str().unwrap().to_owned()
}

fn refunds(world: &World) -> usize {
    world.objects("transactions").iter().filter(|one| one["type"] == "REFUND").count()
}

#[tokio::test(start_paused = true)]
async fn what_a_hook_asks_for_is_done_once() {
    let world = connected().await;
    let found = scripts("give_back", REFUND);
    world
        .hearing_with(Some(found.clone()), async |ears| {
            ears.wait(5).await;
            charge(&world, 700);
            charge(&world, 800);
            ears.wait(120).await;
            assert_eq!(refunds(&world), 1);
        })
        .await;
    let renamed = scripts("another_name", REFUND);
    world
        .hearing_with(Some(renamed), async |ears| {
            ears.wait(300).await;
            assert_eq!(refunds(&world), 1, "a script that is renamed asks for the same");
        })
        .await;
}
