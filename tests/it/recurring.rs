//! Recurring charges, end to end: with a charge now, from an earlier charge, changed, forbidden, and in doubt.

use std::time::Duration;

use reckon::engine::protocol::query::{EngineQuery, Reply};
use reckon::render::words::Screen;
use reckon::sandbox::options::ServiceSurface;
use serde_json::{Value, json};

use crate::support::covers;
use crate::support::world::World;

/// 4 a.m. in Chicago.
const START: &str = "2029-12-01T10:00:00Z";

const HEAD: &str = r#"
apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: acme}
spec:
  mode: test
  timezone: America/Chicago
  credentials: {authorization_code: {env: CODE_ACME}}
---
apiVersion: reckon.dev/v1
kind: SavedMethod
metadata: {name: card}
spec:
  merchant: acme
  type: card
  source: {card: {number: "4242424242424242", exp_month: 12, exp_year: 2031, name: Jane Doe}}
"#;

const NOW: &str = "method: card\n  amount: \"20.00 USD\"\n  first_amount: \"35.00 USD\"\n  description: Club\n  \
    max_occurrences: 12\n  first_charge: now\n  schedule: {interval_unit: MONTH, interval_delay: 1, days: [\"15\"]}";

const LATER: &str = "method: card\n  amount: \"20.00 USD\"\n  schedule: {start: 2030-02-01, interval_unit: MONTH, interval_delay: 1}";

/// Returns a recurring charge of the one merchant.
fn recurring(name: &str, spec: &str) -> String {
    format!(
        "---\napiVersion: reckon.dev/v1\nkind: RecurringCharge\nmetadata: {{name: {name}}}\nspec:\n  merchant: acme\n  {spec}\n"
    )
}

fn tree(charges: &[String]) -> String {
    format!("{HEAD}{}", charges.concat())
}

/// Builds a world with a connected merchant and its card.
async fn connected(surface: ServiceSurface) -> World {
    let world = World::new(surface, START);
    world.write(HEAD);
    assert_eq!(world.settle().await, Vec::<String>::new());
    world
}

fn only(world: &World, kind: &str) -> Value {
    let all = world.objects(kind);
    assert_eq!(all.len(), 1, "{all:?}");
    all[0].clone()
}

#[tokio::test(start_paused = true)]
async fn a_charge_now_is_made_once_changed_in_place_and_then_nothing_is_left_to_do() {
    for surface in [ServiceSurface::Public, ServiceSurface::Documented] {
        let world = connected(surface).await;
        let text = tree(&[recurring("club", NOW)]);
        world.write(&text);
        assert_eq!(
            world.plan(),
            [
                "Create RecurringCharge/club: NotCreated (the object does not exist at the service yet)",
                "3500 USD charged_now test",
                "2000 USD collected_per_occurrence test",
            ]
        );
        assert_eq!(world.settle().await, Vec::<String>::new());
        let made = only(&world, "recurring_charges");
        assert_eq!((&made["amount"], &made["total_amount"]), (&json!(2000), &json!(3500)));
        assert_eq!(made["next_payment"], "2029-12-15");
        assert!(made["description"].as_str().unwrap().starts_with("Club [rk"));
        assert_eq!(only(&world, "transactions")["amount"], 3500);
        assert_eq!(world.settle().await, Vec::<String>::new());
        assert_eq!(world.objects("transactions").len(), 1);
        let edited = text
            .replace("\"20.00", "\"25.00")
            .replace("Club", "Society")
            .replace("[\"15\"]", "[LAST]")
            .replace(": 12\n", ": 13\n");
        world.write(&edited);
        assert_eq!(
            world.plan(),
            [
                "Update RecurringCharge/club: Changed (the file changed)",
                "2500 USD collected_per_occurrence test",
            ]
        );
        assert_eq!(world.settle().await, Vec::<String>::new());
        let changed = only(&world, "recurring_charges");
        assert_eq!((&changed["id"], &changed["amount"]), (&made["id"], &json!(2500)));
        assert_eq!(
            (&changed["next_payment"], &changed["max_occurrences"]),
            (&json!("2029-12-31"), &json!(13))
        );
        assert!(changed["description"].as_str().unwrap().starts_with("Society [rk"));
        world.write(&edited.replace("35.00", "36.00"));
        let told = world.settle().await;
        assert!(told[0].contains("CannotChange") && told[0].contains("first_amount"), "{told:?}");
        assert_eq!(world.objects("transactions").len(), 1);
    }
    covers::covers(&["42.8"]);
}

#[tokio::test(start_paused = true)]
async fn a_surcharge_is_read_before_the_charge_and_no_scheduled_payment_carries_it() {
    let world = connected(ServiceSurface::Documented).await;
    let rates = json!([{"type": "card", "surcharge_rate": 300}]);
    world.control("POST", "policy", &json!({"merchant": "acme", "surcharges": rates}));
    let spec =
        format!("surcharge: apply\n  {}", NOW.replace("first_amount: \"35.00 USD\"\n  ", ""));
    world.write(&tree(&[recurring("club", &spec)]));
    let told = world.plan();
    assert!(told[0].starts_with("Read RecurringCharge/club"), "{told:?}");
    assert_eq!(told[1], "2000 USD charged_now_before_surcharge test");
    assert_eq!(world.settle().await, Vec::<String>::new());
    let paid = only(&world, "transactions");
    assert_eq!((&paid["amount"], &paid["surcharge_amount"]), (&json!(2060), &json!(60)));
    assert_eq!(only(&world, "recurring_charges")["amount"], 2000);
    world.control("POST", "clock", &json!({"advance": "P20D"}));
    let later = world.objects("transactions")[1].clone();
    assert_eq!(later["amount"], 2000);
    assert!(later.get("surcharge_amount").is_none());
    covers::covers(&["41.6"]);
}

/// Makes earlier charges outside reckon. Returns their ids.
fn earlier(world: &World, count: usize) -> Vec<String> {
    let card =
        json!({"type": "card", "number": "4242424242424242", "exp_month": 1, "exp_year": 2032});
    let one = |_| {
        let made =
            world.ask("acme", "POST", "/v1/charges", &json!({"amount": 100, "method": card}));
        made["id"].as_str().unwrap().to_owned()
    };
    (0..count).map(one).collect()
}

fn from(charge: &str) -> String {
    format!(
        "from_charge: {charge}\n  amount: \"7.00 USD\"\n  description: Dues\n  schedule: {{start: 2030-01-05, interval_unit: MONTH, interval_delay: 1}}"
    )
}

#[tokio::test(start_paused = true)]
async fn a_charge_from_an_earlier_one_is_made_and_then_described() {
    for surface in [ServiceSurface::Public, ServiceSurface::Documented] {
        let world = connected(surface).await;
        let charges = earlier(&world, 2);
        let text = tree(&[recurring("a", &from(&charges[0])), recurring("b", &from(&charges[1]))]);
        world.write(&text);
        assert_eq!(world.settle().await, Vec::<String>::new());
        let made = world.objects("recurring_charges");
        assert_eq!(made.len(), 2);
        for charge in &made {
            assert_eq!(
                (&charge["amount"], &charge["next_payment"]),
                (&json!(700), &json!("2030-01-05"))
            );
            assert!(charge["description"].as_str().unwrap().starts_with("Dues [rk"), "{charge}");
        }
        assert_ne!(made[0]["description"], made[1]["description"]);
        world.write(&text.replace("7.00", "8.00"));
        assert_eq!(world.settle().await, Vec::<String>::new());
        assert!(world.objects("recurring_charges").iter().all(|one| one["amount"] == 800));
    }
}

/// Plants this fault at the next POST to the path.
fn strike(world: &World, path: &str, fault: &str) {
    let body = json!({"method": "POST", "path": path, "fault": fault, "times": 1, "status": 500});
    world.control("POST", "faults", &body);
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_of_a_charge_now_never_makes_a_second_charge() {
    for surface in [ServiceSurface::Public, ServiceSurface::Documented] {
        for fault in ["drop_after", "error_after"] {
            let world = connected(surface).await;
            strike(&world, "/v1/charges", fault);
            world.write(&tree(&[recurring("club", NOW)]));
            assert_eq!(world.settle().await, Vec::<String>::new(), "{surface:?} {fault}");
            let paid = only(&world, "transactions");
            assert_eq!(paid["recurring_charge_id"], only(&world, "recurring_charges")["id"]);
        }
        let world = connected(surface).await;
        strike(&world, "/v1/charges", "error_before");
        world.write(&tree(&[recurring("club", NOW)]));
        let plan = world.settle().await;
        if surface == ServiceSurface::Public {
            assert_eq!(plan, Vec::<String>::new());
            assert_eq!(world.objects("transactions").len(), 1);
        } else {
            assert!(plan[0].contains("Held") && plan[0].contains("lists neither"), "{plan:?}");
            assert_eq!(world.objects("transactions").len(), 0);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_decline_whose_answer_was_lost_is_found_and_not_tried_again() {
    let world = World::new(ServiceSurface::Public, START);
    let declined = HEAD.replace("4242424242424242", "4000000000000002");
    world.write(&declined);
    assert_eq!(world.settle().await, Vec::<String>::new());
    strike(&world, "/v1/charges", "error_after");
    world.write(&format!("{declined}{}", recurring("club", NOW)));
    let plan = world.settle().await;
    assert!(plan[0].contains("Refused") && plan[0].contains("card_declined"), "{plan:?}");
    assert_eq!(only(&world, "transactions")["status"], "FAILED");
    assert_eq!(world.objects("recurring_charges").len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_of_a_charge_from_an_earlier_one_is_found_or_held() {
    for surface in [ServiceSurface::Public, ServiceSurface::Documented] {
        let world = connected(surface).await;
        let charges = earlier(&world, 8);
        strike(&world, "/v1/charges", "drop_after");
        let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
        let docs = names.iter().zip(&charges).map(|(name, charge)| recurring(name, &from(charge)));
        world.write(&tree(&docs.collect::<Vec<_>>()));
        if surface == ServiceSurface::Public {
            assert_eq!(world.settle().await, Vec::<String>::new());
            let mut described: Vec<String> = world
                .objects("recurring_charges")
                .iter()
                .map(|one| one["description"].as_str().unwrap().to_owned())
                .collect();
            assert_eq!(described.len(), 8, "each charge once");
            described.sort();
            described.dedup();
            assert_eq!(described.len(), 8, "each with its own description");
        } else {
            let settled = tokio::time::timeout(Duration::from_mins(10), world.settle()).await;
            let told = settled.expect("a command does not wait for a person");
            let behind = told.iter().filter(|one| one.contains("is not settled, and its effect"));
            assert_eq!(behind.count(), 7, "{told:?}");
            assert!(
                told.iter().any(|one| one.contains("Held") && one.contains("no mark")),
                "{told:?}"
            );
            assert_eq!(
                world.objects("recurring_charges").len(),
                1,
                "nothing is sent beside the doubt"
            );
        }
    }
    covers::covers(&["43.6"]);
}

#[tokio::test(start_paused = true)]
async fn a_process_that_ends_in_doubt_leaves_the_others_waiting_for_the_next_one() {
    let world = connected(ServiceSurface::Public).await;
    let charges = earlier(&world, 3);
    strike(&world, "/v1/charges", "error_before");
    let docs = ["a", "b", "c"].iter().zip(&charges);
    let docs = docs.map(|(name, charge)| recurring(name, &from(charge)));
    world.write(&tree(&docs.collect::<Vec<_>>()));
    let cut = tokio::time::timeout(Duration::from_secs(5), world.settle()).await;
    assert!(cut.is_err(), "absence takes longer to prove");
    assert_eq!(world.objects("recurring_charges").len(), 0, "nothing is sent beside the doubt");
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(world.objects("recurring_charges").len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_start_today_waits_for_another_day() {
    let world = connected(ServiceSurface::Public).await;
    world.write(&tree(&[recurring("club", &LATER.replace("2030-02-01", "2029-12-01"))]));
    let plan = world.settle().await;
    assert!(
        plan[0].contains("DueToday") && plan[0].contains("2029-12-01 for the merchant"),
        "{plan:?}"
    );
    assert_eq!(world.objects("recurring_charges").len(), 0);
    let mut engine = world.engine();
    let (sender, events) = tokio::sync::mpsc::channel(1);
    let day = async {
        tokio::time::sleep(Duration::from_hours(24)).await;
        drop(sender.send(reckon::engine::protocol::input::EngineInput::Stop).await);
    };
    let (ran, ()) =
        tokio::join!(engine.run(events, reckon::engine::core::coordinator::RunUntil::Stopped), day);
    ran.unwrap();
    assert_eq!(only(&world, "recurring_charges")["next_payment"], "2030-01-01");
}

#[tokio::test(start_paused = true)]
async fn what_the_tenant_forbids_is_told_before_anything_is_sent() {
    for (policy, words) in [
        (json!({"recurring_charges_enabled": false}), "not enabled on the account \"Card\""),
        (json!({"reference_required": true}), "requires a reference with every payment"),
    ] {
        let world = World::new(ServiceSurface::Public, START);
        let mut body = policy;
        body["merchant"] = json!("acme");
        world.control("POST", "policy", &body);
        world.write(&tree(&[recurring("club", NOW), recurring("later", LATER)]));
        let told = world.settle().await;
        let blocked = |name: &str| {
            told.iter().any(|one| {
                one.starts_with(&format!("Blocked RecurringCharge/{name}")) && one.contains(words)
            })
        };
        assert!(blocked("club") && blocked("later"), "{told:?}");
        assert_eq!(world.objects("transactions").len(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_try_that_is_proved_not_to_have_happened_is_no_money_sent() {
    let world = connected(ServiceSurface::Public).await;
    let fault = json!({"method": "POST", "path": "/v1/recurring/charges", "fault": "error_before",
        "status": 503, "times": 2});
    world.control("POST", "faults", &fault);
    world.write(&tree(&[recurring("club", LATER)]));
    let mut engine = world.engine();
    engine.cap_to_plan();
    let (_sender, events) = tokio::sync::mpsc::channel(1);
    engine.run(events, reckon::engine::core::coordinator::RunUntil::Settled).await.unwrap();
    assert_eq!(only(&world, "recurring_charges")["amount"], 2000);
}

#[tokio::test(start_paused = true)]
async fn a_scheduled_charge_is_made_and_changed_once_whatever_becomes_of_the_answers() {
    for surface in [ServiceSurface::Public, ServiceSurface::Documented] {
        for fault in ["", "drop_after", "error_before"] {
            let world = connected(surface).await;
            let lose = |method: &str| {
                let order = json!({"method": method, "path": "/v1/recurring", "fault": fault,
                    "times": 1, "status": 500});
                assert!(fault.is_empty() || world.control("POST", "faults", &order).is_object());
            };
            if surface == ServiceSurface::Public {
                lose("POST");
            }
            let text = tree(&[recurring("club", LATER)]);
            world.write(&text);
            assert_eq!(world.settle().await, Vec::<String>::new(), "{surface:?} {fault}");
            let made = only(&world, "recurring_charges");
            assert_eq!(
                (&made["amount"], &made["next_payment"]),
                (&json!(2000), &json!("2030-02-01"))
            );
            lose("PATCH");
            world.write(&text.replace("20.00 USD", "25.00 USD"));
            assert_eq!(world.settle().await, Vec::<String>::new(), "{surface:?} {fault}");
            let changed = only(&world, "recurring_charges");
            assert_eq!((&changed["id"], &changed["amount"]), (&made["id"], &json!(2500)));
        }
    }
    for (fault, made) in [("drop_after", 1), ("error_before", 0)] {
        let world = connected(ServiceSurface::Documented).await;
        strike(&world, "/v1/recurring/charges", fault);
        world.write(&tree(&[recurring("club", LATER)]));
        let plan = world.settle().await;
        assert!(plan[0].contains("Held"), "no list of the service shows the charge: {plan:?}");
        assert_eq!((world.settle().await, world.objects("recurring_charges").len()), (plan, made));
    }
    covers::covers(&["44.14"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_known_of_a_charge_names_its_next_payment() {
    let world = connected(ServiceSurface::Documented).await;
    let days = "interval_delay: 1, days: [LAST]";
    world.write(&tree(&[recurring("club", &LATER.replace("interval_delay: 1", days))]));
    assert_eq!(world.settle().await, Vec::<String>::new());
    let key = "RecurringCharge/club".parse().unwrap();
    let Ok(Reply::Resource(Some(view))) = world.engine().answer(EngineQuery::Resource(key)) else {
        panic!("unexpected response");
    };
    let text = reckon::render::resource::describe::describe(&view, None, Screen::PLAIN);
    assert!(text.contains("next_payment") && text.contains("2030-02-28"), "{text}");
    covers::covers(&["45.12"]);
}
