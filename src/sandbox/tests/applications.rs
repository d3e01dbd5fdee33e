//! Merchant applications: submission, rules, tests, decisions (partner-api, Merchant application,
//! States).

use std::sync::Arc;

use serde_json::{Value, json};

use super::{FixedClock, TestSandbox, with};
use crate::sandbox::options::{DecisionMode, SandboxOptions, ServiceSurface};
use crate::sandbox::server::Sandbox;
use crate::sandbox::state::store::in_memory;

const PATH: &str = "/api/v1/merchant_applications";
/// Longer than the sandbox takes to decide on an application.
const LATER: &str = "PT6S";

/// Returns a complete application as the reference describes it.
pub(super) fn application(reference: &str, name: &str, tax: &str) -> Value {
    json!({
        "reference": reference, "plan": "basic", "first_name": "Jane", "last_name": "Doe",
        "email": "jane@example.com", "business_name": name, "business_address1": "1 Main Street",
        "business_city": "Springfield", "business_state": "IL", "business_zip_code": "62701",
        "business_phone": "217-555-0100", "business_country": "US", "industry_code": 8111,
        "goods_and_services": "Legal services", "structure": "SO", "business_type": "R",
        "federal_tax_id": tax, "years_in_business": "7", "owner_first_name": "Jane",
        "owner_last_name": "Doe", "owner_title": "Owner", "owner_date_of_birth": "1970-02-28",
        "owner_social_security_number": "000-00-0001", "owner_has_significant_ownership": true,
        "owner_has_significant_responsibility": true, "owner_address1": "2 Oak Street",
        "owner_city": "Springfield", "owner_state": "IL", "owner_zip_code": "62701",
        "owner_phone_number": "217-555-0101", "owner_email": "jane@example.com",
        "owner_drivers_license_number": "D000", "owner_drivers_license_state": "IL",
        "owner_drivers_license_expiration": "2030-01-31", "owner_country_of_citizenship": "US",
        "operating_account_routing_number": "000000013",
        "operating_account_bank_name": "FIRST BANK OF TESTING",
        "operating_account_number": "1234567", "ip_address_timestamp": "2026-11-21T18:00:00Z",
        "signature": r#"[{"lx":1,"ly":2,"mx":3,"my":4}]"#,
    })
}

/// Returns a bearer header of scope `tenant`.
pub(super) async fn tenant(house: &TestSandbox) -> String {
    let partner = house.credentials().await["partner"].clone();
    let body = json!({"client_id": partner["client_id"], "client_secret": partner["client_secret"],
        "grant_type": "client_credentials", "scope": "tenant"});
    let token = house.call("POST", "/oauth/token", None, &body).await.ok();
    format!("Bearer {}", token["access_token"].as_str().unwrap())
}

async fn post(house: &TestSandbox, fields: &Value) -> super::Reply {
    let bearer = tenant(house).await;
    let body = json!({ "merchant_application": fields });
    house.call("POST", PATH, Some(&bearer), &body).await
}

/// Submits an application; returns its id.
pub(super) async fn submit(house: &TestSandbox, fields: &Value) -> u64 {
    let answer = post(house, fields).await.ok();
    answer["merchant_application"]["id"].as_u64().unwrap()
}

/// Delivers all webhooks due to the Event URL; returns address and body of each.
pub(super) async fn notices(house: &TestSandbox) -> Vec<(String, Value)> {
    let seen = std::sync::Mutex::new(Vec::new());
    let take = |notice: crate::sandbox::webhooks::OutgoingWebhook| {
        let body = serde_json::from_slice(&notice.body).unwrap();
        seen.lock().unwrap().push((notice.url, body));
        async { Some(200) }
    };
    house.sandbox.deliver_due(take).await.unwrap();
    seen.into_inner().unwrap()
}

/// Returns the only event of the only webhook, after the sandbox has decided.
async fn outcome(house: &TestSandbox) -> Value {
    house.advance(LATER).await;
    let mut notices = notices(house).await;
    assert_eq!(notices.len(), 1, "{notices:?}");
    let (_, body) = notices.remove(0);
    assert_eq!(body.as_object().unwrap().len(), 1);
    assert_eq!(body["events"].as_array().unwrap().len(), 1);
    body["events"][0].clone()
}

/// Returns every context of a 422 whose messages have the documented form.
pub(super) fn contexts(reply: &super::Reply) -> Vec<String> {
    assert_eq!(reply.status, 422, "{}", reply.text);
    let messages = reply.json()["messages"].as_array().unwrap().clone();
    let keys = ["code", "level", "message", "context"];
    for message in &messages {
        assert!(message.as_object().unwrap().keys().all(|key| keys.contains(&key.as_str())));
        assert_eq!(
            (&message["code"], &message["level"]),
            (&json!("invalid_data"), &json!("error"))
        );
        assert!(message["message"].as_str().is_some_and(|text| !text.is_empty()));
    }
    messages.iter().map(|one| one["context"].as_str().unwrap().to_owned()).collect()
}

pub(super) fn manual() -> TestSandbox {
    let index = in_memory();
    let options = SandboxOptions {
        decide: DecisionMode::Manual,
        clock: Arc::new(FixedClock),
        ..SandboxOptions::default()
    };
    let sandbox = Sandbox::open(Arc::clone(&index), options).unwrap();
    TestSandbox { sandbox, index, surface: ServiceSurface::Public }
}

async fn decide(house: &TestSandbox, id: u64, order: &Value) -> super::Reply {
    let path = format!("/_sandbox/applications/{id}/decision");
    house.call("POST", &path, None, order).await
}

#[tokio::test]
async fn an_application_comes_wrapped_and_gets_a_number() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let fields = application("usr_1", "Doe LLC", "00-0000001");
    let id = submit(&house, &fields).await;
    let kept = house.objects("applications").await;
    assert_eq!(kept.len(), 1);
    assert_eq!((&kept[0]["id"], &kept[0]["state"]), (&json!(id), &json!("submitted")));
    assert_eq!(kept[0]["fields"]["business_name"], "Doe LLC");
    assert_eq!(kept[0]["fields"]["has_dba"], false);
    assert_eq!(kept[0]["fields"]["owner_percentage_of_ownership"], 100);
    let text = kept[0].to_string();
    for secret in ["00-0000001", "000-00-0001", "1970-02-28", "D000", "1234567", "\\\"lx\\\""] {
        assert!(!text.contains(secret), "{secret}");
    }
    let bearer = tenant(&house).await;
    assert_eq!(house.call("POST", PATH, Some(&bearer), &fields).await.refusal().0, 400);
    let body = json!({ "merchant_application": fields });
    let payments = house.bearer("demo").await;
    for auth in [None, Some(payments.as_str()), Some("Bearer x")] {
        assert_eq!(house.call("POST", PATH, auth, &body).await.refusal().0, 401);
    }
    assert_eq!(house.objects("applications").await.len(), 1);
    super::covers(&["7.1", "7.2", "7.5", "7.6"]);
}

#[tokio::test]
async fn wrong_fields_are_told_all_at_once_and_nothing_is_made() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let mut fields = application("usr_1", "Doe%20LLC", "00-0000001");
    fields["owner_title"] = json!("Vice President");
    fields["business_country"] = json!("USA");
    fields["signature"] = json!("Jane");
    fields["has_dba"] = json!(true);
    fields["second_owner"] = json!({"first_name": "John"});
    fields.as_object_mut().unwrap().shift_remove("email");
    let found = contexts(&post(&house, &fields).await);
    for context in [
        "email",
        "business_name",
        "business_country",
        "dba_name",
        "owner_title",
        "signature",
        "second_owner.social_security_number",
    ] {
        assert!(found.iter().any(|one| one == context), "{context}: {found:?}");
    }
    assert!(house.objects("applications").await.is_empty());
    super::covers(&["9.1", "9.2", "9.3"]);
}

#[tokio::test]
async fn nulls_and_numbers_and_truths_as_texts_are_forgiven() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let mut fields = application("usr_1", "Doe LLC", "00-0000001");
    fields["industry_code"] = json!("8111");
    fields["owner_has_significant_ownership"] = json!("true");
    fields["business_website"] = Value::Null;
    fields["test"] = Value::Null;
    submit(&house, &fields).await;
    let kept = house.objects("applications").await[0]["fields"].clone();
    assert_eq!(kept["industry_code"], 8111);
    assert_eq!(kept["owner_has_significant_ownership"], true);
    assert!(kept.get("business_website").is_none());
}

#[tokio::test]
async fn a_trust_plan_needs_its_account_and_an_unknown_plan_is_refused() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let fields = with(application("usr_1", "Doe LLC", "1"), "plan", "law-trust");
    let trust = [
        "trust_account_routing_number",
        "trust_account_bank_name",
        "trust_account_number",
        "signed_by",
    ];
    assert_eq!(contexts(&post(&house, &fields).await), trust);
    let plans = json!({"plans": [{"id": "gold", "trust": true}, {"id": "basic"}]});
    assert_eq!(house.control("POST", "partner", &plans).await["plans"][0]["id"], "gold");
    assert_eq!(contexts(&post(&house, &fields).await), ["plan"]);
    let gold = with(fields.clone(), "plan", "gold");
    assert_eq!(contexts(&post(&house, &gold).await), trust);
    submit(&house, &with(fields, "plan", "basic")).await;
    let wrong = json!({"plans": "gold"});
    let reply = house.call("POST", "/_sandbox/partner", None, &wrong).await;
    assert_eq!(reply.refusal().0, 400);
    super::covers(&["8.2", "8.3"]);
}

#[tokio::test]
async fn an_approved_application_makes_a_merchant_and_its_code_opens_it() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    submit(&house, &application("usr 1/a", "Doe & Sons", "00-0000001")).await;
    assert_eq!(house.objects("applications").await[0]["state"], "submitted");
    house.advance("PT4S").await;
    assert!(notices(&house).await.is_empty());
    house.advance("PT1S").await;
    let mut sent = notices(&house).await;
    let (url, body) = sent.remove(0);
    assert_eq!(url, "https://partner.example/events/usr%201%2Fa");
    let event = body["events"][0].clone();
    assert_eq!(event["type"], "merchant.provisioned");
    assert_eq!(event["data"]["reference"], "usr 1/a");
    assert_eq!(event["data"].as_object().unwrap().len(), 2);
    let bearer = exchange(&house, &event).await.ok();
    assert_eq!(bearer["scope"], "payments");
    let bearer = format!("Bearer {}", bearer["access_token"].as_str().unwrap());
    let keys = house.call("GET", "/gateway-credentials", Some(&bearer), &Value::Null).await.ok();
    assert_eq!(keys["merchant"]["name"], "Doe & Sons");
    assert_eq!(keys["merchant"]["address"], "1 Main Street");
    assert_eq!(keys["merchant"]["timezone"], "America/Chicago");
    assert_eq!(keys["test_accounts"].as_array().unwrap().len(), 2);
    assert_eq!(keys["user"]["email"], "owner@doe---sons.example");
    let banks = house.call("GET", "/bank-accounts", Some(&bearer), &Value::Null).await.ok();
    let trusts: Vec<_> = banks.as_array().unwrap().iter().map(|bank| &bank["trust"]).collect();
    assert_eq!(trusts, [false, true, false, true]);
    let kept = house.objects("applications").await[0].clone();
    assert_eq!((&kept["state"], &kept["merchant"]), (&json!("provisioned"), &json!("Doe & Sons")));
    assert_eq!(exchange(&house, &event).await.refusal().0, 400);
    super::covers(&["2.4", "13.1", "13.4", "14.1", "14.2", "16.2"]);
}

async fn exchange(house: &TestSandbox, event: &Value) -> super::Reply {
    let partner = house.credentials().await["partner"].clone();
    let body = json!({"client_id": partner["client_id"], "client_secret": partner["client_secret"],
        "grant_type": "authorization_code", "scope": "payments",
        "redirect_uri": partner["redirect_uri"], "code": event["data"]["auth_code"]});
    house.call("POST", "/oauth/token", None, &body).await
}

#[tokio::test]
async fn a_second_application_or_merchant_is_declined_with_its_reason() {
    for (reference, name, tax, reason) in [
        ("usr_1", "Other LLC", "00-0000009", "duplicate_application"),
        ("usr_2", "Other LLC", "000000001", "duplicate_application"),
        ("usr_2", "Doe LLC", "00-0000009", "duplicate_merchant"),
        ("usr_2", "demo", "00-0000009", "duplicate_merchant"),
    ] {
        let house = TestSandbox::new(ServiceSurface::Documented);
        submit(&house, &application("usr_1", "Doe LLC", "00-0000001")).await;
        assert_eq!(outcome(&house).await["type"], "merchant.provisioned");
        let id = submit(&house, &application(reference, name, tax)).await;
        let expect = json!({"type": "merchant_application.declined", "reason": reason,
            "data": {"id": id, "reference": reference}});
        assert_eq!(outcome(&house).await, expect);
        let kept = house.objects("applications").await;
        assert_eq!((&kept[1]["state"], &kept[1]["reason"]), (&json!("declined"), &json!(reason)));
    }
    super::covers(&["13.2", "15.1", "15.2", "15.3"]);
}

#[tokio::test]
async fn of_two_at_once_the_first_counts_and_a_declined_one_does_not() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let first = application("usr_1", "demo", "00-0000001");
    submit(&house, &first).await;
    assert_eq!(outcome(&house).await["reason"], "duplicate_merchant");
    let corrected = with(first, "business_name", "Doe LLC");
    submit(&house, &corrected).await;
    submit(&house, &with(corrected, "business_name", "Doe Two LLC")).await;
    house.advance(LATER).await;
    let sent = notices(&house).await;
    let kinds: Vec<_> = sent.iter().map(|(_, body)| &body["events"][0]["type"]).collect();
    assert_eq!(kinds, ["merchant.provisioned", "merchant_application.declined"]);
}

#[tokio::test]
async fn a_decision_survives_a_restart() {
    let house = TestSandbox::new(ServiceSurface::Public);
    submit(&house, &application("usr_1", "Doe LLC", "1")).await;
    let house = house.reopened();
    house.advance(LATER).await;
    let house = house.reopened();
    assert_eq!(notices(&house).await.len(), 1);
    assert!(notices(&house.reopened()).await.is_empty());
}

#[tokio::test]
async fn people_decide_where_the_sandbox_does_not() {
    let house = manual();
    let one = submit(&house, &application("usr_1", "Doe LLC", "1")).await;
    let two = submit(&house, &application("usr_2", "Roe LLC", "2")).await;
    house.advance("P30D").await;
    assert!(notices(&house).await.is_empty());
    for wrong in
        [json!({}), json!({"decision": "wait"}), json!({"decision": "decline", "reason": "x"})]
    {
        assert_eq!(decide(&house, one, &wrong).await.refusal().0, 400, "{wrong}");
    }
    assert_eq!(decide(&house, 7, &json!({"decision": "approve"})).await.refusal().0, 404);
    let declined = json!({"decision": "decline", "reason": "duplicate_merchant"});
    assert_eq!(decide(&house, one, &declined).await.ok()["state"], "declined");
    assert_eq!(
        decide(&house, two, &json!({"decision": "approve"})).await.ok()["state"],
        "provisioned"
    );
    let again = decide(&house, one, &json!({"decision": "approve"})).await;
    assert_eq!(again.refusal().1, "unavailable_for_current_status");
    let sent = notices(&house).await;
    assert_eq!(sent[0].1["events"][0]["reason"], "duplicate_merchant");
    assert_eq!(sent[1].1["events"][0]["type"], "merchant.provisioned");
    assert!(notices(&house).await.is_empty());
    super::covers(&["13.3", "13.4"]);
}

#[tokio::test]
async fn a_decline_without_a_reason_is_for_another() {
    let house = manual();
    let id = submit(&house, &application("usr_1", "Doe LLC", "1")).await;
    let decided = decide(&house, id, &json!({"decision": "decline"})).await.ok();
    assert_eq!(decided["state"], "declined");
    assert_eq!(notices(&house).await[0].1["events"][0]["reason"], "other");
    super::covers(&["13.2"]);
}

#[tokio::test]
async fn a_validate_test_makes_nothing_and_its_code_opens_nothing() {
    let house = manual();
    let fields = with(application("usr_1", "Doe LLC", "1"), "test", "validate");
    let bad = with(fields.clone(), "structure", "ZZ");
    assert_eq!(contexts(&post(&house, &bad).await), ["structure"]);
    let id = submit(&house, &fields).await;
    assert!(notices(&house).await.is_empty());
    let event = outcome(&house).await;
    assert_eq!(event["type"], "merchant.provisioned");
    assert_eq!(event["data"]["reference"], "usr_1");
    assert_eq!(event["data"]["auth_code"].as_str().unwrap().len(), 64);
    assert_eq!(exchange(&house, &event).await.refusal().0, 400);
    assert!(house.objects("applications").await.is_empty());
    assert_eq!(house.credentials().await["merchants"].as_array().unwrap().len(), 1);
    assert_eq!(decide(&house, id, &json!({"decision": "approve"})).await.refusal().0, 404);
    // The test was not submitted, so the real application is no duplicate.
    let house = TestSandbox::new(ServiceSurface::Documented);
    submit(&house, &fields).await;
    assert_eq!(outcome(&house).await["type"], "merchant.provisioned");
    submit(&house, &application("usr_1", "Doe LLC", "1")).await;
    assert_eq!(outcome(&house).await["type"], "merchant.provisioned");
    super::covers(&["10.1", "10.2", "10.3", "10.4", "10.7", "13.4"]);
}

#[tokio::test]
async fn a_fail_test_is_checked_and_then_declined() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let fields = with(application("usr_1", "Doe LLC", "1"), "test", "fail");
    let bad = with(fields.clone(), "owner_state", "Illinois");
    assert_eq!(contexts(&post(&house, &bad).await), ["owner_state"]);
    let unknown = with(fields.clone(), "test", "maybe");
    assert_eq!(contexts(&post(&house, &unknown).await), ["test"]);
    let id = submit(&house, &fields).await;
    assert!(notices(&house).await.is_empty());
    let event = outcome(&house).await;
    assert_eq!(event["type"], "merchant_application.declined");
    assert_eq!(event["data"], json!({"id": id, "reference": "usr_1"}));
    assert!(house.objects("applications").await.is_empty());
    super::covers(&["10.5", "10.6"]);
}
