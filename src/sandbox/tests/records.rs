//! Changes by a merchant to itself and its accounts, and the purge of test data (service-facts, 67
//! to 71).

use serde_json::{Value, json};

use super::{TestSandbox, covers, fields, visa};
use crate::sandbox::options::ServiceSurface;

#[tokio::test]
async fn a_merchant_changes_its_details_and_what_is_left_out_or_null_stays() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let before = house.secret("GET", "/v1/merchant", &Value::Null).await.ok();
    house.advance("PT1M").await;
    let change = json!({"contact_name": "Ann", "city": "Springfield", "country": "US"});
    let after = house.secret("PATCH", "/v1/merchant", &change).await.ok();
    assert_eq!((&after["contact_name"], &after["city"]), (&json!("Ann"), &json!("Springfield")));
    assert_ne!(after["modified"], before["modified"]);
    let put = json!({"contact_name": null, "city": "Salem"});
    let after = house.secret("PUT", "/v1/merchant", &put).await.ok();
    assert_eq!((&after["contact_name"], &after["city"]), (&json!("Ann"), &json!("Salem")));
    assert_eq!((&after["name"], &after["public_key"]), (&before["name"], &before["public_key"]));
    let wrong = house.secret("PATCH", "/v1/merchant", &json!({"country": "USA"})).await;
    assert_eq!(fields(&wrong)[0].0, "country");
    let ranges = json!({"api_allowed_ip_address_ranges": "10.0.0.0/8"});
    house.secret("PATCH", "/v1/merchant", &ranges).await.ok();
    assert_eq!(house.secret("GET", "/v1/merchant", &Value::Null).await.status, 401);
}

#[tokio::test]
async fn a_merchant_changes_an_account() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let demo = house.demo().await["test"].clone();
    let card = demo["card_account_id"].as_str().unwrap().to_owned();
    let path = format!("/v1/accounts/{card}");
    let change = json!({"name": "Main", "cvv_policy": "REQUIRE_MATCH_STRICT", "avs_policy": "ADDR_STRICT",
        "required_payment_fields": "cvv,postal_code", "accepted_card_types": "VISA,JCB",
        "transaction_allowed_countries": "US"});
    let after = house.secret("PATCH", &path, &change).await.ok();
    assert_eq!(
        (&after["name"], &after["cvv_policy"]),
        (&json!("Main"), &json!("REQUIRE_MATCH_STRICT"))
    );
    assert_eq!(
        (&after["accepted_card_types"], &after["required_payment_fields"]),
        (&json!("JCB,VISA"), &json!("cvv,postal_code"))
    );
    assert_eq!(after["transaction_allowed_countries"], "US");
    let put = house
        .secret("PUT", &path, &json!({"accepted_card_types": null, "name": "Till"}))
        .await
        .ok();
    assert_eq!((&put["accepted_card_types"], &put["name"]), (&json!("JCB,VISA"), &json!("Till")));
    let wrong = json!({"cvv_policy": "SOMETIMES", "required_payment_fields": "shoe", "transaction_allowed_countries": "USA"});
    let told: Vec<String> =
        fields(&house.secret("PATCH", &path, &wrong).await).into_iter().map(|one| one.0).collect();
    assert_eq!(told, ["cvv_policy", "required_payment_fields", "transaction_allowed_countries"]);
    assert_eq!(
        house.secret("PATCH", &path, &json!({"primary": false})).await.refusal().1,
        "no_primary_account"
    );
    let ach = demo["ach_account_id"].as_str().unwrap();
    assert_eq!(
        house.secret("PATCH", &format!("/v1/accounts/{ach}"), &json!({})).await.refusal().0,
        404
    );
    let check = house
        .secret("PATCH", &format!("/v1/ach-accounts/{ach}"), &json!({"name": "Checks"}))
        .await
        .ok();
    assert_eq!(check["name"], "Checks");
    let live = house.key("live", "secret_key").await;
    assert_eq!(house.call("PATCH", &path, Some(&live), &json!({})).await.refusal().0, 404);
}

#[tokio::test]
async fn test_data_is_purged_and_live_data_never() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let live = house.key("live", "secret_key").await;
    house
        .call("POST", "/v1/charges", Some(&live), &json!({"amount": 5, "method": visa()}))
        .await
        .ok();
    let fill = async || {
        house.secret("POST", "/v1/cards", &visa()).await.ok();
        house.charged(5, visa()).await;
        house.held(5).await;
        let recurs = json!({"amount": 5, "method": visa(), "schedule": {"start": "2027-01-01", "interval_unit": "DAY", "interval_delay": 1}});
        house.secret("POST", "/v1/recurring/charges", &recurs).await.ok();
    };
    let counts = async || {
        let mut counts = Vec::new();
        for path in ["/v1/transactions", "/v1/charges/holds", "/v1/recurring/charges", "/v1/cards"]
        {
            counts.push(
                house.secret("GET", path, &Value::Null).await.ok()["total_entries"]
                    .as_u64()
                    .unwrap(),
            );
        }
        counts
    };
    fill().await;
    assert_eq!(counts().await, [2, 1, 1, 1]);
    let purge = "/v1/merchant/purge-test-data";
    let done = house.secret("POST", purge, &json!({"delete_transactions": true})).await;
    assert_eq!((done.status.as_u16(), done.text.as_str()), (204, ""));
    assert_eq!(counts().await, [0, 0, 0, 1]);
    house.secret("POST", purge, &json!({"delete_payment_methods": true})).await;
    assert_eq!(counts().await, [0, 0, 0, 0]);
    fill().await;
    house.secret("POST", purge, &Value::Null).await;
    assert_eq!(counts().await, [0, 0, 0, 0]);
    house.advance("P2Y").await;
    assert_eq!(counts().await, [0, 0, 0, 0], "purged charges collect nothing");
    let reply = house.call("POST", purge, Some(&live), &Value::Null).await;
    assert_eq!(reply.refusal().1, "unavailable_for_merchant_mode");
    let left = house.call("GET", "/v1/transactions", Some(&live), &Value::Null).await.ok();
    assert_eq!(left["total_entries"], 1);
}

#[tokio::test]
async fn the_service_says_how_it_is() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let status = house.call("GET", "/status", None, &Value::Null).await.ok();
    assert_eq!(status, json!({"status": "NORMAL"}));
    let card = house.secret("POST", "/v1/cards", &visa()).await.ok();
    let path = format!("/v1/cards/{}", card["id"].as_str().unwrap());
    for method in ["GET", "PATCH", "DELETE"] {
        assert_eq!(house.secret(method, &path, &json!({})).await.status, 200, "{method}");
    }
    covers(&["52.13"]);
}
