//! Unmanaged objects are deleted once, managed ones not at all. Limits count the removals.

use std::path::Path;

use serde_json::{Value, json};

use crate::gateway::stage::{LOST, SURFACES, act, connected, done, fault, fault_of};
use crate::support::payments::{MERCHANT, card, only, recurring, requests};
use crate::support::world::World;
use reckon::config::settings::Config;
use reckon::control::protocol::ControlRequest;
use reckon::engine::protocol::actions::ActionStatus;
use reckon::model::state::drift::ForgetRequest;
use reckon::sandbox::options::ServiceSurface;

/// Makes an object outside reckon. Returns its id.
fn elsewhere(world: &World, path: &str, body: &Value) -> String {
    let made = world.ask("acme", "POST", path, body);
    assert!(made["id"].is_string(), "{made}");
    made["id"].as_str().unwrap().to_owned()
}

fn visa() -> Value {
    json!({"type": "card", "number": "4012888888881881", "exp_month": 1, "exp_year": 2032})
}

/// Returns objects that no document names: their type, the path that makes them, and the body.
fn strangers() -> [(&'static str, &'static str, Value); 3] {
    let bank = json!({"type": "bank", "routing_number": "000000013", "account_number": "87654321",
        "account_type": "CHECKING", "given_name": "Joe", "surname": "Doe"});
    let schedule = json!({"start": "2031-01-01", "interval_unit": "MONTH", "interval_delay": 1});
    let charge = json!({"amount": 700, "method": visa(), "schedule": schedule});
    [
        ("card", "/v1/cards", visa()),
        ("bank", "/v1/banks", bank),
        ("recurring", "/v1/recurring/charges", charge),
    ]
}

#[tokio::test(start_paused = true)]
async fn what_nobody_manages_is_deleted_once_whatever_becomes_of_the_answer() {
    for surface in SURFACES {
        for lost in LOST {
            let world = connected(surface).await;
            for (kind, path, mut body) in strangers() {
                if kind == "recurring" {
                    // The two interface documents accept only a saved method or a token.
                    body["method"] = elsewhere(&world, "/v1/tokens", &visa()).into();
                }
                let id = elsewhere(&world, path, &body);
                fault_of(&world, "DELETE", path, lost);
                let fields = json!({"type": kind, "id": id});
                let acted = act(&world, "delete", None, fields.clone()).await;
                if kind == "recurring" && surface == ServiceSurface::Documented {
                    // The two interface documents name no way to delete a recurring charge.
                    assert_eq!(acted.status, ActionStatus::Refused, "{lost}: {acted:?}");
                    continue;
                }
                assert_eq!(
                    acted.status,
                    ActionStatus::Done,
                    "{surface:?} {kind} {lost}: {acted:?}"
                );
                assert_eq!(acted.remote_id.as_ref(), Some(&id));
                let now = world.ask("acme", "GET", &format!("{path}/{id}"), &Value::Null);
                assert!(now["id"].is_null() || now["status"] == "DELETED", "{now}");
                let before = requests(&world, "DELETE", path).len();
                let again = act(&world, "delete", None, fields).await;
                assert!(again.before && again.status == ActionStatus::Done, "{again:?}");
                assert_eq!(requests(&world, "DELETE", path).len(), before);
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_id_that_means_nothing_is_told_and_is_no_deletion() {
    let world = connected(ServiceSurface::Public).await;
    for (kind, path, _) in strangers() {
        let fields = json!({"type": kind, "id": "abcdefghijklmnopqrstuv"});
        let acted = act(&world, "delete", None, fields).await;
        assert_eq!(acted.status, ActionStatus::Refused, "{kind}: {acted:?}");
        assert!(acted.message.contains("404"), "{}", acted.message);
        assert_eq!(requests(&world, "DELETE", path).len(), 1);
    }
    let acted = act(&world, "delete", None, json!({"type": "invoice", "id": "x"})).await;
    assert_eq!(acted.status, ActionStatus::Invalid, "{acted:?}");
}

/// Returns the known id of a document's object.
fn id_of(world: &World, name: &str) -> String {
    let known = world.engine();
    let view = known
        .answer(reckon::engine::protocol::query::EngineQuery::Resources(Box::default()))
        .unwrap();
    let reckon::engine::protocol::query::Reply::Resources(all) = view else {
        return String::new();
    };
    let one = all.items.iter().find(|one| one.name == name);
    one.and_then(|one| one.remote_id.clone()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn what_is_managed_goes_with_its_document_and_never_by_its_id() {
    let world = connected(ServiceSurface::Public).await;
    let (poor, rent) = (id_of(&world, "poor"), id_of(&world, "rent"));
    let refused = async |kind: &str, id: &str, told: &[&str]| {
        let acted = act(&world, "delete", None, json!({"type": kind, "id": id})).await;
        assert_eq!(acted.status, ActionStatus::Invalid, "{acted:?}");
        for told in told {
            assert!(acted.message.contains(told), "{}", acted.message);
        }
    };
    let document = "its document stands at specs/tree.yaml:";
    refused("card", &poor, &["SavedMethod/poor", document, "reckon.dev/deletion: delete"]).await;
    refused("recurring", &rent, &["RecurringCharge/rent", document]).await;
    world.write(&[MERCHANT.to_owned(), card("jane", "4242424242424242")].concat());
    world.settle().await;
    refused("card", &poor, &["SavedMethod/poor", "`reckon forget SavedMethod/poor`"]).await;
    assert_eq!(requests(&world, "DELETE", "/v1"), Vec::<Value>::new());
    let forget = ForgetRequest::Resource("SavedMethod/poor".parse().unwrap());
    done(&world, ControlRequest::Forget(forget)).await;
    let acted = act(&world, "delete", None, json!({"type": "card", "id": poor})).await;
    assert_eq!(acted.status, ActionStatus::Done, "{acted:?}");
    assert_eq!(only(&world, "cards")["id"], id_of(&world, "jane"));
}

#[tokio::test(start_paused = true)]
async fn what_an_unsettled_document_may_have_made_stays() {
    let world = connected(ServiceSurface::Documented).await;
    let rent = id_of(&world, "rent");
    fault(&world, "/v1/recurring/charges", "error_after");
    let tree = [card("jane", "4242424242424242"), recurring("rent", "jane", "")].concat();
    world.write(&[MERCHANT.to_owned(), tree, recurring("club", "jane", "")].concat());
    world.settle().await;
    let all = world.objects("recurring_charges");
    let club = all.iter().find(|one| one["id"] != rent.as_str()).unwrap();
    let fields = json!({"type": "recurring", "id": club["id"]});
    let acted = act(&world, "delete", None, fields).await;
    assert_eq!(acted.status, ActionStatus::Blocked, "{acted:?}");
    assert!(acted.message.contains("RecurringCharge/club is not settled"), "{}", acted.message);
    assert_eq!(requests(&world, "DELETE", "/v1"), Vec::<Value>::new());
}

#[tokio::test(start_paused = true)]
async fn what_is_removed_counts_to_the_limits_of_deletes() {
    let mut world = connected(ServiceSurface::Public).await;
    let text = "apiVersion: reckon.dev/v1\nkind: Config\npolicy:\n  limits: {deletes_per_day: 3}\n";
    let config = Config::parse("reckon.yaml", Path::new("."), text.as_bytes().to_vec()).unwrap();
    world.policy = config.rules(&|_: &str| None).unwrap();
    let over = |acted: &reckon::engine::protocol::actions::ActionReport| {
        assert_eq!(acted.status, ActionStatus::Blocked, "{acted:?}");
        let limit = "policy.limits.deletes_per_day allows 3 deletes";
        assert!(acted.message.contains(limit), "{}", acted.message);
    };
    // A purge would remove three saved methods and a recurring charge.
    over(&act(&world, "purge", None, json!({})).await);
    assert_eq!(requests(&world, "POST", "/v1/merchant"), Vec::<Value>::new());
    for _ in 0..3 {
        let id = elsewhere(&world, "/v1/cards", &visa());
        let acted = act(&world, "delete", None, json!({"type": "card", "id": id})).await;
        assert_eq!(acted.status, ActionStatus::Done, "{acted:?}");
    }
    let id = elsewhere(&world, "/v1/cards", &visa());
    over(&act(&world, "delete", None, json!({"type": "card", "id": id})).await);
    assert_eq!(world.objects("cards").len(), 3);
}
