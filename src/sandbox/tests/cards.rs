//! Saved cards (gateway-api, Saved cards; service-facts, parts 3 and 4).

use serde_json::{Value, json};

use super::tokens::token;
use super::{TestSandbox, fields, visa, with};
use crate::sandbox::options::ServiceSurface;

async fn save(house: &TestSandbox, card: &Value) -> Value {
    house.secret("POST", "/v1/cards", card).await.ok()
}

#[tokio::test]
async fn a_card_is_answered_masked_and_its_number_is_kept_nowhere() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let sent = with(with(visa(), "reference", "rk1"), "description", "Club");
    let card = save(&house, &sent).await;
    for name in
        ["name", "exp_month", "exp_year", "address1", "postal_code", "reference", "description"]
    {
        assert_eq!(card[name], sent[name], "{name}");
    }
    assert_eq!(card["number"], "************4242");
    assert_eq!(card["card_type"], "VISA");
    assert_eq!(card["type"], "card");
    assert_eq!(card["id"].as_str().unwrap().len(), 22);
    assert!(card.get("cvv").is_none());
    let path = format!("/v1/cards/{}", card["id"].as_str().unwrap());
    assert_eq!(house.secret("GET", &path, &Value::Null).await.ok(), card);
    let snapshot = house.control("GET", "snapshot", &Value::Null).await.to_string();
    assert!(!snapshot.contains("4242424242424242"));
    let amex = save(&house, &with(visa(), "number", "378282246310005")).await;
    assert_eq!(amex["number"], "***********0005");
    assert_eq!(amex["card_type"], "AMERICAN_EXPRESS");
    super::covers(&["34.1", "48.1", "48.5"]);
}

#[tokio::test]
async fn equal_numbers_have_equal_fingerprints() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let one = save(&house, &visa()).await;
    let again = save(&house, &with(visa(), "name", "Joe")).await;
    let other = save(&house, &with(visa(), "number", "4111111111111111")).await;
    assert_eq!(one["fingerprint"].as_str().unwrap().len(), 20);
    assert_eq!(one["fingerprint"], again["fingerprint"]);
    assert_ne!(one["fingerprint"], other["fingerprint"]);
    assert_ne!(one["id"], again["id"]);
    super::covers(&["34.4"]);
}

#[tokio::test]
async fn every_wrong_field_is_named_at_once_and_a_broken_rule_comes_alone() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let reply = house.secret("POST", "/v1/cards", &json!({"cvv": "1", "postal_code": "?"})).await;
    let found = fields(&reply);
    let expect = [
        ("number", "not_blank"),
        ("exp_month", "not_null"),
        ("exp_year", "not_null"),
        ("cvv", "invalid_length"),
        ("postal_code", "invalid"),
    ];
    assert_eq!(found, expect.map(|(context, code)| (context.to_owned(), code.to_owned())));
    for (name, value, code) in [
        ("number", json!("4242424242424241"), "card_number_invalid"),
        ("exp_year", json!(2025), "card_expired"),
    ] {
        let reply = house.secret("POST", "/v1/cards", &with(visa(), name, value)).await;
        assert_eq!(reply.refusal(), (422, code.to_owned(), None));
        assert_eq!(reply.json()["messages"].as_array().unwrap().len(), 1);
    }
    assert_eq!(house.objects("cards").await.len(), 0);
    super::covers(&["48.9"]);
}

#[tokio::test]
async fn a_token_becomes_a_card_and_carries_its_texts() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let token = token(&house, &with(visa(), "reference", "from-token")).await;
    let card = save(&house, &json!({"token_id": token["id"], "description": "d"})).await;
    assert_eq!(card["reference"], "from-token");
    assert_eq!(card["description"], "d");
    assert_eq!(card["fingerprint"], token["fingerprint"]);
    let reply = house.secret("POST", "/v1/cards", &json!({"token_id": token["id"]})).await;
    assert_eq!(reply.refusal().0, 404);
    super::covers(&["48.2"]);
}

#[tokio::test]
async fn a_patch_changes_texts_or_the_number_by_a_token() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let card = save(&house, &with(visa(), "reference", "old")).await;
    let path = format!("/v1/cards/{}", card["id"].as_str().unwrap());
    house.advance("PT1M").await;
    let change = json!({"reference": "new", "description": "for the club"});
    let after = house.secret("PATCH", &path, &change).await.ok();
    assert_eq!(
        (&after["reference"], &after["description"]),
        (&json!("new"), &json!("for the club"))
    );
    let kept = house.secret("PATCH", &path, &json!({"description": null})).await.ok();
    assert_eq!(kept["description"], "for the club", "a null is absent");
    assert_eq!(after["exp_month"], 10);
    assert_ne!(after["modified"], card["modified"]);
    assert_eq!(after["created"], card["created"]);
    let other = token(&house, &with(visa(), "number", "5105105105105100")).await;
    let after = house.secret("PATCH", &path, &json!({"token_id": other["id"]})).await.ok();
    assert_eq!(after["number"], "************5100");
    assert_eq!(after["card_type"], "MASTERCARD");
    assert_eq!(after["reference"], "new");
    let list = house.secret("GET", "/v1/cards?reference=old", &Value::Null).await.ok();
    assert_eq!(list["total_entries"], 0);
    let list = house.secret("GET", "/v1/cards?reference=new", &Value::Null).await.ok();
    assert_eq!(list["results"], json!([after]));
    super::covers(&["48.3", "48.4"]);
}

#[tokio::test]
async fn a_saved_card_pays_by_its_id() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let card = save(&house, &visa()).await;
    let paid = house.charged(100, card["id"].clone()).await;
    assert_eq!((&paid["method"]["id"], &paid["status"]), (&card["id"], &json!("AUTHORIZED")));
    assert_eq!(paid["account_id"], house.demo().await["test"]["card_account_id"]);
    super::covers(&["33.4"]);
}

#[tokio::test]
async fn a_deleted_card_is_answered_once_more_and_cannot_pay() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let card = save(&house, &with(visa(), "reference", "r")).await;
    let id = card["id"].as_str().unwrap();
    let path = format!("/v1/cards/{id}");
    assert_eq!(house.secret("DELETE", &path, &Value::Null).await.ok(), card);
    for method in ["DELETE", "GET"] {
        let reply = house.secret(method, &path, &Value::Null).await;
        assert_eq!(reply.refusal().0, 404, "{method}");
    }
    let charge = json!({"amount": 100, "method": id});
    assert_eq!(house.secret("POST", "/v1/charges", &charge).await.refusal().0, 404);
    for query in ["", "?reference=r", "?exp_month=10"] {
        let list = house.secret("GET", &format!("/v1/cards{query}"), &Value::Null).await.ok();
        assert_eq!(list["total_entries"], 0, "{query}");
    }
    super::covers(&["48.6"]);
}

#[tokio::test]
async fn lists_are_paged_newest_first_and_filtered() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    for at in 0..25 {
        let card = with(visa(), "reference", format!("r{}", at % 2));
        save(&house, &with(card, "exp_month", 1 + at % 3)).await;
    }
    let page = house.secret("GET", "/v1/cards?page=2", &Value::Null).await.ok();
    assert_eq!((&page["page"], &page["page_size"]), (&json!(2), &json!(20)));
    assert_eq!(page["total_entries"], 25);
    assert_eq!(page["results"].as_array().unwrap().len(), 5);
    let first = house.secret("GET", "/v1/cards?page_size=1", &Value::Null).await.ok();
    assert_eq!(first["results"][0]["reference"], "r0");
    assert_eq!(first["results"][0]["exp_month"], 1);
    let odd = house.secret("GET", "/v1/cards?reference=r1&exp_month=2", &Value::Null).await.ok();
    assert_eq!(odd["total_entries"], 4);
    for (year, count) in [(2030, 25), (2031, 0)] {
        let list = format!("/v1/cards?exp_year={year}");
        let list = house.secret("GET", &list, &Value::Null).await.ok();
        assert_eq!(list["total_entries"], count, "{year}");
    }
    let none = house.secret("GET", "/v1/cards?page=9", &Value::Null).await.ok();
    assert_eq!((&none["page"], &none["results"]), (&json!(9), &json!([])));
    assert_eq!((&none["total_entries"], &none["page_size"]), (&json!(25), &json!(20)));
    let reply = house.secret("GET", "/v1/cards?page_size=101", &Value::Null).await;
    assert_eq!(fields(&reply), [("page_size".to_owned(), "exceeds_maximum_value".to_owned())]);
    super::covers(&["48.7", "52.1", "52.2", "52.3"]);
}

#[tokio::test]
async fn pages_count_from_one_and_hold_a_hundred_at_the_most() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let mut saved = Vec::new();
    for _ in 0..3 {
        saved.push(save(&house, &visa()).await);
    }
    let list = async |query: &str| {
        let path = format!("/v1/cards{query}");
        house.secret("GET", &path, &Value::Null).await
    };
    let whole = list("").await.ok();
    assert_eq!((&whole["page"], &whole["page_size"]), (&json!(1), &json!(20)));
    saved.reverse();
    assert_eq!(whole["results"], json!(saved), "the newest first");
    let most = list("?page=1&page_size=100").await.ok();
    assert_eq!((&most["page_size"], &most["results"]), (&json!(100), &whole["results"]));
    for name in ["page", "page_size"] {
        let expect = (name.to_owned(), "below_minimum_value".to_owned());
        assert_eq!(fields(&list(&format!("?{name}=0")).await), [expect]);
    }
    super::covers(&["52.1"]);
}
