//! Methods that change, merchants with keys alone, and facts that are read again, end to end.

use std::time::Duration;

use reckon::engine::core::coordinator::RunUntil;
use reckon::engine::protocol::input::EngineInput;
use reckon::sandbox::options::ServiceSurface;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::support::payments::{
    MERCHANT, START, account, bank, card, first, only, recurring, requests,
};
use crate::support::world::World;
use crate::support::{covers, world};

#[tokio::test(start_paused = true)]
async fn a_changed_method_and_another_one_reach_the_charge_by_a_token() {
    for surface in [ServiceSurface::Public, ServiceSurface::Documented] {
        let world = World::new(surface, START);
        let text = [
            MERCHANT.to_owned(),
            card("card", "4242424242424242"),
            bank("bank"),
            recurring("club", "card", ""),
        ]
        .concat();
        world.write(&text);
        assert_eq!(world.settle().await, Vec::<String>::new());
        let made = only(&world, "recurring_charges");
        let renewed = text.replace("4242424242424242", "5105105105105100").replace("2031", "2032");
        world.write(&renewed);
        let told = world.plan();
        assert!(told[0].starts_with("Update SavedMethod/card: Renewed"), "{told:?}");
        assert!(told[1].starts_with("Update RecurringCharge/club: WaitsFor"), "{told:?}");
        assert_eq!(world.settle().await, Vec::<String>::new());
        let charge = only(&world, "recurring_charges");
        assert_eq!(charge["id"], made["id"]);
        assert_eq!(charge["method"]["number"], "************5100");
        assert_eq!(charge["method"]["exp_year"], 2032);
        let other = renewed.replace("method: card", "method: bank").replace("20.00", "25.00");
        world.write(&other);
        let told = world.plan();
        assert!(told[0].starts_with("Update RecurringCharge/club: Renewed"), "{told:?}");
        assert_eq!(world.settle().await, Vec::<String>::new());
        let charge = only(&world, "recurring_charges");
        assert_eq!((&charge["id"], &charge["amount"]), (&made["id"], &json!(2500)));
        assert_eq!(charge["method"]["account_number"], "****5678");
        assert_eq!(charge["account_id"], first(&world, "AchAccount"));
        let patches = requests(&world, "PATCH", "/v1/recurring/charges/").len();
        assert_eq!(world.settle().await, Vec::<String>::new());
        assert_eq!(requests(&world, "PATCH", "/v1/recurring/charges/").len(), patches);
        world.control("POST", "clock", &json!({"advance": "P70D"}));
        let paid = world.objects("transactions");
        assert_eq!(paid[0]["method"]["type"], "bank");
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_of_a_change_by_token_is_settled_and_no_token_is_sent_twice() {
    for surface in [ServiceSurface::Public, ServiceSurface::Documented] {
        for fault in ["drop_after", "error_before"] {
            let world = World::new(surface, START);
            let text = [
                MERCHANT.to_owned(),
                card("card", "4242424242424242"),
                recurring("club", "card", ""),
            ]
            .concat();
            world.write(&text);
            assert_eq!(world.settle().await, Vec::<String>::new());
            let strike = json!({"method": "PATCH", "path": "/v1/recurring", "fault": fault,
                "times": 1, "status": 500});
            world.control("POST", "faults", &strike);
            world.write(&text.replace("2031", "2032"));
            assert_eq!(world.settle().await, Vec::<String>::new(), "{surface:?} {fault}");
            assert_eq!(only(&world, "recurring_charges")["method"]["exp_year"], 2032);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_change_of_the_method_is_tried_again_when_its_document_changes() {
    let world = World::new(ServiceSurface::Public, START);
    let text = [
        MERCHANT.to_owned(),
        card("card", "4242424242424242"),
        card("other", "4111111111111111"),
        recurring("club", "card", ""),
    ]
    .concat();
    world.write(&text);
    assert_eq!(world.settle().await, Vec::<String>::new());
    let strike = json!({"method": "PATCH", "path": "/v1/recurring", "fault": "error_before",
        "times": 1, "status": 422});
    world.control("POST", "faults", &strike);
    let other = text.replace("method: card", "method: other");
    world.write(&other);
    let told = world.settle().await;
    assert!(told[0].starts_with("Blocked RecurringCharge/club: Refused"), "{told:?}");
    assert_eq!(world.settle().await, told, "an unchanged document is not sent again");
    world.write(
        &other.replace("4111111111111111\", exp_month: 12", "4111111111111111\", exp_month: 11"),
    );
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(only(&world, "recurring_charges")["method"]["exp_month"], 11);
}

/// Returns a merchant with the keys of its test mode, or of one of its accounts.
fn keys_only(world: &mut World, keys: &Value) -> String {
    let secret = keys["secret_key"].as_str().unwrap().to_owned();
    world.files.insert("key".to_owned(), secret);
    let public = keys["public_key"].as_str().unwrap();
    let keys =
        format!("credentials: {{keys: {{public_key: {public}, secret_key: {{file: key}}}}}}");
    MERCHANT.replace("credentials: {authorization_code: {env: CODE_ACME}}", &keys)
}

#[tokio::test(start_paused = true)]
async fn a_merchant_with_keys_alone_has_methods_and_recurring_charges_that_change() {
    for surface in [ServiceSurface::Public, ServiceSurface::Documented] {
        for own in [false, true] {
            let mut world = World::new(surface, START);
            world.control("POST", "credentials", &json!({"merchant": "acme"}));
            let all = world.control("GET", "credentials", &Value::Null);
            let merchants = all["merchants"].as_array().unwrap();
            let acme = merchants.iter().find(|one| one["name"] == "acme").unwrap();
            let mode = acme["test"].clone();
            let keys = if own { mode["accounts"][0].clone() } else { mode };
            let text = [
                keys_only(&mut world, &keys),
                card("card", "4242424242424242"),
                bank("bank"),
                recurring("by-card", "card", ""),
                recurring("by-bank", "bank", ""),
            ]
            .concat();
            world.write(&text);
            assert_eq!(world.settle().await, Vec::<String>::new(), "{surface:?}");
            assert_eq!(world.objects("recurring_charges").len(), 2);
            world.write(&text.replace("2031", "2032").replace("20.00", "21.00"));
            assert_eq!(world.settle().await, Vec::<String>::new(), "{surface:?}");
            assert!(world.objects("recurring_charges").iter().all(|one| one["amount"] == 2100));
            assert_eq!(only(&world, "cards")["exp_year"], 2032);
        }
    }
}

/// Builds a world in which recurring charges are not enabled, and one waits for that.
async fn disabled(surface: ServiceSurface) -> World {
    let world = World::new(surface, START);
    let off = json!({"merchant": "acme", "recurring_charges_enabled": false});
    world.control("POST", "policy", &off);
    let text =
        [MERCHANT.to_owned(), card("card", "4242424242424242"), recurring("club", "card", "")];
    world.write(&text.concat());
    let told = world.settle().await;
    assert!(told[0].starts_with("Blocked RecurringCharge/club: AccountUnfit"), "{told:?}");
    world
}

fn enable(world: &World) {
    let on = json!({"merchant": "acme", "recurring_charges_enabled": true});
    world.control("POST", "policy", &on);
}

#[tokio::test(start_paused = true)]
async fn what_an_account_allows_is_read_again_by_the_next_process() {
    let world = disabled(ServiceSurface::Documented).await;
    let position = world.engine().view().overview().position;
    let told = world.settle().await;
    assert!(told[0].contains("AccountUnfit"), "{told:?}");
    assert_eq!(
        requests(&world, "GET", "/gateway-credentials").len(),
        2,
        "the account is read again"
    );
    assert_eq!(world.engine().view().overview().position, position, "nothing new is recorded");
    enable(&world);
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(world.objects("recurring_charges").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_daemon_reads_it_again_every_ten_minutes_and_goes_on_by_itself() {
    let world = disabled(ServiceSurface::Documented).await;
    let asked = || requests(&world, "GET", "/gateway-credentials").len();
    let before = asked();
    let mut engine = world.engine();
    let (sender, events) = mpsc::channel(1);
    let people = async {
        tokio::time::sleep(Duration::from_mins(35)).await;
        assert_eq!(asked(), before + 4, "at once and every ten minutes");
        let down = json!({"method": "GET", "path": "/gateway-credentials", "fault": "error_before",
            "times": 20, "status": 500});
        world.control("POST", "faults", &down);
        tokio::time::sleep(Duration::from_mins(10)).await;
        assert_eq!(world.objects("recurring_charges").len(), 0);
        world.control("DELETE", "faults", &Value::Null);
        enable(&world);
        tokio::time::sleep(Duration::from_mins(11)).await;
        assert_eq!(world.objects("recurring_charges").len(), 1);
        let read = asked();
        tokio::time::sleep(Duration::from_hours(2)).await;
        assert_eq!(asked(), read, "no account blocks a resource any more");
        drop(sender.send(EngineInput::Stop).await);
    };
    let (ran, ()) = tokio::join!(engine.run(events, RunUntil::Stopped), people);
    ran.unwrap();
    assert_eq!(world::told(&engine), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_new_account_is_found_before_a_plan_is_shown() {
    let world = World::new(ServiceSurface::Public, START);
    let text = [
        MERCHANT.to_owned(),
        card("card", "4242424242424242"),
        recurring("club", "card", "account: Club\n  "),
    ]
    .concat();
    world.write(&text);
    let told = world.settle().await;
    assert!(
        told[0].contains("the merchant has no account \"Club\"; it has Card, eCheck"),
        "{told:?}"
    );
    let club = account(&world, json!({"name": "Club"}));
    let mut engine = world.engine();
    engine.refresh_accounts().await.unwrap();
    assert_eq!(
        world::told(&engine),
        [
            "Read Merchant/acme: NotConnected (credentials and accounts are not known yet)",
            "Create RecurringCharge/club: WaitsFor (waits for Merchant/acme)",
            "2000 USD collected_per_occurrence test",
        ]
    );
    drop(engine);
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(only(&world, "recurring_charges")["account_id"], club["id"]);
}

#[tokio::test(start_paused = true)]
async fn a_card_and_a_bank_account_are_saved_once_whatever_becomes_of_the_answers() {
    for surface in [ServiceSurface::Public, ServiceSurface::Documented] {
        for (fault, sent) in [("", 1), ("drop_after", 1), ("error_after", 1), ("error_before", 2)] {
            let world = World::new(surface, START);
            for path in ["/v1/cards", "/v1/banks"] {
                let order = json!({"method": "POST", "path": path, "fault": fault, "times": 1,
                    "status": 500});
                assert!(fault.is_empty() || world.control("POST", "faults", &order).is_object());
            }
            let text = [MERCHANT.to_owned(), card("card", "4242424242424242"), bank("bank")];
            world.write(&text.concat());
            assert_eq!(world.settle().await, Vec::<String>::new(), "{surface:?} {fault}");
            assert_eq!(only(&world, "cards")["number"], "************4242");
            assert_eq!(only(&world, "banks")["routing_number"], "******013");
            for path in ["/v1/cards", "/v1/banks"] {
                assert_eq!(requests(&world, "POST", path).len(), sent, "{fault} {path}");
            }
        }
    }
    covers::covers(&["48.10"]);
}

/// Builds a world in which the service refused a recurring charge for the tenant's policy. The accounts were read
/// before that policy was set.
async fn forbidden() -> World {
    let world = World::new(ServiceSurface::Documented, START);
    let text = [MERCHANT.to_owned(), card("card", "4242424242424242")].concat();
    world.write(&text);
    assert_eq!(world.settle().await, Vec::<String>::new());
    let off = json!({"merchant": "acme", "recurring_charges_enabled": false});
    world.control("POST", "policy", &off);
    world.write(&format!("{text}{}", recurring("club", "card", "")));
    let told = world.settle().await;
    assert!(told[0].starts_with("Blocked RecurringCharge/club: Refused"), "{told:?}");
    assert!(told[0].contains("`apply` tries again each time"), "{told:?}");
    world
}

/// Counts the requests for a recurring charge.
fn asked(world: &World) -> usize {
    requests(world, "POST", "/v1/recurring/charges").len()
}

/// Closes M9: each process retries the charge once, and a run that waits for nothing else ends.
#[tokio::test(start_paused = true)]
async fn what_the_policy_forbade_is_tried_again_by_the_next_process() {
    let world = forbidden().await;
    assert_eq!(asked(&world), 1);
    assert!(world.plan()[0].starts_with("Blocked"), "a plan alone retries nothing");
    let began = tokio::time::Instant::now();
    let told = world.settle().await;
    assert!(told[0].starts_with("Blocked RecurringCharge/club: Refused"), "{told:?}");
    assert_eq!(asked(&world), 2);
    assert!(began.elapsed() < Duration::from_mins(1), "the run waits for nothing else");
    let mut engine = world.engine();
    engine.refresh_accounts().await.unwrap();
    assert!(
        world::told(&engine)[0].starts_with("Create RecurringCharge/club"),
        "the plan shows the retry"
    );
    assert_eq!(asked(&world), 2, "reading the accounts sends nothing");
    drop(engine);
    enable(&world);
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!((asked(&world), world.objects("recurring_charges").len()), (3, 1));
}

/// Closes M9: a daemon retries the charge every ten minutes until it succeeds.
#[tokio::test(start_paused = true)]
async fn a_daemon_tries_every_ten_minutes_what_the_policy_forbade() {
    let world = forbidden().await;
    let mut engine = world.engine();
    let (sender, events) = mpsc::channel(1);
    let people = async {
        tokio::time::sleep(Duration::from_mins(35)).await;
        assert_eq!(asked(&world), 1 + 4, "at once and every ten minutes");
        enable(&world);
        tokio::time::sleep(Duration::from_mins(11)).await;
        assert_eq!((asked(&world), world.objects("recurring_charges").len()), (6, 1));
        tokio::time::sleep(Duration::from_hours(2)).await;
        assert_eq!(asked(&world), 6);
        drop(sender.send(EngineInput::Stop).await);
    };
    let (ran, ()) = tokio::join!(engine.run(events, RunUntil::Stopped), people);
    ran.unwrap();
    assert_eq!(world::told(&engine), Vec::<String>::new());
}
