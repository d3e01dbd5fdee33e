//! CVV and address results that an account rejects (gateway-api, States and transitions;
//! service-facts, 69).

use serde_json::{Value, json};

use super::story::{events, movements};
use super::{Reply, TestSandbox, visa, with};
use crate::sandbox::merchants::policy::{AvsPolicy, CvvPolicy};
use crate::sandbox::options::ServiceSurface;

/// Returns a card of this number without an address.
fn bare(number: &str) -> Value {
    json!({"type": "card", "number": number, "exp_month": 10, "exp_year": 2030})
}

async fn charge(house: &TestSandbox, method: Value) -> Reply {
    house.secret("POST", "/v1/charges", &json!({"amount": 900, "method": method})).await
}

#[tokio::test]
async fn a_charge_with_a_rejected_result_is_voided_at_once() {
    let house = TestSandbox::new(ServiceSurface::Public);
    house.allow("cvv_policy", "REQUIRE_MATCH_LENIENT").await;
    house.allow("avs_policy", "POSTAL_CODE_STRICT").await;
    for (method, code) in [
        (with(visa(), "number", "4000000000000101"), "card_cvv_incorrect"),
        (with(visa(), "number", "4000000000000010"), "card_avs_rejected"),
    ] {
        let (before, moved) = (house.told().await, house.ledger_movements().await.len());
        let reply = charge(&house, method).await;
        assert_eq!(reply.refusal(), (422, code.to_owned(), None));
        let left = house.fetch(&json!({"id": reply.json()["messages"][0]["entity_id"]})).await;
        assert_eq!((&left["status"], &left["failure_code"]), (&json!("VOIDED"), &json!(code)));
        let expect = [("created", "PENDING"), ("authorized", "AUTHORIZED"), ("voided", "VOIDED")];
        assert_eq!(house.events_since(before).await, events(&expect));
        let expect = [("CHARGE", "CHARGE", 900), ("VOID", "CHARGE", 900)];
        assert_eq!(house.ledger_movements().await.split_off(moved), movements(&expect));
    }
    charge(&house, visa()).await.ok();
    house.advance("P1D").await;
    assert_eq!(house.total("CAPTURE").await, 900);
    super::covers(&["35.6", "35.7"]);
}

#[tokio::test]
async fn a_rejected_hold_is_no_hold_and_starts_no_recurring_charge() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let held = house.held(300).await;
    house.allow("cvv_policy", "REQUIRE_MATCH_STRICT").await;
    let number = "4242424242424242";
    let waiting = json!({"amount": 5, "method": bare(number), "auto_capture": false});
    let club = json!({"amount": 5, "method": bare(number),
        "recur": {"interval_unit": "MONTH", "interval_delay": 1}});
    for body in [waiting, club] {
        let reply = house.secret("POST", "/v1/charges", &body).await;
        assert_eq!(reply.refusal().1, "card_cvv_incorrect");
    }
    let holds = house.secret("GET", "/v1/charges/holds", &Value::Null).await.ok();
    assert_eq!((&holds["total_entries"], &holds["results"][0]["id"]), (&json!(1), &held["id"]));
    assert_eq!(house.objects("recurring_charges").await.len(), 0);
}

#[tokio::test]
async fn an_account_shows_what_it_wants() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let card = house.demo().await["test"]["card_account_id"].as_str().unwrap().to_owned();
    house.allow("avs_policy", json!({ card: "ADDR_STRICT" })).await;
    let bearer = house.bearer("demo").await;
    let banks = house.call("GET", "/bank-accounts", Some(&bearer), &Value::Null).await.ok();
    let shown = &banks[0]["processing_accounts"][0];
    assert_eq!(
        (&shown["avs_policy"], &shown["cvv_policy"]),
        (&json!("ADDR_STRICT"), &json!("OPTIONAL"))
    );
    let own = house.secret("GET", "/v1/merchant", &Value::Null).await.ok();
    assert_eq!(own["merchant_accounts"][0]["avs_policy"], "ADDR_STRICT");
    for wrong in
        [json!({"cvv_policy": "SOMETIMES"}), json!({"avs_policy": {"none": "ADDR_STRICT"}})]
    {
        let order = with(wrong, "merchant", "demo");
        assert_eq!(house.call("POST", "/_sandbox/policy", None, &order).await.status, 400);
    }
}

#[test]
fn every_policy_accepts_its_results_alone() {
    let results = ["ADDRESS_AND_POSTAL_CODE", "ADDRESS", "POSTAL_CODE", "NO_MATCH", "UNAVAILABLE"];
    for (policy, expect) in [
        (AvsPolicy::Disabled, [true, true, true, true, true]),
        (AvsPolicy::SubmitIgnoreResult, [true, true, true, true, true]),
        (AvsPolicy::AddrOrPostalCodeLenient, [true, true, true, false, true]),
        (AvsPolicy::AddrOrPostalCodeStrict, [true, true, true, false, false]),
        (AvsPolicy::AddrStrict, [true, true, false, false, false]),
        (AvsPolicy::PostalCodeStrict, [true, false, true, false, false]),
        (AvsPolicy::ExactAddrAndPostalCodeLenient, [true, false, false, false, true]),
        (AvsPolicy::ExactAddrAndPostalCodeStrict, [true, false, false, false, false]),
    ] {
        assert_eq!(results.map(|result| policy.accepts(Some(result))), expect, "{policy:?}");
    }
    for (policy, expect) in [
        (CvvPolicy::Disabled, [true, true, true]),
        (CvvPolicy::Optional, [true, true, true]),
        (CvvPolicy::RequireMatchLenient, [true, false, true]),
        (CvvPolicy::RequireMatchStrict, [true, false, false]),
    ] {
        let results = [Some("MATCHED"), Some("NOT_MATCHED"), None];
        assert_eq!(results.map(|result| policy.accepts(result)), expect, "{policy:?}");
    }
}
