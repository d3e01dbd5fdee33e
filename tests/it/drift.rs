//! Drift, end to end. reckon shows and reverts changes of others, and creates nothing again without a person's order.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::support::payments::{MERCHANT, START, card, only, recurring, requests};
use crate::support::world::{World, told};
use reckon::engine::core::coordinator::{Engine, RunUntil};
use reckon::engine::protocol::input::EngineInput;
use reckon::engine::protocol::query::{EngineQuery, Reply};
use reckon::engine::protocol::views::{Confidence, ResourceView};
use reckon::sandbox::options::ServiceSurface;

/// Builds a world with a merchant, a card and a recurring charge.
async fn connected(surface: ServiceSurface, annotations: &str) -> World {
    let world = World::new(surface, START);
    let rent = recurring("rent", "jane", "description: Rent\n  ");
    let rent = rent.replace("{name: rent}", &format!("{{name: rent, annotations: {annotations}}}"));
    world.write(&[MERCHANT.to_owned(), card("jane", "4242424242424242"), rent].concat());
    assert_eq!(world.settle().await, Vec::<String>::new());
    world
}

/// Changes the recurring charge outside reckon.
fn change(world: &World, fields: &Value) {
    let id = only(world, "recurring_charges")["id"].as_str().unwrap().to_owned();
    world.ask("acme", "PATCH", &format!("/v1/recurring/charges/{id}"), fields);
}

/// Returns an engine after a complete resync.
async fn looked(world: &World) -> Engine {
    let mut engine = world.engine();
    engine.sweep_everything().await.unwrap();
    engine
}

fn confidence(engine: &Engine, name: &str) -> Option<Confidence> {
    resource(engine, name).confidence
}

fn resource(engine: &Engine, name: &str) -> ResourceView {
    let Reply::Resources(all) = engine.answer(EngineQuery::Resources(Box::default())).unwrap()
    else {
        panic!("unexpected response")
    };
    all.items.into_iter().find(|one| one.name == name).unwrap()
}

/// Returns the reason and the message of the condition `Synced`.
fn synced(engine: &Engine, name: &str) -> (String, String) {
    let synced = resource(engine, name).conditions.swap_remove(0);
    (synced.reason, synced.message)
}

#[tokio::test(start_paused = true)]
async fn what_somebody_else_changed_is_shown_and_put_back() {
    let world = connected(ServiceSurface::Public, "{}").await;
    change(&world, &json!({"amount": 99_900, "description": "Mine now"}));
    assert_eq!(world.plan(), Vec::<String>::new(), "no resync has run yet");
    let shown = told(&looked(&world).await);
    assert!(shown[0].contains("Update RecurringCharge/rent: Drifted"), "{shown:?}");
    assert!(shown[0].contains("amount, description"), "{shown:?}");
    let view = looked(&world).await.view().plan_view();
    let amount = view.steps[0].changes.iter().find(|change| change.path == "amount").unwrap();
    assert_eq!((&amount.before, &amount.after), (&json!("999.00 USD"), &json!("20.00 USD")));
    assert_eq!(world.settle().await, Vec::<String>::new());
    let now = only(&world, "recurring_charges");
    assert_eq!(now["amount"], 2000);
    assert!(now["description"].as_str().unwrap().starts_with("Rent ["), "{now}");
    assert_eq!(told(&looked(&world).await), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_look_that_teaches_nothing_writes_nothing() {
    let world = connected(ServiceSurface::Public, "{}").await;
    // The first resync learns the values that the service counts by itself.
    let before = looked(&world).await.view().plan_view().position;
    let after = looked(&world).await.view().plan_view();
    assert_eq!(after.position, before);
    let lists: Vec<&str> = after.looked_at.iter().map(|look| look.list.as_str()).collect();
    assert_eq!(lists, ["banks", "cards", "recurring charges"]);
}

#[tokio::test(start_paused = true)]
async fn what_comes_back_again_and_again_is_left_alone() {
    let world = connected(ServiceSurface::Public, "{}").await;
    for _ in 0..2 {
        change(&world, &json!({"amount": 100}));
        assert!(told(&looked(&world).await)[0].contains("Drifted"));
        assert_eq!(world.settle().await, Vec::<String>::new());
    }
    change(&world, &json!({"amount": 100}));
    let shown = told(&looked(&world).await);
    assert!(shown[0].contains("Blocked RecurringCharge/rent: DriftReturns"), "{shown:?}");
    let before = requests(&world, "PATCH", "/v1/recurring").len();
    world.settle().await;
    assert_eq!(requests(&world, "PATCH", "/v1/recurring").len(), before);
}

#[tokio::test(start_paused = true)]
async fn drift_of_a_field_that_others_may_change_is_no_matter() {
    let world = connected(ServiceSurface::Public, "{reckon.dev/ignore-drift: amount}").await;
    change(&world, &json!({"amount": 99_900}));
    assert_eq!(told(&looked(&world).await), Vec::<String>::new());
    change(&world, &json!({"amount": 99_901, "description": "Mine"}));
    let shown = told(&looked(&world).await);
    assert!(shown[0].contains("drift: description changed"), "{shown:?}");
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(only(&world, "recurring_charges")["amount"], 99_901);
}

#[tokio::test(start_paused = true)]
async fn what_somebody_ended_is_not_made_again_without_a_word() {
    for verb in [("POST", "/cancel"), ("DELETE", "")] {
        let world = connected(ServiceSurface::Public, "{}").await;
        let id = only(&world, "recurring_charges")["id"].as_str().unwrap().to_owned();
        let path = format!("/v1/recurring/charges/{id}{}", verb.1);
        world.ask("acme", verb.0, &path, &Value::Null);
        let shown = told(&looked(&world).await);
        assert!(shown[0].contains("Blocked RecurringCharge/rent: Vanished"), "{shown:?}");
        assert_eq!(world.settle().await.len(), 1);
        assert_eq!(world.objects("recurring_charges").len(), 1);
        let again = recurring("rent", "jane", "description: Rent\n  ")
            .replace("{name: rent}", "{name: rent, annotations: {reckon.dev/generation: \"1\"}}");
        world.write(&[MERCHANT.to_owned(), card("jane", "4242424242424242"), again].concat());
        assert_eq!(world.settle().await, Vec::<String>::new());
        assert_eq!(world.objects("recurring_charges").len(), 2);
        assert_eq!(told(&looked(&world).await), Vec::<String>::new());
    }
}

#[tokio::test(start_paused = true)]
async fn a_card_that_somebody_removed_is_not_saved_again_without_a_word() {
    let world = connected(ServiceSurface::Documented, "{}").await;
    let id = only(&world, "cards")["id"].as_str().unwrap().to_owned();
    world.ask("acme", "DELETE", &format!("/v1/cards/{id}"), &Value::Null);
    let shown = told(&looked(&world).await);
    assert!(shown[0].contains("Blocked SavedMethod/jane: Vanished"), "{shown:?}");
}

/// A read counts only for the object with which it began. The list is slow; meanwhile reckon deletes the card and saves
/// it again. The new card counts as neither removed nor changed.
#[tokio::test(start_paused = true)]
async fn a_card_that_was_exchanged_while_its_list_was_read_is_not_taken_for_removed() {
    let world = World::new(ServiceSurface::Documented, START);
    let saved = |year: &str| {
        let deleted = "{name: jane, annotations: {reckon.dev/deletion: delete}}";
        let card = card("jane", "4242424242424242").replace("{name: jane}", deleted);
        [MERCHANT.to_owned(), card.replace("exp_year: 2031", year)].concat()
    };
    world.write(&saved("exp_year: 2031"));
    assert_eq!(world.settle().await, Vec::<String>::new());
    let first = only(&world, "cards")["id"].clone();
    let slow = json!({"method": "GET", "path": "/v1/cards", "fault": "delay", "delay_ms": 20_000});
    world.control("POST", "faults", &slow);
    let mut engine = world.engine();
    let (sender, events) = mpsc::channel::<EngineInput>(8);
    let act = async {
        let (reply, looked) = oneshot::channel();
        sender.send(EngineInput::Refresh(reply)).await.unwrap();
        for tree in [MERCHANT.to_owned(), saved("exp_year: 2032")] {
            tokio::time::sleep(Duration::from_secs(3)).await;
            world.write(&tree);
            sender.send(EngineInput::Files(Vec::new())).await.unwrap();
        }
        tokio::time::sleep(Duration::from_secs(3)).await;
        let second = only(&world, "cards")["id"].clone();
        assert_ne!(second, first, "the card was replaced before the list arrived");
        assert!(looked.await.is_ok());
        assert_eq!(only(&world, "cards")["id"], second);
    };
    tokio::select! {
        ended = engine.run(events, RunUntil::Stopped) => panic!("the daemon ended: {ended:?}"),
        () = act => {}
    }
    drop(engine);
    assert_eq!(world.plan(), Vec::<String>::new());
}

/// Closes M11: a resource that cannot be read is not reported as a match.
#[tokio::test(start_paused = true)]
async fn no_claim_is_made_of_what_was_never_read() {
    let world = connected(ServiceSurface::Documented, "{}").await;
    let engine = world.engine();
    assert_eq!(confidence(&engine, "jane"), Some(Confidence::LastKnown));
    let engine = looked(&world).await;
    assert_eq!(confidence(&engine, "jane"), Some(Confidence::Verified));
    assert_eq!(confidence(&engine, "rent"), Some(Confidence::CannotBeVerified));
    let (reason, message) = synced(&engine, "rent");
    assert_eq!(reason, "NotVerified", "{message}");
    assert!(message.contains("the service does not show it since"), "{message}");
    assert_eq!(synced(&engine, "jane").0, "InSync");
    let public = connected(ServiceSurface::Public, "{}").await;
    assert_eq!(confidence(&looked(&public).await, "rent"), Some(Confidence::Verified));
}
