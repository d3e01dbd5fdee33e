//! A merchant's accounts: their own keys, the choice of an account, their currencies.

use serde_json::{Value, json};

use super::{Reply, TestSandbox, basic, visa, with};
use crate::sandbox::options::ServiceSurface;

/// Returns the demo merchant's test account of a type, as the control path shows it.
async fn account(house: &TestSandbox, kind: &str) -> Value {
    let all = house.demo().await["test"]["accounts"].clone();
    all.as_array().unwrap().iter().find(|one| one["type"] == kind).unwrap().clone()
}

async fn added(house: &TestSandbox, fields: Value) -> Value {
    house.control("POST", "accounts", &with(fields, "merchant", "demo")).await
}

fn charge(amount: i64) -> Value {
    json!({"amount": amount, "method": visa()})
}

async fn charged(house: &TestSandbox, key: &Value, body: &Value) -> Reply {
    let key = basic(key.as_str().unwrap());
    house.call("POST", "/v1/charges", Some(&key), body).await
}

#[tokio::test]
async fn every_account_has_keys_of_its_own_and_shows_them_to_the_partner() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let bearer = house.bearer("demo").await;
    let shown = house.call("GET", "/gateway-credentials", Some(&bearer), &Value::Null).await.ok();
    let (card, ach) =
        (account(&house, "MerchantAccount").await, account(&house, "AchAccount").await);
    for (listed, own) in [(&shown["test_accounts"][0], &card), (&shown["test_accounts"][1], &ach)] {
        for field in ["id", "type", "public_key", "secret_key"] {
            assert!(listed[field].is_string(), "{field}");
            assert_eq!(listed[field], own[field]);
        }
        assert!(listed["name"].is_string());
        assert_eq!(listed["currency"].as_str().unwrap().len(), 3);
        assert_eq!(listed["recurring_charges_enabled"], true);
        assert_eq!(listed["public_key"].as_str().unwrap().len(), 24);
    }
    let merchant = house.demo().await["test"].clone();
    let keys = [&card["secret_key"], &ach["secret_key"], &merchant["secret_key"]];
    assert!(keys[0] != keys[1] && keys[1] != keys[2] && keys[0] != keys[2]);
    for key in keys {
        assert_eq!(charged(&house, key, &charge(100)).await.ok()["account_id"], card["id"]);
    }
    let public = charged(&house, &card["public_key"], &charge(100)).await;
    assert_eq!(public.refusal().0, 401, "a public key moves no money");
    super::covers(&["5.5"]);
}

#[tokio::test]
async fn where_no_account_is_named_a_key_takes_its_own_and_the_merchant_s_the_primary_one() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let club = added(&house, json!({"name": "Club", "trust_account": true})).await;
    let card = account(&house, "MerchantAccount").await;
    let merchant = house.demo().await["test"]["secret_key"].clone();
    let of = async |key: &Value, body: &Value| {
        charged(&house, key, body).await.ok()["account_id"].clone()
    };
    assert_eq!(of(&club["secret_key"], &charge(100)).await, club["id"]);
    assert_eq!(of(&merchant, &charge(100)).await, card["id"]);
    assert_eq!(
        of(&card["secret_key"], &with(charge(100), "account_id", club["id"].clone())).await,
        club["id"]
    );
    added(&house, json!({"name": "Main", "primary": true})).await;
    let main = of(&merchant, &charge(100)).await;
    assert!(main != card["id"] && main != club["id"]);
    let own = house.secret("GET", "/v1/merchant", &Value::Null).await.ok();
    let primary = |name: &str| {
        let all = own["merchant_accounts"].as_array().unwrap();
        all.iter().find(|one| one["name"] == name).unwrap()["primary"].clone()
    };
    assert_eq!(
        (primary("Main"), primary("Card"), primary("Club")),
        (json!(true), json!(false), json!(false))
    );
    let bearer = house.bearer("demo").await;
    let banks = house.call("GET", "/bank-accounts", Some(&bearer), &Value::Null).await.ok();
    assert_eq!(banks[1]["name"], "Trust");
    assert_eq!(banks[1]["processing_accounts"][0]["id"], club["id"]);
}

#[tokio::test]
async fn a_payment_that_names_no_account_takes_the_primary_one_of_its_type() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let merchant = house.demo().await["test"]["secret_key"].clone();
    for (kind, method) in [("MerchantAccount", visa()), ("AchAccount", super::story::bank())] {
        let body = json!({"amount": 100, "method": method});
        let first = account(&house, kind).await;
        let second = added(&house, json!({"name": "Second", "type": kind})).await;
        assert_eq!(charged(&house, &merchant, &body).await.ok()["account_id"], first["id"]);
        let main = added(&house, json!({"name": "Main", "type": kind, "primary": true})).await;
        assert!(main["id"] != first["id"] && main["id"] != second["id"]);
        assert_eq!(charged(&house, &merchant, &body).await.ok()["account_id"], main["id"]);
    }
    super::covers(&["33.7"]);
}

#[tokio::test]
async fn money_is_of_its_account_s_currency() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let euro = added(&house, json!({"name": "Euro", "currency": "EUR"})).await;
    let key = euro["secret_key"].clone();
    assert_eq!(charged(&house, &key, &charge(100)).await.ok()["currency"], "EUR");
    let dollars = charged(&house, &key, &with(charge(100), "currency", "USD")).await;
    assert_eq!(dollars.refusal().1, "unsupported_currency");
    let schedule = json!({"start": "2027-01-01", "interval_unit": "MONTH", "interval_delay": 1});
    let body = json!({"amount": 500, "method": visa(), "schedule": schedule, "currency": "EUR"});
    let key = basic(key.as_str().unwrap());
    let made = house.call("POST", "/v1/recurring/charges", Some(&key), &body).await.ok();
    assert_eq!((&made["currency"], &made["account_id"]), (&json!("EUR"), &euro["id"]));
    let refused = house.secret("POST", "/v1/recurring/charges", &body).await;
    assert_eq!(refused.refusal().1, "unsupported_currency");
}
