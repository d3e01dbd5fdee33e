//! Token endpoint, credentials, bank accounts, contacts, invoices (partner-api).

use axum::body::Body;
use http::Request;
use serde_json::{Value, json};

use super::{TestSandbox, fields};
use crate::sandbox::options::ServiceSurface;

async fn partner(house: &TestSandbox) -> Value {
    house.credentials().await["partner"].clone()
}

async fn tenant(house: &TestSandbox) -> Value {
    let partner = partner(house).await;
    json!({"client_id": partner["client_id"], "client_secret": partner["client_secret"],
        "grant_type": "client_credentials", "scope": "tenant"})
}

#[tokio::test]
async fn client_credentials_give_a_tenant_token() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let body = tenant(&house).await;
    assert_eq!(body["client_id"].as_str().unwrap().len(), 64);
    assert_eq!(body["client_secret"].as_str().unwrap().len(), 64);
    for name in ["client_id", "client_secret"] {
        let plain = |byte: u8| byte.is_ascii_alphanumeric();
        assert!(body[name].as_str().unwrap().bytes().all(plain), "{name}");
    }
    let token = house.call("POST", "/oauth/token", None, &body).await.ok();
    let text = token["access_token"].as_str().unwrap();
    assert!(text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    assert_eq!(token["token_type"], "bearer");
    assert_eq!(token["scope"], "tenant");
    assert!(token["created_at"].is_i64());
    let bearer = format!("Bearer {text}");
    for path in ["/gateway-credentials", "/bank-accounts", "/v1/cards"] {
        let reply = house.call("GET", path, Some(&bearer), &Value::Null).await;
        assert_eq!(reply.refusal(), (401, "not_authorized".to_owned(), None), "{path}");
    }
    let payments = house.bearer("demo").await;
    let reply = house.call("GET", "/v1/cards", Some(&payments), &Value::Null).await;
    assert_eq!(reply.refusal(), (401, "not_authorized".to_owned(), None), "a payments token");
    super::covers(&["1.1", "1.2", "3.5", "4.4", "4.5"]);
}

#[tokio::test]
async fn the_token_endpoint_takes_forms_and_no_authorization_header() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let body = tenant(&house).await;
    let form = format!(
        "client_id={}&client_secret={}&grant_type=client_credentials&scope=tenant",
        body["client_id"].as_str().unwrap(),
        body["client_secret"].as_str().unwrap(),
    );
    let request = Request::post("/oauth/token")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(Body::from(form))
        .unwrap();
    assert_eq!(house.send(request).await.ok()["scope"], "tenant");
    let reply = house.call("POST", "/oauth/token", Some("Bearer x"), &body).await;
    assert_eq!(reply.refusal().0, 400);
    super::covers(&["1.4", "1.6"]);
}

#[tokio::test]
async fn a_wrong_client_scope_or_grant_gives_no_token() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let body = tenant(&house).await;
    for (name, value, status) in [
        ("client_secret", "wrong", 401),
        ("client_id", "wrong", 401),
        ("scope", "payments", 400),
        ("grant_type", "password", 400),
    ] {
        let wrong = super::with(body.clone(), name, value);
        let reply = house.call("POST", "/oauth/token", None, &wrong).await;
        assert_eq!(reply.refusal().0, status, "{name}");
    }
    house.control("POST", "partner", &json!({"enabled": false})).await;
    assert_eq!(house.call("POST", "/oauth/token", None, &body).await.refusal().0, 401);
    super::covers(&["1.5", "3.1"]);
}

/// Returns a token request with a fresh code of a merchant.
async fn exchange(house: &TestSandbox, partner: &Value) -> Value {
    let issued = house.control("POST", "credentials", &json!({"merchant": "acme"})).await;
    json!({
        "client_id": partner["client_id"], "client_secret": partner["client_secret"],
        "grant_type": "authorization_code", "scope": "payments",
        "redirect_uri": partner["redirect_uri"], "code": issued["authorization_code"],
    })
}

#[tokio::test]
async fn a_disabled_partner_application_exchanges_no_code() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let body = exchange(&house, &partner(&house).await).await;
    house.control("POST", "partner", &json!({"enabled": false})).await;
    assert_eq!(house.call("POST", "/oauth/token", None, &body).await.refusal().0, 401);
    house.control("POST", "partner", &json!({"enabled": true})).await;
    assert_eq!(house.call("POST", "/oauth/token", None, &body).await.ok()["scope"], "payments");
    super::covers(&["3.1"]);
}

#[tokio::test]
async fn a_code_is_exchanged_once_and_for_its_redirect_uri_only() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let body = exchange(&house, &partner(&house).await).await;
    let elsewhere = super::with(body.clone(), "redirect_uri", "https://elsewhere.example/");
    let reply = house.call("POST", "/oauth/token", None, &elsewhere).await;
    assert_eq!(reply.refusal().0, 400);
    let token = house.call("POST", "/oauth/token", None, &body).await.ok();
    assert_eq!(token["scope"], "payments");
    let bearer = format!("Bearer {}", token["access_token"].as_str().unwrap());
    house.call("GET", "/gateway-credentials", Some(&bearer), &Value::Null).await.ok();
    assert_eq!(house.call("POST", "/oauth/token", None, &body).await.refusal().0, 400);
    super::covers(&["2.1", "2.2", "2.5"]);
}

#[tokio::test]
async fn credentials_hold_keys_and_accounts_of_both_modes() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let bearer = house.bearer("demo").await;
    let body = house.call("GET", "/gateway-credentials", Some(&bearer), &Value::Null).await.ok();
    assert_eq!(body["merchant"]["name"], "demo");
    assert_eq!(body["merchant"]["timezone"], "America/Chicago");
    assert_eq!(body["user"]["owner"], true);
    for (mode, accounts) in [("test", "test_accounts"), ("live", "live_accounts")] {
        let accounts = body[accounts].as_array().unwrap();
        let kinds: Vec<_> = accounts.iter().map(|account| &account["type"]).collect();
        assert_eq!(kinds, ["MerchantAccount", "AchAccount"]);
        assert_eq!(accounts[0]["trust_account"], "false");
        assert_eq!(accounts[0]["recurring_charges_enabled"], true);
        assert_eq!(accounts[0]["public_key"].as_str().unwrap().len(), 24);
        assert_eq!(accounts[0]["secret_key"].as_str().unwrap().len(), 64);
        let demo = house.demo().await;
        assert_eq!(accounts[0]["secret_key"], demo[mode]["accounts"][0]["secret_key"]);
        assert_eq!(accounts[1]["id"], demo[mode]["ach_account_id"]);
    }
    let banks = house.call("GET", "/bank-accounts", Some(&bearer), &Value::Null).await.ok();
    let names: Vec<_> = banks.as_array().unwrap().iter().map(|bank| &bank["name"]).collect();
    assert_eq!(names, ["Operating", "Trust", "Operating", "Trust"]);
    assert!(banks[0]["id"].as_str().unwrap().starts_with("bank_"));
    assert_eq!(banks[1]["trust"], true);
    assert_eq!(banks[0]["processing_accounts"][0]["cvv_policy"], "OPTIONAL");
    assert_eq!(banks[0]["processing_accounts"][0]["type"], "card");
}

pub(super) async fn contact(house: &TestSandbox, bearer: &str, test_mode: bool) -> Value {
    let body = json!({"first_name": "Jane", "last_name": "Doe", "type": "person",
        "email_addresses": [{"address": "jane@example.com"}], "test_mode": test_mode});
    house.call("POST", "/contacts", Some(bearer), &body).await.ok()
}

#[tokio::test]
async fn a_contact_has_every_documented_field() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let bearer = house.bearer("demo").await;
    let contact = contact(&house, &bearer, true).await;
    assert!(contact["id"].as_str().unwrap().starts_with("p_"));
    assert_eq!(contact["name"], "Jane Doe");
    assert_eq!(contact["sort_name"], "Doe, Jane");
    assert_eq!(contact["test_mode"], true);
    assert_eq!(contact["type"], "person");
    assert_eq!(contact["preferred_email"], "jane@example.com");
    let email = &contact["email_addresses"][0];
    assert!(email["id"].as_str().unwrap().starts_with("eml_"));
    assert_eq!(email["preferred"], true);
    assert_eq!(contact["owner"]["type"], "organization");
    assert_eq!(contact["created"]["timestamp"], "2026-11-21T18:00:00.000Z");
    assert!(!contact.as_object().unwrap().values().any(Value::is_null));
    let body = json!({"type": "robot", "email_addresses": [{"address": "x"}]});
    let reply = house.call("POST", "/contacts", Some(&bearer), &body).await;
    let contexts: Vec<_> = fields(&reply).into_iter().map(|(context, _)| context).collect();
    assert_eq!(contexts, ["first_name", "last_name", "type", "email_addresses.0.address"]);
}

pub(super) async fn new_invoice(house: &TestSandbox, bearer: &str) -> Value {
    let contact = contact(house, bearer, true).await;
    json!({
        "contact_id": contact["id"], "bank_account_id": house.demo().await["bank_accounts"][0]["id"],
        "invoice_date": "2026-11-30T12:00:00-06:00", "currency": "USD", "test_mode": true,
        "source_id": "acme:Invoice/default/jane",
        "line_items": [
            {"description": "Retainer", "rate_per_quantity": "12500", "quantity": "1", "rate_type": "units"},
            {"description": "Fee", "rate_per_quantity": "500", "quantity": "1", "rate_type": "units"},
        ],
        "invoice_messages": [{"email_addresses": ["jane@example.com", "b@example.com"]}],
    })
}

#[tokio::test]
async fn an_invoice_has_totals_lines_and_messages_and_sends_mail() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let bearer = house.bearer("demo").await;
    let body = new_invoice(&house, &bearer).await;
    let invoice = house.call("POST", "/invoices", Some(&bearer), &body).await.ok();
    assert!(invoice["id"].as_str().unwrap().starts_with("i_"));
    assert_eq!(invoice["status"], "pending");
    assert_eq!(invoice["invoice_date"], "2026-11-30T18:00:00.000Z");
    assert_eq!(invoice["total_amount"], 13000);
    assert_eq!(invoice["total_amount_due"], 13000);
    assert_eq!(invoice["amount_paid"], 0);
    assert_eq!(invoice["items"], invoice["line_items"]);
    assert_eq!(invoice["items"][0]["rate_per_quantity"], "12500");
    assert_eq!(invoice["items"][0]["total"], 12500);
    assert!(invoice["items"][0]["id"].as_str().unwrap().starts_with("li_"));
    assert_eq!(invoice["invoice_payments"], json!([]));
    assert_eq!(invoice["presentment_status"], "sent");
    assert_eq!(invoice["invoice_messages"][0]["status"], "sent");
    assert_eq!(invoice["type"], "invoice");
    let mail = house.control("GET", "mailbox", &Value::Null).await["messages"].clone();
    assert_eq!(mail.as_array().unwrap().len(), 2);
    assert_eq!([&mail[0]["to"], &mail[1]["to"]], ["jane@example.com", "b@example.com"]);
    let number = invoice["invoice_number"].as_str().unwrap();
    assert!(mail[0]["subject"].as_str().unwrap().contains(number));
    let link = format!("https://127.0.0.1:8700/invoices/{}", invoice["id"].as_str().unwrap());
    for sent in mail.as_array().unwrap() {
        assert_eq!(sent["link"], link.as_str());
        let said = sent["body"].as_str().unwrap();
        let places = (said.find("demo has sent a payment request"), said.find(&link));
        assert!(places.0.is_some() && places.0 < places.1, "the link follows: {said}");
    }
    super::covers(&["21.1", "21.2", "21.4"]);
}

#[tokio::test]
async fn a_supplied_subject_and_message_replace_the_defaults() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let bearer = house.bearer("demo").await;
    let messages =
        json!([{"email_addresses": ["a@example.com"], "subject": "Yours", "message": "Pay <now>"}]);
    let body = super::with(new_invoice(&house, &bearer).await, "invoice_messages", messages);
    let invoice = house.call("POST", "/invoices", Some(&bearer), &body).await.ok();
    assert_eq!(invoice["invoice_messages"][0]["subject"], "Yours");
    let text = invoice["invoice_messages"][0]["body"].as_str().unwrap();
    assert!(text.contains("Pay &lt;now&gt;") && !text.contains("payment request"));
    let mail = house.control("GET", "mailbox", &Value::Null).await["messages"][0].clone();
    assert_eq!((&mail["subject"], &mail["body"]), (&json!("Yours"), &json!(text)));
    super::covers(&["21.5"]);
}

#[tokio::test]
async fn a_source_id_makes_one_invoice_and_one_mail_only() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let bearer = house.bearer("demo").await;
    let body = new_invoice(&house, &bearer).await;
    let first = house.call("POST", "/invoices", Some(&bearer), &body).await.ok();
    let second = house.call("POST", "/invoices", Some(&bearer), &body).await.ok();
    assert_eq!(first, second);
    assert_eq!(house.objects("invoices").await.len(), 1);
    let mail = house.control("GET", "mailbox", &Value::Null).await;
    assert_eq!(mail["messages"].as_array().unwrap().len(), 2);
    house.control("POST", "settings", &json!({"duplicate_source_id": "refuse"})).await;
    let reply = house.call("POST", "/invoices", Some(&bearer), &body).await;
    assert_eq!(fields(&reply)[0].0, "source_id");
    let other = super::with(body, "source_id", "acme:Invoice/default/other");
    let other = house.call("POST", "/invoices", Some(&bearer), &other).await.ok();
    assert_ne!(other["id"], first["id"]);
    super::covers(&["20.1", "20.2"]);
}

#[tokio::test]
async fn a_test_invoice_is_of_test_mode_throughout() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let bearer = house.bearer("demo").await;
    let body = new_invoice(&house, &bearer).await;
    let live_contact = contact(&house, &bearer, false).await;
    let live_bank = house.demo().await["bank_accounts"][2]["id"].clone();
    for (name, value) in [
        ("test_mode", json!(false)),
        ("test_mode", Value::Null),
        ("contact_id", live_contact["id"].clone()),
        ("bank_account_id", live_bank),
    ] {
        let wrong = super::with(body.clone(), name, value);
        let reply = house.call("POST", "/invoices", Some(&bearer), &wrong).await;
        let expect = (422, "unavailable_for_merchant_mode".to_owned(), None);
        assert_eq!(reply.refusal(), expect, "{name}");
    }
    assert_eq!(house.objects("invoices").await.len(), 0);
    let made = house.call("POST", "/invoices", Some(&bearer), &body).await.ok();
    assert_eq!(made["test_mode"], true);
    super::covers(&["23.1", "23.2", "23.3"]);
}

#[tokio::test]
async fn an_invoice_names_what_exists_and_every_required_field() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let bearer = house.bearer("demo").await;
    let reply = house.call("POST", "/invoices", Some(&bearer), &json!({})).await;
    let contexts: Vec<_> = fields(&reply).into_iter().map(|(context, _)| context).collect();
    assert_eq!(contexts, ["contact_id", "bank_account_id", "invoice_date"]);
    let body = new_invoice(&house, &bearer).await;
    for (name, value, context) in [
        ("contact_id", json!("p_x"), "Contact[p_x]"),
        ("bank_account_id", json!("bank_x"), "BankAccount[bank_x]"),
    ] {
        let wrong = super::with(body.clone(), name, value);
        let reply = house.call("POST", "/invoices", Some(&bearer), &wrong).await;
        let expect = (404, "resource_not_found".to_owned(), Some(context.to_owned()));
        assert_eq!(reply.refusal(), expect);
    }
    let stranger = house.bearer("acme").await;
    assert_eq!(house.call("POST", "/invoices", Some(&stranger), &body).await.refusal().0, 404);
    let bad = super::with(body.clone(), "invoice_date", "soon");
    let reply = house.call("POST", "/invoices", Some(&bearer), &bad).await;
    assert_eq!(fields(&reply)[0].0, "invoice_date");
    house.control("POST", "partner", &json!({"is_partner": false})).await;
    assert_eq!(house.call("POST", "/invoices", Some(&bearer), &body).await.refusal().0, 401);
    super::covers(&["3.2", "19.1", "19.11"]);
}
