//! Files, vault methods and saved methods by command: each is stored once, whatever happens to its answer.

use std::time::Duration;

use serde_json::{Value, json};

use crate::gateway::stage::{LOST, SURFACES, act, connected, done, fault, holds, usd};
use crate::support::payments::{document, requests};
use crate::support::world::World;
use reckon::control::protocol::ControlRequest;
use reckon::engine::protocol::actions::{ActionReport, ActionStatus};
use reckon::engine::protocol::query::Reply;
use reckon::model::state::drift::{ImportOption, InventoryItem, InventoryRequest};
use reckon::sandbox::options::ServiceSurface;

/// The bytes of a file, as base64 and as they are.
const LETTER: (&str, &[u8]) = ("Y2FuYXJ5LWxldHRlcg==", b"canary-letter");

/// Builds the world of [`connected`] with a contact.
async fn with_contact(surface: ServiceSurface) -> World {
    let world = connected(surface).await;
    let names = "first_name: Jane\n  last_name: Doe";
    let address = "email_addresses: [{address: jane@example.com}]";
    let contact = document("Contact", "jane", &format!("{names}\n  {address}"));
    world.write_beside("contact.yaml", &contact);
    assert_eq!(world.settle().await, Vec::<String>::new());
    world
}

/// Makes a one-time token of details, as a payer's page does.
fn token(world: &World, kind: &str) -> String {
    let details = match kind {
        "card" => {
            json!({"type": "card", "number": "4012888888881881", "exp_month": 1, "exp_year": 2032})
        }
        _ => json!({"type": "bank", "routing_number": "000000013", "account_number": "87654321",
            "account_type": "CHECKING", "given_name": "Joe", "surname": "Doe"}),
    };
    world.ask("acme", "POST", "/v1/tokens", &details)["id"].as_str().unwrap().to_owned()
}

/// Counts the requests of a path that succeeded.
fn kept(world: &World, path: &str) -> usize {
    requests(world, "POST", path).iter().filter(|one| one["status"] == 200).count()
}

/// Asserts that neither the journal nor the reports hold a secret.
fn is_secret(world: &World, secret: &str, told: &[&ActionReport]) {
    assert!(!holds(world, secret.as_bytes()), "the journal holds the secret");
    for acted in told {
        assert!(!serde_json::to_string(acted).unwrap().contains(secret), "{acted:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_is_saved_once_whatever_becomes_of_the_answer_and_shows_nowhere() {
    for surface in SURFACES {
        for lost in ["", "drop_after", "error_before", "error_after"] {
            for (kind, list) in [("card", "cards"), ("bank", "banks")] {
                let world = connected(surface).await;
                let before = world.objects(list).len();
                let token = token(&world, kind);
                fault(&world, &format!("/v1/{list}"), lost);
                let fields = json!({"type": kind, "token": token, "description": "By hand"});
                let acted = act(&world, "save", None, fields.clone()).await;
                assert_eq!(
                    acted.status,
                    ActionStatus::Done,
                    "{surface:?} {kind} {lost}: {acted:?}"
                );
                let all = world.objects(list);
                assert_eq!(all.len(), before + 1, "{surface:?} {kind} {lost}");
                let id = acted.remote_id.clone().unwrap();
                let saved = all.iter().find(|one| one["id"] == id.as_str()).unwrap();
                assert_eq!(saved["description"], "By hand");
                assert!(saved["reference"].as_str().unwrap().starts_with("rk"), "{saved}");
                let again = act(&world, "save", None, fields).await;
                assert!(again.before && again.status == ActionStatus::Done, "{again:?}");
                assert_eq!(world.objects(list).len(), before + 1);
                is_secret(&world, &token, &[&acted, &again]);
                assert!(holds(&world, b"card.save") || holds(&world, b"bank.save"));
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_saved_by_hand_pays_is_nobody_s_and_can_be_deleted() {
    let world = connected(ServiceSurface::Public).await;
    let fields = json!({"type": "card", "token": token(&world, "card")});
    let card = act(&world, "save", None, fields).await.remote_id.unwrap();
    let paid = act(&world, "charge", None, json!({"amount": usd(100), "method": card})).await;
    assert_eq!(paid.status, ActionStatus::Done, "{paid:?}");
    let mut engine = world.engine();
    engine.sweep_everything().await.unwrap();
    assert_eq!(
        crate::support::world::told(&engine),
        Vec::<String>::new(),
        "the card's mark is known"
    );
    drop(engine);
    let merchant = "Merchant/acme".parse().unwrap();
    let asked = InventoryRequest { merchant, list: "cards".to_owned() };
    let reply = done(&world, ControlRequest::Inventory(asked)).await;
    let free = |one: &InventoryItem| {
        one.id.as_str() == card && matches!(one.import_option, ImportOption::New(..))
    };
    let listed = matches!(&reply, Reply::Inventory(Ok(found)) if found.iter().any(free));
    assert!(listed, "a document may adopt the card: {reply:?}");
    let acted = act(&world, "delete", None, json!({"type": "card", "id": card})).await;
    assert_eq!(acted.status, ActionStatus::Done, "{acted:?}");
}

#[tokio::test(start_paused = true)]
async fn what_an_unsettled_command_may_have_saved_is_not_deleted() {
    let world = connected(ServiceSurface::Public).await;
    let before = world.objects("cards");
    let token = token(&world, "card");
    fault(&world, "/v1/cards", "drop_after");
    let blind =
        json!({"method": "GET", "path": "/v1/cards", "fault": "error_before", "status": 503});
    world.control("POST", "faults", &blind);
    let fields = json!({"type": "card", "token": token});
    let asked = act(&world, "save", Some("mine"), fields);
    let ended = tokio::time::timeout(Duration::from_mins(4), asked).await;
    assert!(ended.is_err(), "nothing proves the outcome: {ended:?}");
    let all = world.objects("cards");
    let saved = all.iter().find(|one| !before.contains(one)).unwrap();
    let fields = json!({"type": "card", "id": saved["id"]});
    let acted = act(&world, "delete", None, fields).await;
    assert_eq!(acted.status, ActionStatus::Blocked, "{acted:?}");
    assert!(acted.message.contains("Action/mine is not settled"), "{}", acted.message);
    assert_eq!(requests(&world, "DELETE", "/v1"), Vec::<Value>::new());
}

#[tokio::test(start_paused = true)]
async fn a_vault_keeps_a_token_once_or_a_person_has_to_look() {
    for lost in ["", "drop_after", "error_before", "error_after"] {
        for kind in ["card", "bank"] {
            let world = with_contact(ServiceSurface::Public).await;
            let token = token(&world, kind);
            fault(&world, "/contacts/", lost);
            let fields = json!({"contact": "jane", "type": kind, "token": token});
            let acted = act(&world, "vault", None, fields.clone()).await;
            let again = act(&world, "vault", None, fields).await;
            is_secret(&world, &token, &[&acted, &again]);
            if lost == "drop_after" || lost == "error_after" {
                // The service stored the token, and no call shows what a vault holds.
                assert_eq!(acted.status, ActionStatus::OnHold, "{kind} {lost}: {acted:?}");
                assert!(acted.message.contains("what a contact's vault holds"), "{acted:?}");
                assert_eq!(again.status, ActionStatus::OnHold, "{again:?}");
                assert_eq!(requests(&world, "POST", "/contacts/").len(), 1, "{lost}");
                continue;
            }
            assert_eq!(acted.status, ActionStatus::Done, "{kind} {lost}: {acted:?}");
            let id = acted.remote_id.clone().unwrap();
            assert!(id.starts_with("pm_"), "{id}");
            assert!(again.before && again.status == ActionStatus::Done, "{again:?}");
            assert_eq!(kept(&world, "/contacts/"), 1, "{kind} {lost}");
            let paid = act(&world, "charge", None, json!({"amount": usd(100), "method": id})).await;
            assert_eq!(paid.status, ActionStatus::Done, "{paid:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_two_documents_show_no_vault_whatever_becomes_of_the_answer() {
    for lost in LOST {
        let world = with_contact(ServiceSurface::Documented).await;
        let fields = json!({"contact": "jane", "type": "card", "token": token(&world, "card")});
        fault(&world, "/contacts/", lost);
        let acted = act(&world, "vault", None, fields).await;
        assert_eq!(acted.status, ActionStatus::Refused, "{lost}: {acted:?}");
        assert!(acted.message.contains("404"), "{}", acted.message);
        assert_eq!(kept(&world, "/contacts/"), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_that_was_used_or_is_of_another_sort_is_refused_in_the_service_s_words() {
    let world = with_contact(ServiceSurface::Public).await;
    let card = token(&world, "card");
    let other = json!({"contact": "jane", "type": "bank", "token": card});
    let acted = act(&world, "vault", None, other).await;
    assert_eq!(acted.status, ActionStatus::Refused, "{acted:?}");
    assert!(acted.message.contains("another payment type"), "{}", acted.message);
    let fields = json!({"type": "card", "token": card});
    assert_eq!(act(&world, "save", None, fields.clone()).await.status, ActionStatus::Done);
    let acted = act(&world, "save", Some("twice"), fields).await;
    assert_eq!(acted.status, ActionStatus::Refused, "{acted:?}");
    assert!(acted.message.contains("404"), "{}", acted.message);
    is_secret(&world, &card, &[&acted]);
}

#[tokio::test(start_paused = true)]
async fn a_file_is_uploaded_once_for_all_that_anybody_hears() {
    for surface in SURFACES {
        for lost in ["", "drop_after", "error_before", "error_after"] {
            let world = with_contact(surface).await;
            fault(&world, "/contacts/", lost);
            let fields = json!({"contact": "jane", "file_name": "a.pdf", "content": LETTER.0});
            let acted = act(&world, "upload", None, fields.clone()).await;
            assert_eq!(acted.status, ActionStatus::Done, "{surface:?} {lost}: {acted:?}");
            assert!(acted.remote_id.as_ref().unwrap().starts_with("fref_"), "{acted:?}");
            assert_eq!(acted.facts["processing_state"], "processing");
            let sent = requests(&world, "POST", "/contacts/").len();
            let again = act(&world, "upload", None, fields.clone()).await;
            assert!(again.before && again.remote_id == acted.remote_id, "{again:?}");
            assert_eq!(requests(&world, "POST", "/contacts/").len(), sent);
            let other = act(&world, "upload", Some("copy"), fields).await;
            assert_eq!((other.status, other.before), (ActionStatus::Done, false));
            assert_ne!(other.remote_id, acted.remote_id);
            is_secret(&world, LETTER.0, &[&acted]);
            assert!(!holds(&world, LETTER.1));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_invoice_can_name_a_file_that_was_uploaded_by_hand() {
    let world = with_contact(ServiceSurface::Documented).await;
    let fields = json!({"contact": "jane", "file_name": "a.pdf", "content": LETTER.0});
    let file = act(&world, "upload", None, fields).await.remote_id.unwrap();
    world.control("POST", "clock", &json!({"advance": "PT1M"}));
    let lines = "line_items: [{description: Retainer, rate_per_quantity: \"125.00 USD\"}]";
    let spec = format!(
        "contact: jane\n  bank_account: Operating\n  invoice_date: 2030-01-15\n  {lines}\n  attachments: [{{id: {file}}}]"
    );
    world.write_beside("invoice.yaml", &document("Invoice", "retainer", &spec));
    assert_eq!(world.settle().await, Vec::<String>::new());
    let invoice = crate::support::payments::only(&world, "invoices");
    assert_eq!(invoice["attachments"][0]["id"], file.as_str());
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_kept_is_told_and_nothing_is_sent() {
    let world = with_contact(ServiceSurface::Public).await;
    let before = requests(&world, "POST", "/").len();
    let check = async |verb: &str, fields: Value, told: &str| {
        let acted = act(&world, verb, None, fields).await;
        assert_eq!(acted.status, ActionStatus::Invalid, "{acted:?}");
        assert!(acted.message.contains(told), "{}", acted.message);
        assert!(!acted.message.contains("4242"), "{}", acted.message);
    };
    let card = "4242424242424242";
    check("save", json!({"type": "card", "token": card}), "no one-time token").await;
    check("save", json!({"type": "till", "token": "x"}), "unknown variant `till`").await;
    check("save", json!({"type": "card"}), "missing field `token`").await;
    check("vault", json!({"contact": "jim", "type": "card", "token": card}), "no Contact/jim")
        .await;
    check("vault", json!({"contact": "jane", "type": "card", "token": card}), "no one-time").await;
    let empty = json!({"contact": "jane", "file_name": "a/b", "content": ""});
    check("upload", empty, "file_name: File name is invalid; content:").await;
    let extra = json!({"contact": "jane", "file_name": "a", "content": "YQ==", "x": 1});
    check("upload", extra, "unknown field `x`").await;
    assert_eq!(requests(&world, "POST", "/").len(), before);
}
