//! Alerts of a running daemon: a target gets each change of a state once, grouped, also after a restart.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::support::notifier::Pigeon;
use crate::support::payments::{MERCHANT, START, card, document};
use crate::support::webhooks::Ears;
use crate::support::world::World;
use reckon::config::settings::Config;
use reckon::engine::protocol::alerts::UndeliveredAlertsView;
use reckon::engine::protocol::query::{EngineQuery, OverviewQuery, Reply};
use reckon::model::alerts::{AlertChoices, AlertClass};
use reckon::notify::alert::AlertTarget;
use reckon::notify::message::{DeliveryResult, OutgoingNotification};
use reckon::policy::PolicyRules;
use reckon::sandbox::options::ServiceSurface;

/// Longer than a state has to last, and than its message is gathered.
const SOON: u64 = 80;
const CONTACT: &str = "---\napiVersion: reckon.dev/v1\nkind: Contact\nmetadata: {name: jane}\nspec: \
    {merchant: acme, first_name: Jane, last_name: Doe, email_addresses: [{address: jane@canary.example}]}\n";

fn rules() -> PolicyRules {
    let text = "apiVersion: reckon.dev/v1\nkind: Config\npolicy:\n  limits: {per_object: [\"500.00 USD\"]}\n";
    let config = Config::parse("reckon.yaml", Path::new("."), text.into()).unwrap();
    config.rules(&|_: &str| None).unwrap()
}

fn invoice(name: &str, amount: &str, account: &str) -> String {
    let spec = format!(
        "contact: jane\n  bank_account: {account}\n  invoice_date: 2030-01-15\n  \
         line_items: [{{description: Canary-words, rate_per_quantity: \"{amount}\"}}]"
    );
    document("Invoice", name, &spec)
}

fn tree(invoices: &[(&str, &str)]) -> String {
    let invoices = invoices.iter().map(|(name, amount)| invoice(name, amount, "Operating"));
    format!("{MERCHANT}{CONTACT}{}", invoices.collect::<String>())
}

/// A world whose limit stops the invoice `b`.
async fn stopped() -> World {
    let mut world = World::new(ServiceSurface::Public, START);
    world.policy = rules();
    world.write(&tree(&[("a", "20.00 USD"), ("b", "12500.00 USD")]));
    assert_eq!(world.settle().await.len(), 1);
    world
}

fn target(choices: AlertChoices) -> Vec<AlertTarget> {
    vec![AlertTarget { name: "ops".to_owned(), choices, is_program: false }]
}

/// Returns a courier to a target that takes every alert, with these results.
fn courier(answers: &[DeliveryResult]) -> Arc<Pigeon> {
    Arc::new(Pigeon { alerts: target(AlertChoices::all()), ..Pigeon::telling(answers) })
}

fn texts(pigeon: &Pigeon) -> Vec<String> {
    let text = |one: OutgoingNotification| one.body.as_str().unwrap_or_default().to_owned();
    pigeon.carried().into_iter().map(text).collect()
}

/// Writes the tree, and waits until the daemon read it.
async fn rewrite(ears: &Ears<'_>, tree: &str) {
    ears.world.write(tree);
    let Ok(Reply::Plan(_)) = ears.control.ask(EngineQuery::Plan).await else { panic!("no plan") };
}

async fn undelivered(ears: &Ears<'_>) -> Vec<UndeliveredAlertsView> {
    ears.control.ask(OverviewQuery).await.unwrap().alerts
}

/// Runs a daemon with this courier for a time, and ends it at once, as if killed.
async fn run_for(world: &World, pigeon: &Arc<Pigeon>, seconds: u64) {
    world.hearing_with(None, Some(pigeon.clone()), async |ears| ears.wait(seconds).await).await;
}

#[tokio::test(start_paused = true)]
async fn a_problem_is_told_once_after_a_minute_and_its_end_once() {
    let (world, pigeon) = (stopped().await, courier(&[]));
    world
        .hearing_with(None, Some(pigeon.clone()), async |ears| {
            ears.wait(55).await;
            assert_eq!(texts(&pigeon), [""; 0], "it has not lasted for a minute");
            ears.wait(3_600).await;
            let told = texts(&pigeon);
            assert_eq!(told.len(), 1, "{told:?}");
            let lines: Vec<&str> = told[0].lines().collect();
            assert_eq!((lines.len(), lines[0]), (2, "reckon acme (test): 1 over a limit"));
            let place = "Invoice/b  Merchant/acme  over_limit  specs/tree.yaml:";
            assert!(lines[1].starts_with(place), "{}", lines[1]);
            assert!(
                lines[1].contains("policy.limits.per_object allows 500.00 USD"),
                "{}",
                lines[1]
            );
            rewrite(ears, &tree(&[("a", "20.00 USD"), ("b", "30.00 USD")])).await;
            ears.wait(3_600).await;
        })
        .await;
    let told = texts(&pigeon);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[1].starts_with("reckon acme (test): 1 recovered\nInvoice/b  "), "{}", told[1]);
    assert!(told[1].ends_with("ready again; it was over limit"), "{}", told[1]);
    let carried = pigeon.carried();
    let subject = carried[0].subject.as_deref();
    assert_eq!(subject, Some("reckon acme (test): 1 over a limit"));
    assert!(carried[0].key.starts_with("alert-") && carried[0].key != carried[1].key);
}

#[tokio::test(start_paused = true)]
async fn a_problem_that_ends_within_the_minute_is_never_told() {
    let (world, pigeon) = (stopped().await, courier(&[]));
    world
        .hearing_with(None, Some(pigeon.clone()), async |ears| {
            ears.wait(45).await;
            rewrite(ears, &tree(&[("a", "20.00 USD"), ("b", "30.00 USD")])).await;
            ears.wait(3_600).await;
        })
        .await;
    assert_eq!(texts(&pigeon), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn another_problem_of_the_same_resource_is_told() {
    let (world, pigeon) = (stopped().await, courier(&[]));
    world
        .hearing_with(None, Some(pigeon.clone()), async |ears| {
            ears.wait(SOON).await;
            let other = invoice("b", "30.00 USD", "Nowhere");
            rewrite(ears, &format!("{}{other}", tree(&[("a", "20.00 USD")]))).await;
            ears.wait(SOON).await;
            rewrite(ears, &tree(&[("a", "20.00 USD")])).await;
            ears.wait(3_600).await;
        })
        .await;
    let told = texts(&pigeon);
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[1].starts_with("reckon acme (test): 1 blocked\nInvoice/b  "), "{}", told[1]);
    assert!(told[2].contains("Invoice/b  recovered  the resource is gone; it was blocked"));
}

#[tokio::test(start_paused = true)]
async fn a_restart_repeats_nothing_and_a_change_while_the_daemon_was_down_is_told() {
    let (world, pigeon) = (stopped().await, courier(&[]));
    run_for(&world, &pigeon, SOON).await;
    run_for(&world, &pigeon, 3_600).await;
    assert_eq!(texts(&pigeon).len(), 1);
    world.write(&tree(&[("a", "900.00 USD"), ("b", "30.00 USD")]));
    run_for(&world, &pigeon, SOON).await;
    run_for(&world, &pigeon, SOON).await;
    let told = texts(&pigeon);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[1].starts_with("reckon acme (test): 1 blocked, 1 recovered\n"), "{}", told[1]);
    let lines: Vec<&str> = told[1].lines().collect();
    assert!(lines[1].starts_with("Invoice/a") && lines[2].starts_with("Invoice/b"), "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn what_did_not_arrive_is_sent_again_and_the_status_says_so_until_it_arrives() {
    let world = stopped().await;
    let down = DeliveryResult::NotSent("no route".to_owned());
    let pigeon = courier(&[down.clone(), down]);
    world
        .hearing_with(None, Some(pigeon.clone()), async |ears| {
            ears.wait(SOON).await;
            let view = undelivered(ears).await;
            assert_eq!((texts(&pigeon).len(), view.len(), view[0].waiting), (1, 1, 1));
            assert_eq!((view[0].target.as_str(), &*view[0].reason), ("ops", "no route"));
            ears.wait(60).await;
            assert_eq!(texts(&pigeon).len(), 2);
            ears.wait(120).await;
            assert_eq!((texts(&pigeon).len(), undelivered(ears).await), (3, Vec::new()));
            ears.wait(3_600).await;
        })
        .await;
    let told = texts(&pigeon);
    assert!(told.len() == 3 && told.iter().all(|text| *text == told[0]), "{told:?}");
    run_for(&world, &pigeon, 3_600).await;
    assert_eq!(texts(&pigeon).len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_lost_or_refused_message_is_sent_again_only_where_repeats_are_dropped() {
    let lost = || DeliveryResult::InDoubt("lost".to_owned());
    let refused = || DeliveryResult::Refused("no".to_owned());
    for (answer, repeats, count) in [(lost(), false, 1), (lost(), true, 2), (refused(), true, 1)] {
        let world = stopped().await;
        let alerts = target(AlertChoices::all());
        let pigeon = Arc::new(Pigeon { repeats, alerts, ..Pigeon::telling(&[answer]) });
        run_for(&world, &pigeon, 3_600).await;
        let keys: Vec<String> = pigeon.carried().into_iter().map(|one| one.key).collect();
        assert_eq!(keys.len(), count);
        assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_under_way_at_a_crash_is_repeated_only_where_repeats_are_dropped() {
    for (repeats, count) in [(false, 0), (true, 1)] {
        let world = stopped().await;
        let alerts = target(AlertChoices::all());
        let hanging = Pigeon { hangs: Some("ops"), alerts, ..Pigeon::telling(&[]) };
        let hanging = Arc::new(hanging);
        run_for(&world, &hanging, SOON).await;
        let alerts = target(AlertChoices::all());
        let next = Arc::new(Pigeon { repeats, alerts, ..Pigeon::telling(&[]) });
        run_for(&world, &next, 3_600).await;
        let keys = |pigeon: &Pigeon| -> Vec<String> {
            pigeon.carried().into_iter().map(|one| one.key).collect()
        };
        let first = keys(&hanging);
        assert_eq!((first.len(), keys(&next)), (1, first[..count].to_vec()));
    }
}

#[tokio::test(start_paused = true)]
async fn a_thousand_problems_are_one_message_with_twenty_lines() {
    let mut world = World::new(ServiceSurface::Public, START);
    world.policy = rules();
    let names: Vec<String> = (1_000..2_000).map(|number| format!("i-{number}")).collect();
    let invoices: Vec<(&str, &str)> = names.iter().map(|name| (&**name, "900.00 USD")).collect();
    world.write(&tree(&invoices));
    let pigeon = courier(&[]);
    run_for(&world, &pigeon, 3_600).await;
    run_for(&world, &pigeon, 3_600).await;
    let told = texts(&pigeon);
    assert_eq!(told.len(), 1);
    let lines: Vec<&str> = told[0].lines().collect();
    assert_eq!((lines.len(), lines[0]), (22, "reckon acme (test): 1000 over a limit"));
    assert!(lines[1].starts_with("Invoice/i-1000  ") && lines[20].starts_with("Invoice/i-1019  "));
    assert_eq!(lines[21], "and 980 more: reckon get --not-ready");
}

#[tokio::test(start_paused = true)]
async fn a_target_is_told_only_what_it_chose_and_forgets_with_its_choice() {
    let (world, pigeon) = (stopped().await, courier(&[]));
    let held = AlertChoices { classes: [AlertClass::Held].into(), recovered: true };
    let choosing = Arc::new(Pigeon { alerts: target(held), ..Pigeon::telling(&[]) });
    run_for(&world, &choosing, 3_600).await;
    assert_eq!(texts(&choosing), [""; 0]);
    run_for(&world, &pigeon, SOON).await;
    let none = Arc::new(Pigeon::telling(&[]));
    run_for(&world, &none, SOON).await;
    run_for(&world, &pigeon, SOON).await;
    assert_eq!((texts(&none).len(), texts(&pigeon).len()), (0, 2), "it began to take alerts anew");
}

#[tokio::test(start_paused = true)]
async fn no_value_of_a_document_and_no_secret_is_told() {
    let world = stopped().await;
    world.write(&format!(
        "{}{}",
        tree(&[("a", "20.00 USD"), ("b", "12500.00 USD")]),
        card("declined", "4000000000000002")
    ));
    let mut alerts = target(AlertChoices::all());
    alerts[0].is_program = true;
    let pigeon = Arc::new(Pigeon { alerts, ..Pigeon::telling(&[]) });
    run_for(&world, &pigeon, 3_600).await;
    let carried = pigeon.carried();
    assert_eq!(carried.len(), 1);
    let body = &carried[0].body;
    assert_eq!(
        (&body["form"], &body["partner"], &body["mode"]),
        (&"alert.v1".into(), &"acme".into(), &"test".into())
    );
    let shown = body.to_string();
    for canary in ["canary", "Canary", "Jane", "4000000000000002", "0000000002", "Retainer"] {
        assert!(!shown.contains(canary), "{canary} in {shown}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_service_is_one_message_and_each_recovery_is_told_once() {
    let world = World::new(ServiceSurface::Public, START);
    world.write(&tree(&[]));
    assert_eq!(world.settle().await, Vec::<String>::new());
    let down = json!({"path": "/", "fault": "error_before", "status": 503});
    world.control("POST", "faults", &down);
    let cards: String = (0..30).map(|one| card(&format!("c-{one}"), "4242424242424242")).collect();
    world.write(&format!("{}{cards}", tree(&[])));
    let pigeon = courier(&[]);
    world
        .hearing_with(None, Some(pigeon.clone()), async |ears| {
            ears.wait(1_800).await;
            let told = texts(&pigeon);
            assert_eq!(told.len(), 1, "{told:#?}");
            assert!(
                told[0].starts_with("reckon acme (test): 12 in doubt, 18 without the service\n"),
                "{told:#?}"
            );
            world.control("DELETE", "faults", &Value::Null);
            ears.wait(1_800).await;
        })
        .await;
    assert_eq!(world.objects("cards").len(), 30);
    let told = texts(&pigeon);
    // What is in doubt is settled later, so its recovery is told later.
    let recovered = told[1..].iter().map(|text| {
        let count = text
            .strip_prefix("reckon acme (test): ")
            .and_then(|text| text.split_once(" recovered\n"));
        count.unwrap_or_else(|| panic!("{text}")).0.parse::<usize>().unwrap()
    });
    assert_eq!(recovered.sum::<usize>(), 30, "each of them once: {told:#?}");
}
