//! A service in trouble, end to end: it throttles, does not answer, or refuses the credentials.

mod views;

use std::fmt::Write as _;
use std::time::Duration;

use reckon::control::handle::Control;
use reckon::engine::core::coordinator::{Engine, RunUntil};
use reckon::engine::protocol::input::EngineInput;
use reckon::engine::protocol::query::{EngineQuery, Reply};
use reckon::sandbox::options::ServiceSurface;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::support::world::World;
use crate::support::{applicants, covers, world};

const MERCHANT: &str = "apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: acme}
spec:
  mode: test
  timezone: America/Chicago
  credentials: {authorization_code: {env: CODE_ACME}}
";

/// Returns the merchant and this number of cards.
fn tree(cards: usize) -> String {
    let mut text = MERCHANT.to_owned();
    for number in 0..cards {
        write!(
            text,
            "---
apiVersion: reckon.dev/v1
kind: SavedMethod
metadata: {{name: card-{number}}}
spec:
  merchant: acme
  type: card
  source: {{card: {{number: '4242424242424242', exp_month: 12, exp_year: 2031, name: Jane Doe}}}}
"
        )
        .unwrap();
    }
    text
}

fn world(failures_max: Option<u32>) -> World {
    let mut world = World::new(ServiceSurface::Public, "2029-12-01T10:00:00Z");
    world.failures_max = failures_max;
    world.write(MERCHANT);
    world
}

/// Plants a fault in the sandbox.
fn strike(world: &World, order: &Value) {
    world.control("POST", "faults", order);
}

/// Counts the requests of a method to paths with this beginning that got this status.
fn served(world: &World, method: &str, path: &str, status: u16) -> usize {
    let all = world.control("GET", "requests", &Value::Null);
    let fits = |one: &&Value| {
        one["method"] == json!(method)
            && one["path"].as_str().unwrap().starts_with(path)
            && one["status"] == json!(status)
    };
    all["requests"].as_array().unwrap().iter().filter(fits).count()
}

/// Returns the requests that the service served, as text.
fn journal(world: &World) -> String {
    world.control("GET", "requests", &Value::Null).to_string()
}

#[tokio::test(start_paused = true)]
async fn a_throttled_apply_makes_everything_and_asks_no_faster_than_it_may() {
    let world = world(Some(5));
    assert_eq!(world.settle().await, Vec::<String>::new());
    strike(
        &world,
        &json!({"method": "POST", "path": "/v1/cards", "fault": "throttle", "probability": "0.3", "seed": 3}),
    );
    world.write(&tree(40));
    assert_eq!(world.settle().await, Vec::<String>::new(), "{}", journal(&world));
    assert_eq!(world.objects("cards").len(), 40);
    assert!(served(&world, "POST", "/v1/cards", 429) >= 5, "the service throttled the run");
}

/// Another merchant with a bank account of its own.
const OTHER: &str = "---
apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: other}
spec: {mode: test, timezone: America/Chicago, credentials: {authorization_code: {env: CODE_OTHER}}}
---
apiVersion: reckon.dev/v1
kind: SavedMethod
metadata: {name: savings}
spec:
  merchant: other
  type: bank
  source:
    bank: {routing_number: '000000013', account_number: '1234567890', account_type: SAVINGS, given_name: Jane, surname: Doe}
";

/// Returns an engine that ran for twenty seconds of its own time.
async fn after_a_while(world: &World) -> Engine {
    let mut engine = world.engine();
    let (sender, events) = mpsc::channel::<EngineInput>(1);
    let stop = async {
        tokio::time::sleep(Duration::from_secs(20)).await;
        sender.send(EngineInput::Stop).await.unwrap();
    };
    let (ended, ()) = tokio::join!(engine.run(events, RunUntil::Stopped), stop);
    ended.unwrap();
    engine
}

#[tokio::test(start_paused = true)]
async fn a_throttled_merchant_does_not_hold_up_another_one() {
    let world = world(None);
    world.settle().await;
    strike(&world, &json!({"method": "POST", "path": "/v1/cards", "fault": "throttle"}));
    world.write(&format!("{}{OTHER}", tree(300)));
    let engine = after_a_while(&world).await;
    assert_eq!(engine.view().overview().traffic.slowed, 1, "{:?}", engine.view().overview());
    assert_eq!((world.objects("banks").len(), world.objects("cards").len()), (1, 0));
    let tried = served(&world, "POST", "/v1/cards", 429);
    assert!((1..=110).contains(&tried), "{tried}: 64 at first, then hardly any");
}

#[tokio::test(start_paused = true)]
async fn a_service_that_is_down_is_asked_little_and_nothing_is_promised_meanwhile() {
    let world = world(Some(5));
    assert_eq!(world.settle().await, Vec::<String>::new());
    strike(&world, &json!({"path": "/", "fault": "error_before", "status": 503}));
    world.write(&tree(60));
    let mut engine = world.engine();
    let (sender, events) = mpsc::channel::<EngineInput>(1);
    let stop = async {
        tokio::time::sleep(Duration::from_mins(20)).await;
        sender.send(EngineInput::Stop).await.unwrap();
    };
    let (ended, ()) = tokio::join!(engine.run(events, RunUntil::Stopped), stop);
    ended.unwrap();
    let overview = engine.view().overview();
    assert_eq!(overview.traffic.silent.len(), 1, "{overview:?}");
    let tried = served(&world, "POST", "/v1/cards", 503);
    assert!((1..=40).contains(&tried), "{tried} effects went to a service that is down");
    assert!(served(&world, "GET", "/status", 503) >= 8, "reads probe the service");
    let told: Vec<&str> = engine
        .failures()
        .values()
        .map(reckon::engine::handles::task_result::TaskFailure::message)
        .collect();
    assert!(told.iter().any(|why| why.contains("asked again in")), "{told:?}");
    world.control("DELETE", "faults", &Value::Null);
    let told = world.settle().await;
    assert_eq!((told, world.objects("cards").len()), (Vec::new(), 60));
}

#[tokio::test(start_paused = true)]
async fn a_daemon_goes_on_as_soon_as_the_service_answers_again() {
    let world = world(None);
    assert_eq!(world.settle().await, Vec::<String>::new());
    strike(&world, &json!({"path": "/", "fault": "error_before", "status": 503}));
    world.write(&tree(60));
    let mut engine = world.engine();
    let (sender, events) = mpsc::channel::<EngineInput>(1);
    let story = async {
        tokio::time::sleep(Duration::from_mins(30)).await;
        world.control("DELETE", "faults", &Value::Null);
        // The longest wait between two probes, and the time in which doubt is settled.
        tokio::time::sleep(Duration::from_mins(9)).await;
        sender.send(EngineInput::Stop).await.unwrap();
    };
    let (ended, ()) = tokio::join!(engine.run(events, RunUntil::Stopped), story);
    ended.unwrap();
    assert_eq!(world.objects("cards").len(), 60, "{:?}", world::told(&engine));
}

/// Makes the service refuse requests with the merchant's credentials.
fn revoke(world: &World) {
    for path in ["/gateway-credentials", "/bank-accounts", "/contacts", "/invoices", "/v1"] {
        strike(world, &json!({"path": path, "fault": "error_before", "status": 401}));
    }
}

#[tokio::test(start_paused = true)]
async fn refused_credentials_hold_the_merchant_and_no_calls_go_on() {
    let world = world(Some(5));
    assert_eq!(world.settle().await, Vec::<String>::new());
    revoke(&world);
    world.write(&tree(200));
    let told = world.settle().await;
    let held = told.iter().find(|step| step.contains("Merchant/acme")).unwrap();
    assert!(held.starts_with("Blocked") && held.contains("AwaitsAuthorization"), "{held}");
    assert!(held.contains("credentials.authorization_code"), "{held}");
    let waits = told.iter().filter(|step| step.contains("waits for Merchant/acme")).count();
    assert_eq!(waits, 200, "{told:?}");
    let tried = served(&world, "POST", "/v1/cards", 401);
    assert!((1..=48).contains(&tried), "{tried}: effects with an intent or in flight");
    assert!(world.settle().await == told, "a second run changes nothing");
    assert_eq!(served(&world, "POST", "/v1/cards", 401), tried, "no effect is sent any more");
}

#[tokio::test(start_paused = true)]
async fn what_lifts_the_hold_is_a_new_code_or_the_service_itself() {
    for renewed in [true, false] {
        let world = world(Some(5));
        world.settle().await;
        revoke(&world);
        world.write(&tree(3));
        assert!(world.settle().await.iter().any(|told| told.contains("AwaitsAuthorization")));
        world.control("DELETE", "faults", &Value::Null);
        let codes = served(&world, "POST", "/oauth/token", 200);
        if renewed {
            world.write(&tree(3).replace("CODE_ACME", "CODE_NEW"));
        }
        assert_eq!(world.settle().await, Vec::<String>::new(), "renewed: {renewed}");
        assert_eq!(world.objects("cards").len(), 3);
        let exchanged = served(&world, "POST", "/oauth/token", 200) - codes;
        assert_eq!(exchanged, usize::from(renewed), "only a new code is exchanged");
    }
}

#[tokio::test(start_paused = true)]
async fn a_partner_whose_token_is_refused_is_told_so_and_no_merchant_is_held() {
    let mut world = applicants::world(applicants::COMPLETE);
    world.failures_max = Some(5);
    strike(&world, &json!({"path": "/api/v1", "fault": "error_before", "status": 401}));
    let told = world.settle().await;
    let denied = told.iter().find(|told| told.contains("partner.client_secret"));
    assert!(denied.is_some(), "{told:?}");
    assert!(!told.iter().any(|told| told.contains("AwaitsAuthorization")), "{told:?}");
    assert_eq!(served(&world, "POST", "/api/v1", 401), 2, "one retry with a renewed token");
    covers::covers(&["1.7"]);
}

#[tokio::test(start_paused = true)]
async fn doubt_waits_for_the_new_authorization_and_is_settled_then() {
    let world = world(Some(5));
    world.settle().await;
    strike(
        &world,
        &json!({"method": "POST", "path": "/v1/cards", "fault": "drop_after", "times": 1}),
    );
    strike(
        &world,
        &json!({"method": "GET", "path": "/v1/cards", "fault": "error_before", "status": 401}),
    );
    strike(
        &world,
        &json!({"method": "GET", "path": "/gateway-credentials", "fault": "error_before", "status": 401}),
    );
    world.write(&tree(1));
    let told = world.settle().await;
    assert!(told.iter().any(|step| step.contains("AwaitsAuthorization")), "{told:?}");
    assert!(told.iter().any(|step| step.contains("InDoubt")), "{told:?}");
    world.control("DELETE", "faults", &Value::Null);
    world.write(&tree(1).replace("CODE_ACME", "CODE_NEW"));
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(world.objects("cards").len(), 1, "the card of the lost answer is found");
    assert_eq!(served(&world, "POST", "/v1/cards", 200), 1);
}

/// Status of the service's answer, text in the plan of a saved card, and true if the card is saved once the service
/// recovers.
const CLASSES: [(u16, &str, bool); 4] = [
    (500, "no answer came to card.save", true),
    (401, "AwaitsAuthorization", true),
    (422, "invalid: not sent again until the document changes", false),
    (403, "unknown: not sent again until the document changes", false),
];

/// Runs an engine over a service that throttles. Returns true if it slows down, and its plan.
async fn throttled(world: &World) -> (bool, String) {
    strike(world, &json!({"method": "POST", "path": "/v1/cards", "fault": "throttle"}));
    let engine = after_a_while(world).await;
    (engine.view().overview().traffic.slowed == 1, world::told(&engine).join("\n"))
}

#[tokio::test(start_paused = true)]
async fn every_class_of_error_is_told_in_words_of_its_own_and_ends_in_its_own_way() {
    let of_others = |plan: &str, own: &str| {
        let mut words = CLASSES.iter().map(|(_, words, _)| *words);
        words.any(|words| words != own && plan.contains(words))
    };
    for (status, words, goes_on) in CLASSES {
        let world = world(Some(5));
        assert_eq!(world.settle().await, Vec::<String>::new());
        let order = json!({"method": "POST", "path": "/v1/cards", "fault": "error_before", "status": status});
        if status == 401 {
            revoke(&world);
        } else {
            strike(&world, &order);
        }
        world.write(&tree(1));
        let plan = world.settle().await.join("\n");
        assert!(plan.contains(words) && !of_others(&plan, words), "{status}: {plan}");
        world.control("DELETE", "faults", &Value::Null);
        assert_eq!(world.settle().await.is_empty(), goes_on, "{status}");
        if !goes_on {
            world.write(&tree(1).replace("Jane Doe", "Jane Roe"));
            assert_eq!(world.settle().await, Vec::<String>::new(), "{status}");
        }
        assert_eq!(world.objects("cards").len(), 1, "{status}");
    }
    let world = world(Some(5));
    world.settle().await;
    world.write(&tree(1));
    let (slows_down, plan) = throttled(&world).await;
    assert!(slows_down && !of_others(&plan, ""), "{plan}");
    world.control("DELETE", "faults", &Value::Null);
    assert_eq!(world.settle().await, Vec::<String>::new());
    let now = "---\napiVersion: reckon.dev/v1\nkind: RecurringCharge\nmetadata: {name: club}\nspec:\n  merchant: acme\n  \
               method: card-0\n  amount: \"20.00 USD\"\n  first_charge: now\n  \
               schedule: {interval_unit: MONTH, interval_delay: 1}\n";
    world.write(&format!("{}{now}", tree(1).replace("4242424242424242", "4000000000000002")));
    let plan = world.settle().await.join("\n");
    assert!(plan.contains("declined by the payer's bank") && !of_others(&plan, ""), "{plan}");
    covers::covers(&["52.15"]);
}

/// Closes M6.
#[tokio::test(start_paused = true)]
async fn a_plan_looks_at_the_tree_before_it_is_told() {
    let world = world(None);
    assert_eq!(world.settle().await, Vec::<String>::new());
    let mut engine = world.engine();
    let (sender, events) = mpsc::channel::<EngineInput>(1);
    let control = Control::new(sender.clone());
    let story = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        // The daemon is not notified of the changed file.
        world.write(&tree(1));
        let Ok(Reply::Plan(plan)) = control.ask(EngineQuery::Plan).await else { return None };
        sender.send(EngineInput::Stop).await.unwrap();
        Some(plan.steps.iter().map(|step| format!("{:?} {}", step.verdict, step.name)).collect())
    };
    let (ended, told): (_, Option<Vec<String>>) =
        tokio::join!(engine.run(events, RunUntil::Stopped), story);
    ended.unwrap();
    assert_eq!(told, Some(vec!["Create card-0".to_owned()]));
}

/// Closes M2.
#[tokio::test(start_paused = true)]
async fn every_effect_is_told_once_it_is_durable_and_holds_nothing_private() {
    let world = world(Some(5));
    assert_eq!(world.settle().await, Vec::<String>::new());
    strike(
        &world,
        &json!({"method": "POST", "path": "/v1/cards", "fault": "drop_after", "times": 1}),
    );
    world.write(&tree(2));
    let mut engine = world.engine();
    let mut effects = engine.subscribe_effects();
    let (_sender, events) = mpsc::channel::<EngineInput>(1);
    engine.run(events, RunUntil::Settled).await.unwrap();
    engine.unsubscribe_effects();
    let mut done = Vec::new();
    while let Some(one) = effects.recv().await {
        done.push(one);
    }
    let told: Vec<&str> = done.iter().map(|one| one.verb.word()).collect();
    assert_eq!(told.iter().filter(|word| **word == "created").count(), 2, "{told:?}");
    assert_eq!(told.iter().filter(|word| **word == "in doubt").count(), 1, "{told:?}");
    let shown = reckon::render::effects::applied(&done, reckon::render::words::Screen::PLAIN);
    assert_eq!(shown, "Applied: 2 created\n");
    let text = serde_json::to_string(&done).unwrap();
    assert!(text.contains("tree.yaml") && text.contains("\"line\":"), "{text}");
    assert!(!text.contains("4242424242424242") && !text.contains("Jane Doe"), "{text}");
}
