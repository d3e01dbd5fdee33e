//! Unmanaged objects are changed by their id, and recurring charges are made of earlier charges, each once.

use serde_json::{Value, json};

use crate::gateway::stage::{LOST, SURFACES, act, connected, fault, fault_of, usd};
use crate::support::payments::{only, requests};
use crate::support::world::World;
use reckon::engine::protocol::actions::ActionStatus;
use reckon::sandbox::options::ServiceSurface;

/// Makes a card, a bank account or a recurring charge outside reckon. Returns its id.
fn stranger(world: &World, path: &str) -> String {
    let card =
        json!({"type": "card", "number": "4012888888881881", "exp_month": 1, "exp_year": 2032});
    let bank = json!({"type": "bank", "routing_number": "000000013", "account_number": "87654321",
        "account_type": "CHECKING", "given_name": "Joe", "surname": "Doe"});
    let schedule = json!({"start": "2031-01-01", "interval_unit": "MONTH", "interval_delay": 1});
    let body = match path {
        "/v1/cards" => card,
        "/v1/banks" => bank,
        _ => {
            // The two interface documents accept only a saved method or a token.
            let token = world.ask("acme", "POST", "/v1/tokens", &card);
            json!({"amount": 700, "method": token["id"], "schedule": schedule})
        }
    };
    world.ask("acme", "POST", path, &body)["id"].as_str().unwrap().to_owned()
}

/// Returns the object as the service holds it.
fn object(world: &World, list: &str, id: &str) -> Value {
    world.objects(list).into_iter().find(|one| one["id"] == id).unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_texts_of_a_method_are_set_once_and_nothing_else_of_it() {
    for surface in SURFACES {
        for lost in LOST {
            for (kind, list) in [("card", "cards"), ("bank", "banks")] {
                let world = connected(surface).await;
                let path = format!("/v1/{list}");
                let id = stranger(&world, &path);
                let before = object(&world, list, &id);
                fault_of(&world, "PATCH", &path, lost);
                let set = json!({"description": "By hand"});
                let fields = json!({"type": kind, "id": id, "set": set});
                let acted = act(&world, "change", None, fields.clone()).await;
                assert_eq!(
                    acted.status,
                    ActionStatus::Done,
                    "{surface:?} {kind} {lost}: {acted:?}"
                );
                let now = object(&world, list, &id);
                assert_eq!(now["description"], "By hand");
                assert_eq!(now["reference"], before["reference"], "reckon adds no mark");
                let changed = requests(&world, "PATCH", &path).len();
                let again = act(&world, "change", None, fields).await;
                assert!(again.before && again.status == ActionStatus::Done, "{again:?}");
                assert_eq!(requests(&world, "PATCH", &path).len(), changed);
                let none = json!({"type": kind, "id": id, "set": {"description": ""}});
                let acted = act(&world, "change", None, none).await;
                assert_eq!(acted.status, ActionStatus::Done, "{acted:?}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_recurring_charge_is_changed_once_in_its_own_currency() {
    for surface in SURFACES {
        for lost in LOST {
            let world = connected(surface).await;
            let id = stranger(&world, "/v1/recurring/charges");
            let wrong = json!({"amount": {"minor": 900, "currency": "CAD"}});
            let fields = json!({"type": "recurring", "id": id, "set": wrong});
            if surface == ServiceSurface::Public {
                let acted = act(&world, "change", None, fields).await;
                assert_eq!(acted.status, ActionStatus::Blocked, "{acted:?}");
                assert!(acted.message.contains("is in USD, and the amount in CAD"), "{acted:?}");
            }
            fault_of(&world, "PATCH", "/v1/recurring/charges/", lost);
            let set = json!({"amount": usd(900), "max_occurrences": 3, "description": "Club"});
            let fields = json!({"type": "recurring", "id": id, "set": set});
            let acted = act(&world, "change", None, fields.clone()).await;
            assert_eq!(acted.status, ActionStatus::Done, "{surface:?} {lost}: {acted:?}");
            let now = object(&world, "recurring_charges", &id);
            let told = [&now["amount"], &now["max_occurrences"], &now["description"]];
            assert_eq!(told, [&json!(900), &json!(3), &json!("Club")]);
            let again = act(&world, "change", None, fields).await;
            assert!(again.before && again.status == ActionStatus::Done, "{again:?}");
        }
    }
}

/// Closes the item of C: a card gets another date without its number.
#[tokio::test(start_paused = true)]
async fn the_card_of_a_recurring_charge_gets_a_new_date_once() {
    for surface in SURFACES {
        for lost in LOST {
            let world = connected(surface).await;
            let id = stranger(&world, "/v1/recurring/charges");
            fault_of(&world, "PATCH", "/v1/recurring/charges/", lost);
            let set = json!({"exp_month": 7, "exp_year": 2034});
            let fields = json!({"type": "recurring", "id": id, "set": set});
            let acted = act(&world, "change", None, fields.clone()).await;
            assert_eq!(acted.status, ActionStatus::Done, "{surface:?} {lost}: {acted:?}");
            let card = &object(&world, "recurring_charges", &id)["method"];
            assert_eq!((&card["exp_month"], &card["exp_year"]), (&json!(7), &json!(2034)));
            let again = act(&world, "change", None, fields).await;
            assert!(again.before && again.status == ActionStatus::Done, "{again:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_managed_is_changed_in_its_document_and_never_by_its_id() {
    let world = connected(ServiceSurface::Public).await;
    let rent = only(&world, "recurring_charges")["id"].clone();
    let fields = json!({"type": "recurring", "id": rent, "set": {"amount": usd(1)}});
    let acted = act(&world, "change", None, fields).await;
    assert_eq!(acted.status, ActionStatus::Invalid, "{acted:?}");
    let told = "RecurringCharge/rent: change its document at specs/tree.yaml:";
    assert!(acted.message.contains(told), "{}", acted.message);
    let fields = json!({"type": "card", "id": "c1", "set": {"descripton": "x"}});
    let acted = act(&world, "change", None, fields).await;
    assert_eq!(acted.status, ActionStatus::Invalid, "{acted:?}");
    assert_eq!(requests(&world, "PATCH", "/v1"), Vec::<Value>::new());
}

#[tokio::test(start_paused = true)]
async fn a_recurring_charge_is_made_of_a_charge_once_or_a_person_has_to_look() {
    for surface in SURFACES {
        for lost in LOST {
            let world = connected(surface).await;
            let charge = json!({"amount": usd(5_000), "method": "jane"});
            let charge = act(&world, "charge", None, charge).await.remote_id.unwrap();
            fault(&world, &format!("/v1/charges/{charge}/schedule"), lost);
            let fields = json!({"charge": charge, "amount": usd(900), "start": "2030-02-01",
                "interval_unit": "MONTH", "interval_delay": 1});
            let acted = act(&world, "schedule", None, fields.clone()).await;
            let made = world.objects("recurring_charges").len();
            if surface == ServiceSurface::Documented && !lost.is_empty() {
                // The two interface documents list no recurring charges, and this one carries no mark.
                assert_eq!(acted.status, ActionStatus::OnHold, "{lost}: {acted:?}");
                let other = act(&world, "schedule", Some("other"), fields).await;
                assert_eq!(other.status, ActionStatus::Blocked, "{other:?}");
                assert_eq!(world.objects("recurring_charges").len(), made);
                continue;
            }
            assert_eq!(acted.status, ActionStatus::Done, "{surface:?} {lost}: {acted:?}");
            assert_eq!(made, 2, "{surface:?} {lost}");
            let id = acted.remote_id.clone().unwrap();
            assert_eq!(object(&world, "recurring_charges", &id)["amount"], 900);
            let again = act(&world, "schedule", None, fields).await;
            assert!(again.before && again.remote_id == acted.remote_id, "{again:?}");
            assert_eq!(world.objects("recurring_charges").len(), 2);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_schedule_that_means_nothing_is_told_and_nothing_is_sent() {
    let world = connected(ServiceSurface::Public).await;
    let fields = json!({"charge": "c1", "amount": usd(900), "start": "2030-02-01",
        "interval_unit": "MONTH", "interval_delay": 0});
    let acted = act(&world, "schedule", None, fields).await;
    assert_eq!(acted.status, ActionStatus::Invalid, "{acted:?}");
    assert!(acted.message.contains("interval_delay"), "{}", acted.message);
    assert_eq!(requests(&world, "POST", "/v1/charges"), Vec::<Value>::new());
}
