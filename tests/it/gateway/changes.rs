//! Refunds, voids, captures, credits and signatures: each is done once, whatever happens to its answer.

use serde_json::{Value, json};

use crate::gateway::stage::{LOST, SURFACES, act, connected, fault, holds, usd};
use crate::support::payments::only;
use crate::support::world::World;
use reckon::engine::protocol::actions::ActionStatus;
use reckon::model::effect::Action;
use reckon::sandbox::options::ServiceSurface;

/// Makes a charge of 100.00 USD, or a hold. Returns its id.
async fn charge(world: &World, method: &str, hold: bool) -> String {
    let fields = json!({"amount": usd(10_000), "method": method, "hold": hold});
    act(world, "charge", None, fields).await.remote_id.unwrap()
}

/// Returns the stored transaction.
fn transaction(world: &World, id: &str) -> Value {
    let all = world.objects("transactions");
    all.into_iter().find(|one| one["id"] == id).unwrap()
}

/// Returns true if only events could prove that nothing happened, and none arrived.
fn unprovable(surface: ServiceSurface, lost: &str) -> bool {
    surface == ServiceSurface::Documented && lost == "error_before"
}

#[tokio::test(start_paused = true)]
async fn a_refund_is_given_once() {
    for surface in SURFACES {
        for lost in LOST {
            let world = connected(surface).await;
            let charge = charge(&world, "jane", false).await;
            fault(&world, &format!("/v1/charges/{charge}/refund"), lost);
            let half = json!({"charge": charge, "amount": usd(4_000)});
            let acted = act(&world, "refund", None, half.clone()).await;
            if unprovable(surface, lost) {
                assert_eq!(acted.status, ActionStatus::OnHold, "{acted:?}");
                assert_eq!(transaction(&world, &charge)["amount_refunded"], 0);
                let behind = act(&world, "refund", Some("more"), half).await;
                assert_eq!(behind.status, ActionStatus::Blocked, "{behind:?}");
                continue;
            }
            assert_eq!(acted.status, ActionStatus::Done, "{surface:?} {lost}: {acted:?}");
            assert_eq!(transaction(&world, &charge)["amount_refunded"], 4_000);
            let again = act(&world, "refund", None, half.clone()).await;
            assert!(again.before && again.status == ActionStatus::Done, "{again:?}");
            let more = act(&world, "refund", Some("more"), half).await;
            assert_eq!((more.status, more.before), (ActionStatus::Done, false), "{more:?}");
            assert_eq!(transaction(&world, &charge)["amount_refunded"], 8_000);
        }
    }
    crate::support::covers::covers(&["37.12"]);
}

/// Closes the item of C: a refund goes to another method if the tenant allows it, and a charge shows its surcharge.
#[tokio::test(start_paused = true)]
async fn a_refund_goes_to_another_method_and_a_surcharge_is_shown_where_they_are_named() {
    let world = connected(ServiceSurface::Public).await;
    let fields = json!({"amount": usd(10_300), "method": "jane", "surcharge": usd(300)});
    let charged = act(&world, "charge", None, fields).await.remote_id.unwrap();
    let shown = transaction(&world, &charged);
    assert_eq!((&shown["amount"], &shown["surcharge_amount"]), (&json!(10_300), &json!(300)));
    let card = json!({"number": "4012888888881881", "exp_month": 1, "exp_year": 2032});
    let card = world.ask("acme", "POST", "/v1/cards", &card)["id"].clone();
    let other = json!({"charge": charged, "amount": usd(300), "method": card});
    let acted = act(&world, "refund", None, other.clone()).await;
    assert_eq!(acted.status, ActionStatus::Refused, "{acted:?}");
    assert!(acted.message.contains("unavailable_for_merchant_policy"), "{}", acted.message);
    let on = json!({"merchant": "acme", "refund_to_other_method_enabled": true});
    world.control("POST", "policy", &on);
    let acted = act(&world, "refund", Some("again"), other).await;
    assert_eq!(acted.status, ActionStatus::Done, "{acted:?}");
    let refund = transaction(&world, &acted.remote_id.unwrap());
    assert_ne!(refund["method"]["id"], shown["method"]["id"], "{refund}");
}

#[tokio::test(start_paused = true)]
async fn more_than_is_left_of_a_charge_is_not_even_sent() {
    let world = connected(ServiceSurface::Public).await;
    let charge = charge(&world, "jane", false).await;
    let all = json!({"charge": charge, "amount": usd(10_001)});
    let acted = act(&world, "refund", None, all).await;
    assert_eq!(acted.status, ActionStatus::Blocked, "{acted:?}");
    assert!(acted.message.contains("only 10000 of the charge"), "{}", acted.message);
    assert!(crate::support::payments::requests(&world, "POST", "/v1/charges/").is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_void_takes_back_once_and_never_what_was_captured() {
    for surface in SURFACES {
        for lost in LOST {
            let world = connected(surface).await;
            let charge = charge(&world, "jane", false).await;
            fault(&world, &format!("/v1/transactions/{charge}/void"), lost);
            let fields = json!({"transaction": charge, "reference": "mistake"});
            let acted = act(&world, "void", None, fields).await;
            let now = transaction(&world, &charge);
            if surface == ServiceSurface::Documented && !lost.is_empty() {
                // The two interface documents describe no void, and show no single transaction.
                assert_eq!(acted.status, ActionStatus::OnHold, "{acted:?}");
                continue;
            }
            assert_eq!(acted.status, ActionStatus::Done, "{surface:?} {lost}: {acted:?}");
            assert_eq!(now["status"], "VOIDED");
            assert!(now["void_reference"].as_str().unwrap().starts_with("mistake [rk"));
        }
    }
    let world = connected(ServiceSurface::Public).await;
    let charge = charge(&world, "jane", false).await;
    world.control("POST", "clock", &json!({"advance": "P2D"}));
    let acted = act(&world, "void", None, json!({"transaction": charge})).await;
    assert_eq!(acted.status, ActionStatus::Refused, "{acted:?}");
    crate::support::covers::covers(&["35.10", "38.7"]);
}

#[tokio::test(start_paused = true)]
async fn a_hold_is_captured_once() {
    for surface in SURFACES {
        for lost in LOST {
            let world = connected(surface).await;
            let charge = charge(&world, "jane", true).await;
            fault(&world, &format!("/v1/charges/{charge}/capture"), lost);
            let wrong = json!({"charge": charge, "amount": usd(9_999)});
            let wrong = act(&world, "capture", None, wrong).await;
            assert_ne!(wrong.status, ActionStatus::Done, "{wrong:?}");
            if surface == ServiceSurface::Documented && !lost.is_empty() {
                // The fault struck the wrong capture, and no call shows its outcome. Other tests settle such an intent
                // by hand.
                continue;
            }
            let fields = json!({"charge": charge, "amount": usd(10_000)});
            let acted = act(&world, "capture", None, fields).await;
            assert_eq!(acted.status, ActionStatus::Done, "{surface:?} {lost}: {acted:?}");
            assert_eq!(transaction(&world, &charge)["status"], "COMPLETED");
        }
    }
    crate::support::covers::covers(&["36.10"]);
}

#[tokio::test(start_paused = true)]
async fn a_hold_that_still_is_one_was_not_captured() {
    let world = connected(ServiceSurface::Documented).await;
    let charge = charge(&world, "jane", true).await;
    fault(&world, &format!("/v1/charges/{charge}/capture"), "error_before");
    let fields = json!({"charge": charge, "amount": usd(10_000)});
    let acted = act(&world, "capture", None, fields).await;
    assert_eq!(acted.status, ActionStatus::Done, "the list of holds proves it: {acted:?}");
    assert_eq!(only(&world, "transactions")["status"], "COMPLETED");
}

#[tokio::test(start_paused = true)]
async fn a_credit_is_given_once() {
    for surface in SURFACES {
        for lost in LOST {
            let world = connected(surface).await;
            let policy = json!({"merchant": "acme", "credits_enabled": true});
            world.control("POST", "policy", &policy);
            fault(&world, "/v1/credits", lost);
            let fields = json!({"amount": usd(700), "method": "jane"});
            let acted = act(&world, "credit", None, fields.clone()).await;
            if unprovable(surface, lost) {
                assert_eq!(acted.status, ActionStatus::OnHold, "{acted:?}");
                let alike = act(&world, "credit", Some("alike"), fields).await;
                assert_eq!(alike.status, ActionStatus::Blocked, "{alike:?}");
                continue;
            }
            assert_eq!(acted.status, ActionStatus::Done, "{surface:?} {lost}: {acted:?}");
            assert_eq!(only(&world, "transactions")["type"], "CREDIT");
        }
    }
    crate::support::covers::covers(&["39.5"]);
}

#[tokio::test(start_paused = true)]
async fn a_transaction_is_signed_once_and_the_strokes_stay_secret() {
    for surface in SURFACES {
        for lost in LOST {
            let world = connected(surface).await;
            let charge = charge(&world, "jane", false).await;
            fault(&world, &format!("/v1/transactions/{charge}/sign"), lost);
            let strokes = r#"[{"x":[4711],"y":[4712]}]"#;
            let fields = json!({"transaction": charge, "mime_type": "service/jsignature",
                "data": strokes});
            let action = Action {
                verb: "sign".to_owned(),
                merchant: "Merchant/acme".parse().unwrap(),
                name: None,
                fields: fields.clone(),
            };
            assert!(!format!("{action:?}").contains("4711"));
            let acted = act(&world, "sign", None, fields).await;
            let signed = transaction(&world, &charge)["signature_id"].is_string();
            assert!(signed, "{surface:?} {lost}: {acted:?}");
            if surface == ServiceSurface::Public || lost.is_empty() {
                assert_eq!(acted.status, ActionStatus::Done, "{surface:?} {lost}: {acted:?}");
            }
            assert!(!holds(&world, b"4711") && holds(&world, b"transaction.sign"));
            assert!(!format!("{acted:?}").contains("4711"));
        }
    }
    crate::support::covers::covers(&["40.8"]);
}

#[tokio::test(start_paused = true)]
async fn what_was_captured_voided_or_signed_is_not_sent_again() {
    for (verb, what) in [("capture", "charges"), ("void", "transactions"), ("sign", "transactions")]
    {
        for lost in ["", "drop_after"] {
            let world = connected(ServiceSurface::Public).await;
            let id = charge(&world, "jane", verb == "capture").await;
            let fields = match verb {
                "capture" => json!({"charge": id, "amount": usd(10_000)}),
                "void" => json!({"transaction": id}),
                _ => json!({"transaction": id, "mime_type": "service/jsignature",
                    "data": r#"[{"x":[1],"y":[2]}]"#}),
            };
            let path = format!("/v1/{what}/{id}/{verb}");
            fault(&world, &path, lost);
            for before in [false, true] {
                let acted = act(&world, verb, None, fields.clone()).await;
                assert_eq!((acted.status, acted.before), (ActionStatus::Done, before), "{acted:?}");
                let sent = crate::support::payments::requests(&world, "POST", &path);
                assert_eq!(sent.len(), 1, "{verb} {lost}: {sent:?}");
            }
        }
    }
    crate::support::covers::covers(&["36.10", "38.7", "40.8"]);
}
