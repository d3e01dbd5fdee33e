//! One-time tokens (gateway-api, POST /v1/tokens; service-facts, part 5).

use axum::body::Body;
use http::Request;
use serde_json::{Value, json};

use super::{TestSandbox, fields, visa, with};
use crate::sandbox::options::ServiceSurface;

pub(super) async fn token(house: &TestSandbox, method: &Value) -> Value {
    let key = house.key("test", "public_key").await;
    house.call("POST", "/v1/tokens", Some(&key), method).await.ok()
}

async fn form(house: &TestSandbox, text: &str) -> super::Reply {
    let key = house.demo().await["test"]["public_key"].as_str().unwrap().to_owned();
    let request = Request::post("/v1/tokens")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(Body::from(format!("public_key={key}&{text}")))
        .unwrap();
    house.send(request).await
}

#[tokio::test]
async fn a_token_is_masked_and_read_with_the_secret_key() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let token = token(&house, &visa()).await;
    assert_eq!(token["number"], "************4242");
    assert_eq!(token["cvv"], "***");
    assert_eq!(token["card_type"], "VISA");
    assert_eq!(token["fingerprint"].as_str().unwrap().len(), 20);
    let path = format!("/v1/tokens/{}", token["id"].as_str().unwrap());
    assert_eq!(house.secret("GET", &path, &Value::Null).await.ok(), token);
    let public = house.key("test", "public_key").await;
    let reply = house.call("GET", &path, Some(&public), &Value::Null).await;
    assert_eq!(reply.refusal().0, 401);
    let live = house.key("live", "secret_key").await;
    let reply = house.call("GET", &path, Some(&live), &Value::Null).await;
    assert_eq!(reply.refusal().0, 404);
    let bank = house.demo().await["bank_accounts"][0]["id"].as_str().unwrap().to_owned();
    let surcharge = format!("/bank-accounts/{bank}/surcharge");
    assert_eq!(house.call("GET", &surcharge, Some(&public), &Value::Null).await.status, 200);
    super::covers(&["29.3", "49.1", "49.6"]);
}

#[tokio::test]
async fn a_form_gives_form_data_and_a_redirection() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let body = "type=card&number=4242424242424242&exp_month=10&exp_year=30&tag=a&tag=b&note=x+y%21";
    let reply = form(&house, body).await.ok();
    assert_eq!(reply["form_data"], json!({"tag": ["a", "b"], "note": "x y!"}));
    assert_eq!(reply["exp_year"], 2030);
    let in_header = Request::post("/v1/tokens")
        .header("authorization", house.key("test", "public_key").await)
        .header("content-type", "application/x-www-form-urlencoded")
        .body(Body::from(body))
        .unwrap();
    assert_eq!(house.send(in_header).await.ok()["number"], "************4242");
    let reply = form(&house, &format!("{body}&redirect_url=https%3A%2F%2Fa.example%2Fdone")).await;
    assert_eq!(reply.status, 303);
    assert_eq!(reply.text, "");
    let location = reply.headers["location"].to_str().unwrap();
    let id = location.strip_prefix("https://a.example/done?token_id=").unwrap();
    assert_eq!(id.len(), 22);
    let path = format!("/v1/tokens/{id}");
    assert_eq!(house.secret("GET", &path, &Value::Null).await.status, 200);
    let by_json = token(&house, &with(visa(), "redirect_url", "https://a.example/done")).await;
    assert!(by_json["id"].is_string(), "JSON is answered with the token itself");
    super::covers(&["49.2", "49.3", "49.5"]);
}

#[tokio::test]
async fn creation_forgives_what_the_charge_then_refuses() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let bad = token(&house, &json!({"type": "card", "number": "42", "exp_month": "x"})).await;
    let charge = json!({"amount": 100, "method": bad["id"]});
    let reply = house.secret("POST", "/v1/charges", &charge).await;
    let contexts: Vec<_> = fields(&reply).into_iter().map(|(context, _)| context).collect();
    assert_eq!(contexts, ["method.number", "method.exp_month", "method.exp_year"]);
    let path = format!("/v1/tokens/{}", bad["id"].as_str().unwrap());
    assert_eq!(house.secret("GET", &path, &Value::Null).await.status, 200);
    super::covers(&["49.9"]);
}

#[tokio::test]
async fn a_token_works_once() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    for (number, status) in [("4242424242424242", 200), ("4000000000000002", 422)] {
        let token = token(&house, &with(visa(), "number", number)).await;
        let charge = json!({"amount": 100, "method": token["id"]});
        assert_eq!(house.secret("POST", "/v1/charges", &charge).await.status, status, "{number}");
        let path = format!("/v1/tokens/{}", token["id"].as_str().unwrap());
        assert_eq!(house.secret("GET", &path, &Value::Null).await.refusal().0, 404);
        assert_eq!(house.secret("POST", "/v1/charges", &charge).await.refusal().0, 404);
    }
    assert_eq!(house.objects("transactions").await.len(), 2);
    super::covers(&["33.5", "49.7"]);
}

#[tokio::test]
async fn a_token_lives_five_minutes() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let token = token(&house, &visa()).await;
    let path = format!("/v1/tokens/{}", token["id"].as_str().unwrap());
    house.advance("PT4M59S").await;
    assert_eq!(house.secret("GET", &path, &Value::Null).await.status, 200);
    house.advance("PT1S").await;
    let expect = format!("Token[{}]", token["id"].as_str().unwrap());
    let reply = house.secret("GET", &path, &Value::Null).await;
    assert_eq!(reply.refusal(), (404, "resource_not_found".to_owned(), Some(expect)));
    super::covers(&["49.8"]);
}
