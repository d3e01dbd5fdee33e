//! `gateway get`: every read of the service works, secrets are hidden, and nothing is recorded.

use serde_json::{Value, json};

use crate::gateway::stage::{act, connected, done, usd};
use crate::support::payments::only;
use crate::support::world::World;
use reckon::api::reads::READS;
use reckon::control::protocol::ControlRequest;
use reckon::engine::protocol::query::Reply;
use reckon::model::effect::RemoteGet;
use reckon::sandbox::options::ServiceSurface;

async fn shown(world: &World, read: &str, parameters: &[&str]) -> Result<Value, String> {
    let preview = json!({"amount": 100, "schedule": {"interval_unit": "DAY", "interval_delay": 1}});
    let showing = RemoteGet {
        merchant: "Merchant/acme".parse().unwrap(),
        read: read.to_owned(),
        parameters: parameters.iter().map(|one| (*one).to_owned()).collect(),
        query: Vec::new(),
        body: (read == "recurring.preview").then_some(preview),
    };
    let Reply::RemoteGet(shown) = done(world, ControlRequest::RemoteGet(Box::new(showing))).await
    else {
        panic!("unexpected response");
    };
    shown
}

fn id(value: &Value) -> String {
    value["id"].as_str().unwrap().to_owned()
}

#[tokio::test(start_paused = true)]
async fn every_read_without_parameters_is_answered() {
    let world = connected(ServiceSurface::Public).await;
    for read in READS.iter().filter(|read| read.parameters().next().is_none()) {
        let answer = shown(&world, read.name, &[]).await;
        assert!(answer.is_ok(), "{}: {answer:?}", read.name);
    }
}

#[tokio::test(start_paused = true)]
async fn reads_by_id_find_what_exists_and_say_what_does_not() {
    let world = connected(ServiceSurface::Public).await;
    let charge = json!({"amount": usd(10_000), "method": "jane"});
    let charge = act(&world, "charge", None, charge).await.remote_id.unwrap();
    let strokes = json!({"transaction": charge, "mime_type": "service/jsignature",
        "data": "[{\"x\":[1,2],\"y\":[1,2]}]"});
    act(&world, "sign", None, strokes).await;
    let recurring = id(&only(&world, "recurring_charges"));
    let occurrence = id(&only(&world, "occurrences"));
    let signature = shown(&world, "transaction.get", &[&charge]).await.unwrap();
    let signature = signature["signature_id"].as_str().unwrap().to_owned();
    let event = shown(&world, "event.list", &[]).await.unwrap();
    let event = event["results"][0]["id"].as_str().unwrap().to_owned();
    for (read, parameters) in [
        ("card.get", vec![id(world.objects("cards").first().unwrap())]),
        ("bank.get", vec![id(&only(&world, "banks"))]),
        ("recurring.get", vec![recurring.clone()]),
        ("occurrence.list", vec![recurring.clone()]),
        ("occurrence.get", vec![recurring, occurrence]),
        ("signature.get", vec![signature.clone()]),
        ("event.get", vec![event]),
    ] {
        let parameters: Vec<&str> = parameters.iter().map(String::as_str).collect();
        let answer = shown(&world, read, &parameters).await.unwrap();
        let there = answer["id"].is_string() || answer["results"].is_array();
        assert!(there, "{read}: {answer}");
    }
    let drawn = shown(&world, "signature.get", &[&signature]).await.unwrap();
    assert_eq!(drawn["data"], "***");
    let gone = shown(&world, "card.get", &["nothing"]).await;
    assert_eq!(gone, Err("it is not there (resource_not_found)".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_look_at_the_keys_shows_no_key_that_moves_money() {
    let world = connected(ServiceSurface::Public).await;
    let answer = shown(&world, "credentials.get", &[]).await.unwrap();
    let accounts = answer["test_accounts"].as_array().unwrap();
    assert!(!accounts.is_empty());
    for account in accounts {
        assert_eq!(account["secret_key"], "***");
        assert!(account["public_key"].as_str().unwrap().len() > 10);
    }
}

#[tokio::test(start_paused = true)]
async fn a_preview_is_shown_as_the_service_makes_it() {
    let world = connected(ServiceSurface::Documented).await;
    let preview = shown(&world, "recurring.preview", &[]).await.unwrap();
    let occurrences = preview["occurrences"].as_array().unwrap();
    assert_eq!((occurrences.len(), &preview["amount"]), (10, &json!(100)));
    assert_eq!(occurrences[0]["due_date"], preview["next_payment"]);
    crate::support::covers::covers(&["46.6"]);
}
