//! Requests that public clients send, and texts that they compare (service-facts, 26a to 26c).

use http::Request;
use serde_json::{Value, json};

use super::recurring::{card, create, monthly, path};
use super::tokens::token;
use super::{Reply, TestSandbox, basic, fields, visa, with};
use crate::sandbox::options::ServiceSurface;

const UNFIT: &str = "not_valid_for_transaction_status";

pub(super) fn bank() -> Value {
    json!({"type": "bank", "routing_number": "000000013", "account_number": "1234567890",
        "account_type": "CHECKING", "name": "Doe Ltd"})
}

/// Returns the text of the first message.
fn text(reply: &Reply) -> String {
    reply.json()["messages"][0]["message"].as_str().unwrap().to_owned()
}

pub(super) fn wrong(reply: &Reply) -> Vec<String> {
    fields(reply).into_iter().map(|(context, _)| context).collect()
}

/// Closes E1.
#[tokio::test]
async fn a_bank_account_of_a_name_needs_no_type_of_its_holder() {
    for surface in [ServiceSurface::Public, ServiceSurface::Documented] {
        let house = TestSandbox::new(surface);
        let saved = house.secret("POST", "/v1/banks", &bank()).await.ok();
        assert_eq!(saved["name"], "Doe Ltd");
        assert!(saved.get("account_holder_type").is_none());
        let mut nameless = bank();
        nameless.as_object_mut().unwrap().remove("name");
        assert_eq!(wrong(&house.secret("POST", "/v1/banks", &nameless).await), ["name"]);
    }
    super::covers(&["34.7"]);
}

/// Closes E2.
#[tokio::test]
async fn a_refund_keeps_its_reference_where_clients_read_it() {
    for (surface, expect) in
        [(ServiceSurface::Public, json!("r-1")), (ServiceSurface::Documented, Value::Null)]
    {
        let house = TestSandbox::new(surface);
        let charge = house.charged(500, visa()).await;
        let refund = format!("/v1/charges/{}/refund", charge["id"].as_str().unwrap());
        let body = json!({"amount": 100, "reference": "r-1"});
        assert_eq!(house.secret("POST", &refund, &body).await.ok()["reference"], expect);
        let long = json!({"amount": 100, "reference": "r".repeat(129)});
        let reply = house.secret("POST", &refund, &long).await;
        assert_eq!(reply.status, if surface == ServiceSurface::Public { 422 } else { 200 });
    }
}

/// Closes E3.
#[tokio::test]
async fn a_signature_forgives_what_clients_add_is_of_strokes_and_is_the_only_one() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let given = json!({"id": null, "created": "0001-01-01T00:00:00", "mime_type": "chargeio/jsignature",
        "data": "[{\"x\":[1,2],\"y\":[3,4]}]"});
    let charge = house.charged(500, visa()).await;
    for data in ["strokes", "[]", "{}", "[{\"x\":[1]}]", "[{\"x\":[1],\"y\":\"3\"}]"] {
        let reply = house.to_transaction(&charge, "sign", with(given.clone(), "data", data)).await;
        assert_eq!(fields(&reply), [("data".to_owned(), "invalid".to_owned())], "{data}");
    }
    let picture = with(with(given.clone(), "mime_type", "image/png"), "data", "iVBORw0KGgo=");
    house.to_transaction(&house.charged(1, visa()).await, "sign", picture).await.ok();
    house.to_transaction(&charge, "sign", given.clone()).await.ok();
    let hold = json!({"amount": 500, "method": visa(), "auto_capture": false, "signature": given});
    let hold = house.secret("POST", "/v1/charges", &hold).await.ok();
    let capture = format!("/v1/charges/{}/capture", hold["id"].as_str().unwrap());
    let twice = json!({"amount": 500, "signature": given});
    assert_eq!(house.secret("POST", &capture, &twice).await.refusal().1, UNFIT);
    house.secret("POST", &capture, &json!({"amount": 500})).await.ok();
}

/// Closes E4.
#[tokio::test]
async fn a_token_of_json_gives_its_extra_fields_back() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let mut body = with(visa(), "order", json!({"id": 7}));
    body["newsletter"] = json!(true);
    body["nothing"] = Value::Null;
    let made = token(&house, &body).await;
    assert_eq!(made["form_data"], json!({"order": {"id": 7}, "newsletter": true}));
    body["form_data"] = json!({"order": 1, "seat": "4b"});
    let made = token(&house, &body).await;
    assert_eq!(made["form_data"], json!({"order": {"id": 7}, "seat": "4b", "newsletter": true}));
    assert!(token(&house, &visa()).await.get("form_data").is_none());
}

/// Closes E5.
#[tokio::test]
async fn documented_fields_are_there() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let partner = house.credentials().await["partner"]["client_id"].clone();
    let charge = house.charged(500, visa()).await;
    assert_eq!(charge["client_id"], partner);
    let refund = format!("/v1/charges/{}/refund", charge["id"].as_str().unwrap());
    let refund = house.secret("POST", &refund, &json!({"amount": 100})).await.ok();
    assert_eq!(refund["client_id"], partner);
    let bearer = house.bearer("demo").await;
    let contact = super::partner::contact(&house, &bearer, true).await;
    assert_eq!(contact["contact_code"].as_str().unwrap().len(), 8);
    let shown = house.call("GET", "/gateway-credentials", Some(&bearer), &Value::Null).await.ok();
    assert_eq!(shown["merchant"]["additional_address"], "Suite 100");
    assert_eq!(shown["merchant"]["website"], "https://demo.example");
}

/// Closes E6: a schedule from an earlier charge may start today; a new recurring charge may not.
#[tokio::test]
async fn a_schedule_of_a_charge_may_start_today() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let charge = house.charged(500, visa()).await;
    let schedule = format!("/v1/charges/{}/schedule", charge["id"].as_str().unwrap());
    let today = json!({"amount": 300, "schedule":
        {"start": "2026-11-21", "interval_unit": "MONTH", "interval_delay": 1}});
    let made = house.secret("POST", &schedule, &today).await.ok();
    assert_eq!(made["next_payment"], "2026-11-21");
    house.advance("PT1H").await;
    assert_eq!(house.total("CHARGE").await, 800, "today's payment was collected");
    let mut new = monthly(&card(&house, "4242424242424242").await);
    new["schedule"]["start"] = json!("2026-11-21");
    let reply = house.secret("POST", "/v1/recurring/charges", &new).await;
    assert_eq!(reply.refusal().1, "first_occurrence_due_immediately");
}

/// Closes E7: totals count collected payments, and limits count tried ones.
#[tokio::test]
async fn a_declined_payment_is_not_collected_and_counts_for_the_limit() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let method = card(&house, "4000000000000002").await;
    let made = create(&house, &with(monthly(&method), "max_occurrences", 2)).await;
    house.advance("P2M").await;
    let now = house.secret("GET", &path(&made), &Value::Null).await.ok();
    assert_eq!((&now["total_occurrences"], &now["total_amount"]), (&json!(0), &json!(0)));
    assert_eq!(now["status"], "ACTIVE");
    house.advance("P1M").await;
    let now = house.secret("GET", &path(&made), &Value::Null).await.ok();
    assert_eq!((&now["status"], &now["total_occurrences"]), (&json!("COMPLETED"), &json!(0)));
}

/// Closes E8.
#[tokio::test]
async fn a_merchant_is_renamed() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let whole = house.secret("GET", "/v1/merchant", &Value::Null).await.ok();
    let renamed = with(whole, "name", "Doe & Sons");
    let answer = house.secret("PUT", "/v1/merchant", &renamed).await.ok();
    assert_eq!(answer["name"], "Doe & Sons");
    let bearer = house.bearer("demo").await;
    let shown = house.call("GET", "/gateway-credentials", Some(&bearer), &Value::Null).await.ok();
    assert_eq!(shown["merchant"]["name"], "Doe & Sons");
    let contact = super::partner::contact(&house, &bearer, true).await;
    assert_eq!(contact["owner"]["name"], "Doe & Sons");
    let blank = house.secret("PATCH", "/v1/merchant", &json!({"name": " "})).await;
    assert_eq!(fields(&blank), [("name".to_owned(), "not_blank".to_owned())]);
    let left = house.secret("PATCH", "/v1/merchant", &json!({"name": null})).await.ok();
    assert_eq!(left["name"], "Doe & Sons");
}

/// Closes E9.
#[tokio::test]
async fn an_account_says_what_it_wants_of_swiped_cards_and_of_a_matching_code() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let merchant = house.secret("GET", "/v1/merchant", &Value::Null).await.ok();
    let card = merchant["merchant_accounts"][0].clone();
    assert_eq!(card["swipe_cvv_policy"], "OPTIONAL");
    assert_eq!(card["swipe_avs_policy"], "SUBMIT_IGNORE_RESULT");
    assert_eq!(card["swipe_required_payment_fields"], "");
    assert_eq!(card["ignore_avs_failure_if_cvv_match"], false);
    assert_eq!(merchant["ach_accounts"][0]["account_type"], "CHECKING");
    let account = format!("/v1/accounts/{}", card["id"].as_str().unwrap());
    let change = json!({"swipe_cvv_policy": "REQUIRE_MATCH_STRICT", "swipe_avs_policy": "ADDR_STRICT",
        "swipe_required_payment_fields": "postal_code", "avs_policy": "ADDR_STRICT"});
    house.secret("PATCH", &account, &change).await.ok();
    let bearer = house.bearer("demo").await;
    let banks = house.call("GET", "/bank-accounts", Some(&bearer), &Value::Null).await.ok();
    let shown = banks[0]["processing_accounts"][0].clone();
    for name in ["swipe_cvv_policy", "swipe_avs_policy", "swipe_required_payment_fields"] {
        assert_eq!(shown[name], change[name], "{name}");
    }
    let unmatched = with(visa(), "number", "4000000000000010");
    let pay = json!({"amount": 100, "method": unmatched});
    let reply = house.secret("POST", "/v1/charges", &pay).await;
    assert_eq!(reply.refusal().1, "card_avs_rejected");
    let waived = json!({"ignore_avs_failure_if_cvv_match": true});
    let now = house.secret("PATCH", &account, &waived).await.ok();
    assert_eq!(now["ignore_avs_failure_if_cvv_match"], true);
    assert_eq!(now["swipe_avs_policy"], "ADDR_STRICT", "a missing field keeps its value");
    house.secret("POST", "/v1/charges", &pay).await.ok();
    let wrong = json!({"swipe_cvv_policy": "SOMETIMES", "swipe_required_payment_fields": "shoe"});
    let contexts = self::wrong(&house.secret("PATCH", &account, &wrong).await);
    assert_eq!(contexts, ["swipe_cvv_policy", "swipe_required_payment_fields"]);
}

/// Closes E10, and E15 for the texts of fields (service-facts, 26a).
#[tokio::test]
async fn texts_of_fields_are_those_that_clients_compare() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let long = "x".repeat(65);
    for (field, value, expect) in [
        ("number", json!(""), "Card number cannot be blank"),
        ("number", json!("4242x"), "Card number is invalid"),
        ("number", json!("42424242"), "Card number length is invalid"),
        ("exp_month", Value::Null, "Expiration month cannot be blank"),
        ("exp_month", json!(13), "Expiration month is invalid"),
        ("exp_month", json!("Feb"), "Expiration month is invalid"),
        ("exp_year", Value::Null, "Expiration year cannot be blank"),
        ("exp_year", json!(123), "Expiration year is invalid"),
        ("exp_year", json!("next"), "Expiration year is invalid"),
        ("cvv", json!("12x"), "Card code is invalid"),
        ("cvv", json!("12"), "Card code length is invalid"),
        ("name", json!(long), "Name length is invalid"),
        ("city", json!(long), "City length is invalid"),
        ("address1", json!(long), "Street number length is invalid"),
        ("address2", json!(long), "Address length is invalid"),
        ("postal_code", json!("12_45"), "Postal code is invalid"),
        ("postal_code", json!("12345678901"), "Postal code is invalid"),
        ("country", json!("ZZ"), "Country is invalid"),
    ] {
        let method = with(visa(), field, value);
        let saved = house.secret("POST", "/v1/cards", &method).await;
        assert_eq!((wrong(&saved), text(&saved)), (vec![field.to_owned()], expect.to_owned()));
        let charge = json!({"amount": 100, "method": method});
        let paid = house.secret("POST", "/v1/charges", &charge).await;
        let context = format!("method.{field}");
        assert_eq!((wrong(&paid), text(&paid)), (vec![context], expect.to_owned()));
    }
    let state = with(with(visa(), "state", "XX"), "country", "US");
    let reply = house.secret("POST", "/v1/cards", &state).await;
    assert_eq!(text(&reply), "State or province is invalid");
    let nothing = json!({"amount": 0, "method": visa()});
    let reply = house.secret("POST", "/v1/charges", &nothing).await;
    assert_eq!(text(&reply), "Amount is less than the minimum value");
}

/// A wrong length has no own text here (service-facts, 26a), on either surface.
#[tokio::test]
async fn a_country_and_a_state_are_invalid_whatever_is_wrong_with_them() {
    for surface in [ServiceSurface::Public, ServiceSurface::Documented] {
        let house = TestSandbox::new(surface);
        for (field, value, expect) in [
            ("country", "USA".to_owned(), "Country is invalid"),
            ("state", "x".repeat(65), "State or province is invalid"),
        ] {
            let reply = house.secret("POST", "/v1/cards", &with(visa(), field, json!(value))).await;
            assert_eq!((wrong(&reply), text(&reply)), (vec![field.to_owned()], expect.to_owned()));
        }
    }
}

/// Closes E15 for the texts of rules (service-facts, 26b).
#[tokio::test]
async fn texts_of_rules_are_those_that_clients_compare() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let pay = async |method: Value| {
        let body = json!({"amount": 100, "method": method});
        let reply = house.secret("POST", "/v1/charges", &body).await;
        (reply.refusal().1, text(&reply))
    };
    let expired = (String::from("card_expired"), String::from("Card is expired"));
    assert_eq!(pay(with(visa(), "exp_year", 2020)).await, expired);
    assert_eq!(pay(with(visa(), "number", "4000000000000069")).await, expired);
    for (account, code, expect) in [
        ("1000000001", "ach_declined", "Transaction was declined"),
        ("1000000002", "ach_declined_hold", "Transaction was declined"),
        ("1000000003", "ach_declined_duplicate", "Transaction was declined as a duplicate"),
        ("1000000004", "ach_invalid_account_number", "Account number is invalid"),
        (
            "1000000005",
            "ach_insufficient_funds",
            "Transaction was declined due to insufficient funds",
        ),
        ("1000000006", "ach_account_not_found", "Account was not found"),
        ("1000000007", "ach_account_closed", "Account is closed"),
        ("1000000008", "ach_account_frozen", "Account is frozen"),
        ("1000000009", "ach_limit_exceeded", "Transaction was declined due to limits exceeded"),
    ] {
        let found = pay(with(bank(), "account_number", account)).await;
        assert_eq!(found, (code.to_owned(), expect.to_owned()));
    }
    let routing = pay(with(bank(), "routing_number", "000000001")).await;
    let expect = ("ach_invalid_routing_number", "Routing number is invalid");
    assert_eq!((routing.0.as_str(), routing.1.as_str()), expect);
    let charge = house.charged(500, visa()).await;
    let refund = format!("/v1/charges/{}/refund", charge["id"].as_str().unwrap());
    let refused = async |body: Value| text(&house.secret("POST", &refund, &body).await);
    let more = refused(json!({"amount": 501})).await;
    assert_eq!(more, "Amount of refund exceeds remaining transaction balance");
    let other = refused(json!({"amount": 100, "currency": "CAD"})).await;
    assert_eq!(other, "Specified currency does not match the transaction's currency");
    house.void(&charge).await.ok();
    let over = refused(json!({"amount": 100})).await;
    assert_eq!(over, "The operation cannot be completed in the current status");
}

/// Closes E13, and rule 31.5.
#[tokio::test]
async fn a_page_uses_the_public_key_alone() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let demo = house.demo().await;
    let key = |which: &str| demo["test"][which].as_str().unwrap().to_owned();
    let ask = async |verb: &str, path: &str, which: &str, origin: Option<&str>| {
        let mut request = Request::builder().method(verb).uri(path);
        request = request.header("authorization", basic(&key(which)));
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        let request = request.header("content-type", "application/json");
        let body = if verb == "POST" { visa().to_string() } else { String::new() };
        house.send(request.body(body.into()).unwrap()).await
    };
    let page = Some("https://shop.example");
    for (verb, path) in [("GET", "/v1/cards"), ("POST", "/v1/cards"), ("POST", "/v1/tokens")] {
        assert_eq!(ask(verb, path, "secret_key", None).await.status, 200, "{verb} {path}");
        let refused = ask(verb, path, "secret_key", page).await;
        assert_eq!(refused.refusal(), (401, "not_authorized".to_owned(), None), "{verb} {path}");
    }
    assert_eq!(ask("POST", "/v1/tokens", "public_key", page).await.status, 200);
    let form = format!("type=card&number=4242424242424242&public_key={}", key("secret_key"));
    let request = Request::post("/v1/tokens")
        .header("origin", "https://shop.example")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(form.into())
        .unwrap();
    assert_eq!(
        house.send(request).await.refusal().0,
        401,
        "a secret key in a form is refused as well"
    );
    super::covers(&["31.5"]);
}
