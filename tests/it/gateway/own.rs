//! A merchant's own details, its accounts and its test data: each is changed once, whatever happens to its answer.

use serde_json::{Value, json};

use crate::gateway::stage::{LOST, act, connected, fault, fault_of, holds, usd};
use crate::support::payments::{MERCHANT, START, account, card, only, recurring, requests};
use crate::support::world::{World, told};
use reckon::engine::protocol::actions::ActionStatus;
use reckon::sandbox::options::ServiceSurface;

/// Returns the merchant's own record.
fn record(world: &World) -> Value {
    world.ask("acme", "GET", "/v1/merchant", &Value::Null)
}

#[tokio::test(start_paused = true)]
async fn a_merchant_s_details_are_set_whatever_becomes_of_the_answer_and_stand_in_no_journal() {
    for lost in LOST {
        let world = connected(ServiceSurface::Public).await;
        fault_of(&world, "PATCH", "/v1/merchant", lost);
        let set = json!({"contact_email": "canary@example.com", "city": "Salem"});
        let fields = json!({ "set": set });
        let acted = act(&world, "merchant", None, fields.clone()).await;
        assert_eq!(acted.status, ActionStatus::Done, "{lost}: {acted:?}");
        let now = record(&world);
        assert_eq!(acted.remote_id.as_deref(), now["id"].as_str());
        for (name, value) in set.as_object().unwrap() {
            assert_eq!(&now[name], value, "{lost}");
        }
        let again = act(&world, "merchant", None, fields).await;
        assert!(again.before && again.status == ActionStatus::Done, "{again:?}");
        assert!(holds(&world, b"contact_email") && !holds(&world, b"canary@example"));
        assert!(!format!("{acted:?}{again:?}").contains("canary"));
    }
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_set_is_told_all_at_once_and_nothing_is_sent() {
    let world = connected(ServiceSurface::Public).await;
    let check = async |verb: &str, fields: Value, told: &[&str]| {
        let acted = act(&world, verb, None, fields).await;
        assert_eq!(acted.status, ActionStatus::Invalid, "{acted:?}");
        for told in told {
            assert!(acted.message.contains(told), "{}", acted.message);
        }
    };
    let wrong = json!({"set": {"citty": "Salem", "state": 7}});
    check("merchant", wrong, &["no `citty` to set", "`state` is a text"]).await;
    check("merchant", json!({"set": {}}), &["nothing is named"]).await;
    check("merchant", json!({}), &["missing field `set`"]).await;
    let account = |kind: &str| json!({"account": "a1", "type": kind, "set": {"avs_policy": "x"}});
    check("account", account("bank"), &["no `avs_policy` to set"]).await;
    check("account", account("till"), &["unknown variant `till`"]).await;
    check("purge", json!({"everything": true}), &["unknown field `everything`"]).await;
    assert_eq!(requests(&world, "PATCH", "/v1"), Vec::<Value>::new());
    assert_eq!(requests(&world, "POST", "/v1/merchant"), Vec::<Value>::new());
}

#[tokio::test(start_paused = true)]
async fn the_service_s_words_are_told_of_what_it_does_not_take() {
    let world = connected(ServiceSurface::Public).await;
    let acted = act(&world, "merchant", None, json!({"set": {"country": "USA"}})).await;
    assert_eq!(acted.status, ActionStatus::Refused, "{acted:?}");
    assert!(acted.message.contains("Country is invalid"), "{}", acted.message);
    let card = only_account(&world, "merchant_accounts");
    let fields = json!({"account": card, "type": "card", "set": {"primary": false}});
    let acted = act(&world, "account", None, fields).await;
    assert_eq!(acted.status, ActionStatus::Refused, "{acted:?}");
    let fields = json!({"account": card, "type": "bank", "set": {"name": "Till"}});
    let acted = act(&world, "account", None, fields).await;
    assert_eq!(acted.status, ActionStatus::Refused, "no eCheck account has this id: {acted:?}");
}

/// Returns the id of the account in a list of the merchant's own record.
fn only_account(world: &World, list: &str) -> String {
    record(world)[list][0]["id"].as_str().unwrap().to_owned()
}

#[tokio::test(start_paused = true)]
async fn the_two_documents_know_none_of_it_whatever_becomes_of_the_answer() {
    for lost in LOST {
        let world = connected(ServiceSurface::Documented).await;
        let account = json!({"account": "a1", "type": "card", "set": {"name": "Till"}});
        for (verb, method, fields) in [
            ("merchant", "PATCH", json!({"set": {"city": "Salem"}})),
            ("account", "PATCH", account),
            ("purge", "POST", json!({})),
        ] {
            fault_of(&world, method, "/v1/", lost);
            let acted = act(&world, verb, None, fields).await;
            assert_eq!(acted.status, ActionStatus::Refused, "{verb} {lost}: {acted:?}");
            assert!(acted.message.contains("404"), "{}", acted.message);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_account_is_changed_once_and_documents_choose_by_what_it_is_then() {
    for lost in LOST {
        let world = World::new(ServiceSurface::Public, START);
        let club = account(&world, json!({"name": "Club"}))["id"].clone();
        let tree = [MERCHANT.to_owned(), card("jane", "4242424242424242")].concat();
        world.write(&tree);
        assert_eq!(world.settle().await, Vec::<String>::new());
        fault_of(&world, "PATCH", "/v1/accounts/", lost);
        let set = json!({"name": "Till", "primary": true, "accepted_card_types": "VISA,JCB"});
        let fields = json!({"account": club, "type": "card", "set": set});
        let acted = act(&world, "account", None, fields).await;
        assert_eq!(acted.status, ActionStatus::Done, "{lost}: {acted:?}");
        assert_eq!(acted.remote_id.as_deref(), club.as_str());
        let all = record(&world)["merchant_accounts"].as_array().unwrap().clone();
        let now = all.iter().find(|one| one["id"] == club).unwrap();
        assert_eq!((&now["name"], &now["primary"]), (&json!("Till"), &json!(true)));
        assert_eq!(now["accepted_card_types"], "JCB,VISA", "the service's order of the types");
        world.write(&[tree, recurring("rent", "jane", "")].concat());
        assert_eq!(world.settle().await, Vec::<String>::new());
        assert_eq!(
            only(&world, "recurring_charges")["account_id"],
            club,
            "the charge uses the primary account"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn an_account_for_checks_is_changed_on_its_own_path() {
    for lost in LOST {
        let world = connected(ServiceSurface::Public).await;
        let checks = only_account(&world, "ach_accounts");
        fault_of(&world, "PATCH", "/v1/ach-accounts/", lost);
        let set = json!({"name": "Checks", "transaction_allowed_countries": "US,CA"});
        let fields = json!({"account": checks, "type": "bank", "set": set});
        let acted = act(&world, "account", None, fields).await;
        assert_eq!(acted.status, ActionStatus::Done, "{lost}: {acted:?}");
        let now = record(&world)["ach_accounts"][0].clone();
        assert_eq!((&now["id"], &now["name"]), (&json!(checks), &json!("Checks")));
        assert_eq!(now["transaction_allowed_countries"], "CA,US");
    }
}

/// Counts the requests to save cards, to make recurring charges, and to charge.
fn made(world: &World) -> [usize; 3] {
    ["/v1/cards", "/v1/recurring/charges", "/v1/charges"]
        .map(|path| requests(world, "POST", path).len())
}

#[tokio::test(start_paused = true)]
async fn test_data_is_purged_once_and_what_documents_stand_for_is_missing_and_not_made_again() {
    for lost in LOST {
        let world = connected(ServiceSurface::Public).await;
        act(&world, "charge", None, json!({"amount": usd(100), "method": "jane"})).await;
        fault(&world, "/v1/merchant/purge-test-data", lost);
        let before = made(&world);
        let acted = act(&world, "purge", None, json!({})).await;
        assert_eq!(acted.status, ActionStatus::Done, "{lost}: {acted:?}");
        for kind in ["cards", "banks", "transactions", "recurring_charges"] {
            assert_eq!(world.objects(kind), Vec::<Value>::new(), "{lost}: {kind}");
        }
        assert_eq!(world.settle().await, Vec::<String>::new(), "no resync has run yet");
        let mut engine = world.engine();
        engine.sweep_everything().await.unwrap();
        let shown = told(&engine);
        for name in ["SavedMethod/jane", "SavedMethod/joe", "RecurringCharge/rent"] {
            let missing = format!("Blocked {name}: Vanished");
            assert!(shown.iter().any(|line| line.starts_with(&missing)), "{shown:?}");
        }
        assert_eq!(world.settle().await, shown);
        assert_eq!(made(&world), before, "nothing is created again without an order");
    }
}

#[tokio::test(start_paused = true)]
async fn a_purge_takes_what_it_names() {
    let world = connected(ServiceSurface::Public).await;
    act(&world, "purge", None, json!({"transactions": true})).await;
    assert_eq!(world.objects("recurring_charges"), Vec::<Value>::new());
    assert_eq!(world.objects("cards").len(), 2);
    act(&world, "purge", None, json!({"methods": true})).await;
    assert_eq!(world.objects("cards"), Vec::<Value>::new());
}

#[tokio::test(start_paused = true)]
async fn live_data_is_never_purged_and_nothing_is_sent() {
    let world = World::new(ServiceSurface::Public, START);
    world.write(&MERCHANT.replace("mode: test", "mode: live"));
    assert_eq!(world.settle().await, Vec::<String>::new());
    let acted = act(&world, "purge", None, json!({})).await;
    assert_eq!(acted.status, ActionStatus::Invalid, "{acted:?}");
    assert!(acted.message.contains("only test data can be purged"), "{}", acted.message);
    assert_eq!(requests(&world, "POST", "/v1/merchant"), Vec::<Value>::new());
}

#[tokio::test(start_paused = true)]
async fn nothing_is_purged_that_would_tell_how_something_ended() {
    let world = connected(ServiceSurface::Documented).await;
    fault(&world, "/v1/charges", "error_before");
    let tuition = json!({"amount": usd(100), "method": "jane"});
    assert_eq!(act(&world, "charge", Some("tuition"), tuition).await.status, ActionStatus::OnHold);
    let acted = act(&world, "purge", None, json!({})).await;
    assert_eq!(acted.status, ActionStatus::Blocked, "{acted:?}");
    assert!(acted.message.contains("Action/tuition is not settled"), "{}", acted.message);
    assert_eq!(requests(&world, "POST", "/v1/merchant"), Vec::<Value>::new());
}
