//! Fields of a charge besides amount and method, and their bounds (gateway-api, POST /v1/charges;
//! service-facts, 33, 47).

use serde_json::{Value, json};

use super::partner::contact;
use super::story::bank;
use super::{Reply, TestSandbox, covers, fields, visa, with};
use crate::sandbox::options::ServiceSurface;

async fn charge(house: &TestSandbox, body: &Value) -> Reply {
    house.secret("POST", "/v1/charges", body).await
}

fn body() -> Value {
    json!({"amount": 1000, "method": visa()})
}

fn strokes() -> Value {
    json!({"mime_type": "service/jsignature", "data": "[{\"x\":[1],\"y\":[2]}]"})
}

#[tokio::test]
async fn words_and_data_come_back_as_they_were_sent() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let sent = json!({"amount": 1000, "method": visa(), "reference": "Case 7", "surcharge_amount": 30,
        "data": {"matter": [7, {"a": null}]}});
    let made = charge(&house, &sent).await.ok();
    let kept = house.fetch(&made).await;
    for name in ["reference", "surcharge_amount", "data"] {
        assert_eq!(made[name], sent[name], "{name}");
        assert_eq!(kept[name], sent[name], "{name}");
    }
    covers(&["33.11"]);
}

#[tokio::test]
async fn a_gratuity_needs_a_signature() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let generous = with(body(), "gratuity", 200);
    assert_eq!(charge(&house, &generous).await.refusal().1, "signature_required");
    let blank = with(generous.clone(), "signature", json!({"mime_type": "", "data": "x"}));
    assert_eq!(fields(&charge(&house, &blank).await)[0].0, "signature.mime_type");
    let negative = charge(&house, &with(body(), "gratuity", -1)).await;
    assert_eq!(fields(&negative), [("gratuity".to_owned(), "below_minimum_value".to_owned())]);
    let made = charge(&house, &with(generous, "signature", strokes())).await.ok();
    assert_eq!((&made["gratuity"], &made["amount"]), (&json!(200), &json!(1000)));
    assert!(made["signature_id"].is_string());
    assert_eq!(house.refund(&made, 1200).await["amount"], 1200, "amount and gratuity");
    assert_eq!(charge(&house, &with(body(), "gratuity", 0)).await.ok()["gratuity"], 0);
    let held = house.held(500).await;
    let tip = json!({"amount": 500, "gratuity": 50});
    assert_eq!(
        house.to_charge(&held, "capture", tip.clone()).await.refusal().1,
        "signature_required"
    );
    let done = house.to_charge(&held, "capture", with(tip, "signature", strokes())).await.ok();
    assert_eq!(done["gratuity"], 50);
    let none = house.held(500).await;
    let done = house.to_charge(&none, "capture", json!({"amount": 500, "gratuity": 0})).await.ok();
    assert!(done.get("gratuity").is_none());
    covers(&["33.13"]);
}

#[tokio::test]
async fn an_amount_is_more_than_nothing_and_has_an_end() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    for (amount, sub_code) in [
        (json!(0), "below_minimum_value"),
        (json!(-5), "below_minimum_value"),
        (json!(100_000_000_000_000_i64), "exceeds_maximum_value"),
        (json!("1.5"), "invalid"),
    ] {
        let reply = charge(&house, &with(body(), "amount", amount)).await;
        assert_eq!(fields(&reply), [("amount".to_owned(), sub_code.to_owned())]);
    }
    let most = charge(&house, &with(body(), "amount", "99999999999999")).await.ok();
    assert_eq!(most["amount"], 99_999_999_999_999_i64);
    covers(&["33.15"]);
}

#[tokio::test]
async fn a_merchant_has_limits_of_a_payment_a_day_and_a_month() {
    for (limits, amounts, code) in [
        (json!({"max_amount": 500}), vec![500, 501], "merchant_trans_max_amount_exceeded"),
        (json!({"daily_count": 1}), vec![5, 5], "merchant_trans_daily_count_exceeded"),
        (json!({"daily_amount": 9}), vec![5, 5], "merchant_trans_daily_amount_exceeded"),
        (json!({"monthly_count": 2}), vec![5, 5, 5], "merchant_trans_monthly_count_exceeded"),
        (json!({"monthly_amount": 14}), vec![5, 5, 5], "merchant_trans_monthly_amount_exceeded"),
    ] {
        let house = TestSandbox::new(ServiceSurface::Public);
        house.allow("limits", limits.clone()).await;
        let (last, first) = amounts.split_last().unwrap();
        for amount in first {
            charge(&house, &with(body(), "amount", *amount)).await.ok();
        }
        let over = charge(&house, &with(body(), "amount", *last)).await;
        assert_eq!(over.refusal().1, code);
        let left = house.fetch(&json!({"id": over.json()["messages"][0]["entity_id"]})).await;
        assert_eq!((&left["status"], &left["failure_code"]), (&json!("FAILED"), &json!(code)));
        house.advance(if code.contains("monthly") { "P10D" } else { "P1D" }).await;
        let later = charge(&house, &with(body(), "amount", first[0])).await;
        assert_eq!(later.status, 200, "another day, or month: {limits}");
    }
    covers(&["33.17"]);
}

#[tokio::test]
async fn a_method_of_the_vault_pays_by_its_id() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let bearer = house.bearer("demo").await;
    let person = contact(&house, &bearer, true).await;
    let path = format!("/contacts/{}/payment-methods", person["id"].as_str().unwrap());
    let token = super::tokens::token(&house, &visa()).await;
    let new = json!({"payment_type": "credit_card", "one_time_token": token["id"], "authorized_uses": ["all"]});
    let wrong = with(new.clone(), "payment_type", "bank_account");
    assert_eq!(
        house.call("POST", &path, Some(&bearer), &wrong).await.refusal().1,
        "incorrect_payment_type"
    );
    let kept = house.call("POST", &path, Some(&bearer), &new).await.ok();
    assert!(kept["id"].as_str().unwrap().starts_with("pm_"));
    assert_eq!(
        (&kept["contact_id"], &kept["method"]["number"]),
        (&person["id"], &json!("************4242"))
    );
    let made = charge(&house, &json!({"amount": 5, "method": kept["id"]})).await.ok();
    assert_eq!(made["status"], "AUTHORIZED");
    assert_eq!(
        house.call("POST", &path, Some(&bearer), &new).await.refusal().0,
        404,
        "the token is used up"
    );
    let live = house.key("live", "secret_key").await;
    let other = house
        .call("POST", "/v1/charges", Some(&live), &json!({"amount": 5, "method": kept["id"]}))
        .await;
    assert_eq!(other.refusal().0, 404);
    covers(&["33.6"]);
}

#[tokio::test]
async fn a_live_key_sees_what_is_live_alone() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let live = house.key("live", "secret_key").await;
    let made = house.call("POST", "/v1/charges", Some(&live), &body()).await.ok();
    let saved = house.call("POST", "/v1/cards", Some(&live), &visa()).await.ok();
    house.charged(5, visa()).await;
    for path in ["/v1/transactions", "/v1/cards"] {
        let list = house.call("GET", path, Some(&live), &Value::Null).await.ok();
        assert_eq!(list["total_entries"], 1, "{path}");
    }
    assert_eq!(
        house
            .secret("GET", &format!("/v1/transactions/{}", super::story::id(&made)), &Value::Null)
            .await
            .status,
        404
    );
    assert_eq!(
        house
            .secret("GET", &format!("/v1/cards/{}", super::story::id(&saved)), &Value::Null)
            .await
            .status,
        404
    );
    covers(&["30.2"]);
}

#[tokio::test]
async fn an_electronic_check_is_settled_some_banking_days_later_and_may_come_back() {
    let house = TestSandbox::new(ServiceSurface::Public);
    house.allow("settlement_days", 3).await;
    let (check, card) = (house.charged(700, bank()).await, house.charged(700, visa()).await);
    house.advance("P2D").await;
    assert_eq!(
        (house.status(&check).await.as_str(), house.status(&card).await.as_str()),
        ("AUTHORIZED", "COMPLETED")
    );
    house.advance("P3D").await;
    let settled = house.fetch(&check).await;
    assert_eq!(settled["status"], "COMPLETED");
    assert_eq!(
        settled["completion_timestamp"], "2026-11-26T04:00:00.000Z",
        "Wednesday evening in Chicago"
    );
    let order = json!({"result": "failed", "code": "ach_payment_stopped"});
    let path = format!("transactions/{}/settlement", super::story::id(&check));
    let back = house.control("POST", &path, &order).await;
    assert_eq!(
        (&back["status"], &back["failure_code"]),
        (&json!("FAILED"), &json!("ach_payment_stopped"))
    );
    covers(&["35.8"]);
}

#[tokio::test]
async fn the_daily_run_comes_once_on_a_day_whose_hour_is_skipped_or_repeated() {
    for (start, hour, expect) in [
        ("2027-03-13T18:00:00Z", 2, ["2027-03-14T08:00:00.000Z", "2027-03-15T07:00:00.000Z"]),
        ("2027-11-06T18:00:00Z", 1, ["2027-11-07T06:00:00.000Z", "2027-11-08T07:00:00.000Z"]),
    ] {
        let house = TestSandbox::new(ServiceSurface::Public);
        house.control("POST", "clock", &json!({ "set": start })).await;
        house.allow("capture_hour", hour).await;
        let first = house.charged(5, visa()).await;
        house.advance("P1D").await;
        let second = house.charged(5, visa()).await;
        house.advance("P2D").await;
        let runs = [house.fetch(&first).await, house.fetch(&second).await];
        let runs = runs.map(|one| one["completion_timestamp"].as_str().unwrap().to_owned());
        assert_eq!(runs, expect, "{start}");
        assert_eq!(house.total("CAPTURE").await, 10);
    }
    covers(&["35.3"]);
}
