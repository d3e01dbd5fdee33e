//! Gateway commands that change the service: each is done once, whatever happens to its answer.

mod by_hand;
mod changes;
mod deletes;
mod keeping;
mod looks;
mod own;
mod stage;

use serde_json::{Value, json};
use stage::{SURFACES, act, connected, done, fault, fault_of, usd};

use crate::support::covers;
use crate::support::payments::{only, requests};
use crate::support::world::World;
use reckon::base::hash::SourceId;
use reckon::control::protocol::ControlRequest;
use reckon::engine::protocol::actions::{ActionStatus, ManualResolution, ResolveResult};
use reckon::engine::protocol::query::{EngineQuery, Reply};
use reckon::sandbox::options::ServiceSurface;

fn charged() -> Value {
    json!({"amount": usd(12500), "method": "jane", "reference": "Tuition"})
}

#[tokio::test(start_paused = true)]
async fn a_charge_is_made_once_whatever_becomes_of_its_answer() {
    for surface in SURFACES {
        for lost in ["", "drop_after", "error_before", "error_after"] {
            let world = connected(surface).await;
            fault(&world, "/v1/charges", lost);
            let looks = || requests(&world, "GET", "/v1/events").len();
            let before = looks();
            let acted = act(&world, "charge", None, charged()).await;
            assert_eq!(looks() - before > 1, !lost.is_empty(), "events settle a lost answer");
            let held = surface == ServiceSurface::Documented && lost == "error_before";
            if held {
                // No event arrived since, so nothing proves that there was no charge.
                assert_eq!(acted.status, ActionStatus::OnHold, "{acted:?}");
                assert_eq!(world.objects("transactions"), Vec::<Value>::new());
                continue;
            }
            assert_eq!(acted.status, ActionStatus::Done, "{surface:?} {lost}: {acted:?}");
            let made = only(&world, "transactions");
            assert_eq!(Some(made["id"].as_str().unwrap()), acted.remote_id.as_deref());
            assert_eq!((&made["amount"], &acted.facts["amount"]), (&json!(12500), &json!(12500)));
            assert!(made["reference"].as_str().unwrap().starts_with("Tuition [rk"));
            let again = act(&world, "charge", None, charged()).await;
            assert!(again.before && again.status == ActionStatus::Done, "{again:?}");
            assert_eq!(world.objects("transactions").len(), 1);
            let other = act(&world, "charge", Some("once-more"), charged()).await;
            assert_eq!((other.status, other.before), (ActionStatus::Done, false));
            assert_eq!(world.objects("transactions").len(), 2);
        }
    }
    covers::covers(&["33.18", "50.7"]);
}

#[tokio::test(start_paused = true)]
async fn one_name_asks_for_one_thing() {
    let world = connected(ServiceSurface::Public).await;
    act(&world, "charge", Some("tuition"), charged()).await;
    let other = json!({"amount": usd(99), "method": "jane"});
    let acted = act(&world, "charge", Some("tuition"), other).await;
    assert_eq!(acted.status, ActionStatus::Invalid);
    assert!(acted.message.contains("other fields before"), "{}", acted.message);
    assert_eq!(world.objects("transactions").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_meant_is_told_and_nothing_is_sent() {
    let world = connected(ServiceSurface::Public).await;
    let before = requests(&world, "POST", "/v1").len();
    let check = async |verb: &str, fields: Value, told: &str| {
        let acted = act(&world, verb, None, fields).await;
        assert_eq!(acted.status, ActionStatus::Invalid, "{acted:?}");
        assert!(acted.message.contains(told), "{}", acted.message);
    };
    check("steal", json!({}), "there is no action called steal").await;
    check("charge", json!({"method": "jane"}), "missing field `amount`").await;
    check("charge", json!({"amount": usd(0), "method": "jane"}), "not more than nothing").await;
    check("charge", json!({"amount": usd(1), "method": "jane", "x": 1}), "unknown field").await;
    check("credit", json!({"amount": usd(1), "method": "jane", "hold": true}), "a hold").await;
    check("charge", json!({"amount": usd(1), "method": "jan"}), "no SavedMethod/jan").await;
    // A card number is neither sent nor repeated in the message.
    for number in ["4012000010000", "4012 0000 1000 0", "99-88-77-66-55", &"4".repeat(24)] {
        let fields = json!({"amount": usd(1), "method": number});
        let acted = act(&world, "charge", None, fields).await;
        assert_eq!(acted.status, ActionStatus::Invalid, "{acted:?}");
        assert!(!acted.message.contains(number), "{}", acted.message);
        assert!(acted.message.contains("never typed here"), "{}", acted.message);
    }
    assert_eq!(requests(&world, "POST", "/v1").len(), before);
}

#[tokio::test(start_paused = true)]
async fn a_decline_is_told_and_leaves_nothing_open() {
    for (surface, lost) in [
        (ServiceSurface::Documented, ""),
        (ServiceSurface::Public, ""),
        (ServiceSurface::Public, "drop_after"),
    ] {
        let world = connected(surface).await;
        fault(&world, "/v1/charges", lost);
        let fields = json!({"amount": usd(100), "method": "poor"});
        let acted = act(&world, "charge", None, fields).await;
        assert_eq!(acted.status, ActionStatus::Refused, "{acted:?}");
        assert!(acted.message.contains("card_declined_insufficient_funds"), "{}", acted.message);
        let Reply::Intents(view) = world.engine().answer(EngineQuery::Intents).unwrap() else {
            panic!("unexpected response");
        };
        assert!(view.items.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn the_two_documents_report_no_decline_so_a_lost_one_waits_for_a_person() {
    let world = connected(ServiceSurface::Documented).await;
    fault(&world, "/v1/charges", "drop_after");
    let fields = json!({"amount": usd(100), "method": "poor"});
    let acted = act(&world, "charge", None, fields).await;
    assert_eq!(acted.status, ActionStatus::OnHold, "{acted:?}");
    assert!(acted.message.contains("its result is not known"), "{}", acted.message);
}

/// Returns the ids of the recurring charge and of its pending occurrence.
fn occurrence(world: &World) -> (String, String) {
    let recurring = only(world, "recurring_charges")["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/recurring/charges/{recurring}/occurrences");
    let list = world.ask("acme", "GET", &path, &Value::Null);
    (recurring, list["results"][0]["id"].as_str().unwrap().to_owned())
}

#[tokio::test(start_paused = true)]
async fn an_occurrence_is_paid_once_whatever_becomes_of_its_answer() {
    for surface in SURFACES {
        for lost in ["", "drop_after", "error_before"] {
            let world = connected(surface).await;
            let (recurring, occurrence) = occurrence(&world);
            let path = format!("/v1/recurring/charges/{recurring}/occurrences/{occurrence}/pay");
            fault(&world, &path, lost);
            let pay = |minor| json!({"recurring": recurring, "occurrence": occurrence, "amount": usd(minor)});
            let wrong = act(&world, "pay", None, pay(1999)).await;
            assert_eq!(wrong.status, ActionStatus::Blocked, "{wrong:?}");
            let acted = act(&world, "pay", None, pay(2000)).await;
            assert_eq!(acted.status, ActionStatus::Done, "{surface:?} {lost}: {acted:?}");
            assert_eq!(only(&world, "transactions")["amount"], 2000);
            let again = act(&world, "pay", Some("again"), pay(2000)).await;
            assert_eq!(again.status, ActionStatus::Blocked, "{again:?}");
        }
    }
    covers::covers(&["47.12"]);
}

#[tokio::test(start_paused = true)]
async fn an_occurrence_is_ignored_and_a_charge_cancelled_whatever_becomes_of_the_answer() {
    for surface in SURFACES {
        for lost in ["", "drop_after", "error_before"] {
            let world = connected(surface).await;
            let (recurring, occurrence) = occurrence(&world);
            fault(&world, "/v1/recurring/charges/", lost);
            let fields = json!({"recurring": recurring, "occurrence": occurrence});
            let acted = act(&world, "ignore", None, fields).await;
            assert_eq!(acted.status, ActionStatus::Done, "{surface:?} {lost}: {acted:?}");
            let path = format!("/v1/recurring/charges/{recurring}/occurrences/{occurrence}");
            assert_eq!(world.ask("acme", "GET", &path, &Value::Null)["status"], "IGNORED");
            assert_eq!(
                world.objects("occurrences").len(),
                2,
                "the ignored occurrence and the next one"
            );
            fault(&world, "/v1/recurring/charges/", lost);
            let acted = act(&world, "cancel", None, json!({"recurring": recurring})).await;
            match surface {
                ServiceSurface::Public => {
                    assert_eq!(acted.status, ActionStatus::Done, "{lost}: {acted:?}");
                    assert_eq!(only(&world, "recurring_charges")["status"], "COMPLETED");
                }
                // The two interface documents name no way to end a recurring charge.
                ServiceSurface::Documented => {
                    assert_ne!(acted.status, ActionStatus::Done, "{lost}: {acted:?}");
                }
            }
        }
    }
    covers::covers(&["47.12"]);
}

#[tokio::test(start_paused = true)]
async fn a_person_settles_what_nothing_can_prove() {
    let world = connected(ServiceSurface::Documented).await;
    fault(&world, "/v1/charges", "error_before");
    let held = act(&world, "charge", Some("tuition"), charged()).await;
    assert_eq!(held.status, ActionStatus::OnHold);
    let view = |world: &World| {
        let Reply::Intents(view) = world.engine().answer(EngineQuery::Intents).unwrap() else {
            panic!("unexpected response");
        };
        view.items
    };
    let Reply::Metrics(counts) = world.engine().answer(EngineQuery::Metrics).unwrap() else {
        panic!("unexpected response");
    };
    assert_eq!(counts.intents["held"].0, 1, "{counts:?}");
    let id = view(&world)[0].id.parse().unwrap();
    let say = async |said| done(&world, ControlRequest::Resolve(id, said)).await;
    let Reply::Resolved(still) = say(ManualResolution::Retry).await else {
        panic!("unexpected response")
    };
    assert!(matches!(still, ResolveResult::Unsettled(..)), "{still:?}");
    let Reply::Resolved(settled) = say(ManualResolution::NotDone).await else {
        panic!("unexpected response")
    };
    assert!(matches!(settled, ResolveResult::Settled(_)), "{settled:?}");
    assert!(view(&world).is_empty());
    assert_eq!(say(ManualResolution::NotDone).await, Reply::Resolved(ResolveResult::Unknown));
    let acted = act(&world, "charge", Some("tuition"), charged()).await;
    assert_eq!((acted.status, acted.before), (ActionStatus::Done, false));
    assert_eq!(world.objects("transactions").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_person_can_name_what_was_made() {
    let world = connected(ServiceSurface::Documented).await;
    fault(&world, "/v1/charges", "error_before");
    act(&world, "charge", Some("tuition"), charged()).await;
    let unread = ManualResolution::Done("t-found-by-hand".parse().unwrap());
    let said = ManualResolution::Unverified("t-found-by-hand".parse().unwrap());
    let id = "1".parse().unwrap();
    let first = done(&world, ControlRequest::Resolve(id, said.clone())).await;
    assert_eq!(first, Reply::Resolved(ResolveResult::Unknown), "intent 1 is settled");
    let Reply::Intents(view) = world.engine().answer(EngineQuery::Intents).unwrap() else {
        panic!("unexpected response");
    };
    let id = view.items[0].id.parse().unwrap();
    let doubted = done(&world, ControlRequest::Resolve(id, unread)).await;
    assert!(matches!(doubted, Reply::Resolved(ResolveResult::Unverified(..))), "M13: {doubted:?}");
    done(&world, ControlRequest::Resolve(id, said)).await;
    let acted = act(&world, "charge", Some("tuition"), charged()).await;
    assert!(acted.before && acted.remote_id.as_deref() == Some("t-found-by-hand"), "{acted:?}");
    assert_eq!(world.objects("transactions"), Vec::<Value>::new());
}

/// Closes M13: the transaction that a person names is read. Another one is refused, with the differences.
#[tokio::test(start_paused = true)]
async fn m13_the_transaction_that_a_person_names_is_read() {
    let world = connected(ServiceSurface::Public).await;
    let by_hand = |minor: i64, reference: &str| {
        let method = json!({"type": "card", "number": "4242424242424242", "exp_month": 12,
            "exp_year": 2031, "cvv": "123"});
        let charge = json!({"amount": minor, "method": method, "reference": reference});
        world.ask("acme", "POST", "/v1/charges", &charge)["id"].as_str().unwrap().to_owned()
    };
    let wrong = by_hand(700, "Books");
    // A charge with the same mark: only a person can decide which one is meant.
    let key = "Action/tuition".parse().unwrap();
    let twin = by_hand(12500, &SourceId::new("acme", &key, 0).mark().tag("Tuition"));
    fault(&world, "/v1/charges", "drop_after");
    let acted = act(&world, "charge", Some("tuition"), charged()).await;
    assert_eq!(acted.status, ActionStatus::OnHold, "{acted:?}");
    let known = [wrong.clone(), twin];
    let made = world.objects("transactions").into_iter().map(|one| one["id"].clone());
    let mut made = made.map(|id| id.as_str().unwrap().to_owned());
    let made = made.find(|id| !known.contains(id)).unwrap();
    let intents = |world: &World| {
        let Reply::Intents(view) = world.engine().answer(EngineQuery::Intents).unwrap() else {
            panic!("unexpected response");
        };
        view.items
    };
    let id = intents(&world)[0].id.parse().unwrap();
    let say = async |said| done(&world, ControlRequest::Resolve(id, said)).await;
    let rent = world.objects("recurring_charges")[0]["id"].as_str().unwrap().to_owned();
    for (other, why) in [
        (wrong.as_str(), "asked 12500, answered 700"),
        (&rent, "belongs to RecurringCharge/rent"),
        ("t-nowhere", "the service has no t-nowhere among the transactions"),
    ] {
        let Reply::Resolved(told) = say(ManualResolution::Done(other.parse().unwrap())).await
        else {
            panic!("unexpected response");
        };
        assert!(matches!(&told, ResolveResult::Differs(_, told) if told.contains(why)), "{told:?}");
    }
    let own = made.as_str();
    let Reply::Resolved(told) = say(ManualResolution::Done(own.parse().unwrap())).await else {
        panic!("unexpected response");
    };
    assert!(matches!(told, ResolveResult::Settled(_)), "{told:?}");
    let acted = act(&world, "charge", Some("tuition"), charged()).await;
    assert!(acted.before && acted.remote_id.as_deref() == Some(own), "{acted:?}");
}

#[tokio::test(start_paused = true)]
async fn an_authorization_is_given_back_once_whatever_becomes_of_the_answer() {
    for surface in SURFACES {
        for lost in ["", "drop_after", "error_before"] {
            let world = connected(surface).await;
            fault_of(&world, "DELETE", "/api/v1/merchants", lost);
            let acted = act(&world, "deauthorise", None, json!({})).await;
            assert_eq!(acted.status, ActionStatus::Done, "{surface:?} {lost}: {acted:?}");
            let sent = requests(&world, "DELETE", "/api/v1/merchants").len();
            assert_eq!(sent, if lost.is_empty() { 1 } else { 2 }, "{surface:?} {lost}");
            let charge = act(&world, "charge", None, charged()).await;
            assert_eq!(charge.status, ActionStatus::Blocked, "{charge:?}");
            assert!(charge.message.contains("credentials"), "{}", charge.message);
            let told = world.settle().await;
            assert!(told.iter().any(|line| line.contains("Merchant/acme")), "{told:?}");
            assert_eq!(world.objects("transactions"), Vec::<Value>::new());
        }
    }
    covers::covers(&["6.5"]);
}

#[tokio::test(start_paused = true)]
async fn an_authorization_stays_while_something_needs_it_to_be_settled() {
    let world = connected(ServiceSurface::Documented).await;
    fault(&world, "/v1/charges", "error_before");
    act(&world, "charge", Some("tuition"), charged()).await;
    let acted = act(&world, "deauthorise", None, json!({})).await;
    assert_eq!(acted.status, ActionStatus::Blocked, "{acted:?}");
    assert!(acted.message.contains("Action/tuition is not settled"), "{}", acted.message);
    assert_eq!(requests(&world, "DELETE", "/api/v1/merchants"), Vec::<Value>::new());
}

#[tokio::test(start_paused = true)]
async fn a_refusal_for_the_country_is_no_refusal_of_the_credentials() {
    for surface in SURFACES {
        let world = connected(surface).await;
        let from = |countries: Value| {
            let policy = json!({"merchant": "acme", "transaction_allowed_countries": countries});
            world.control("POST", "policy", &policy);
        };
        from(json!(["CA"]));
        let acted = act(&world, "charge", None, charged()).await;
        assert_eq!(acted.status, ActionStatus::Refused, "{acted:?}");
        assert!(acted.message.contains("401"), "{}", acted.message);
        let failed = only(&world, "transactions");
        assert_eq!(failed["failure_code"], "not_authorized_country_denied");
        assert_eq!(world.settle().await, Vec::<String>::new(), "the merchant is not on hold");
        from(json!([]));
        let tokens = requests(&world, "POST", "/oauth/token").len();
        let acted = act(&world, "charge", Some("from-home"), charged()).await;
        assert_eq!(acted.status, ActionStatus::Done, "{acted:?}");
        assert_eq!(
            requests(&world, "POST", "/oauth/token").len(),
            tokens,
            "no token was requested again"
        );
    }
    covers::covers(&["32.5"]);
}
