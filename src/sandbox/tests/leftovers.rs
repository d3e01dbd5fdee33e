//! Rules that no other test covers (both documents; service-facts).

use axum::body::Body;
use http::Request;
use serde_json::{Value, json};

use super::applications::{application, notices, submit, tenant};
use super::tokens::token;
use super::{TestSandbox, basic, covers, fields, visa, with};
use crate::api::credentials::AccountType;
use crate::sandbox::options::{SandboxOptions, ServiceSurface};
use crate::sandbox::server::Sandbox;
use crate::sandbox::state::store::in_memory;

#[tokio::test]
async fn each_brand_has_a_web_host_with_the_same_paths() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let bearer = tenant(&house).await;
    for host in ["lawyers.example", "doctors.example:8443"] {
        let request = Request::post("/api/v1/merchant_applications/sign_up")
            .header("host", host)
            .header("authorization", &bearer)
            .header("content-type", "application/json")
            .body(Body::from(
                json!({"reference": host, "plan": "basic", "email": "a@b.example"}).to_string(),
            ))
            .unwrap();
        let answer = house.send(request).await.ok();
        let page = answer["merchant_application"]["redirect_uri"].as_str().unwrap().to_owned();
        assert!(page.starts_with(&format!("https://{host}/")), "{page}");
    }
    covers(&["28.2"]);
}

#[tokio::test]
async fn the_paths_of_the_web_application_are_the_same_at_each_host() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    for host in ["lawyers.example", "doctors.example:8443"] {
        for (verb, path) in [
            ("POST", "/api/v1/merchant_applications"),
            ("POST", "/api/v1/merchant_applications/sign_up"),
            ("DELETE", "/api/v1/merchants/key/deauthorize_application"),
        ] {
            let request = Request::builder().method(verb).uri(path).header("host", host);
            let refused = house.send(request.body(Body::empty()).unwrap()).await.refusal();
            assert_eq!((refused.0, refused.1.as_str()), (401, "not_authorized"), "{host}{path}");
        }
    }
    covers(&["28.2"]);
}

#[tokio::test]
async fn base_web_and_portal_may_be_three_hosts() {
    let options = SandboxOptions {
        portal_url: "https://pay.example".to_owned(),
        web_url: "https://web.example".to_owned(),
        ..SandboxOptions::default()
    };
    let index = in_memory();
    let sandbox = Sandbox::open(std::sync::Arc::clone(&index), options).unwrap();
    let house = TestSandbox { sandbox, index, surface: ServiceSurface::Public };
    let bearer = house.bearer("demo").await;
    let body = super::partner::new_invoice(&house, &bearer).await;
    house.call("POST", "/invoices", Some(&bearer), &body).await.ok();
    let mail = house.control("GET", "mailbox", &Value::Null).await;
    assert!(
        mail["messages"][0]["link"].as_str().unwrap().starts_with("https://pay.example/invoices/")
    );
    let (bearer, start) = (tenant(&house).await, "/api/v1/merchant_applications/sign_up");
    let body = json!({"reference": "r", "plan": "basic", "email": "a@b.example"}).to_string();
    let request = Request::post(start)
        .header("authorization", bearer)
        .header("content-type", "application/json");
    let page = house.send(request.body(Body::from(body)).unwrap()).await.ok();
    let page = page["merchant_application"]["redirect_uri"].as_str().unwrap().to_owned();
    assert!(page.starts_with("https://web.example/"), "{page}");
    covers(&["28.1"]);
}

#[tokio::test]
async fn a_notification_is_posted_twenty_six_times_at_the_most() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let mut fields = application("usr_1", "Doe LLC", "1");
    fields["test"] = json!("fail");
    submit(&house, &fields).await;
    house.advance("PT3S").await;
    let mut posts = 0;
    for _ in 0..40 {
        let refuse = |notice: crate::sandbox::webhooks::OutgoingWebhook| {
            let body: Value = serde_json::from_slice(&notice.body).unwrap();
            assert_eq!(body.as_object().unwrap().keys().collect::<Vec<_>>(), ["events"]);
            assert_eq!(body["events"].as_array().unwrap().len(), 1);
            async { Some(500) }
        };
        posts += house.sandbox.deliver_due(refuse).await.unwrap();
        house.advance("PT10M").await;
    }
    assert_eq!(posts, 26, "the first post and 25 retries");
    assert!(notices(&house).await.is_empty());
    covers(&["16.1", "16.5"]);
}

#[tokio::test]
async fn the_surcharge_of_each_type_is_told_with_the_public_key() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let demo = house.demo().await;
    let bank = demo["bank_accounts"][0]["id"].as_str().unwrap().to_owned();
    let key = basic(demo["test"]["public_key"].as_str().unwrap());
    let ask = async |query: &str| {
        let path = format!("/bank-accounts/{bank}/surcharge{query}");
        house.call("GET", &path, Some(&key), &Value::Null).await.ok()
    };
    assert_eq!(ask("").await, Value::Null, "no surcharge applies");
    covers(&["41.4"]);
    let rates = json!([{"type": "card", "surcharge_rate": 300, "surcharge_fee": 25},
        {"type": "card", "surcharge_rate": 900}, {"type": "bank", "surcharge_fee": 50}]);
    house.control("POST", "policy", &json!({"merchant": "demo", "surcharges": rates})).await;
    assert_eq!(
        ask("").await,
        json!([{"type": "card", "surcharge_rate": 300, "surcharge_fee": 25},
        {"type": "bank", "surcharge_rate": 0, "surcharge_fee": 50}])
    );
    let surcharges = ask("?amount=10000").await;
    assert_eq!(
        surcharges,
        json!([
        {"type": "card", "surcharge_rate": 300, "surcharge_fee": 25, "amount": 10000, "surcharge_amount": 325, "total_amount": 10325},
        {"type": "bank", "surcharge_rate": 0, "surcharge_fee": 50, "amount": 10000, "surcharge_amount": 50, "total_amount": 10050}])
    );
    let body = json!({"amount": 10325, "surcharge_amount": 325, "method": visa()});
    let made = house.secret("POST", "/v1/charges", &body).await.ok();
    let kept = house.objects("transactions").await[0].clone();
    for one in [made, kept] {
        assert_eq!((&one["amount"], &one["surcharge_amount"]), (&json!(10325), &json!(325)));
    }
    covers(&["41.1", "41.2", "41.3", "41.5"]);
}

#[tokio::test]
async fn a_token_takes_form_data_cuts_what_is_too_long_and_is_a_card_by_default() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    let data = json!({"matter": ["a", {"b": 1}]});
    let made = token(&house, &with(visa(), "form_data", data.clone())).await;
    assert_eq!(made["form_data"], data);
    let extra = token(&house, &with(visa(), "matter", "A-1")).await;
    assert_eq!(extra["form_data"], json!({"matter": "A-1"}), "an extra field comes back, too");
    covers(&["49.4"]);
    let long = json!({"number": "42424242424242424242424", "cvv": "123456", "name": "n".repeat(70), "address1": "a".repeat(70),
        "postal_code": "62701-1234567", "country": "USA", "exp_month": 1, "exp_year": 2030});
    let made = token(&house, &long).await;
    assert_eq!(made["type"], "card");
    assert_eq!(made["number"].as_str().unwrap().len(), 19);
    assert_eq!(
        (made["name"].as_str().unwrap().len(), made["address1"].as_str().unwrap().len()),
        (64, 64)
    );
    assert_eq!(made["postal_code"], "62701-1234");
    assert!(made.get("country").is_none());
    covers(&["49.10", "49.11"]);
}

#[tokio::test]
async fn without_an_account_of_the_type_nothing_is_charged() {
    let house = TestSandbox::new(ServiceSurface::Documented);
    {
        let mut live = house.sandbox.lock();
        let now = house.sandbox.now(&live);
        let mut cx = house.sandbox.cx(&live, now);
        let mut demo = cx.merchant_named("demo", None).unwrap();
        demo.test.accounts.retain(|account| account.kind == AccountType::Card);
        cx.store_merchant(&demo).unwrap();
        house.sandbox.commit(&mut live, cx).unwrap();
    }
    let body = json!({"amount": 100, "method": super::story::bank()});
    for path in ["/v1/charges", "/v1/credits"] {
        let reply = house.secret("POST", path, &body).await;
        assert_eq!(reply.refusal().1, "no_account_for_payment_method", "{path}");
    }
    assert_eq!(house.objects("transactions").await.len(), 0);
    covers(&["33.9", "52.14"]);
}

#[tokio::test]
async fn every_row_of_the_error_tables_is_refused_as_it_is_written() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let demo = house.demo().await;
    let live = demo["live"]["card_account_id"].clone();
    let charge = |more: Value| {
        let mut body = json!({"amount": 100, "method": visa()});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let post = async |path: &str, body: Value| house.secret("POST", path, &body).await;
    let mode = post("/v1/charges", charge(json!({ "account_id": live }))).await;
    assert_eq!(mode.refusal().1, "unavailable_for_merchant_mode");
    let other =
        post("/v1/charges", charge(json!({"account_id": demo["test"]["ach_account_id"]}))).await;
    assert_eq!(other.refusal().1, "incorrect_payment_type");
    let recur = json!({"interval_unit": "DAY", "interval_delay": 1});
    let held = post("/v1/charges", charge(json!({"recur": recur, "auto_capture": false}))).await;
    assert_eq!(fields(&held)[0].0, "auto_capture");
    let declined =
        charge(json!({"recur": recur, "method": with(visa(), "number", "4000000000000002")}));
    assert_eq!(post("/v1/charges", declined).await.refusal().1, "card_declined");
    assert!(house.objects("recurring_charges").await.is_empty());
    let waiting = house.held(500).await;
    assert_eq!(house.to_charge(&waiting, "capture", json!({"amount": 499})).await.status, 422);
    assert_eq!(
        post("/v1/credits", charge(json!({}))).await.refusal().1,
        "unavailable_for_merchant_policy"
    );
    let paid = house.charged(500, visa()).await;
    let refund = house.refund(&paid, 100).await;
    assert_eq!(house.void(&paid).await.refusal().1, "not_valid_for_transaction_status");
    assert_eq!(house.settle(&refund, "failed").await["status"], "FAILED");
    house.allow("transaction_allowed_countries", json!(["CA"])).await;
    assert_eq!(post("/v1/charges", charge(json!({}))).await.refusal().0, 401);
    house.allow("api_allowed_ip_address_ranges", json!(["10.0.0.0/8"])).await;
    assert_eq!(house.secret("GET", "/v1/cards", &Value::Null).await.refusal().0, 401);
    let bearer = tenant(&house).await;
    for test in [Value::Null, json!("validate")] {
        let wrong = with(with(application("usr_1", "Doe", "1"), "structure", "ZZ"), "test", test);
        let body = json!({ "merchant_application": wrong });
        let path = "/api/v1/merchant_applications";
        let reply = house.call("POST", path, Some(&bearer), &body).await;
        assert_eq!(super::applications::contexts(&reply), ["structure"]);
    }
    covers(&["52.14"]);
}

#[tokio::test]
async fn every_type_of_event_is_told() {
    let house = TestSandbox::new(ServiceSurface::Public);
    let recurs = |card: Value| {
        json!({"amount": 5, "method": card, "schedule":
        {"start": "2026-12-01", "interval_unit": "MONTH", "interval_delay": 1}, "max_occurrences": 4})
    };
    let made = house
        .secret(
            "POST",
            "/v1/recurring/charges",
            &recurs(with(with(visa(), "exp_month", 12), "exp_year", 2026)),
        )
        .await
        .ok();
    let path = format!("/v1/recurring/charges/{}", made["id"].as_str().unwrap());
    house.secret("PATCH", &path, &json!({"amount": 6})).await.ok();
    let gone = house.secret("POST", "/v1/recurring/charges", &recurs(visa())).await.ok();
    house
        .secret(
            "DELETE",
            &format!("/v1/recurring/charges/{}", gone["id"].as_str().unwrap()),
            &Value::Null,
        )
        .await
        .ok();
    house
        .secret("POST", "/v1/cards", &with(with(visa(), "exp_month", 12), "exp_year", 2026))
        .await
        .ok();
    let check = house.charged(50, super::story::bank()).await;
    house.refund(&check, 10).await;
    house.held(7).await;
    let voided = house.charged(5, visa()).await;
    house.void(&voided).await.ok();
    house
        .secret(
            "POST",
            "/v1/charges",
            &json!({"amount": 5, "method": with(visa(), "number", "4000000000000002")}),
        )
        .await;
    house.advance("P8M").await;
    let all = house.objects("events").await;
    let kinds: std::collections::BTreeSet<&str> =
        all.iter().map(|event| event["type"].as_str().unwrap()).collect();
    for kind in [
        "transaction.created",
        "transaction.authorized",
        "transaction.completed",
        "transaction.voided",
        "transaction.failed",
        "transaction.updated",
        "transaction.pending_parent_settlement",
        "recurring_charge.created",
        "recurring_charge.updated",
        "recurring_charge.completed",
        "recurring_charge.deleted",
        "recurring_charge.payment_method.expiring",
        "recurring_charge.payment_method.expired",
        "recurring_charge.occurrence.created",
        "recurring_charge.occurrence.updated",
        "recurring_charge.occurrence.paid",
        "recurring_charge.occurrence.failed",
        "recurring_charge.occurrence.ignored",
        "payment_method.expiring",
        "payment_method.expired",
    ] {
        assert!(kinds.contains(kind), "{kind}: {kinds:?}");
    }
    covers(&["50.6"]);
}
