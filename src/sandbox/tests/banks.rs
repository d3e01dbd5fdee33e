//! Saved banks (gateway-api, Saved banks; service-facts, parts 3 and 4).

use serde_json::{Value, json};

use super::tokens::token;
use super::{TestSandbox, fields, visa, with};
use crate::sandbox::options::ServiceSurface;

/// Returns a bank account of a business.
fn bank() -> Value {
    json!({"type": "bank", "routing_number": "000000013", "account_number": "1234567890",
        "account_type": "CHECKING", "name": "Doe Ltd", "account_holder_type": "business"})
}

async fn save(house: &TestSandbox, bank: &Value) -> Value {
    house.secret("POST", "/v1/banks", bank).await.ok()
}

fn path(bank: &Value) -> String {
    format!("/v1/banks/{}", bank["id"].as_str().unwrap())
}

#[tokio::test]
async fn a_bank_is_answered_masked_and_its_number_is_kept_nowhere() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let saved = save(&house, &with(bank(), "reference", "rk1")).await;
    assert_eq!(saved["type"], "bank");
    assert_eq!(saved["routing_number"], "******013");
    assert_eq!(saved["account_number"], "******7890");
    assert_eq!(saved["bank_name"], "FIRST BANK OF TESTING");
    assert_eq!((&saved["name"], &saved["account_type"]), (&json!("Doe Ltd"), &json!("CHECKING")));
    assert_eq!(
        (&saved["account_holder_type"], &saved["reference"]),
        (&json!("business"), &json!("rk1"))
    );
    assert_eq!(saved["fingerprint"].as_str().unwrap().len(), 20);
    assert_eq!(saved["id"].as_str().unwrap().len(), 22);
    assert!(saved.get("number").is_none());
    assert_eq!(house.secret("GET", &path(&saved), &Value::Null).await.ok(), saved);
    let snapshot = house.control("GET", "snapshot", &Value::Null).await.to_string();
    assert!(!snapshot.contains("1234567890"));
    let shown = house.objects("banks").await;
    assert_eq!((shown.len(), &shown[0]["id"]), (1, &saved["id"]));
    assert_eq!(house.objects("cards").await.len(), 0);
    super::covers(&["34.2", "48.8"]);
}

#[tokio::test]
async fn equal_accounts_have_equal_fingerprints() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let one = save(&house, &bank()).await;
    let again = save(&house, &with(bank(), "name", "Roe Ltd")).await;
    let other = save(&house, &with(bank(), "account_number", "1234567891")).await;
    let elsewhere = save(&house, &with(bank(), "routing_number", "000000000")).await;
    assert_eq!(one["fingerprint"], again["fingerprint"]);
    assert_ne!(one["fingerprint"], other["fingerprint"]);
    assert_ne!(one["fingerprint"], elsewhere["fingerprint"]);
}

#[tokio::test]
async fn every_wrong_field_is_named_at_once() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let check = async |body: Value, expect: &[(&str, &str)]| {
        let found = fields(&house.secret("POST", "/v1/banks", &body).await);
        let found: Vec<_> = found.iter().map(|(one, two)| (one.as_str(), two.as_str())).collect();
        assert_eq!(found, expect, "{body}");
    };
    check(
        json!({}),
        &[
            ("routing_number", "not_blank"),
            ("account_number", "not_blank"),
            ("account_type", "not_blank"),
            ("name", "not_blank"),
        ],
    )
    .await;
    check(
        json!({"routing_number": "12345", "account_number": "123", "account_type": "checking",
            "given_name": "Jane", "reference": "r".repeat(65)}),
        &[
            ("routing_number", "invalid_length"),
            ("account_number", "invalid_length"),
            ("account_type", "invalid"),
            ("reference", "invalid_length"),
            ("surname", "not_blank"),
        ],
    )
    .await;
    check(with(bank(), "routing_number", "021000022"), &[("routing_number", "invalid")]).await;
    check(with(bank(), "account_number", "12-34"), &[("account_number", "invalid")]).await;
    assert_eq!(house.objects("banks").await.len(), 0);
}

#[tokio::test]
async fn published_test_banks_and_real_check_digits_are_taken_and_an_individual_too() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    for routing in ["000000000", "000000013", "000000001", "111000025", "021000021"] {
        let saved = save(&house, &with(bank(), "routing_number", routing)).await;
        assert_eq!(saved["account_holder_type"], "business");
    }
    let jane = json!({"routing_number": "000000013", "account_number": 1_234_567_890_i64,
        "account_type": "SAVINGS", "given_name": "Jane", "surname": "Doe", "name": null});
    let jane = save(&house, &jane).await;
    assert_eq!((&jane["given_name"], &jane["surname"]), (&json!("Jane"), &json!("Doe")));
    assert!(jane.get("name").is_none() && jane.get("account_holder_type").is_none());
    super::covers(&["34.7"]);
}

#[tokio::test]
async fn a_token_becomes_a_bank_carries_its_texts_and_is_used_up() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let made = with(with(bank(), "reference", "from-token"), "exp_month", 0);
    let made = token(&house, &with(made, "exp_year", "0")).await;
    assert!(made.get("exp_month").is_none() && made.get("exp_year").is_none(), "{made}");
    let body = json!({"token_id": made["id"], "description": "d"});
    let saved = save(&house, &body).await;
    assert_eq!((&saved["reference"], &saved["description"]), (&json!("from-token"), &json!("d")));
    assert_eq!(saved["fingerprint"], made["fingerprint"]);
    assert_eq!(house.secret("POST", "/v1/banks", &body).await.refusal().0, 404);
    let card = token(&house, &visa()).await;
    let reply = house.secret("POST", "/v1/banks", &json!({"token_id": card["id"]})).await;
    assert_eq!(reply.refusal(), (422, "incorrect_payment_type".to_owned(), None));
    let body = json!({"token_id": card["id"]});
    assert_eq!(house.secret("POST", "/v1/cards", &body).await.status, 200, "it was not used up");
    super::covers(&["48.8"]);
}

#[tokio::test]
async fn a_patch_changes_texts_or_the_account_by_a_token() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let saved = save(&house, &with(bank(), "reference", "old")).await;
    house.advance("PT1M").await;
    let detail = house.secret("PATCH", &path(&saved), &json!({"account_type": "SAVINGS"})).await;
    assert_eq!(fields(&detail), [("account_type".to_owned(), "invalid".to_owned())]);
    let change = json!({"reference": "new", "account_type": null, "description": null});
    let after = house.secret("PATCH", &path(&saved), &change).await.ok();
    assert_eq!((&after["reference"], &after["account_type"]), (&json!("new"), &json!("CHECKING")));
    assert_ne!(after["modified"], saved["modified"]);
    assert_eq!(after["created"], saved["created"]);
    let told = json!({"description": "Dues"});
    let after = house.secret("PATCH", &path(&saved), &told).await.ok();
    assert_eq!((&after["description"], &after["reference"]), (&json!("Dues"), &json!("new")));
    let other = with(with(bank(), "account_number", "99990000"), "name", "Roe Ltd");
    let other = token(&house, &with(other, "account_type", "SAVINGS")).await;
    let after = house.secret("PATCH", &path(&saved), &json!({"token_id": other["id"]})).await.ok();
    assert_eq!((&after["account_number"], &after["name"]), (&json!("****0000"), &json!("Roe Ltd")));
    assert_eq!((&after["account_type"], &after["reference"]), (&json!("SAVINGS"), &json!("new")));
    for (reference, count) in [("old", 0), ("new", 1)] {
        let list = format!("/v1/banks?reference={reference}");
        let list = house.secret("GET", &list, &Value::Null).await.ok();
        assert_eq!(list["total_entries"], count);
    }
    super::covers(&["48.8"]);
}

#[tokio::test]
async fn a_bank_pays_by_its_id_until_it_is_deleted() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let saved = save(&house, &with(bank(), "reference", "r")).await;
    let charge = json!({"amount": 100, "method": saved["id"]});
    let made = house.secret("POST", "/v1/charges", &charge).await.ok();
    assert_eq!(made["method"]["id"], saved["id"]);
    assert_eq!(made["account_id"], house.demo().await["test"]["ach_account_id"]);
    let closed = save(&house, &with(bank(), "account_number", "1000000007")).await;
    let declined = json!({"amount": 100, "method": closed["id"]});
    let reply = house.secret("POST", "/v1/charges", &declined).await;
    assert_eq!(reply.refusal().1, "ach_account_closed");
    assert_eq!(house.secret("DELETE", &path(&saved), &Value::Null).await.ok(), saved);
    let expect = format!("Bank[{}]", saved["id"].as_str().unwrap());
    let reply = house.secret("DELETE", &path(&saved), &Value::Null).await;
    assert_eq!(reply.refusal(), (404, "resource_not_found".to_owned(), Some(expect)));
    assert_eq!(house.secret("POST", "/v1/charges", &charge).await.refusal().0, 404);
    let list = house.secret("GET", "/v1/banks?reference=r", &Value::Null).await.ok();
    assert_eq!(list["total_entries"], 0);
    super::covers(&["33.4", "48.8"]);
}

#[tokio::test]
async fn cards_and_banks_do_not_see_each_other_and_lists_are_paged_newest_first() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    for at in 0..25 {
        save(&house, &with(bank(), "reference", format!("r{}", at % 2))).await;
    }
    let card = house.secret("POST", "/v1/cards", &with(visa(), "reference", "r0")).await.ok();
    let page = house.secret("GET", "/v1/banks?page=2", &Value::Null).await.ok();
    assert_eq!((&page["page"], &page["total_entries"]), (&json!(2), &json!(25)));
    assert_eq!(page["results"].as_array().unwrap().len(), 5);
    let first = house.secret("GET", "/v1/banks?page_size=1&reference=r0", &Value::Null).await.ok();
    assert_eq!(
        (&first["total_entries"], &first["results"][0]["type"]),
        (&json!(13), &json!("bank"))
    );
    let wrong = format!("/v1/banks/{}", card["id"].as_str().unwrap());
    assert_eq!(house.secret("GET", &wrong, &Value::Null).await.refusal().0, 404);
    let live = house.key("live", "secret_key").await;
    let none = house.call("GET", "/v1/banks", Some(&live), &Value::Null).await.ok();
    assert_eq!(none["total_entries"], 0);
}
