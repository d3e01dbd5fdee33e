//! Complete answers of the partner API, field by field as the reference lists them (partner-api,
//! Resources).

use serde_json::{Value, json};

use super::partner::{contact, new_invoice};
use super::{TestSandbox, covers};
use crate::api::credentials::GatewayCredentials;
use crate::sandbox::options::ServiceSurface;

/// Fields of an audit object.
const AUDIT: [&str; 9] = [
    "user",
    "timestamp",
    "client_id",
    "client_inet_address",
    "client_country_code",
    "client_location",
    "caller_inet_address",
    "caller_country_code",
    "caller_location",
];

/// Returns the names of an object's fields, sorted.
fn names(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

/// Asserts that these fields are present, with these types.
fn has(value: &Value, fields: &[(&str, &str)]) {
    for (name, kind) in fields {
        let found = &value[*name];
        let fits = match *kind {
            "string" => found.is_string(),
            "boolean" => found.is_boolean(),
            "integer" => found.is_i64(),
            "array" => found.is_array(),
            _ => found.is_object(),
        };
        assert!(fits, "{name} is no {kind}: {value}");
    }
}

async fn get(house: &TestSandbox, path: &str) -> Value {
    let bearer = house.bearer("demo").await;
    house.call("GET", path, Some(&bearer), &Value::Null).await.ok()
}

#[tokio::test]
async fn an_access_token_has_four_fields() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let partner = house.credentials().await["partner"].clone();
    let body = json!({"client_id": partner["client_id"], "client_secret": partner["client_secret"],
        "grant_type": "client_credentials", "scope": "tenant"});
    let token = house.call("POST", "/oauth/token", None, &body).await.ok();
    assert_eq!(names(&token), ["access_token", "created_at", "scope", "token_type"]);
    let text = token["access_token"].as_str().unwrap();
    assert!(text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    assert_eq!((&token["token_type"], &token["scope"]), (&json!("bearer"), &json!("tenant")));
    assert_eq!(token["created_at"], 1_795_284_000, "2026-11-21T18:00:00Z in Unix seconds");
    covers(&["1.3"]);
}

#[tokio::test]
async fn gateway_credentials_have_application_user_merchant_and_accounts() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let shown = get(&house, "/gateway-credentials").await;
    let parts = ["application", "live_accounts", "merchant", "test_accounts", "user"];
    assert_eq!(names(&shown), parts);
    assert_eq!(shown["application"], "sandbox partner");
    let user = [("first_name", "string"), ("last_name", "string"), ("email", "string")];
    has(&shown["user"], &user);
    assert_eq!(shown["user"]["owner"], true);
    let abilities =
        ["admin", "charge", "schedule_charge", "refund", "tag_transactions", "view_reports"];
    assert_eq!(shown["user"]["abilities"], json!(abilities));
    let texts = [
        "name",
        "address",
        "additional_address",
        "city",
        "state",
        "postal_code",
        "country",
        "phone",
        "timezone",
        "website",
        "support_email",
        "support_phone",
        "email_success_to",
        "email_failure_to",
        "reference_label",
    ];
    has(&shown["merchant"], &texts.map(|name| (name, "string")));
    assert_eq!(shown["merchant"]["reference_required"], false);
    for account in [&shown["test_accounts"][0], &shown["live_accounts"][1]] {
        has(
            account,
            &["name", "type", "currency", "id", "public_key", "secret_key"]
                .map(|name| (name, "string")),
        );
        assert_eq!(account["currency"], "USD");
        assert_eq!(account["trust_account"], "false", "a text, not a truth");
    }
    house
        .control(
            "POST",
            "accounts",
            &json!({"merchant": "demo", "name": "T", "trust_account": true}),
        )
        .await;
    let shown = get(&house, "/gateway-credentials").await;
    assert_eq!(shown["test_accounts"][2]["trust_account"], "true");
    let without = super::with(shown, "live_accounts", json!([]));
    let read: GatewayCredentials = serde_json::from_value(without).unwrap();
    assert!(read.live_accounts.is_empty() && read.test_accounts.len() == 3);
    covers(&["4.3", "5.1", "5.2", "5.3", "5.4", "5.6"]);
}

#[tokio::test]
async fn bank_accounts_are_a_list_with_the_accounts_that_feed_them() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let card = house.demo().await["test"]["card_account_id"].as_str().unwrap().to_owned();
    house.allow("required_payment_fields", json!(["cvv", "postal_code"])).await;
    house.allow("accepted_card_types", json!({card.clone(): ["VISA", "MASTERCARD"]})).await;
    let banks = get(&house, "/bank-accounts").await;
    for each in banks.as_array().unwrap() {
        has(each, &["name", "bank_name", "currency"].map(|name| (name, "string")));
        assert!(each["id"].as_str().unwrap().starts_with("bank_") && each["trust"].is_boolean());
        assert!(each["account_id"].as_str().unwrap().starts_with("*****"));
    }
    let bank = banks[0].clone();
    assert_eq!(bank["trust"], false);
    assert_eq!(bank["account_id"], "*****1234");
    assert_eq!(bank["currency"], "USD");
    let fed = &bank["processing_accounts"][0];
    assert_eq!((&fed["id"], &fed["type"]), (&json!(card), &json!("card")));
    assert!(fed["name"].is_string());
    assert_eq!(fed["required_payment_fields"], "cvv,postal_code");
    assert_eq!(fed["accepted_card_types"], "MASTERCARD,VISA");
    assert_eq!(
        (&fed["cvv_policy"], &fed["avs_policy"]),
        (&json!("OPTIONAL"), &json!("SUBMIT_IGNORE_RESULT"))
    );
    for name in ["swipe_cvv_policy", "swipe_avs_policy", "swipe_required_payment_fields"] {
        assert!(fed[name].is_string(), "{name}");
    }
    covers(&["17.1", "17.2", "17.3", "17.4", "17.5"]);
}

#[tokio::test]
async fn a_contact_shows_who_made_it_whose_it_is_and_how_to_reach_it() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let bearer = house.bearer("demo").await;
    let made = contact(&house, &bearer, true).await;
    assert!(made["id"].as_str().unwrap().starts_with("p_"));
    let address = &made["email_addresses"][0];
    for stamp in [&made["created"], &made["modified"], &address["created"], &address["modified"]] {
        has(stamp, &AUDIT.map(|name| (name, "string")));
        assert_eq!(stamp["timestamp"], "2026-11-21T18:00:00.000Z");
    }
    assert_eq!(made["first_name"], "Jane");
    assert_eq!(made["last_name"], "Doe");
    assert_eq!((&made["name"], &made["display_name"]), (&json!("Jane Doe"), &json!("Jane Doe")));
    assert_eq!((&made["sort_name"], &made["type"]), (&json!("Doe, Jane"), &json!("person")));
    assert_eq!(made["preferred_email"], "jane@example.com");
    assert!(made["contact_code"].is_string());
    assert_eq!((&made["test_mode"], &made["owner_id"]), (&json!(true), &made["owner"]["id"]));
    let owner = ["id", "owner_id", "preferred_email", "name", "sort_name", "display_name"];
    has(&made["owner"], &owner.map(|name| (name, "string")));
    assert_eq!(
        (&made["owner"]["type"], &made["owner"]["test_mode"]),
        (&json!("organization"), &json!(true))
    );
    let email = &made["email_addresses"][0];
    assert!(email["id"].as_str().unwrap().starts_with("eml_"));
    assert_eq!(email["address"], "jane@example.com");
    assert_eq!((&email["preferred"], &email["type"]), (&json!(true), &json!("email_address")));
    let live = contact(&house, &bearer, false).await;
    assert_eq!(live["test_mode"], false);
    let search = house.call("GET", "/contacts", Some(&bearer), &Value::Null).await;
    assert_eq!(search.refusal(), (400, "invalid_request".to_owned(), None));
    let tenant = super::applications::tenant(&house).await;
    for auth in [None, Some(tenant.as_str())] {
        assert_eq!(house.call("POST", "/contacts", auth, &json!({})).await.refusal().0, 401);
    }
    covers(&["18.1", "18.2", "18.3", "18.4", "18.5", "18.6", "18.7", "18.8", "18.9"]);
}

#[tokio::test]
async fn an_invoice_shows_everything_that_was_asked_and_what_the_system_adds() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let bearer = house.bearer("demo").await;
    let body = super::with(new_invoice(&house, &bearer).await, "reference", "Case 7");
    let made = house.call("POST", "/invoices", Some(&bearer), &body).await.ok();
    assert!(made["id"].as_str().unwrap().starts_with("i_"));
    assert_eq!((&made["status"], &made["type"]), (&json!("pending"), &json!("invoice")));
    assert_eq!(made["invoice_number"], "1001");
    assert_eq!(made["invoice_date"], "2026-11-30T18:00:00.000Z");
    assert_eq!(
        (&made["total_amount"], &made["total_amount_due"]),
        (&json!(13_000), &json!(13_000))
    );
    assert_eq!((&made["amount_paid"], &made["test_mode"]), (&json!(0), &json!(true)));
    assert_eq!((&made["currency"], &made["reference"]), (&json!("USD"), &json!("Case 7")));
    for name in ["contact_id", "bank_account_id", "source_id"] {
        assert_eq!(made[name], body[name], "{name}");
    }
    assert_eq!(
        (&made["contact"]["id"], &made["owner_id"]),
        (&body["contact_id"], &made["contact"]["owner_id"])
    );
    assert_eq!(
        (&made["invoice_payments"], &made["scheduled_payment_requests"]),
        (&json!([]), &json!([]))
    );
    assert_eq!(made["modified"]["user"], "SERVER");
    for stamp in [&made["created"], &made["modified"]] {
        has(stamp, &AUDIT.map(|name| (name, "string")));
    }
    assert_eq!(made["contact"]["display_name"], "Jane Doe");
    assert!(made["owner_id"].is_string());
    assert_eq!(made["created"]["timestamp"], "2026-11-21T18:00:00.000Z");
    assert_eq!(made["items"], made["line_items"]);
    for (at, line) in [(0, "12500"), (1, "500")] {
        let shown = &made["line_items"][at];
        assert!(shown["id"].as_str().unwrap().starts_with("li_"));
        assert_eq!((&shown["rate_per_quantity"], &shown["quantity"]), (&json!(line), &json!("1")));
        assert_eq!(
            (&shown["rate_type"], &shown["total"]),
            (&json!("units"), &json!(line.parse::<i64>().unwrap()))
        );
    }
    covers(&["19.2", "19.4", "19.5", "19.6", "19.7", "19.8", "19.9", "19.10", "24.1"]);
}

#[tokio::test]
async fn a_line_has_one_unit_and_another_quantity_is_refused() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let bearer = house.bearer("demo").await;
    for (name, value) in [
        ("quantity", json!("2")),
        ("rate_type", json!("hours")),
        ("quantity", json!(1)),
        ("rate_per_quantity", json!(12_500)),
    ] {
        let mut body = new_invoice(&house, &bearer).await;
        body["line_items"][0][name] = value;
        let reply = house.call("POST", "/invoices", Some(&bearer), &body).await;
        assert_eq!(super::fields(&reply)[0].0, format!("line_items.0.{name}"));
    }
    covers(&["19.2", "19.3"]);
}

#[tokio::test]
async fn messages_of_an_invoice_are_shown_as_they_were_sent() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let bearer = house.bearer("demo").await;
    let body = new_invoice(&house, &bearer).await;
    let made = house.call("POST", "/invoices", Some(&bearer), &body).await.ok();
    let sent = &made["invoice_messages"][0];
    assert!(sent["id"].as_str().unwrap().starts_with("imsg_"));
    assert_eq!(sent["email_addresses"], json!(["jane@example.com", "b@example.com"]));
    assert_eq!((&sent["status"], &sent["type"]), (&json!("sent"), &json!("invoice_message")));
    assert!(sent["subject"].is_string() && sent["body"].as_str().unwrap().starts_with("<p>"));
    assert!(sent["created"]["timestamp"].is_string() && sent["modified"]["timestamp"].is_string());
    assert_eq!(made["presentment_status"], "sent");
    let mut silent = super::with(body, "source_id", "acme:silent");
    silent.as_object_mut().unwrap().shift_remove("invoice_messages");
    let made = house.call("POST", "/invoices", Some(&bearer), &silent).await.ok();
    assert!(made.get("presentment_status").is_none());
    covers(&["21.6", "21.7"]);
}

#[tokio::test]
async fn two_merchants_may_use_the_same_source_id() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let bearer = house.bearer("demo").await;
    let body = new_invoice(&house, &bearer).await;
    let first = house.call("POST", "/invoices", Some(&bearer), &body).await.ok();
    let other = house.bearer("acme").await;
    let person = contact(&house, &other, true).await;
    let merchants = house.credentials().await["merchants"].clone();
    let acme =
        merchants.as_array().unwrap().iter().find(|one| one["name"] == "acme").unwrap().clone();
    let body = super::with(body, "contact_id", person["id"].clone());
    let body = super::with(body, "bank_account_id", acme["bank_accounts"][0]["id"].clone());
    let second = house.call("POST", "/invoices", Some(&other), &body).await.ok();
    assert_ne!(first["id"], second["id"]);
    covers(&["20.3"]);
}
