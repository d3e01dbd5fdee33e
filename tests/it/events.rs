//! Events of the gateway at the daemon: none is missed or handled twice, and forged events have no effect.

mod lag;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::covers;
use crate::support::payments::{MERCHANT, START, card, recurring, requests};
use crate::support::webhooks::{BASE, Ears, address, merchant, partner_address};
use crate::support::world::World;
use reckon::base::hash::keyed_digest;
use reckon::base::id::{Key, Mode};
use reckon::control::handle::Control;
use reckon::control::protocol::ControlRequest;
use reckon::engine::protocol::events::{ResyncEvents, ResyncedEvents};
use reckon::engine::protocol::query::{EngineQuery, Reply};
use reckon::engine::protocol::views::ResourceView;
use reckon::http::public::public_routes::PublicRoutes;
use reckon::model::events::event::Via;
use reckon::model::operator::{RotationRequest, RotationStep, WebhookAddress};
use reckon::model::remote_object::Freshness;
use reckon::model::state::health::{Condition, ConditionStatus, ConditionType, PaymentResult};
use reckon::sandbox::options::ServiceSurface;

/// Builds a world with a connected merchant, a card and a recurring charge.
async fn connected(surface: ServiceSurface) -> World {
    let world = World::new(surface, START);
    world.write(
        &[MERCHANT.to_owned(), card("jane", "4242424242424242"), recurring("rent", "jane", "")]
            .concat(),
    );
    assert_eq!(world.settle().await, Vec::<String>::new());
    world
}

/// Charges a card of the merchant outside reckon. Returns the id.
fn charge(world: &World, minor: i64) -> String {
    let method = json!({"type": "card", "number": "4242424242424242", "exp_month": 12, "exp_year": 2031, "cvv": "123"});
    let charge =
        world.ask("acme", "POST", "/v1/charges", &json!({"amount": minor, "method": method}));
    charge["id"].as_str().unwrap().to_owned()
}

/// Returns the events that the service has of the merchant, at most 100.
fn events(world: &World) -> Vec<Value> {
    let list = world.ask("acme", "GET", "/v1/events?page_size=100", &Value::Null);
    list["results"].as_array().unwrap().clone()
}

fn ids(world: &World) -> BTreeSet<String> {
    events(world).iter().map(|event| event["id"].as_str().unwrap().to_owned()).collect()
}

async fn told(ears: &Ears<'_>) -> BTreeSet<String> {
    ears.events().await.items.into_iter().map(|event| event.id).collect()
}

#[tokio::test(start_paused = true)]
async fn an_event_that_was_posted_is_read_back_and_taken_in_once() {
    let world = connected(ServiceSurface::Public).await;
    world
        .hearing(async |ears| {
            ears.wait(5).await;
            let before = ears.events().await.receivers[0].ledger.verified;
            world.sends_events();
            let id = charge(&world, 700);
            let news = events(&world);
            for event in news.iter().filter(|event| event["data"]["id"] == id.as_str()) {
                assert_eq!(ears.post(event).await, 200);
                assert_eq!(ears.post(event).await, 200);
            }
            ears.wait(3).await;
            let view = ears.events().await;
            let of_charge: Vec<_> = view
                .items
                .iter()
                .filter(|event| event.object.as_ref().is_some_and(|object| object.id == id))
                .collect();
            assert_eq!(of_charge.len(), 2, "created and authorized, each once");
            assert!(of_charge.iter().all(|event| event.via == Some(Via::ReadBack)));
            assert_eq!(view.receivers[0].ledger.verified, before + 2);
            ears.wait(120).await;
            assert_eq!(
                told(ears).await,
                ids(&world),
                "the list adds the events that were not posted, each once"
            );
        })
        .await;
    covers::covers(&["51.8"]);
}

/// Rotates addresses. Returns them, or the refusal.
async fn rotate(
    ears: &Ears<'_>,
    step: RotationStep,
    of: Option<&str>,
) -> Result<Vec<WebhookAddress>, String> {
    let merchant = of.map(|name| format!("Merchant/{name}").parse().unwrap());
    let asked = ControlRequest::Rotate(RotationRequest { merchant, step });
    let Reply::Rotated(rotated) = ears.control.send(asked, "uid 7".to_owned()).await.unwrap()
    else {
        panic!("unexpected response")
    };
    rotated
}

/// Posts to the addresses of the generations 0, 1 and 2. Returns the status at the partner's address and at the
/// merchant's.
async fn doors(ears: &Ears<'_>) -> [(u16, u16); 3] {
    let outside = PublicRoutes::new(&[3; 32]);
    let mut answers = [(0, 0); 3];
    for (generation, answer) in (0..).zip(&mut answers) {
        let partner = format!("{}r", outside.event_url(BASE, generation));
        let gateway = outside.gateway_url(BASE, &merchant(), Mode::Test, generation);
        let event = json!({"id": format!("evt_{generation}")}).to_string();
        *answer = (ears.post_to(&partner, "{}").await, ears.post_to(&gateway, event).await);
    }
    answers
}

#[tokio::test(start_paused = true)]
async fn an_address_that_is_exchanged_is_good_until_that_is_finished() {
    let world = connected(ServiceSurface::Public).await;
    let acme = || WebhookAddress::Merchant(merchant());
    world
        .hearing(async |ears| {
            ears.wait(5).await;
            assert_eq!(doors(ears).await, [(200, 200), (404, 404), (404, 404)]);
            let nothing = rotate(ears, RotationStep::Finished, None).await.unwrap_err();
            assert_eq!(nothing, "no exchange is in progress");
            let begun = rotate(ears, RotationStep::Begun, Some("acme")).await;
            assert_eq!(begun, Ok(vec![acme()]));
            assert_eq!(doors(ears).await, [(200, 200), (404, 200), (404, 404)]);
            let twice = rotate(ears, RotationStep::Begun, None).await.unwrap_err();
            assert!(twice.contains("the address of Merchant/acme since"), "{twice}");
            let unknown = rotate(ears, RotationStep::Begun, Some("acne")).await.unwrap_err();
            assert!(unknown.ends_with("did you mean Merchant/acme?"), "{unknown}");
            assert_eq!(doors(ears).await, [(200, 200), (404, 200), (404, 404)]);
        })
        .await;
    world
        .hearing(async |ears| {
            ears.wait(1).await;
            assert_eq!(doors(ears).await[0], (200, 200), "the next process knows the rotation");
            assert_eq!(rotate(ears, RotationStep::Finished, None).await, Ok(vec![acme()]));
            assert_eq!(doors(ears).await, [(200, 404), (404, 200), (404, 404)]);
            let both = vec![WebhookAddress::Partner, acme()];
            assert_eq!(rotate(ears, RotationStep::AtOnce, None).await, Ok(both));
            assert_eq!(doors(ears).await, [(404, 404), (200, 404), (404, 200)]);
        })
        .await;
    assert_ne!(partner_address(), PublicRoutes::new(&[3; 32]).event_url(BASE, 1));
}

/// Reads the lists of events again from this time on.
async fn recover(ears: &Ears<'_>, since: &str, without_hooks: bool) -> Vec<ResyncedEvents> {
    let since = since.parse().unwrap();
    let asked = ControlRequest::ResyncEvents(ResyncEvents { merchant: None, since, without_hooks });
    let Reply::Recovered(read) = ears.control.send(asked, "uid 7".to_owned()).await.unwrap() else {
        panic!("unexpected response")
    };
    read.unwrap()
}

#[tokio::test(start_paused = true)]
async fn lists_that_are_read_again_add_what_is_not_known_and_nothing_twice() {
    let world = connected(ServiceSurface::Public).await;
    charge(&world, 700);
    world.control("POST", "clock", &json!({"advance": "P10D"}));
    charge(&world, 800);
    world
        .hearing(async |ears| {
            ears.wait(5).await;
            let known = told(ears).await.len();
            let all = ids(&world).len();
            assert!(known < all, "events from long before the first poll are not recorded");
            let read = recover(ears, "2020-01-01T00:00:00Z", false).await;
            let number = |number: usize| u64::try_from(number).unwrap();
            let [one] = &read[..] else { panic!("not one merchant: {read:?}") };
            assert_eq!((one.read, one.new), (number(all), number(all - known)));
            assert_eq!((one.merchant.as_str(), &one.waits), ("Merchant/acme", &None));
            assert_eq!(one.trouble, None);
            assert!(one.oldest.as_deref() >= Some("2026"), "{one:?}");
            assert_eq!(told(ears).await, ids(&world));
            let again = recover(ears, "2020-01-01T00:00:00Z", true).await;
            assert_eq!((again[0].read, again[0].new), (number(all), 0));
            charge(&world, 900);
            ears.wait(70).await;
            assert_eq!(told(ears).await, ids(&world), "the regular poll continues at its position");
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn the_sandbox_tells_an_event_on_order_and_it_can_be_read_back() {
    let world = connected(ServiceSurface::Public).await;
    let id = charge(&world, 700);
    world
        .hearing(async |ears| {
            ears.wait(5).await;
            world.sends_events();
            let set = json!({"amount": 900, "method.name": "Jane"});
            let order = |kind: &str, set: &Value| {
                let order = json!({"merchant": "acme", "type": kind, "set": set});
                world.control("POST", "events", &order)
            };
            let event = order("transaction.failed", &set);
            let data = &event["data"];
            assert_eq!((&data["id"], &data["amount"]), (&json!(id), &json!(900)));
            assert_eq!(data["method"]["name"], "Jane");
            ears.deliver().await;
            ears.wait(3).await;
            let told = ears.events().await.items;
            let told = told.into_iter().find(|one| event["id"] == one.id.as_str()).unwrap();
            assert_eq!(told.kind.as_deref(), Some("transaction.failed"));
            assert_eq!(told.via, Some(Via::ReadBack), "the service has the event");
            let real = world.ask("acme", "GET", &format!("/v1/transactions/{id}"), &Value::Null);
            assert_eq!(real["amount"], 700, "the object itself is unchanged");
            let known = events(&world).len();
            for refused in [
                order("merchant.provisioned", &Value::Null),
                order("transaction.failed", &json!({"amount.minor": 1})),
            ] {
                assert!(refused["messages"].is_array(), "{refused}");
            }
            assert_eq!(events(&world).len(), known);
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn what_no_post_told_comes_by_the_list_once() {
    for surface in [ServiceSurface::Public, ServiceSurface::Documented] {
        let world = connected(surface).await;
        world
            .hearing(async |ears| {
                ears.wait(5).await;
                charge(&world, 700);
                ears.wait(70).await;
                assert_eq!(told(ears).await, ids(&world));
            })
            .await;
        charge(&world, 800);
        world
            .hearing(async |ears| {
                ears.wait(5).await;
                let view = ears.events().await;
                assert_eq!(told(ears).await, ids(&world));
                let ledger = &view.receivers[0].ledger;
                assert_eq!(
                    (ledger.verified, ledger.posts),
                    (u64::try_from(ids(&world).len()).unwrap(), 0)
                );
            })
            .await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_post_that_was_answered_is_looked_up_by_the_next_process() {
    let world = connected(ServiceSurface::Public).await;
    world.hearing(async |ears| ears.wait(5).await).await;
    charge(&world, 700);
    let event = events(&world)[0].clone();
    world.hearing(async |ears| assert_eq!(ears.post(&event).await, 200)).await;
    let id = event["id"].as_str().unwrap();
    world
        .hearing(async |ears| {
            ears.wait(2).await;
            let view = ears.events().await;
            let known = view.items.iter().find(|known| known.id == id).unwrap();
            assert_eq!((known.status.as_str(), known.posts), ("told", 1));
        })
        .await;
    covers::covers(&["51.8"]);
}

#[tokio::test(start_paused = true)]
async fn a_forged_event_is_kept_and_never_acted_on() {
    let world = connected(ServiceSurface::Public).await;
    world.control("POST", "credentials", &json!({"merchant": "bravo"}));
    let method =
        json!({"type": "card", "number": "4242424242424242", "exp_month": 12, "exp_year": 2031});
    world.ask("bravo", "POST", "/v1/charges", &json!({"amount": 5, "method": method}));
    let theirs = world.ask("bravo", "GET", "/v1/events", &Value::Null)["results"][0].clone();
    world
        .hearing(async |ears| {
            ears.wait(5).await;
            let before = told(ears).await;
            assert_eq!(ears.post(&theirs).await, 200);
            let mut forged = theirs.clone();
            forged["id"] = json!("AAAAAAAAAAAAAAAAAAAAAA");
            assert_eq!(ears.post(&forged).await, 200);
            ears.wait(5).await;
            let view = ears.events().await;
            assert_eq!(told(ears).await, before);
            assert_eq!(view.receivers[0].ledger.forged, 2);
            let shown: BTreeSet<&str> = view.forged.iter().map(|post| post.id.as_str()).collect();
            assert!(shown.contains("AAAAAAAAAAAAAAAAAAAAAA") && shown.len() == 2);
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn posts_cannot_make_us_call_the_service_without_bound() {
    let world = connected(ServiceSurface::Public).await;
    world
        .hearing(async |ears| {
            ears.wait(5).await;
            let calls = requests(&world, "GET", "/v1/events").len();
            for number in 0..1000 {
                assert_eq!(ears.post(&json!({"id": format!("forged-{number}")})).await, 200);
            }
            ears.wait(10).await;
            let calls = requests(&world, "GET", "/v1/events").len() - calls;
            assert!((60..100).contains(&calls), "{calls} calls for 1000 posts");
            charge(&world, 900);
            ears.wait(70).await;
            assert!(told(ears).await.is_superset(&ids(&world)), "real events are not delayed");
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn an_older_event_changes_nothing_whatever_the_order_of_posts() {
    let world = connected(ServiceSurface::Public).await;
    world
        .hearing(async |ears| {
            ears.wait(5).await;
            let id = charge(&world, 700);
            world.ask("acme", "POST", &format!("/v1/transactions/{id}/void"), &json!({}));
            let mut all = events(&world);
            all.retain(|event| event["data"]["id"] == id.as_str());
            assert_eq!(all.len(), 3, "created, authorized, voided: the newest first");
            for event in &all {
                assert_eq!(ears.post(event).await, 200);
                ears.wait(2).await;
            }
            let view = ears.events().await;
            let worth = |status: &str| {
                let mut known = view.items.iter().filter(|event| {
                    event.object.as_ref().is_some_and(|object| {
                        object.id == id && object.status.as_deref() == Some(status)
                    })
                });
                known.next().unwrap().freshness.unwrap()
            };
            assert_eq!(worth("VOIDED"), Freshness::Newer);
            assert_eq!(
                (worth("AUTHORIZED"), worth("PENDING")),
                (Freshness::Older, Freshness::Older)
            );
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn what_is_no_event_is_kept_counted_and_sent_away() {
    let world = connected(ServiceSurface::Public).await;
    world
        .hearing(async |ears| {
            let url = address(Mode::Test);
            for body in [
                "",
                "{",
                "[]",
                "{\"id\":7}",
                "{\"id\":\"\"}",
                "{\"id\":\"a b\"}",
                "4242 4242 4242 4242",
            ] {
                assert_eq!(ears.post_to(&url, body).await, 400, "{body}");
            }
            assert_eq!(ears.post_to(&url, "{").await, 400);
            let ledger = ears.events().await.receivers[0].ledger.clone();
            assert_eq!((ledger.malformed, ledger.waiting), (7, 0));
            let other = address(Mode::Live);
            assert_eq!(ears.post_to(&other, "{\"id\":\"live-1\"}").await, 200);
            let wrong = url.replace("acme", "bravo");
            assert_eq!(ears.post_to(&wrong, "{\"id\":\"x\"}").await, 404);
            ears.wait(5).await;
            let ledger = ears.events().await.receivers[0].ledger.clone();
            assert_eq!((ledger.other_mode, ledger.forged, ledger.waiting), (1, 0, 0));
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_resource_is_looked_at_as_soon_as_an_event_speaks_of_it() {
    let world = connected(ServiceSurface::Public).await;
    world
        .hearing(async |ears| {
            ears.wait(5).await;
            world.sends_events();
            let id = world.objects("recurring_charges")[0]["id"].as_str().unwrap().to_owned();
            let changed = world.ask(
                "acme",
                "PATCH",
                &format!("/v1/recurring/charges/{id}"),
                &json!({"description": "x", "amount": 9900}),
            );
            assert_eq!(changed["amount"], 9900, "{changed}");
            ears.deliver().await;
            ears.wait(30).await;
            let again =
                world.ask("acme", "GET", &format!("/v1/recurring/charges/{id}"), &Value::Null);
            assert_eq!(again["amount"], 2000, "the drift is found and reverted");
        })
        .await;
}

async fn rent(control: &Control) -> ResourceView {
    let key = "RecurringCharge/rent".parse().unwrap();
    let Ok(Reply::Resource(Some(view))) = control.ask(EngineQuery::Resource(key)).await else {
        panic!("unexpected response")
    };
    *view
}

fn healthy(view: &ResourceView) -> &Condition {
    view.conditions.iter().find(|one| one.kind == ConditionType::Healthy).unwrap()
}

/// Closes M3.
#[tokio::test(start_paused = true)]
async fn a_charge_whose_card_is_declined_says_so_and_goes_on_saying_it_after_a_restart() {
    let world = World::new(ServiceSurface::Public, START);
    let declined = card("jane", "4000000000000002");
    world.write(&[MERCHANT.to_owned(), declined, recurring("rent", "jane", "")].concat());
    assert_eq!(world.settle().await, Vec::<String>::new());
    let mut since = None;
    world
        .hearing(async |ears| {
            ears.wait(70).await;
            let well = rent(&ears.control).await;
            assert!(well.ready && healthy(&well).status == ConditionStatus::True, "{well:?}");
            assert!(well.payments.unwrap().next.is_some(), "the next payment is known");
            world.control("POST", "clock", &json!({"advance": "P130D"}));
            ears.wait(130).await;
            let view = rent(&ears.control).await;
            assert_eq!((view.ready, view.reason.as_str()), (false, "PaymentFailed"));
            assert_eq!(
                view.conditions[0].status,
                ConditionStatus::True,
                "the charge matches its document"
            );
            assert_eq!(healthy(&view).status, ConditionStatus::False);
            since.clone_from(&healthy(&view).since);
            let payments = view.payments.unwrap();
            let last = payments.last.unwrap();
            assert!(payments.failures >= 3, "{}", payments.failures);
            assert_eq!(last.result, PaymentResult::Declined);
            assert_eq!(last.reason.as_deref(), Some("card_declined"));
            assert!(last.amount.is_some() && last.currency.as_deref() == Some("USD"), "{last:?}");
            let Ok(Reply::Metrics(metrics)) = ears.control.ask(EngineQuery::Metrics).await else {
                panic!("unexpected response")
            };
            assert_eq!(metrics.conditions["Healthy"]["False"], 1);
            assert_eq!(metrics.reasons["PaymentFailed"], 1);
        })
        .await;
    assert!(since.is_some());
    world
        .hearing(async |ears| {
            let again = rent(&ears.control).await;
            assert_eq!((again.ready, &healthy(&again).since), (false, &since), "after a restart");
        })
        .await;
}

/// Returns a merchant's address of events in the earlier form, whose parts are joined by dots.
fn older_address(text: &str) -> String {
    let key = *keyed_digest(&[3; 32], "outside", b"").as_bytes();
    let code = keyed_digest(&key, "gateway-token", text.as_bytes()).to_string();
    format!("{BASE}/webhooks/gateway/{text}.{}", &code[..32])
}

fn merchant_document(namespace: &str, name: &str) -> String {
    MERCHANT.replace("name: acme", &format!("name: {name}, namespace: {namespace}"))
}

/// Closes S3: events reach `Merchant/a.b/acme` by its address, and by the one in the earlier form. The earlier form is
/// refused once it could also mean `Merchant/a/b.acme`.
#[tokio::test(start_paused = true)]
async fn the_events_of_a_merchant_in_a_namespace_with_a_dot_reach_it() {
    let world = World::new(ServiceSurface::Public, START);
    let ours = merchant_document("a.b", "acme");
    world.write(&ours);
    assert_eq!(world.settle().await, Vec::<String>::new());
    let key: Key = "Merchant/a.b/acme".parse().unwrap();
    let address = PublicRoutes::new(&[3; 32]).gateway_url(BASE, &key, Mode::Test, 0);
    let older = older_address("a.b.acme.test");
    let event = json!({"id": "AAAAAAAAAAAAAAAAAAAAAA"}).to_string();
    world
        .hearing(async |ears| {
            ears.wait(5).await;
            assert_eq!(ears.post_to(&address, event.clone()).await, 200);
            assert_eq!(ears.post_to(&older, event.clone()).await, 200);
            ears.wait(5).await;
            let view = ears.events().await;
            let posts: Vec<_> = view
                .receivers
                .iter()
                .map(|one| (one.merchant.as_str(), one.ledger.posts))
                .collect();
            assert_eq!(posts, [("Merchant/a.b/acme", 1)]);
        })
        .await;
    world.write(&[ours, merchant_document("a", "b.acme")].join("---\n"));
    assert_eq!(world.settle().await, Vec::<String>::new());
    world
        .hearing(async |ears| {
            ears.wait(5).await;
            assert_eq!(ears.post_to(&address, event.clone()).await, 200);
            assert_eq!(ears.post_to(&older, event.clone()).await, 404);
        })
        .await;
}
