//! The shipped scripts, in a daemon beside a sandbox whose clock is advanced.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::notifier::Pigeon;
use crate::support::payments::{MERCHANT, START, card, document};
use crate::support::webhooks::Ears;
use crate::support::world::World;
use crate::support::{applicants, payers, webhooks};
use reckon::base::hash::{SourceId, sha256};
use reckon::base::id::Key;
use reckon::base::secret::Secret;
use reckon::control::protocol::ControlRequest;
use reckon::engine::protocol::input::ScriptSet;
use reckon::engine::protocol::payers::AttachToken;
use reckon::engine::protocol::query::{EngineQuery, Reply};
use reckon::policy::Rights;
use reckon::sandbox::options::ServiceSurface;
use reckon::scripting::hooks::Hooks;
use reckon::scripting::language::names::ConfiguredNames;
use reckon::scripting::language::source::{ScriptSource, read_folder};

const DAY: u64 = 24 * 3600;

/// Loads one of the shipped scripts, with the modules that it may import.
fn script(name: &str) -> ScriptSet {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let all = read_folder(&root.into(), "scripts").unwrap().scripts;
    let chosen = |source: &ScriptSource| source.is_module() || source.name() == name;
    let set: Vec<ScriptSource> = all.into_iter().filter(chosen).collect();
    let words =
        |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<BTreeSet<_>>();
    let kinds = words(&["Merchant", "SavedMethod", "RecurringCharge", "Contact"]);
    let hooks = Hooks::load(
        &set,
        &ConfiguredNames {
            targets: words(&["ops", "payers"]),
            kinds,
            rights: Rights::all(),
            ..ConfiguredNames::default()
        },
    );
    assert!(hooks.is_ok(), "{:?}", hooks.err());
    ScriptSet { hooks: hooks.ok(), files: sha256(name.as_bytes()), problems: 0 }
}

/// Builds a connected world of this tree, in which a daemon ran once.
async fn connected(script: &ScriptSet, pigeon: &Arc<Pigeon>, tree: &[String]) -> World {
    let world = World::new(ServiceSurface::Public, START);
    world.write(&[&[MERCHANT.to_owned()], tree].concat().concat());
    assert_eq!(world.settle().await, Vec::<String>::new());
    later(&world, script, pigeon, 0).await;
    world
}

/// Waits for this time, then runs a daemon for two minutes. Asserts that no failed hook run is left.
async fn later(world: &World, script: &ScriptSet, pigeon: &Arc<Pigeon>, seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    let courier: Arc<Pigeon> = pigeon.clone();
    world
        .hearing_with(Some(script.clone()), Some(courier), async |ears| {
            ears.wait(130).await;
            let Ok(Reply::Hooks(view)) = ears.control.ask(EngineQuery::Hooks).await else {
                panic!("unexpected response")
            };
            assert_eq!((view.failed, view.dead), (Vec::new(), Vec::new()));
        })
        .await;
}

/// Runs a daemon, calls `act` after two minutes, and ends the daemon two minutes later.
async fn answering(
    world: &World,
    script: &ScriptSet,
    pigeon: &Arc<Pigeon>,
    act: impl AsyncFnOnce(&Ears<'_>),
) {
    let courier: Arc<Pigeon> = pigeon.clone();
    world
        .hearing_with(Some(script.clone()), Some(courier), async |ears| {
            ears.wait(130).await;
            act(ears).await;
            ears.wait(130).await;
        })
        .await;
}

fn charge(world: &World, minor: i64, method: &str) -> Value {
    let number = if method.is_empty() { "4242424242424242" } else { method };
    let method =
        json!({"type": "card", "number": number, "exp_month": 12, "exp_year": 2031, "cvv": "123"});
    world.ask("acme", "POST", "/v1/charges", &json!({"amount": minor, "method": method}))
}

fn of_type(world: &World, kind: &str) -> Vec<Value> {
    let mut all = world.objects("transactions");
    all.retain(|one| one["type"] == kind);
    all
}

fn told(pigeon: &Pigeon) -> Vec<String> {
    pigeon.carried().iter().map(|one| one.body.as_str().unwrap().to_owned()).collect()
}

fn suspended(world: &World) -> usize {
    world.engine().view().overview().suspended
}

fn rent(method: &str, start: &str) -> String {
    let schedule = format!("{{start: {start}, interval_unit: MONTH, interval_delay: 1}}");
    let spec = format!("method: {method}\n  amount: \"30.00 USD\"\n  schedule: {schedule}");
    document("RecurringCharge", "rent", &spec)
}

fn occurrences(world: &World) -> Value {
    let id = world.objects("recurring_charges")[0]["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/recurring/charges/{id}/occurrences?page_size=100");
    world.ask("acme", "GET", &path, &Value::Null)["results"].clone()
}

#[tokio::test(start_paused = true)]
async fn a_declined_payment_is_tried_again_by_the_rules_and_then_suspended() {
    let (script, pigeon) = (script("dunning"), Pigeon::answering(&[]));
    let tree = [card("poor", "4000000000000044"), rent("poor", "2029-12-02")];
    let world = connected(&script, &pigeon, &tree).await;
    let failed = |world: &World| {
        let all = occurrences(world);
        all.as_array().unwrap().iter().find(|one| one["status"] == "FAILED").cloned()
    };
    later(&world, &script, &pigeon, DAY + DAY / 2).await;
    assert_eq!(failed(&world).unwrap()["attempts"], 1);
    for (days, attempts) in [(1, 2), (3, 3), (7, 4), (14, 4)] {
        assert_eq!(suspended(&world), usize::from(attempts == 4 && days == 14), "{days}");
        later(&world, &script, &pigeon, days * DAY).await;
        assert_eq!(failed(&world).unwrap()["attempts"], attempts, "after {days} days more");
    }
    assert_eq!(suspended(&world), 1);
    assert_eq!(told(&pigeon).len(), 1, "{:?}", told(&pigeon));
}

#[tokio::test(start_paused = true)]
async fn what_was_charged_twice_by_accident_is_given_back_once() {
    let (script, pigeon) = (script("duplicates"), Pigeon::answering(&[]));
    let world = connected(&script, &pigeon, &[]).await;
    charge(&world, 900, "");
    later(&world, &script, &pigeon, 0).await;
    assert_eq!(of_type(&world, "REFUND").len(), 0);
    charge(&world, 900, "");
    charge(&world, 901, "");
    later(&world, &script, &pigeon, 0).await;
    later(&world, &script, &pigeon, DAY).await;
    let refunds = of_type(&world, "REFUND");
    assert_eq!((refunds.len(), &refunds[0]["amount"]), (1, &json!(900)));
    assert_eq!(told(&pigeon).len(), 1);
}

/// Closes K15: each charge of `reckon gateway` and of scripts has another mark behind its text.
#[tokio::test(start_paused = true)]
async fn a_charge_of_ours_is_the_same_whatever_its_mark_is() {
    let (script, pigeon) = (script("duplicates"), Pigeon::answering(&[]));
    let world = connected(&script, &pigeon, &[]).await;
    let method = json!({"type": "card", "number": "4242424242424242", "exp_month": 12, "exp_year": 2031, "cvv": "123"});
    for (name, words) in [("one", "invoice 7"), ("two", "invoice 7"), ("three", "invoice 8")] {
        let key: Key = format!("Action/default/{name}").parse().unwrap();
        let reference = SourceId::new("acme", &key, 0).mark().tag(words);
        let body = json!({"amount": 900, "method": method, "reference": reference});
        world.ask("acme", "POST", "/v1/charges", &body);
        later(&world, &script, &pigeon, 0).await;
    }
    assert_eq!(of_type(&world, "REFUND").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_large_charge_is_told_and_a_far_larger_one_suspends_its_merchant() {
    let (script, pigeon) = (script("large_charges"), Pigeon::answering(&[]));
    let world = connected(&script, &pigeon, &[]).await;
    charge(&world, 499_999, "");
    later(&world, &script, &pigeon, 0).await;
    assert_eq!((told(&pigeon).len(), suspended(&world)), (0, 0));
    charge(&world, 500_000, "");
    later(&world, &script, &pigeon, 0).await;
    assert_eq!((told(&pigeon).len(), suspended(&world)), (1, 0));
    charge(&world, 5_000_000, "");
    later(&world, &script, &pigeon, 0).await;
    assert_eq!((told(&pigeon).len(), suspended(&world)), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn unused_days_of_a_cancelled_charge_are_credited() {
    let (script, pigeon) = (script("cancelled"), Pigeon::answering(&[]));
    let tree = [card("jane", "4242424242424242"), rent("jane", "2029-12-02")];
    let world = connected(&script, &pigeon, &tree).await;
    world.control("POST", "policy", &json!({"merchant": "acme", "credits_enabled": true}));
    later(&world, &script, &pigeon, 10 * DAY + DAY / 2).await;
    let id = world.objects("recurring_charges")[0]["id"].as_str().unwrap().to_owned();
    world.ask("acme", "POST", &format!("/v1/recurring/charges/{id}/cancel"), &json!({}));
    later(&world, &script, &pigeon, 0).await;
    let credits = of_type(&world, "CREDIT");
    assert_eq!(credits.len(), 1, "{:?}", world.objects("events").last());
    assert_eq!(credits[0]["amount"], 2129, "22 of 31 days, rounded down: {}", credits[0]);
}

#[tokio::test(start_paused = true)]
async fn a_merchant_that_charges_too_often_is_suspended() {
    let (script, pigeon) = (script("volume"), Pigeon::answering(&[]));
    let world = connected(&script, &pigeon, &[]).await;
    for number in 0..501 {
        charge(&world, 100 + number, "");
        tokio::task::yield_now().await;
    }
    later(&world, &script, &pigeon, 0).await;
    assert_eq!((suspended(&world), told(&pigeon).len()), (1, 1), "{:?}", told(&pigeon));
}

#[tokio::test(start_paused = true)]
async fn a_month_is_summed_up_in_the_next_one() {
    let (script, pigeon) = (script("monthly"), Pigeon::answering(&[]));
    let world = connected(&script, &pigeon, &[]).await;
    charge(&world, 1000, "");
    charge(&world, 250, "");
    later(&world, &script, &pigeon, 2 * DAY).await;
    assert_eq!(told(&pigeon), Vec::<String>::new());
    tokio::time::sleep(Duration::from_secs(31 * DAY)).await;
    charge(&world, 70, "");
    later(&world, &script, &pigeon, 2 * DAY).await;
    assert_eq!(told(&pigeon), ["acme in 2029-12: collected 12.50 USD (2 transactions)"]);
}

#[tokio::test(start_paused = true)]
async fn what_becomes_of_an_application_is_told() {
    let decided = [("approve", "was approved"), ("decline", "was declined: duplicate_merchant")];
    for (decision, words) in decided {
        let (script, pigeon) = (script("decisions"), Pigeon::answering(&[]));
        let world = applicants::world(applicants::COMPLETE);
        world.control("POST", "partner", &json!({"event_url": webhooks::partner_address()}));
        world.settle().await;
        let id = world.objects("applications")[0]["id"].clone();
        let said = json!({"decision": decision, "reason": "duplicate_merchant"});
        world.control("POST", &format!("applications/{id}/decision"), &said);
        let courier: Arc<Pigeon> = pigeon.clone();
        world
            .hearing_with(Some(script), Some(courier), async |ears| {
                ears.deliver().await;
                ears.deliver().await;
                ears.wait(60).await;
            })
            .await;
        assert_eq!(told(&pigeon), [format!("MerchantApplication/harbor {words}")]);
    }
}

/// Builds a world with a payer's card that pays in the middle of its last month, and with a contact to request another
/// one from.
async fn expiring(script: &ScriptSet, pigeon: &Arc<Pigeon>) -> World {
    let jane = document("SavedMethod", "jane", "type: card\n  source: intake");
    let labelled = "metadata: {name: jane, labels: {contact: jane}}";
    let contact =
        "first_name: Jane\n  last_name: Doe\n  email_addresses: [{address: jane@example.com}]";
    let tree = [
        MERCHANT.to_owned(),
        document("Contact", "jane", contact),
        jane.replacen("metadata: {name: jane}", labelled, 1),
        rent("jane", "2030-03-15"),
    ];
    let world = World::new(ServiceSurface::Public, START);
    world.write(&tree.concat());
    world.settle().await;
    let first =
        json!({"type": "card", "number": "4242424242424242", "exp_month": 3, "exp_year": 2030});
    let first = payers::token(&world, &first);
    answering(&world, script, pigeon, async |ears| {
        let (token, more) = (Secret::from(first.as_str()), Vec::new());
        let key: Key = "SavedMethod/default/jane".parse().unwrap();
        let attaching = AttachToken { key, token, more, replace: false };
        let reply =
            ears.control.send(ControlRequest::Attach(attaching), "ada".to_owned()).await.unwrap();
        assert!(matches!(reply, Reply::Attached(Ok(_))), "{reply:?}");
    })
    .await;
    assert_eq!(occurrences(&world)[0]["status"], "PENDING");
    world
}

#[tokio::test(start_paused = true)]
async fn the_payer_of_a_card_that_expires_gives_another_one_under_the_link_of_a_mail() {
    let (script, pigeon) = (script("expiring"), Pigeon::answering(&[]));
    let world = expiring(&script, &pigeon).await;
    later(&world, &script, &pigeon, 88 * DAY).await;
    assert_eq!(told(&pigeon), Vec::<String>::new(), "it is the 27th of February");
    tokio::time::sleep(Duration::from_secs(2 * DAY)).await;
    let form = || {
        let one =
            || format!("token_id={}", payers::token(&world, &payers::card("5105105105105100")));
        [one(), one()].join("&")
    };
    answering(&world, &script, &pigeon, async |ears| {
        let mail = pigeon.carried().pop().unwrap();
        assert_eq!(mail.to, Some(vec!["jane@example.com".to_owned()]));
        assert_eq!(mail.subject.as_deref(), Some("Your card is about to expire"));
        let text = mail.body.as_str().unwrap();
        assert!(text.starts_with("Your card ending in 4242 expires this month."), "{text}");
        let address = text.split_whitespace().find(|one| one.starts_with("https://")).unwrap();
        let path = address.strip_prefix("https://pay.example").unwrap();
        let browse = async |method, body: &str| {
            payers::browse(ears.public.clone(), method, path, body).await
        };
        let (status, page) = browse("GET", "").await;
        assert!(status == 200 && page.contains("data-tokens=\"2\""), "{status}: {page}");
        assert_eq!(browse("POST", &form()).await.0, 303);
        ears.wait(60).await;
        assert_eq!(browse("POST", &form()).await.0, 410, "the link works once");
    })
    .await;
    assert_eq!((pigeon.carried().len(), world.objects("cards").len()), (1, 1));
    assert_eq!(world.objects("cards")[0]["number"], "************5100");
    later(&world, &script, &pigeon, 17 * DAY).await;
    let paid = of_type(&world, "CHARGE");
    assert_eq!((paid.len(), &paid[0]["method"]["number"]), (1, &json!("************5100")));
    assert_eq!(world.settle().await, Vec::<String>::new());
    later(&world, &script, &pigeon, 20 * DAY).await;
    assert_eq!(pigeon.carried().len(), 1, "the replaced card causes no notification");
}
